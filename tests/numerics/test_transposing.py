"""Elementwise groups that read across their result's rows, and sums over columns, against numpy: edges, types, what stands around."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program


def matrix(rows, columns, element="f32"):
    return f"tensor<{rows}x{columns}x{element}>"


@pytest.mark.parametrize(
    ("rows", "columns"), [(64, 64), (16, 200), (333, 97), (1000, 129), (17, 16), (15, 300), (4, 1000), (3, 77), (5, 640), (8, 33)]
)
@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f64", np.float64), ("f16", np.float16), ("i8", np.int8)])
def test_a_transposition_within_elementwise_ops(rows, columns, element, dtype):
    into, out = matrix(rows, columns, element), matrix(columns, rows, element)
    text = f"""func.func @main(%x: {into}, %y: {out}) -> {out} {{
      %t = stablehlo.transpose %x, dims = [1, 0] : ({into}) -> {out}
      %r = stablehlo.subtract %t, %y : {out}
      return %r : {out}
    }}"""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((rows, columns), (columns, rows)))
    np.testing.assert_array_equal(hloom.compile(text)(x, y), x.T - y)


@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f16", np.float16), ("i8", np.int8), ("ui8", np.uint8)])
def test_squares_are_transposed_in_registers(element, dtype, tmp_path):
    """Those of bytes, too, of which a register holds more than a tile has rows."""
    text = f"""func.func @main(%x: {matrix(224, 96, element)}) -> {matrix(96, 224, element)} {{
      %t = stablehlo.transpose %x, dims = [1, 0] : ({matrix(224, 96, element)}) -> {matrix(96, 224, element)}
      return %t : {matrix(96, 224, element)}
    }}"""
    x = np.arange(224 * 96).reshape(224, 96).astype(dtype)
    exe = Compilation(load_program(text), dump_dir=tmp_path).executable()
    np.testing.assert_array_equal(exe(x), x.T)
    assert "vector.gather" not in next(tmp_path.glob("*-vector.mlir")).read_text()


@pytest.mark.parametrize("turned", ["dims = [0]", "dims = [1]", "dims = [0, 1]"])
def test_squares_are_read_backwards(turned, tmp_path):
    """A rotation: tiles are squares where they are whole along what is turned around."""
    text = f"""func.func @main(%x: {matrix(224, 96)}) -> {matrix(96, 224)} {{
      %r = stablehlo.reverse %x, {turned} : {matrix(224, 96)}
      %t = stablehlo.transpose %r, dims = [1, 0] : ({matrix(224, 96)}) -> {matrix(96, 224)}
      return %t : {matrix(96, 224)}
    }}"""
    x = np.arange(224 * 96).reshape(224, 96).astype(np.float32)
    exe = Compilation(load_program(text), dump_dir=tmp_path).executable()
    np.testing.assert_array_equal(exe(x), np.flip(x, [d for d in (0, 1) if str(d) in turned]).T)
    assert "vector.gather" not in next(tmp_path.glob("*-vector.mlir")).read_text()


@pytest.mark.parametrize(("columns", "rows"), [(33, 2), (65, 4)])
@pytest.mark.parametrize(("wide", "narrow"), [("i32", "i8"), ("i64", "i32"), ("i32", "i16"), ("i64", "i8")])
def test_a_last_lane_that_is_truncated(columns, rows, wide, narrow):
    """A tail of one lane writes its element alone: the neighbour behind is the next row's, which was written before."""
    text = f"""func.func @main(%x: {matrix(columns, rows, wide)}) -> {matrix(rows, columns, narrow)} {{
      %c = stablehlo.convert %x : ({matrix(columns, rows, wide)}) -> {matrix(columns, rows, narrow)}
      %t = stablehlo.transpose %c, dims = [1, 0] : ({matrix(columns, rows, narrow)}) -> {matrix(rows, columns, narrow)}
      return %t : {matrix(rows, columns, narrow)}
    }}"""
    x = (np.arange(columns * rows) % 99 + 1).reshape(columns, rows)
    found = hloom.compile(text)(x.astype(f"int{wide[1:]}"))
    np.testing.assert_array_equal(found, x.T)


@pytest.mark.parametrize("target", ["cpu", "cpu-avx2"])
@pytest.mark.parametrize("shape", [(19, 33, 50), (70, 40, 9), (9, 35, 41), (33, 9, 12)])
@pytest.mark.parametrize("order", [(0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1), (1, 0, 2)])
def test_orders_of_three_dimensions(order, shape, target):
    """Axes of 9 and 12 fill registers for the most part, of 16 lanes, or one and a part of the next, of 8."""
    moved = tuple(shape[d] for d in order)
    into, out = (f"tensor<{'x'.join(map(str, s))}xf32>" for s in (shape, moved))
    text = f"""func.func @main(%x: {into}) -> {out} {{
      %t = stablehlo.transpose %x, dims = [{", ".join(map(str, order))}] : ({into}) -> {out}
      return %t : {out}
    }}"""
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(hloom.compile(text, target=target)(x), x.transpose(order))


def test_a_matrix_and_its_transpose_in_one_group():
    text = """func.func @main(%x: tensor<70x70xf32>, %c: tensor<70xf32>) -> tensor<70x70xf32> {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<70x70xf32>) -> tensor<70x70xf32>
      %b = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<70xf32>) -> tensor<70x70xf32>
      %s = stablehlo.add %x, %t : tensor<70x70xf32>
      %r = stablehlo.multiply %s, %b : tensor<70x70xf32>
      return %r : tensor<70x70xf32>
    }"""
    rng = np.random.default_rng(0)
    x, c = rng.standard_normal((70, 70), np.float32), rng.standard_normal(70, np.float32)
    np.testing.assert_array_equal(hloom.compile(text)(x, c), (x + x.T) * c[:, None])


@pytest.mark.parametrize(("rows", "columns"), [(100, 300), (33, 17), (1000, 5), (3, 1000)])
def test_the_variance_of_columns(rows, columns):
    whole, kept = matrix(rows, columns), f"tensor<{columns}xf32>"
    text = f"""func.func @main(%x: {whole}, %mean: {kept}) -> {kept} {{
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %b = stablehlo.broadcast_in_dim %mean, dims = [1] : ({kept}) -> {whole}
      %d = stablehlo.subtract %x, %b : {whole}
      %q = stablehlo.multiply %d, %d : {whole}
      %r = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0] : ({whole}, tensor<f32>) -> {kept}
      return %r : {kept}
    }}"""
    rng = np.random.default_rng(0)
    x, mean = rng.standard_normal((rows, columns), np.float32), rng.standard_normal(columns, np.float32)
    np.testing.assert_allclose(hloom.compile(text)(x, mean), np.square(x - mean).sum(0), rtol=1e-5)


@pytest.mark.parametrize("step", range(2, 10))
@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f64", np.float64), ("f16", np.float16), ("i8", np.int8)])
def test_one_element_of_some(step, element, dtype):
    """Of whole turns all are loaded, whichever is wanted; where the last turn is not whole, none behind it are."""
    rng = np.random.default_rng(0)
    for count in (step * 83, step * 83 + 1):
        x = rng.integers(-9, 9, (3, count)).astype(dtype)
        for start in (0, step - 1):
            wanted = x[:, start::step]
            into, out = matrix(3, count, element), matrix(3, wanted.shape[1], element)
            text = f"""func.func @main(%x: {into}) -> {out} {{
              %s = stablehlo.slice %x [0:3, {start}:{count}:{step}] : ({into}) -> {out}
              %r = stablehlo.negate %s : {out}
              return %r : {out}
            }}"""
            np.testing.assert_array_equal(hloom.compile(text)(x), -wanted)
