"""Weights that kernels read as they were given, on huge pages."""

import mmap
from pathlib import Path

import numpy as np
import pytest

import hloom
from hloom.runtime import huge_pages

PAGE = 2 << 20
PRODUCT = """
func.func @main(%x: tensor<1x512xf32>, %w: tensor<512x4096xf32>) -> tensor<1x4096xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x512xf32>, tensor<512x4096xf32>) -> tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}
"""


def _ordinary(nbytes: int) -> np.ndarray:
    """Bytes whose ends lie within huge pages."""
    pages = mmap.mmap(-1, nbytes + PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, np.uint8)[4096 : 4096 + nbytes]


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


@pytest.fixture
def moves(monkeypatch):
    """The threads that move what is bound."""
    if huge_pages._advise() is None:
        pytest.skip("the system has no huge pages")
    begun, move = [], huge_pages.move_to_huge_pages
    monkeypatch.setattr("hloom.runtime.cpu.move_to_huge_pages", lambda ranges: begun.append(move(ranges)))
    return begun


def test_weights_read_as_given_are_moved_and_keep_their_values(moves):
    weights = _ordinary(4 * 512 * 4096).view(np.float32).reshape(512, 4096)
    weights[:] = np.random.default_rng(0).standard_normal(weights.shape)
    before = weights.copy()
    x = np.ones((1, 512), np.float32)
    exe = hloom.compile(PRODUCT, bind={1: weights})
    (thread,) = moves
    first = np.asarray(exe(x))
    thread.join()
    np.testing.assert_array_equal(np.asarray(exe(x)), first)
    np.testing.assert_array_equal(weights, before)
    huge = _huge_bytes(weights.ctypes.data)
    if not huge:
        pytest.skip("the kernel has no MADV_COLLAPSE, or no huge page to give")
    assert PAGE <= huge <= weights.nbytes


def test_small_ranges_and_the_ends_of_large_ones_stay(monkeypatch):
    asked = []
    monkeypatch.setattr(huge_pages, "_advise", lambda: lambda start, nbytes, advice: asked.append((start, nbytes)))
    assert huge_pages.move_to_huge_pages([(0, 2 * PAGE - 1)]) is None
    huge_pages.move_to_huge_pages([(4096, 40 * PAGE), (100 * PAGE, PAGE)]).join()
    assert asked == [(PAGE, 16 * PAGE), (17 * PAGE, 16 * PAGE), (33 * PAGE, 7 * PAGE)]


def test_a_system_without_them_is_left_alone(monkeypatch):
    monkeypatch.setattr(huge_pages, "_advise", lambda: None)
    assert huge_pages.move_to_huge_pages([(0, 40 * PAGE)]) is None


def test_inputs_are_moved_that_come_again_and_again(moves, monkeypatch):
    asked = []
    monkeypatch.setattr(huge_pages, "move_to_huge_pages", asked.append)
    exe = hloom.compile(PRODUCT)
    x, weights, others = np.ones((1, 512), np.float32), *(np.ones((512, 4096), np.float32) for _ in range(2))
    for call in range(20):
        exe(x, (weights, others)[call % 2])
    assert asked == []
    for _ in range(20):
        exe(x, weights)
    assert asked == [[(weights.ctypes.data, weights.nbytes)]]
