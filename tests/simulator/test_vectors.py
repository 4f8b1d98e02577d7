"""vector: accesses of several elements, and ops that move elements within vectors."""

import numpy as np
import pytest
from simulator_kernels import kernel

IN = "%x: memref<1024xf32> {llvm.noalias, llvm.readonly}, %o: memref<1024xf32> {llvm.noalias}"
LOAD = """
      %j = arith.muli %i, %c4 : index
      %v = vector.load %x[%j] {alignment = 16 : i64} : memref<1024xf32>, vector<4xf32>
"""
STORE = "\n      vector.store %r, %o[%j] {alignment = 16 : i64} : memref<1024xf32>, vector<4xf32>"

X = np.random.default_rng(0).standard_normal(1024).astype(np.float32)
ROWS = X.reshape(256, 4)


def _run(body: str) -> np.ndarray:
    out = np.zeros(1024, np.float32)
    kernel(IN, LOAD + body + STORE).launch("k", [X, out])
    return out.reshape(256, 4)


CASES = {
    "broadcast": ("%e = vector.extract %v[2] : f32 from vector<4xf32>\n %r = vector.broadcast %e : f32 to vector<4xf32>", ROWS[:, [2] * 4]),
    "insert": (
        "%e = vector.extract %v[0] : f32 from vector<4xf32>\n %r = vector.insert %e, %v[3] : f32 into vector<4xf32>",
        ROWS[:, [0, 1, 2, 0]],
    ),
    "dynamic extract": (
        "%q = arith.remui %t, %c4 : index\n %e = vector.extract %v[%q] : f32 from vector<4xf32>\n"
        " %r = vector.insert %e, %v[%q] : f32 into vector<4xf32>",
        ROWS,
    ),
    "dynamic insert": (
        "%q = arith.remui %t, %c4 : index\n %r = vector.insert %f0, %v[%q] : f32 into vector<4xf32>",
        np.where(np.arange(256)[:, None] % 4 == np.arange(4), 0, ROWS),
    ),
    "shape_cast and transpose": (
        "%m = vector.shape_cast %v : vector<4xf32> to vector<2x2xf32>\n"
        " %n = vector.transpose %m, [1, 0] : vector<2x2xf32> to vector<2x2xf32>\n"
        " %r = vector.shape_cast %n : vector<2x2xf32> to vector<4xf32>",
        ROWS[:, [0, 2, 1, 3]],
    ),
    "row of a matrix": (
        "%m = vector.shape_cast %v : vector<4xf32> to vector<2x2xf32>\n %e = vector.extract %m[1] : vector<2xf32> from vector<2x2xf32>\n"
        " %n = vector.insert %e, %m[0] : vector<2xf32> into vector<2x2xf32>\n %r = vector.shape_cast %n : vector<2x2xf32> to vector<4xf32>",
        ROWS[:, [2, 3, 2, 3]],
    ),
    "shuffle": ("%r = vector.shuffle %v, %v [3, 6, 1, 0] : vector<4xf32>, vector<4xf32>", ROWS[:, [3, 2, 1, 0]]),
    "strided slices": (
        "%e = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>\n"
        " %r = vector.insert_strided_slice %e, %v {offsets = [2], strides = [1]} : vector<2xf32> into vector<4xf32>",
        ROWS[:, [0, 1, 1, 2]],
    ),
    "elements": (
        "%e:4 = vector.to_elements %v : vector<4xf32>\n %r = vector.from_elements %e#3, %e#2, %e#1, %e#0 : vector<4xf32>",
        ROWS[:, ::-1],
    ),
    "interleave": (
        "%e = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>\n"
        " %f = vector.extract_strided_slice %v {offsets = [2], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>\n"
        " %r = vector.interleave %e, %f : vector<2xf32> -> vector<4xf32>",
        ROWS[:, [0, 2, 1, 3]],
    ),
    "bitcast": (
        "%h = vector.bitcast %v : vector<4xf32> to vector<8xi16>\n"
        " %s = vector.shuffle %h, %h [2, 3, 0, 1, 6, 7, 4, 5] : vector<8xi16>, vector<8xi16>\n"
        " %r = vector.bitcast %s : vector<8xi16> to vector<4xf32>",
        ROWS[:, [1, 0, 3, 2]],
    ),
    "constant": (
        "%k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>\n %r = arith.addf %v, %k : vector<4xf32>",
        ROWS + np.arange(1, 5, dtype=np.float32),
    ),
    "step and select": (
        "%s = vector.step : vector<4xindex>\n %k = arith.constant dense<2> : vector<4xindex>\n"
        " %m = arith.cmpi ult, %s, %k : vector<4xindex>\n %z = arith.constant dense<0.0> : vector<4xf32>\n"
        " %r = arith.select %m, %v, %z : vector<4xi1>, vector<4xf32>",
        ROWS * [1, 1, 0, 0],
    ),
    "gather": (
        "%k = arith.constant dense<[3, 0, 0, 1]> : vector<4xi32>\n %m = arith.constant dense<[true, true, false, true]> : vector<4xi1>\n"
        " %r = vector.gather %x[%j] [%k], %m, %v : memref<1024xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>",
        ROWS[:, [3, 0, 2, 1]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_elements_move(name):
    body, expected = CASES[name]
    np.testing.assert_array_equal(_run(body), expected)


@pytest.mark.parametrize(("kind", "function"), [("add", np.add), ("mul", np.multiply), ("maximumf", np.maximum), ("minimumf", np.minimum)])
def test_reductions(kind, function):
    body = f"%e = vector.reduction <{kind}>, %v, %f1 : vector<4xf32> into f32\n %r = vector.broadcast %e : f32 to vector<4xf32>"
    expected = function(function.reduce(ROWS, axis=1), np.float32(1))
    np.testing.assert_allclose(_run(body)[:, 0], expected, rtol=1e-6)


def test_constants_of_half_precision():
    import ml_dtypes

    body = """
      %k = arith.constant dense<[1.5, -2.0]> : vector<2xbf16>
      %e = vector.extract %k[1] : bf16 from vector<2xbf16>
      memref.store %e, %o[%i] : memref<256xbf16>"""
    out = np.zeros(256, ml_dtypes.bfloat16)
    kernel("%o: memref<256xbf16>", body).launch("k", [out])
    np.testing.assert_array_equal(out.astype(np.float32), np.full(256, -2.0))


def test_masked_accesses_leave_the_rest_alone():
    """The last thread reaches 2 elements beyond the arrays, under a mask."""
    body = """
      %j = arith.muli %i, %c4 : index
      %n = arith.constant 1022 : index
      %left = arith.subi %n, %j : index
      %m = vector.create_mask %left : vector<4xi1>
      %z = arith.constant dense<-1.0> : vector<4xf32>
      %v = vector.maskedload %x[%j], %m, %z : memref<1022xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
      %s = vector.reduction <add>, %v : vector<4xf32> into f32
      %b4 = vector.broadcast %s : f32 to vector<4xf32>
      vector.maskedstore %o[%j], %m, %b4 : memref<1022xf32>, vector<4xi1>, vector<4xf32>"""
    out = np.zeros(1022, np.float32)
    counters = kernel("%x: memref<1022xf32>, %o: memref<1022xf32>", body).launch("k", [X[:1022], out])
    padded = np.concatenate([X[:1022], [-1, -1]]).astype(np.float32).reshape(256, 4)
    np.testing.assert_allclose(out, padded.sum(axis=1).repeat(4)[:1022], rtol=1e-5)
    assert counters.global_read_bytes == counters.global_written_bytes == 4 * 1022


def test_transfers_with_padding_and_permutation():
    """Each thread reads a column of two elements of a 128 x 8 view, of which the last lies outside."""
    body = """
      %row = arith.remui %i, %c32 : index
      %v = vector.transfer_read %x[%c63, %row], %f1 {in_bounds = [false], permutation_map = affine_map<(d0, d1) -> (d0)>}
        : memref<64x32xf32>, vector<2xf32>
      %first = arith.cmpi ult, %i, %c32 : index
      scf.if %first {
        %j = arith.muli %row, %c2 : index
        vector.transfer_write %v, %o[%j] {in_bounds = [true]} : vector<2xf32>, memref<64xf32>
      }"""
    x, out = np.arange(64 * 32, dtype=np.float32), np.zeros(64, np.float32)
    kernel("%x: memref<64x32xf32>, %o: memref<64xf32>", body).launch("k", [x, out])
    np.testing.assert_array_equal(out.reshape(32, 2), np.stack([x[-32:], np.ones(32)], axis=1))


def test_wide_and_narrow_vectors():
    """64 bytes of f32 at once, and 4 bytes of bf16."""
    import ml_dtypes

    body = """
      %c16 = arith.constant 16 : index
      %last = arith.cmpi ult, %i, %c63 : index
      scf.if %last {
        %j = arith.muli %i, %c16 : index
        %v = vector.load %x[%j] {alignment = 16 : i64} : memref<1024xf32>, vector<16xf32>
        vector.store %v, %o[%j] {alignment = 16 : i64} : memref<1024xf32>, vector<16xf32>
      }
      %c1008 = arith.constant 1008 : index
      %c16b = arith.constant 16 : index
      %few = arith.cmpi ult, %i, %c16b : index
      scf.if %few {
        %k = arith.addi %c1008, %i : index
        memref.store %f0, %o[%k] : memref<1024xf32>
      }
      %p = arith.muli %i, %c2 : index
      %w = vector.load %y[%p] {alignment = 4 : i64} : memref<512xbf16>, vector<2xbf16>
      %s = vector.shuffle %w, %w [1, 0] : vector<2xbf16>, vector<2xbf16>
      vector.store %s, %z[%p] {alignment = 4 : i64} : memref<512xbf16>, vector<2xbf16>"""
    y = X[:512].astype(ml_dtypes.bfloat16)
    out, z = np.ones(1024, np.float32), np.zeros(512, ml_dtypes.bfloat16)
    kernel("%x: memref<1024xf32>, %y: memref<512xbf16>, %o: memref<1024xf32>, %z: memref<512xbf16>", body).launch("k", [X, y, out, z])
    np.testing.assert_array_equal(out, np.where(np.arange(1024) < 1008, X, 0))
    np.testing.assert_array_equal(z.reshape(-1, 2), y.reshape(-1, 2)[:, ::-1])
