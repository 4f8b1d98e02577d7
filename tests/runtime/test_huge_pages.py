"""What kernels read where the caller has it, on huge pages."""

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

import hloom
from hloom.runtime.huge_pages import move_to_huge_pages

PAGE = 2 << 20
PRODUCT = """
func.func @main(%x: tensor<1x512xf32>, %w: tensor<512x4096xf32>) -> tensor<1x4096xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x512xf32>, tensor<512x4096xf32>) -> tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}
"""


def _ordinary(nbytes: int, apart: bool = False) -> np.ndarray:
    """Bytes whose ends lie within huge pages; `apart`: in a mapping that the system joins with no other."""
    pages = mmap.mmap(-1, nbytes + PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if apart:
        pages.madvise(mmap.MADV_DONTDUMP)
    return np.frombuffer(pages, np.uint8)[4096 : 4096 + nbytes]


def _weights(apart: bool = False) -> np.ndarray:
    found = _ordinary(4 * 512 * 4096, apart).view(np.float32).reshape(512, 4096)
    found[:] = np.random.default_rng(0).standard_normal(found.shape)
    return found


def _huge_bytes(address: int) -> int:
    """Of the mapping that the address lies in."""
    within = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, _, rest = line.partition(" ")
        if "-" in name and not name.endswith(":"):
            start, end = (int(bound, 16) for bound in name.split("-"))
            within = start <= address < end
        elif within and name == "AnonHugePages:":
            return int(rest.split()[0]) << 10
    raise AssertionError("no mapping there")


def _moved(address: int) -> int:
    """Bytes of huge pages there, once a thread had the time to move some."""
    end = time.monotonic() + 5
    while not (found := _huge_bytes(address)) and time.monotonic() < end:
        time.sleep(0.01)
    return found


@pytest.fixture(autouse=True)
def _system_has_them():
    """Asks the system itself for a move, as a kernel before 6.1 and one without free huge pages decline it."""
    probe = _ordinary(8 * PAGE)
    probe[:] = 1
    move_to_huge_pages([(probe.ctypes.data, probe.nbytes)])
    if not _moved(probe.ctypes.data):
        pytest.skip("the system moves nothing to huge pages")


def test_bound_weights_are_moved_and_keep_their_values():
    weights = _weights()
    before = weights.copy()
    x = np.ones((1, 512), np.float32)
    exe = hloom.compile(PRODUCT, bind={1: weights})
    first = np.asarray(exe(x))
    assert PAGE <= _moved(weights.ctypes.data) <= weights.nbytes
    np.testing.assert_array_equal(np.asarray(exe(x)), first)
    np.testing.assert_array_equal(weights, before)


def test_inputs_are_moved_that_come_again_and_again():
    exe = hloom.compile(PRODUCT)
    x, first, second = np.ones((1, 512), np.float32), _weights(apart=True), _weights()
    for call in range(20):
        exe(x, (first, second)[call % 2])
    for _ in range(20):
        exe(x, second)
    assert _moved(second.ctypes.data)
    assert not _huge_bytes(first.ctypes.data)


def test_so_are_jaxs():
    exe = hloom.compile(PRODUCT)
    x, weights = (jax.dlpack.from_dlpack(array) for array in (np.ones((1, 512), np.float32), _weights()))
    for _ in range(20):
        exe(x, weights)
    assert _moved(weights.unsafe_buffer_pointer())


def test_small_ranges_stay():
    small = _ordinary(2 * PAGE - 1, apart=True)
    small[:] = 1
    move_to_huge_pages([(small.ctypes.data, small.nbytes)])
    time.sleep(0.1)
    assert not _huge_bytes(small.ctypes.data)


def test_what_takes_no_memory_of_its_own_takes_none():
    zeros, mostly = (_ordinary(8 * PAGE, apart=True) for _ in range(2))
    assert not zeros.any()  # all are the system's one page of zeros
    mostly[:: 3 * 4096] = 1
    move_to_huge_pages([(array.ctypes.data, array.nbytes) for array in (zeros, mostly)])
    time.sleep(0.2)
    assert not _huge_bytes(zeros.ctypes.data) and not _huge_bytes(mostly.ctypes.data)


def test_what_a_forked_process_shares_stays():
    weights = _weights(apart=True)
    reader, writer = os.pipe()
    if not (child := os.fork()):
        os.close(writer)
        os.read(reader, 1)  # until the parent closes its end
        os._exit(0)
    move_to_huge_pages([(weights.ctypes.data, weights.nbytes)])
    time.sleep(0.2)
    huge = _huge_bytes(weights.ctypes.data)
    os.close(writer)
    os.waitpid(child, 0)
    assert not huge
    move_to_huge_pages([(weights.ctypes.data, weights.nbytes)])
    assert _moved(weights.ctypes.data)


def test_nothing_is_moved_for_who_wants_none(tmp_path):
    code = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_huge_pages import _huge_bytes, _weights, move_to_huge_pages
weights = _weights()
move_to_huge_pages([(weights.ctypes.data, weights.nbytes)])
time.sleep(0.5)
sys.exit(_huge_bytes(weights.ctypes.data) != 0)
"""
    for wish, moved in (("0", 0), ("1", 1)):
        assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "HLOOM_HUGE_PAGES": wish}).returncode == moved
