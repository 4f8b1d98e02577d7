"""What performance hangs on is counted."""

import numpy as np
import pytest
from simulator_kernels import WORKGROUP, kernel

X = np.zeros(4096, np.float32)


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4.0), (2, 8.0), (8, 32.0)])
def test_sectors_of_a_request(stride, sectors):
    body = f"""
      %step = arith.constant {stride} : index
      %j = arith.muli %i, %step : index
      %v = memref.load %x[%j] : memref<4096xf32>
      memref.store %v, %o[%i] : memref<256xf32>"""
    counters = kernel("%x: memref<4096xf32>, %o: memref<256xf32>", body).launch("k", [X, np.zeros(256, np.float32)])
    assert counters.sectors_per_read == sectors and counters.sectors_per_write == 4.0
    assert counters.global_read_bytes == counters.global_written_bytes == 1024 and counters.read_requests == 8


def test_vectors_are_one_request_only_where_alignment_is_promised():
    line = "%v = vector.load %x[%j] {} : memref<4096xf32>, vector<4xf32>\n vector.store %v, %o[%j] : memref<1024xf32>, vector<4xf32>"
    requests = []
    for promise in ("{alignment = 16 : i64}", ""):
        body = "%j = arith.muli %i, %c4 : index\n" + line.replace("{}", promise)
        counters = kernel("%x: memref<4096xf32>, %o: memref<1024xf32>", body).launch("k", [X, np.zeros(1024, np.float32)])
        requests.append((counters.read_requests, counters.sectors_per_read))
    assert requests == [(8, 16.0), (32, 16.0)]


@pytest.mark.parametrize(("stride", "conflicts"), [(1, 1.0), (2, 2.0), (32, 32.0), (33, 1.0), (0, 1.0)])
def test_bank_conflicts(stride, conflicts):
    shared = f"memref<1056xf32, {WORKGROUP}>"
    body = f"""
      %step = arith.constant {stride} : index
      scf.for %k = %t to %n step %c32 {{
        memref.store %f0, %s[%k] : {shared}
      }}
      gpu.barrier
      %j = arith.muli %t, %step : index
      %v = memref.load %s[%j] : {shared}
      memref.store %v, %o[%i] : memref<32xf32>"""
    body = "      %n = arith.constant 1056 : index\n" + body
    module = kernel("%o: memref<32xf32>", body, block="32, 1, 1", grid="1, 1, 1", own=f"workgroup(%s : {shared})")
    counters = module.launch("k", [np.zeros(32, np.float32)])
    assert counters.shared_requests == 5 and counters.shared_wavefronts == 4 + conflicts
    assert counters.barriers == 1


def test_wide_shared_accesses_are_served_by_quarters_of_a_warp():
    shared = f"memref<128xf32, {WORKGROUP}>"
    body = f"""
      %j = arith.muli %t, %c4 : index
      %v = vector.load %x[%j] {{alignment = 16 : i64}} : memref<4096xf32>, vector<4xf32>
      vector.store %v, %s[%j] {{alignment = 16 : i64}} : {shared}, vector<4xf32>"""
    module = kernel("%x: memref<4096xf32>", body, block="32, 1, 1", grid="1, 1, 1", own=f"workgroup(%s : {shared})")
    counters = module.launch("k", [X])
    assert (counters.shared_requests, counters.shared_wavefronts, counters.shared_written_bytes) == (4, 4, 512)


def test_whole_launches_are_counted_and_sums():
    body = "%v = memref.load %x[%c0] : memref<4096xf32>\n %y, %ok = gpu.shuffle xor %v, %one, %w32 : f32\n gpu.barrier"
    module = kernel("%x: memref<4096xf32>", body, grid="1000, 1, 1")
    one = module.launch("k", [X])
    assert (one.global_read_bytes, one.shuffles, one.barriers, one.launches) == (4 * 64000, 2000, 1000, 1)
    both = one + module.launch("k", [X], checks=False)
    assert (both.global_read_bytes, both.shuffles, both.barriers, both.launches) == (8 * 64000, 4000, 2000, 2)
