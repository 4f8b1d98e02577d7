"""memref: views, memory of blocks and of threads, constants, atomics."""

import numpy as np
import pytest
from simulator_kernels import WORKGROUP, function, kernel, kernels

X = np.arange(256, dtype=np.float32)


def test_views():
    """Of an 8 x 32 argument, a 4 x 16 part that begins at (2, 8), whose second row is read."""
    body = """
      %part = memref.subview %x[2, 8] [4, 16] [1, 1] : memref<8x32xf32> to memref<4x16xf32, strided<[32, 1], offset: 72>>
      %row = memref.subview %part[1, 0] [1, 16] [1, 1] : memref<4x16xf32, strided<[32, 1], offset: 72>>
        to memref<16xf32, strided<[1], offset: 104>>
      %c16 = arith.constant 16 : index
      %j = arith.remui %i, %c16 : index
      %v = memref.load %row[%j] : memref<16xf32, strided<[1], offset: 104>>
      %flat = memref.collapse_shape %y [[0, 1]] : memref<16x16xf32> into memref<256xf32>
      memref.store %v, %flat[%i] : memref<256xf32>"""
    out = np.zeros(256, np.float32)
    kernel("%x: memref<8x32xf32>, %y: memref<16x16xf32>", body).launch("k", [X, out])
    np.testing.assert_array_equal(out, np.tile(X.reshape(8, 32)[3, 8:24], 16))


def test_dynamic_shared_memory():
    """One arena: 64 floats, then 64 halves."""
    wide, narrow = f"memref<64xf32, {WORKGROUP}>", f"memref<64xf16, {WORKGROUP}>"
    body = f"""
      %arena = gpu.dynamic_shared_memory : memref<?xi8, {WORKGROUP}>
      %c256 = arith.constant 256 : index
      %a = memref.view %arena[%c0][] : memref<?xi8, {WORKGROUP}> to {wide}
      %h = memref.view %arena[%c256][] : memref<?xi8, {WORKGROUP}> to {narrow}
      %v = memref.load %x[%i] : memref<256xf32>
      %n = arith.truncf %v : f32 to f16
      memref.store %v, %a[%t] : {wide}
      memref.store %n, %h[%t] : {narrow}
      gpu.barrier
      %back = arith.subi %c63, %t : index
      %p = memref.load %a[%back] : {wide}
      %q = memref.load %h[%back] : {narrow}
      %w = arith.extf %q : f16 to f32
      %r = arith.addf %p, %w : f32
      memref.store %r, %o[%i] : memref<256xf32>"""
    out = np.zeros(256, np.float32)
    kernel("%x: memref<256xf32>, %o: memref<256xf32>", body, shared_bytes=384).launch("k", [X, out])
    np.testing.assert_array_equal(out, 2 * X.reshape(4, 64)[:, ::-1].reshape(-1))


def test_private_memory_and_constants():
    body = """
      %own = memref.alloca() : memref<4xf32>
      %table = memref.get_global @table : memref<4xf32>
      scf.for %k = %c0 to %c4 step %c1 {
        %e = memref.load %table[%k] : memref<4xf32>
        %v = memref.load %x[%i] : memref<256xf32>
        %w = arith.mulf %e, %v : f32
        memref.store %w, %own[%k] : memref<4xf32>
      }
      %j = arith.remui %t, %c4 : index
      %r = memref.load %own[%j] : memref<4xf32>
      memref.store %r, %o[%i] : memref<256xf32>"""
    out = np.zeros(256, np.float32)
    table = 'memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 10.0, 100.0, 1000.0]>'
    kernels(function("k", "%x: memref<256xf32>, %o: memref<256xf32>", body), before=table).launch("k", [X, out])
    np.testing.assert_array_equal(out, X * 10.0 ** (np.arange(256) % 4))


@pytest.mark.parametrize(
    ("kind", "function_"), [("addi", np.add), ("maxs", np.maximum), ("mins", np.minimum), ("ori", np.bitwise_or), ("andi", np.bitwise_and)]
)
def test_atomics_of_many_threads(kind, function_):
    body = f"""
      %j = arith.remui %i, %c4 : index
      %v = memref.load %x[%i] : memref<256xi32>
      %old = memref.atomic_rmw {kind} %v, %o[%j] : (i32, memref<4xi32>) -> i32"""
    x = np.random.default_rng(0).integers(-1000, 1000, 256, np.int32)
    out = np.array([1, 2, 3, 4], np.int32)
    counters = kernel("%x: memref<256xi32>, %o: memref<4xi32>", body).launch("k", [x, out])
    np.testing.assert_array_equal(out, function_(function_.reduce(x.reshape(64, 4), axis=0), [1, 2, 3, 4]))
    assert counters.atomics == 256


def test_what_atomics_found():
    """Threads that add 1 to one counter find all numbers below their count."""
    body = """
      %old = memref.atomic_rmw addi %one, %n[%c0] : (i32, memref<1xi32>) -> i32
      memref.store %old, %o[%i] : memref<256xi32>"""
    n, out = np.zeros(1, np.int32), np.zeros(256, np.int32)
    kernel("%n: memref<1xi32>, %o: memref<256xi32>", body).launch("k", [n, out])
    assert n[0] == 256
    np.testing.assert_array_equal(np.sort(out), np.arange(256))


def test_generic_atomics():
    body = """
      %j = arith.remui %i, %c2 : index
      %v = memref.load %x[%i] : memref<256xf32>
      %old = memref.generic_atomic_rmw %o[%j] : memref<2xf32> {
      ^bb0(%now: f32):
        %twice = arith.addf %v, %v : f32
        %new = arith.addf %now, %twice : f32
        memref.atomic_yield %new : f32
      }"""
    out = np.ones(2, np.float32)
    kernel("%x: memref<256xf32>, %o: memref<2xf32>", body).launch("k", [X, out])
    np.testing.assert_array_equal(out, 1 + 2 * X.reshape(-1, 2).sum(axis=0))


def test_in_place():
    """One array as input and as output, each thread at its own elements."""
    body = """
      %v = memref.load %x[%i] : memref<256xf32>
      %r = arith.addf %v, %f1 : f32
      memref.store %r, %o[%i] : memref<256xf32>"""
    x = X.copy()
    kernel("%x: memref<256xf32>, %o: memref<256xf32>", body).launch("k", [x, x])
    np.testing.assert_array_equal(x, X + 1)
