"""Linking where the process' memory is in pieces, as it is after a day of work: code and what it refers to must come to lie together."""

import subprocess
import sys

PROGRAM = """
import ctypes, mmap, sys
import numpy as np
import hloom

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE, ROOM, NORESERVE = mmap.PAGESIZE, 8 << 30, 0x4000

def reserve(nbytes):
    return libc.mmap(None, nbytes, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE, -1, 0)

source = '''func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.tanh %a : tensor<64xf32>
  %1 = stablehlo.sine %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}'''
hloom.compile(source).save(sys.argv[1])
start = reserve(ROOM)
for hole in range(1, 65):  # of one page, far above the next larger one
    libc.munmap(start + ROOM - 2 * hole * PAGE, PAGE)
while not start <= reserve(PAGE) < start + ROOM:
    pass
x = np.linspace(-1, 1, 64, dtype=np.float32)
assert np.allclose(hloom.load(sys.argv[1])(x), np.sin(np.tanh(x)))
"""


def test_code_links_where_only_single_pages_are_free_nearby(tmp_path):
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path / "p.hloom")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
