"""Who threads are, what they exchange, and where they part: gpu and scf."""

import numpy as np
import pytest
from simulator_kernels import WORKGROUP, kernel

IN = "%x: memref<256xf32> {llvm.noalias, llvm.readonly}, %o: memref<256xf32> {llvm.noalias}"
X = np.random.default_rng(0).random(256).astype(np.float32) * 100
LOAD = "      %v = memref.load %x[%i] : memref<256xf32>\n"
STORE = "\n      memref.store %r, %o[%i] : memref<256xf32>"


def _run(body: str, **more) -> np.ndarray:
    out = np.zeros(256, np.float32)
    kernel(IN, LOAD + body + STORE, **more).launch("k", [X, out])
    return out


def _shuffled(mode: str, offset: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    lane = np.arange(32)
    start = lane // width * width
    source = {"xor": lane ^ offset, "up": lane - offset, "down": lane + offset, "idx": start + offset % width}[mode]
    valid = (source >= start) & (source < start + width)
    return np.where(valid, source, lane), valid


@pytest.mark.parametrize(
    ("mode", "offset", "width"), [("xor", 16, 32), ("xor", 1, 8), ("up", 3, 32), ("down", 5, 16), ("idx", 7, 32), ("idx", 3, 8)]
)
def test_shuffles(mode, offset, width):
    body = f"""
      %offset = arith.constant {offset} : i32
      %width = arith.constant {width} : i32
      %y, %ok = gpu.shuffle {mode} %v, %offset, %width : f32
      %r = arith.select %ok, %y, %f0 : f32"""
    source, valid = _shuffled(mode, offset, width)
    np.testing.assert_array_equal(_run(body).reshape(-1, 32), np.where(valid, X.reshape(-1, 32)[:, source], 0))


def test_shuffle_by_an_offset_of_each_thread():
    body = """
      %lane = gpu.lane_id
      %c31 = arith.constant 31 : index
      %other = arith.subi %c31, %lane : index
      %offset = arith.index_cast %other : index to i32
      %r, %ok = gpu.shuffle idx %v, %offset, %w32 : f32"""
    np.testing.assert_array_equal(_run(body).reshape(-1, 32), X.reshape(-1, 32)[:, ::-1])


def test_subgroup_reduce():
    np.testing.assert_allclose(
        _run("%r = gpu.subgroup_reduce add %v : (f32) -> f32").reshape(-1, 32)[:, 5], X.reshape(-1, 32).sum(1), rtol=1e-6
    )


def test_reverse_through_shared_memory():
    body = f"""
      memref.store %v, %s[%t] : memref<64xf32, {WORKGROUP}>
      gpu.barrier
      %back = arith.subi %c63, %t : index
      %r = memref.load %s[%back] : memref<64xf32, {WORKGROUP}>"""
    found = _run(body, own=f"workgroup(%s : memref<64xf32, {WORKGROUP}>)")
    np.testing.assert_array_equal(found, X.reshape(4, 64)[:, ::-1].reshape(-1))


def test_if_with_results():
    body = """
      %m = arith.remui %t, %c2 : index
      %even = arith.cmpi eq, %m, %c0 : index
      %r = scf.if %even -> f32 {
        %w = arith.addf %v, %f1 : f32
        scf.yield %w : f32
      } else {
        scf.yield %f0 : f32
      }"""
    np.testing.assert_array_equal(_run(body), np.where(np.arange(256) % 2 == 0, X + np.float32(1), 0))


def test_nested_divergence():
    """Each branch is taken by some threads only, the loop within it as often as each thread says."""
    body = """
      %half = arith.cmpi ult, %t, %c32 : index
      %r = scf.if %half -> f32 {
        %sum = scf.for %k = %c0 to %t step %c1 iter_args(%a = %f0) -> f32 {
          %m = arith.remui %k, %c2 : index
          %odd = arith.cmpi eq, %m, %c1 : index
          %n = scf.if %odd -> f32 {
            %w = arith.addf %a, %f1 : f32
            scf.yield %w : f32
          } else {
            scf.yield %a : f32
          }
          scf.yield %n : f32
        }
        scf.yield %sum : f32
      } else {
        scf.yield %v : f32
      }"""
    t = np.arange(256) % 64
    np.testing.assert_array_equal(_run(body), np.where(t < 32, t // 2, X))


def test_while_with_a_trip_count_of_each_thread():
    body = """
      %h = arith.constant 0.5 : f32
      %r = scf.while (%a = %v) : (f32) -> f32 {
        %p = arith.cmpf oge, %a, %f1 : f32
        scf.condition(%p) %a : f32
      } do {
      ^bb0(%q: f32):
        %w = arith.mulf %q, %h : f32
        scf.yield %w : f32
      }"""
    expected = X.copy()
    while (large := expected >= 1).any():
        expected[large] *= np.float32(0.5)
    np.testing.assert_array_equal(_run(body), expected)


def test_uniform_loop_carrying_two_values():
    body = """
      %r, %other = scf.for %k = %c0 to %c8 step %c1 iter_args(%a = %f0, %b2 = %f1) -> (f32, f32) {
        %n = arith.addf %a, %b2 : f32
        scf.yield %b2, %n : f32, f32
      }"""
    np.testing.assert_array_equal(_run(body), np.full(256, 21, np.float32))


def test_a_loop_that_counts_in_i32():
    body = """
      %low = arith.constant -2 : i32
      %high = arith.constant 3 : i32
      %r = scf.for %k = %low to %high step %one iter_args(%a = %f0) -> f32 : i32 {
        %bits = arith.shrui %k, %one : i32
        %f = arith.uitofp %bits : i32 to f32
        %n = arith.addf %a, %f : f32
        scf.yield %n : f32
      }"""
    expected = sum(np.float32((k % 2**32) >> 1) for k in range(-2, 3))
    np.testing.assert_array_equal(_run(body), np.full(256, expected, np.float32))


def test_a_barrier_in_a_branch_that_whole_blocks_take():
    body = f"""
      %few = arith.cmpi ult, %b, %c2 : index
      %r = scf.if %few -> f32 {{
        memref.store %v, %s[%t] : memref<64xf32, {WORKGROUP}>
        gpu.barrier
        %back = arith.subi %c63, %t : index
        %w = memref.load %s[%back] : memref<64xf32, {WORKGROUP}>
        scf.yield %w : f32
      }} else {{
        scf.yield %v : f32
      }}"""
    found = _run(body, own=f"workgroup(%s : memref<64xf32, {WORKGROUP}>)").reshape(4, 64)
    np.testing.assert_array_equal(found[:2], X.reshape(4, 64)[:2, ::-1])
    np.testing.assert_array_equal(found[2:], X.reshape(4, 64)[2:])


def test_three_dimensions():
    """A grid of 2 x 2 x 1 blocks of 4 x 4 x 4 threads."""
    body = """
      %coordinates = memref.alloca() : memref<6xindex>
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %tz = gpu.thread_id z
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %dx = gpu.block_dim x
      %gx = gpu.grid_dim x
      %n0 = affine.apply affine_map<(d0, d1, d2) -> (d0 + 4 * d1 + 16 * d2)>(%tx, %ty, %tz)
      %n1 = affine.apply affine_map<(d0, d1, d2, d3, d4) -> (d0 * d4 + d1 * d3)>(%n0, %bx, %by, %gx, %c1)
      %n2 = affine.linearize_index [%by, %bx, %tz, %ty, %tx] by (2, 2, 4, 4, 4) : index
      %q = arith.index_cast %n2 : index to i32
      %r = arith.sitofp %q : i32 to f32
      memref.store %r, %o[%n2] : memref<256xf32>"""
    body = body.replace("      %n1 = affine.apply affine_map<(d0, d1, d2, d3, d4) -> (d0 * d4 + d1 * d3)>(%n0, %bx, %by, %gx, %c1)\n", "")
    out = np.zeros(256, np.float32)
    kernel(IN, body, block="4, 4, 4", grid="2, 2, 1").launch("k", [X, out])
    np.testing.assert_array_equal(out, np.arange(256))


def test_threads_that_are_no_whole_warp():
    """48 threads: the second warp of each block is half a warp; it may still shuffle among itself."""
    body = LOAD + "      %r, %ok = gpu.shuffle xor %v, %one, %w32 : f32" + STORE
    x, out = X[:192], np.zeros(192, np.float32)
    text_in = IN.replace("256", "192")
    kernel(text_in, body.replace("256", "192"), block="48, 1, 1").launch("k", [x, out])
    np.testing.assert_array_equal(out.reshape(-1, 2), x.reshape(-1, 2)[:, ::-1])
