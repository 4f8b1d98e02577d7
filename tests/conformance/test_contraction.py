"""dot_general and convolution in all their forms.

Integers are exact. Floats may be summed in any order: the bound is that of the accumulator's type (f32 for half precision) over the sum of
the products' magnitudes, and then one rounding to the result's type.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import FLOATS, INTEGERS, Program, Value
from values import normals, small

RANDOM = settings(max_examples=3, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def dot(p: Program, x: Value, y: Value, batch=((), ()), contracting=((), ()), element: str | None = None) -> Value:
    free = [[n for d, n in enumerate(v.shape) if d not in (*batch[i], *contracting[i])] for i, v in enumerate((x, y))]
    shape = [x.shape[d] for d in batch[0]] + free[0] + free[1]
    numbers = (
        f"lhs_batching_dimensions = {list(batch[0])}, rhs_batching_dimensions = {list(batch[1])}, "
        f"lhs_contracting_dimensions = {list(contracting[0])}, rhs_contracting_dimensions = {list(contracting[1])}"
    )
    return p.op("dot_general", [x, y], shape, element, f"dot_dimension_numbers = #stablehlo.dot<{numbers}>")


FORMS = [
    ("matrices", (17, 61), (61, 5), ((), ()), ((1,), (0,))),
    ("left transposed", (61, 17), (61, 5), ((), ()), ((0,), (0,))),
    ("right transposed", (17, 61), (5, 61), ((), ()), ((1,), (1,))),
    ("both transposed", (61, 17), (5, 61), ((), ()), ((0,), (1,))),
    ("vector and matrix", (61,), (61, 5), ((), ()), ((0,), (0,))),
    ("matrix and vector", (17, 61), (61,), ((), ()), ((1,), (0,))),
    ("row", (1, 61), (61, 17), ((), ()), ((1,), (0,))),
    ("column", (17, 61), (61, 1), ((), ()), ((1,), (0,))),
    ("inner", (61,), (61,), ((), ()), ((0,), (0,))),
    ("outer", (17,), (5,), ((), ()), ((), ())),
    ("of one", (1, 1), (1, 1), ((), ()), ((1,), (0,))),
    ("by a number", (), (17,), ((), ()), ((), ())),
    ("batch", (3, 7, 17), (3, 17, 5), ((0,), (0,)), ((2,), (1,))),
    ("batch in other places", (7, 3, 17), (17, 5, 3), ((1,), (2,)), ((2,), (0,))),
    ("two batches", (2, 3, 7, 9), (3, 9, 2, 5), ((0, 1), (2, 0)), ((3,), (1,))),
    ("batch of vectors", (3, 17), (3, 17), ((0,), (0,)), ((1,), (1,))),
    ("batch, nothing summed", (3, 7), (3, 5), ((0,), (0,)), ((), ())),
    ("batch alone", (3, 7), (3, 7), ((0, 1), (0, 1)), ((), ())),
    ("two summed", (7, 3, 5), (5, 3, 4), ((), ()), ((1, 2), (1, 0))),
    ("all summed", (3, 5), (3, 5), ((), ()), ((0, 1), (0, 1))),
    ("many free", (2, 3, 17), (17, 4, 5), ((), ()), ((2,), (0,))),
]


@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_dot_general(interpreter, element):
    """Small integers: every sum is exact, but for bf16 rounded once."""
    p = Program()
    for label, left, right, batch, contracting in FORMS:
        x, y = p.input(small(left, element, 1)), p.input(small(right, element, 2))
        p.check(label, dot(p, x, y, batch, contracting))
    p.verify(interpreter)


@pytest.mark.parametrize("element", ["f32", "bf16", "i8", "ui64"])
def test_dot_general_of_no_elements(interpreter, element):
    """A sum of nothing is 0; the interpreter aborts."""
    p = Program()
    shapes = {"rows": ((0, 17), (17, 5)), "columns": ((3, 17), (17, 0)), "depth": ((7, 0), (0, 5)), "anything": ((0, 0), (0, 0))}
    for label, (left, right) in shapes.items():
        x, y = p.input(small(left, element)), p.input(small(right, element))
        p.check(f"no {label}", dot(p, x, y, contracting=((1,), (0,))), np.zeros((left[0], right[1]), p.inputs[0].dtype))
    x = p.input(small((3, 0, 5), element))
    p.check("batch of nothing to sum", dot(p, x, x, ((0,), (0,)), ((1,), (1,))), np.zeros((3, 5, 5), p.inputs[0].dtype))
    p.verify(interpreter)


@pytest.mark.parametrize("element", FLOATS)
def test_dot_general_of_floats(interpreter, element):
    p = Program()
    shapes = [(1, 1021, 1), (3, 61, 17), (61, 257, 33), (64, 64, 64), (128, 17, 96), (1, 300, 257), (250, 33, 1), (33, 1, 33)]
    for m, k, n in shapes:
        left, right = normals((m, k), element, 1), normals((k, n), element, 2)
        p.check(f"{m}x{k}x{n}", dot(p, p.input(left), p.input(right), contracting=((1,), (0,))), **close(left, right, element))
    p.verify(interpreter)


def close(left: np.ndarray, right: np.ndarray, element: str) -> dict:
    depth = left.shape[1]
    products = np.abs(left.astype(np.float64)) @ np.abs(right.astype(np.float64))
    accumulator = 2**-53 if element == "f64" else 2**-24
    return {"ulps": 1, "absolute": float(products.max()) * accumulator * max(4, depth**0.5)}


@pytest.mark.parametrize(
    ("source", "result"), [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("i8", "i32"), ("ui8", "i32"), ("i8", "f32"), ("ui64", "i32")]
)
def test_results_of_another_type(interpreter, source, result):
    p = Program()
    for label, left, right, batch, contracting in FORMS[:14]:
        x, y = p.input(small(left, source, 1)), p.input(small(right, source, 2))
        p.check(label, dot(p, x, y, batch, contracting, result))
    p.verify(interpreter)


@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
def test_layer(interpreter, element):
    """What stands around a dot: bias, relu, a residual, a transposed operand, a product that is used twice."""
    p = Program()
    x, w, v = (p.input(small(shape, element, seed)) for shape, seed in (((17, 33), 1), ((61, 33), 2), ((61, 9), 3)))
    bias = p.input(small((61,), element, 4))
    h = dot(p, x, w, contracting=((1,), (1,)))
    h = p.op("add", [h, p.op("broadcast_in_dim", [bias], (17, 61), attributes="broadcast_dimensions = array<i64: 1>")])
    zero = p.constant(np.zeros((17, 61), p.inputs[0].dtype))
    relu = p.op("maximum", [h, zero])
    p.check("hidden", h)
    p.check("out", dot(p, p.op("minimum", [relu, p.op("add", [zero, p.constant(np.full((17, 61), 3).astype(p.inputs[0].dtype))])]), v,
                       contracting=((1,), (0,))))  # fmt: skip
    transposed = p.op("transpose", [relu], (61, 17), attributes="permutation = array<i64: 1, 0>")
    p.check("of transposed", dot(p, transposed, x, contracting=((1,), (0,))), ulps=1)
    p.verify(interpreter)


def test_special_values_go_through(interpreter):
    p = Program()
    left, right = np.ones((5, 17), np.float32), np.ones((17, 6), np.float32)
    left[1, 3], left[2, 4], left[3, 0], left[4, 16] = np.nan, np.inf, -np.inf, 0
    right[4, 2], right[0, 1], right[16, 3] = 0, -np.inf, np.inf
    p.check("dot", dot(p, p.input(left), p.input(right), contracting=((1,), (0,))))
    p.verify(interpreter)


@RANDOM
@given(st.data())
def test_random_dots(interpreter, data):
    p = Program()
    for number in range(10):
        sizes = {axis: data.draw(st.sampled_from([1, 2, 3, 7, 17])) for axis in "abcdef"}
        batch, summed = data.draw(st.sampled_from(["", "a", "ab"])), data.draw(st.sampled_from(["", "c", "cd"]))
        left = data.draw(st.permutations(batch + summed + data.draw(st.sampled_from(["", "e"]))))
        right = data.draw(st.permutations(batch + summed + data.draw(st.sampled_from(["", "f"]))))
        element = data.draw(st.sampled_from(["f32", "i32", "f64"]))
        x, y = (p.input(small(tuple(sizes[a] for a in axes), element, seed)) for seed, axes in enumerate((left, right)))
        places = [[[axes.index(a) for a in group] for axes in (left, right)] for group in (batch, summed)]
        p.check(f"{number}: {''.join(left)} by {''.join(right)} in {element}", dot(p, x, y, *places))
    p.verify(interpreter)


def convolution(
    p: Program,
    x: Value,
    w: Value,
    *,
    strides: Sequence[int] = (),
    padding: Sequence[tuple[int, int]] = (),
    dilation: Sequence[int] = (),
    base: Sequence[int] = (),
    groups: int = 1,
    batch_groups: int = 1,
    layout: str = "b01f,01io,b01f",
    flipped: Sequence[bool] = (),
) -> Value:
    """`layout` writes digits for spatial dimensions, as StableHLO does."""
    images, kernels, results = layout.split(",")
    rank = len(x.shape) - 2
    strides, dilation, base = strides or [1] * rank, dilation or [1] * rank, base or [1] * rank
    padding, flipped = padding or [(0, 0)] * rank, flipped or [False] * rank
    sizes = {}
    for d in range(rank):
        size = x.shape[images.index(str(d))]
        window = (w.shape[kernels.index(str(d))] - 1) * dilation[d] + 1
        padded = (size - 1) * base[d] + 1 + sum(padding[d]) if size else sum(padding[d])
        sizes[str(d)] = max(0, (padded - window) // strides[d] + 1)
    sizes["b"], sizes["f"] = x.shape[images.index("b")] // batch_groups, w.shape[kernels.index("o")]
    numbers = "x".join(f"[{', '.join(part)}]" for part in (images, kernels)) + f"->[{', '.join(results)}]"

    def array(values: Sequence[int]) -> str:
        return f"array<i64: {', '.join(map(str, values))}>"

    attributes = ", ".join(
        [
            f"dimension_numbers = #stablehlo.conv<{numbers}>",
            f"window_strides = {array(strides)}, lhs_dilation = {array(base)}, rhs_dilation = {array(dilation)}",
            f"padding = dense<{[list(pair) for pair in padding]}> : tensor<{rank}x2xi64>",
            f"window_reversal = array<i1: {', '.join(str(f).lower() for f in flipped)}>",
            f"feature_group_count = {groups} : i64, batch_group_count = {batch_groups} : i64",
        ]
    )
    return p.op("convolution", [x, w], [sizes[c] for c in results], attributes=attributes)


ONE, THREE = "b0f,0io,b0f", "b012f,012io,b012f"
CONVOLUTIONS = [
    ("plain", (2, 9, 11, 3), (3, 3, 3, 5), {}),
    ("same", (2, 9, 11, 3), (3, 3, 3, 5), {"padding": [(1, 1), (1, 1)]}),
    ("strides", (1, 9, 11, 3), (3, 2, 3, 5), {"strides": (2, 3)}),
    ("uneven padding", (1, 5, 6, 2), (3, 3, 2, 4), {"padding": [(0, 3), (2, 1)], "strides": (2, 1)}),
    ("negative padding", (1, 9, 8, 2), (3, 3, 2, 4), {"padding": [(-1, -2), (1, -1)]}),
    ("dilated kernel", (1, 9, 11, 2), (3, 2, 2, 4), {"dilation": (2, 3)}),
    ("dilated image", (1, 4, 5, 2), (3, 3, 2, 4), {"base": (2, 3), "padding": [(2, 2), (1, 2)]}),
    ("all of it", (1, 5, 6, 2), (2, 3, 2, 4), {"base": (2, 1), "dilation": (1, 2), "strides": (1, 2), "padding": [(1, 0), (3, 2)]}),
    ("flipped", (1, 6, 7, 2), (3, 2, 2, 4), {"flipped": (True, True)}),
    ("groups", (2, 6, 7, 6), (3, 3, 2, 9), {"groups": 3}),
    ("depthwise", (1, 9, 9, 17), (3, 3, 1, 17), {"groups": 17, "padding": [(1, 1), (1, 1)]}),
    ("depthwise, two each", (1, 6, 6, 5), (3, 3, 1, 10), {"groups": 5}),
    ("batch groups", (6, 5, 6, 2), (3, 3, 2, 9), {"batch_groups": 3}),
    ("by one", (2, 5, 7, 17), (1, 1, 17, 19), {}),
    ("the whole image", (2, 5, 4, 3), (5, 4, 3, 6), {}),
    ("channels first", (2, 3, 9, 7), (5, 3, 3, 3), {"layout": "bf01,oi01,bf01", "padding": [(1, 1), (1, 1)]}),
    ("odd layout", (9, 3, 7, 2), (3, 5, 3, 3), {"layout": "0f1b,0o1i,1bf0"}),
    ("1-D", (2, 17, 3), (5, 3, 4), {"layout": ONE, "strides": (2,), "padding": [(2, 2)]}),
    ("1-D, long", (1, 257, 1), (7, 1, 1), {"layout": ONE}),
    ("3-D", (1, 5, 6, 7, 2), (2, 3, 2, 2, 4), {"layout": THREE, "strides": (1, 2, 1), "padding": [(1, 0), (1, 1), (0, 1)]}),
    ("3-D, dilated groups", (1, 4, 5, 6, 4), (2, 2, 2, 2, 6), {"layout": THREE, "groups": 2, "dilation": (1, 2, 1)}),
    ("one window, part of the image", (1, 7, 7, 3), (3, 3, 3, 5), {"strides": (9, 5)}),
    ("no windows", (1, 2, 2, 3), (3, 3, 3, 5), {}),
    ("no images", (0, 5, 5, 3), (3, 3, 3, 5), {}),
]


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "f64", "i32", "i8", "ui8"])
def test_convolution(interpreter, element):
    p = Program()
    for label, image, kernel, options in CONVOLUTIONS:
        x, w = p.input(small(image, element, 1)), p.input(small(kernel, element, 2))
        p.check(label, convolution(p, x, w, **options))
    p.verify(interpreter)


TURNED = [
    ("both", (1, 4, 5, 4), (3, 2, 4, 40), {"padding": [(2, 0), (0, 1)]}, (0, 1)),
    ("one, dilated", (1, 3, 2, 4), (3, 2, 4, 40), {"base": (2, 1), "dilation": (1, 2), "padding": [(1, 0), (3, 1)]}, (0,)),
    ("groups", (1, 3, 4, 8), (3, 3, 4, 40), {"groups": 2, "padding": [(1, 1), (2, 0)]}, (0, 1)),
    ("batch groups", (2, 3, 4, 8), (3, 3, 8, 40), {"batch_groups": 2, "padding": [(1, 1), (0, 0)]}, (0, 1)),
    ("channels first", (1, 4, 5, 3), (4, 40, 3, 3), {"layout": "bf01,io01,bf01", "padding": [(1, 1), (0, 1)]}, (3,)),
]


@pytest.mark.parametrize("element", ["f32", "i32"])
def test_convolution_by_turned_weights(interpreter, element):
    """More of them than of what they meet."""
    p = Program()
    for label, image, kernel, options, turned in TURNED:
        x, w = p.input(small(image, element, 1)), p.input(small(kernel, element, 2))
        reverse = p.op("reverse", [w], kernel, attributes=f"dimensions = array<i64: {', '.join(map(str, turned))}>")
        p.check(label, convolution(p, x, reverse, **options))
    p.verify(interpreter)


def test_convolution_without_spatial_dimensions(interpreter):
    p = Program()
    x, w = p.input(small((5, 7), "f32", 1)), p.input(small((7, 9), "f32", 2))
    numbers = "dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64"
    p.check("rank 2", p.op("convolution", [x, w], (5, 9), attributes=numbers))
    p.verify(interpreter)
