"""Data movement, reductions, windows and contractions: lowered, canonicalised, run, and compared with the reference interpreter."""

# ruff: noqa: E501  ops of programs stay on one line

from __future__ import annotations

import re

import numpy as np
import pytest
from linalg_oracle import TYPES, lowered, parse_type, run_lowered, tensor_types

from hloom.compiler.interpreter import Interpreter


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter() as started:
        yield started


def random_inputs(text: str, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs = []
    for shape, element in map(parse_type, tensor_types(text)[0]):
        if element == "i1":
            inputs.append(rng.integers(0, 2, shape).astype(np.bool_))
        elif element[0] in "iu":
            inputs.append(rng.integers(-3 if element[0] == "i" else 0, 9, shape).astype(TYPES[element]))
        else:
            inputs.append(rng.normal(size=shape).astype(TYPES[element]))
    return [np.asarray(a) for a in inputs]


def check(interpreter, text: str, inputs: list[np.ndarray] | None = None, tolerance: float = 1e-5) -> str:
    """Compares the result as lowered and after all of ingress; returns the latter's text."""
    inputs = random_inputs(text) if inputs is None else inputs
    wanted = interpreter.run(text, inputs).results
    for passes in (["lower-to-linalg"], None):
        for w, g in zip(wanted, run_lowered(text, inputs, passes)):
            if w.dtype.kind in "biu":
                np.testing.assert_array_equal(g, w)
            else:
                np.testing.assert_allclose(g.astype(np.float64), w.astype(np.float64), rtol=tolerance, atol=tolerance)
    return lowered(text)


def main(arguments: str, result: str, body: str) -> str:
    last = re.findall(r"(%\w+)(?::\d+)? = ", re.sub(r"\{[^{}]*\}", "", body))[-1]
    return f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn {last} : {result}\n}}"


MOVEMENT = {
    "slice": ("%x: tensor<7x9xf32>", "tensor<3x4xf32>", "%0 = stablehlo.slice %x [1:6:2, 0:4] : (tensor<7x9xf32>) -> tensor<3x4xf32>"),
    "prefix": ("%x: tensor<7x9xf32>", "tensor<7x4xf32>", "%0 = stablehlo.slice %x [0:7, 0:4] : (tensor<7x9xf32>) -> tensor<7x4xf32>"),
    "reverse": ("%x: tensor<3x4x5xi8>", "tensor<3x4x5xi8>", "%0 = stablehlo.reverse %x, dims = [0, 2] : tensor<3x4x5xi8>"),
    "transpose": ("%x: tensor<3x4x5xf64>", "tensor<5x3x4xf64>",
                  "%0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<3x4x5xf64>) -> tensor<5x3x4xf64>"),
    "broadcast": ("%x: tensor<3x1xf32>", "tensor<4x3x5xf32>",
                  "%0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<3x1xf32>) -> tensor<4x3x5xf32>"),
    "broadcast permuted": ("%x: tensor<3x4xf32>", "tensor<4x2x3xf32>",
                           "%0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<3x4xf32>) -> tensor<4x2x3xf32>"),
    "reshape": ("%x: tensor<4x6xf32>", "tensor<3x2x4xf32>", "%0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<3x2x4xf32>"),
    "reshape to rank 0": ("%x: tensor<1x1xui8>", "tensor<ui8>", "%0 = stablehlo.reshape %x : (tensor<1x1xui8>) -> tensor<ui8>"),
    "reshape of a computed value": ("%x: tensor<4x6xf32>", "tensor<8x3xf32>", """%n = stablehlo.negate %x : tensor<4x6xf32>
        %0 = stablehlo.reshape %n : (tensor<4x6xf32>) -> tensor<8x3xf32>"""),
    "reshape in between": ("%x: tensor<4x6xf32>", "tensor<3x2x4xf32>", """%n = stablehlo.negate %x : tensor<4x6xf32>
        %r = stablehlo.reshape %n : (tensor<4x6xf32>) -> tensor<2x4x3xf32>
        %0 = stablehlo.transpose %r, dims = [2, 0, 1] : (tensor<2x4x3xf32>) -> tensor<3x2x4xf32>"""),
    "slice of reverse of transpose": ("%x: tensor<5x7xf32>", "tensor<3x2xf32>", """%t = stablehlo.transpose %x, dims = [1, 0] : (tensor<5x7xf32>) -> tensor<7x5xf32>
        %r = stablehlo.reverse %t, dims = [0] : tensor<7x5xf32>
        %0 = stablehlo.slice %r [2:7:2, 3:5] : (tensor<7x5xf32>) -> tensor<3x2xf32>"""),
    "iota f32": ("", "tensor<3x4xf32>", "%0 = stablehlo.iota dim = 1 : tensor<3x4xf32>"),
    "iota ui8": ("", "tensor<300xui8>", "%0 = stablehlo.iota dim = 0 : tensor<300xui8>"),
    "constant ui8": ("", "tensor<2x2xui8>", "%0 = stablehlo.constant dense<[[1, 200], [255, 0]]> : tensor<2x2xui8>"),
    "pad": ("%x: tensor<3x4xf32>, %p: tensor<f32>", "tensor<6x4xf32>",
            "%0 = stablehlo.pad %x, %p, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<6x4xf32>"),
    "pad negative": ("%x: tensor<5x4xf32>, %p: tensor<f32>", "tensor<3x5xf32>",
                     "%0 = stablehlo.pad %x, %p, low = [-1, -1], high = [-1, 2], interior = [0, 0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<3x5xf32>"),
    "pad interior": ("%x: tensor<3x4xi32>, %p: tensor<i32>", "tensor<8x9xi32>",
                     "%0 = stablehlo.pad %x, %p, low = [2, -1], high = [-1, 0], interior = [2, 2] : (tensor<3x4xi32>, tensor<i32>) -> tensor<8x9xi32>"),
    "pad of nothing": ("%x: tensor<0x4xf32>, %p: tensor<f32>", "tensor<2x4xf32>",
                       "%0 = stablehlo.pad %x, %p, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<2x4xf32>"),
    "concatenate": ("%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x0xf32>, %d: tensor<2x4xf32>", "tensor<2x8xf32>",
                    "%0 = stablehlo.concatenate %a, %b, %c, %d, dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>"),
    "concatenate one": ("%a: tensor<2x3xi1>", "tensor<2x3xi1>", "%0 = stablehlo.concatenate %a, dim = 0 : (tensor<2x3xi1>) -> tensor<2x3xi1>"),
    "slice of concatenate": ("%a: tensor<3xf32>, %b: tensor<4xf32>", "tensor<4xf32>", """%n = stablehlo.negate %b : tensor<4xf32>
        %c = stablehlo.concatenate %a, %n, dim = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
        %0 = stablehlo.slice %c [3:7] : (tensor<7xf32>) -> tensor<4xf32>"""),
    "dynamic_slice of a computed value": ("%x: tensor<6x5xf32>, %i: tensor<ui8>, %j: tensor<ui8>", "tensor<2x5xf32>", """%n = stablehlo.exponential %x : tensor<6x5xf32>
        %0 = stablehlo.dynamic_slice %n, %i, %j, sizes = [2, 5] : (tensor<6x5xf32>, tensor<ui8>, tensor<ui8>) -> tensor<2x5xf32>"""),
    "empty": ("%x: tensor<0x5xf32>", "tensor<0x5xf32>", "%0 = stablehlo.add %x, %x : tensor<0x5xf32>"),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVEMENT)
def test_movement(interpreter, name):
    check(interpreter, main(*MOVEMENT[name]))


def test_constant_splat(interpreter):
    check(interpreter, main("%x: tensor<4xui8>", "tensor<4xui8>", """%c = stablehlo.constant dense<250> : tensor<4xui8>
        %0 = stablehlo.maximum %x, %c : tensor<4xui8>"""), [np.array([0, 249, 251, 255], np.uint8)])  # fmt: skip


@pytest.mark.parametrize("start", [-5, 0, 1, 4, 100])
def test_dynamic_slices_clamp(interpreter, start):
    text = main("%x: tensor<6x3xf32>, %u: tensor<2x3xf32>, %i: tensor<i64>, %j: tensor<i64>", "tensor<6x3xf32>", """
        %s = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<6x3xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
        %t = stablehlo.add %s, %u : tensor<2x3xf32>
        %0 = stablehlo.dynamic_update_slice %x, %t, %i, %j : (tensor<6x3xf32>, tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<6x3xf32>""")  # fmt: skip
    x, u, *_ = random_inputs(text)
    check(interpreter, text, [x, u, np.array(start, np.int64), np.array(7, np.int64)])


GATHERS = {
    "embedding": ("tensor<7x4xf32>", "tensor<2x3xi32>", "tensor<2x3x4xf32>",
                  "offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2", "1, 4"),
    "windows": ("tensor<7x4xf32>", "tensor<5x2xi64>", "tensor<5x2x3xf32>",
                "offset_dims = [1, 2], start_index_map = [1, 0], index_vector_dim = 1", "2, 3"),
    "leading vector": ("tensor<7x4xf32>", "tensor<2x5xi32>", "tensor<3x5xf32>",
                       "offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [0, 1], index_vector_dim = 0", "3, 1"),
    "batched": ("tensor<3x7x4xf32>", "tensor<5x3x1xi32>", "tensor<5x3x4xf32>",
                "offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], "
                "start_index_map = [1], index_vector_dim = 2", "1, 1, 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", GATHERS)
def test_gather(interpreter, name):
    source, indices, result, numbers, sizes = GATHERS[name]
    check(interpreter, main(f"%x: {source}, %i: {indices}", result,
          f'%0 = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: {sizes}>}}> : '
          f"({source}, {indices}) -> {result}"))  # fmt: skip


def reduce_text(kind: str, result: str, op: str, init: str, dims: str, element: str) -> str:
    return main(f"%x: {kind}", result, f"""%c = stablehlo.constant dense<{init}> : tensor<{element}>
        %0 = stablehlo.reduce(%x init: %c) applies stablehlo.{op} across dimensions = [{dims}] : ({kind}, tensor<{element}>) -> {result}""")  # fmt: skip


@pytest.mark.parametrize(("dims", "result"), [("0", "5x6"), ("1", "4x6"), ("2", "4x5"), ("0, 2", "5"), ("1, 2", "4"), ("0, 1, 2", "")])
@pytest.mark.parametrize(("op", "init"), [("add", "0.0"), ("maximum", "0xFF800000")])
def test_reduce(interpreter, dims, result, op, init):
    out = f"tensor<{result}xf32>" if result else "tensor<f32>"
    check(interpreter, reduce_text("tensor<4x5x6xf32>", out, op, init, dims, "f32"))


@pytest.mark.parametrize(
    ("element", "op", "init"), [("i32", "add", "3"), ("ui8", "maximum", "0"), ("i1", "or", "false"), ("i1", "and", "true")]
)
def test_reduce_integers(interpreter, element, op, init):
    check(interpreter, reduce_text(f"tensor<4x5x{element}>", f"tensor<4x{element}>", op, init, "1", element))


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_sums_of_halves_accumulate_in_f32(element):
    text = reduce_text(f"tensor<2x4096x{element}>", f"tensor<2x{element}>", "add", "0.0", "1", element)
    x = np.ones((2, 4096), TYPES[element])
    (got,) = run_lowered(text, [x])
    np.testing.assert_array_equal(got.astype(np.float32), [4096, 4096])


def test_reduce_over_nothing(interpreter):
    check(interpreter, reduce_text("tensor<3x0xf32>", "tensor<3xf32>", "add", "1.5", "1", "f32"))


def test_reduce_of_a_splat(interpreter):
    check(interpreter, main("", "tensor<3xf32>", """%x = stablehlo.constant dense<2.0> : tensor<3x5xf32>
        %c = stablehlo.constant dense<1.0> : tensor<f32>
        %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>"""))  # fmt: skip


def test_reduce_with_computed_init(interpreter):
    check(interpreter, main("%x: tensor<3x5xf32>, %i: tensor<f32>", "tensor<3xf32>", """%c = stablehlo.add %i, %i : tensor<f32>
        %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>"""))  # fmt: skip


ARGMAX = """func.func @main(%x: tensor<4x9xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<4x9xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] : (tensor<4x9xf32>, tensor<4x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %p, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}"""


def test_reduce_of_several_operands(interpreter):
    check(interpreter, ARGMAX)


def window_text(kind: str, result: str, attributes: str, op: str = "add", init: str = "0.0") -> str:
    return main(f"%x: {kind}", result, f"""%c = stablehlo.constant dense<{init}> : tensor<f32>
        %0 = "stablehlo.reduce_window"(%x, %c) <{{{attributes}}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.{op} %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
        }}) : ({kind}, tensor<f32>) -> {result}""").replace("return %s : " + result, "return %0 : " + result)  # fmt: skip


WINDOWS = {
    "plain": ("tensor<4x8xf32>", "tensor<3x6xf32>", "window_dimensions = array<i64: 2, 3>"),
    "strided": ("tensor<1x8x8xf32>", "tensor<1x4x3xf32>", "window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 2, 2>"),
    "dilated": ("tensor<4x9xf32>", "tensor<4x5xf32>", "window_dimensions = array<i64: 1, 3>, window_dilations = array<i64: 1, 2>"),
    "padded": ("tensor<4x8xf32>", "tensor<4x8xf32>",
               "window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>"),
    "base dilated": ("tensor<4x4xf32>", "tensor<4x8xf32>",
                     "window_dimensions = array<i64: 1, 2>, base_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>"),
}  # fmt: skip


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize(("op", "init"), [("add", "0.0"), ("maximum", "0xFF800000")])
def test_reduce_window(interpreter, name, op, init):
    check(interpreter, window_text(*WINDOWS[name], op, init))


DOTS = {
    "plain": ("4x5xf32", "5x6xf32", "4x6xf32", "contracting_dims = [1] x [0]"),
    "transposed": ("5x4xf32", "6x5xf32", "4x6xf32", "contracting_dims = [0] x [1]"),
    "batch": ("2x4x5xf32", "2x5x6xf32", "2x4x6xf32", "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
    "batch elsewhere": ("4x5x2x3xf32", "3x6x5x2xf32", "2x3x4x6xf32", "batching_dims = [2, 3] x [3, 0], contracting_dims = [1] x [2]"),
    "two contracting": ("4x5x3xf32", "3x6x5xf32", "4x6xf32", "contracting_dims = [1, 2] x [2, 0]"),
    "none contracting": ("4xf32", "6xf32", "4x6xf32", "contracting_dims = [] x []"),
    "vectors": ("5xf32", "5xf32", "f32", "contracting_dims = [0] x [0]"),
    "one row": ("1x5xf32", "5x6xf32", "1x6xf32", "contracting_dims = [1] x [0]"),
    "one k": ("4x1xf32", "1x6xf32", "4x6xf32", "contracting_dims = [1] x [0]"),
    "f64": ("4x5xf64", "5x6xf64", "4x6xf64", "contracting_dims = [1] x [0]"),
    "bf16 to f32": ("4x5xbf16", "5x6xbf16", "4x6xf32", "contracting_dims = [1] x [0]"),
    "f16": ("4x5xf16", "5x6xf16", "4x6xf16", "contracting_dims = [1] x [0]"),
    "i8 to i32": ("4x5xi8", "5x6xi8", "4x6xi32", "contracting_dims = [1] x [0]"),
    "ui8 to ui32": ("4x5xui8", "5x6xui8", "4x6xui32", "contracting_dims = [1] x [0]"),
}


@pytest.mark.parametrize("name", DOTS)
def test_dot_general(interpreter, name):
    left, right, result, numbers = (f"tensor<{t}>" if i < 3 else t for i, t in enumerate(DOTS[name]))
    text = main(f"%x: {left}, %y: {right}", result, f"%0 = stablehlo.dot_general %x, %y, {numbers} : ({left}, {right}) -> {result}")
    check(interpreter, text, tolerance=2e-3 if "f16" in result else 1e-5)


def test_dot_general_over_nothing():
    """The interpreter aborts on it."""
    text = main("%x: tensor<4x0xf32>, %y: tensor<0x6xf32>", "tensor<4x6xf32>",
                "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x0xf32>, tensor<0x6xf32>) -> tensor<4x6xf32>")  # fmt: skip
    (got,) = run_lowered(text, random_inputs(text))
    np.testing.assert_array_equal(got, np.zeros((4, 6), np.float32))


CONVOLUTIONS = {
    "1d": ("2x9x3", "4x3x5", "2x6x5", "[b, 0, f]x[0, i, o]->[b, 0, f]", "", ""),
    "2d nchw": ("2x3x8x7", "4x3x3x2", "2x4x6x6", "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "", ""),
    "2d strided": ("1x9x9x2", "3x3x2x4", "1x4x4x4", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "stride = [2, 2]", ""),
    "2d dilated": ("1x9x9x2", "3x3x2x4", "1x5x5x4", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "rhs_dilate = [2, 2]", ""),
    "2d padded": ("1x5x5x2", "3x3x2x4", "1x5x5x4", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "pad = [[1, 1], [1, 1]]", ""),
    "2d lhs dilated": ("1x4x4x2", "3x3x2x4", "1x5x5x4", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "lhs_dilate = [2, 2]", ""),
    "2d reversed": ("1x5x5x2", "3x3x2x4", "1x3x3x4", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "reverse = [true, false]", ""),
    "3d": ("1x5x4x4x2", "2x2x2x2x3", "1x4x3x3x3", "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]", "", ""),
    "depthwise": ("1x6x6x4", "3x3x1x4", "1x4x4x4", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", "groups"),
    "groups": ("1x6x6x4", "3x3x2x6", "1x4x4x6", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", "2 groups"),
    "batch groups": ("4x6x6x3", "3x3x3x6", "2x4x4x6", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", "2 batch groups"),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(interpreter, name):
    left, right, result, numbers, window, groups = CONVOLUTIONS[name]
    left, right, result = (f"tensor<{t}xf32>" for t in (left, right, result))
    feature_groups = {"groups": 4, "2 groups": 2}.get(groups, 1)
    text = main(f"%x: {left}, %y: {right}", result, f"""%0 = stablehlo.convolution(%x, %y) dim_numbers = {numbers}, window = {{{window}}}
        {{batch_group_count = {2 if groups == "2 batch groups" else 1} : i64, feature_group_count = {feature_groups} : i64}} : ({left}, {right}) -> {result}""")  # fmt: skip
    check(interpreter, text)


SOFTMAX = """func.func @main(%x: tensor<2x3x17xf32>) -> tensor<2x3x17xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<2x3x17xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x17xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2x3x17xf32>
  %3 = stablehlo.exponential %2 : tensor<2x3x17xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x3x17xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x17xf32>
  %6 = stablehlo.divide %3, %5 : tensor<2x3x17xf32>
  return %6 : tensor<2x3x17xf32>
}"""


def test_softmax_keeps_the_exponential_and_nothing_else(interpreter):
    text = check(interpreter, SOFTMAX)
    assert text.count("linalg.generic") == 4  # max, exp, sum, quotient
    assert text.count("math.exp") == 1


def test_a_long_chain_becomes_one_generic():
    """Longer than Python's recursion limit."""
    body = "\n".join(f"%{i} = stablehlo.add %{i - 1}, %{'x' if i % 3 else i - 1} : tensor<8xf32>" for i in range(1, 2001))
    text = f"func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{\n%0 = stablehlo.negate %x : tensor<8xf32>\n{body}\nreturn %2000 : tensor<8xf32> }}"
    assert lowered(text).count("linalg.generic") == 1


def test_sharing_does_not_grow():
    """Every value is used twice: emitting each use anew would take 2^60 ops."""
    body = "\n".join(f"%{i} = stablehlo.multiply %{i - 1}, %{i - 1} : tensor<8xf32>" for i in range(1, 61))
    text = f"func.func @main(%0: tensor<8xf32>) -> tensor<8xf32> {{\n{body}\nreturn %60 : tensor<8xf32> }}"
    assert lowered(text).count("arith.mulf") == 60


def test_results_of_one_shape_share_a_generic(interpreter):
    text = check(interpreter, """func.func @main(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi1>) {
      %0 = stablehlo.tanh %x : tensor<4x6xf32>
      %1 = stablehlo.multiply %0, %y : tensor<4x6xf32>
      %2 = stablehlo.compare LT, %0, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
      return %1, %2 : tensor<4x6xf32>, tensor<4x6xi1> }""")  # fmt: skip
    assert text.count("linalg.generic") == 1
    assert text.count("math.tanh") == 1


def test_ops_without_a_lowering_are_refused():
    from hloom.passes.errors import UnsupportedOpError

    text = """func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
      %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
      return %0 : tensor<4xcomplex<f32>> }"""
    with pytest.raises(UnsupportedOpError, match="stablehlo.fft"):
        lowered(text, ["lower-to-linalg"])


def test_contraction_of_one_k_and_one_row(interpreter):
    text = main("%x: tensor<1x5xf32>, %w: tensor<7x5xf32>, %b: tensor<7xf32>", "tensor<1x7xf32>", """
        %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<7x5xf32>) -> tensor<5x7xf32>
        %d = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<1x5xf32>, tensor<5x7xf32>) -> tensor<1x7xf32>
        %c = stablehlo.reshape %b : (tensor<7xf32>) -> tensor<1x7xf32>
        %0 = stablehlo.add %d, %c : tensor<1x7xf32>""")  # fmt: skip
    result = check(interpreter, text)
    assert 'iterator_types = ["parallel", "reduction"]' in result  # a matrix times a vector


def test_heads_are_split_and_merged_by_views(interpreter):
    """The reshapes of attention cost no quotient or remainder in any map."""
    text = main("%x: tensor<2x6x12xf32>, %b: tensor<12xf32>", "tensor<2x6x12xf32>", """
        %c = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<12xf32>) -> tensor<2x6x12xf32>
        %s = stablehlo.add %x, %c : tensor<2x6x12xf32>
        %h = stablehlo.reshape %s : (tensor<2x6x12xf32>) -> tensor<2x6x3x4xf32>
        %t = stablehlo.transpose %h, dims = [0, 2, 1, 3] : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
        %n = stablehlo.exponential %t : tensor<2x3x6x4xf32>
        %u = stablehlo.transpose %n, dims = [0, 2, 1, 3] : (tensor<2x3x6x4xf32>) -> tensor<2x6x3x4xf32>
        %0 = stablehlo.reshape %u : (tensor<2x6x3x4xf32>) -> tensor<2x6x12xf32>""")  # fmt: skip
    result = check(interpreter, text)
    assert "floordiv" not in result and " mod " not in result
    assert result.count("linalg.generic") == 1
