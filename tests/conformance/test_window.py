"""reduce_window: windows of one to three dimensions with strides, paddings and dilations, any body, several operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import Program, Value, combine, integers
from values import edges, small

from hloom.runtime.dtypes import numpy_dtype

RANDOM = settings(max_examples=3, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def reduce_window(
    p: Program,
    values: Sequence[Value],
    inits: Sequence[float],
    body: Callable[..., Value | Sequence[Value]],
    window: Sequence[int],
    *,
    strides: Sequence[int] = (),
    padding: Sequence[tuple[int, int]] = (),
    base: Sequence[int] = (),
    dilation: Sequence[int] = (),
) -> list[Value]:
    rank = len(window)
    strides, base, dilation, padding = strides or [1] * rank, base or [1] * rank, dilation or [1] * rank, padding or [(0, 0)] * rank
    shape = []
    for n, size, stride, b, d, (low, high) in zip(values[0].shape, window, strides, base, dilation, padding):
        padded = low + ((n - 1) * b + 1 if n else 0) + high
        reach = (size - 1) * d + 1
        shape.append((padded - reach) // stride + 1 if padded >= reach else 0)
    starts = [p.constant(np.array(i).astype(numpy_dtype(v.element))) for i, v in zip(inits, values)]
    attributes = f"window_dimensions = {integers(window)}, window_strides = {integers(strides)}, base_dilations = {integers(base)}, "
    attributes += f"window_dilations = {integers(dilation)}, padding = dense<{[list(pair) for pair in padding]}> : tensor<{rank}x2xi64>"
    region = p.region([((), v.element) for v in [*values, *values]], body)
    return p.ops("reduce_window", [*values, *starts], [(shape, v.element) for v in values], attributes, [region])


WINDOWS = [
    ("pool", (2, 9, 11, 3), (1, 2, 2, 1), {"strides": (1, 2, 2, 1)}),
    ("overlapping", (2, 9, 11, 3), (1, 3, 3, 1), {"strides": (1, 2, 2, 1), "padding": [(0, 0), (1, 1), (1, 1), (0, 0)]}),
    ("channels first", (2, 3, 9, 11), (1, 1, 3, 2), {"strides": (1, 1, 3, 1)}),
    ("one dimension", (17,), (3,), {}),
    ("everything", (5, 7), (5, 7), {}),
    ("of one", (5, 7), (1, 1), {"strides": (2, 3)}),
    ("running sum", (61,), (61,), {"padding": [(60, 0)]}),
    ("uneven padding", (5, 7), (3, 2), {"padding": [(0, 4), (3, 1)], "strides": (2, 1)}),
    ("dilated window", (9, 11), (3, 2), {"dilation": (2, 4)}),
    ("dilated image", (4, 5), (3, 2), {"base": (2, 3), "padding": [(1, 1), (0, 2)]}),
    ("three dimensions", (3, 5, 6, 7), (1, 2, 3, 2), {"strides": (1, 1, 2, 2)}),
    ("nothing but padding", (2, 2), (3, 3), {"padding": [(4, 4), (4, 4)], "strides": (2, 2)}),
    ("no windows", (2, 5), (3, 2), {}),
    ("one window, part of the image", (2, 7, 7, 3), (1, 3, 3, 1), {"strides": (1, 5, 9, 1)}),
    ("one window, part of the padding", (2, 4), (2, 2), {"strides": (1, 9), "padding": [(2, 0), (0, 2)]}),
    ("of one element", (1, 1), (1, 1), {}),
]


REDUCTIONS = [("maximum", 0), ("add", 0), ("minimum", 3), ("add", 2)]


@pytest.mark.parametrize("turn", range(8))
def test_windows(interpreter, turn):
    """Each window with each type and with each reduction; a program has them all."""
    p, elements = Program(), ["f32", "f64", "f16", "bf16", "i32", "i8", "ui8", "i64"]
    for number, (label, shape, window, options) in enumerate(WINDOWS):
        element, (name, init) = elements[(turn + number) % 8], REDUCTIONS[(turn + turn // 4 + number // 8) % 4]
        x = p.input(small(shape, element))
        p.check(f"{label}, {name} of {element}", reduce_window(p, [x], [init], combine(p, name), window, **options)[0])
    p.verify(interpreter)


@pytest.mark.parametrize("element", ["f32", "f16", "f64"])
def test_edge_values(interpreter, element):
    p = Program()
    x = p.input(edges(element))
    for name, init in (("maximum", -np.inf), ("minimum", np.inf)):
        p.check(name, reduce_window(p, [x], [init], combine(p, name), (2,))[0])
        p.check(f"{name}, padded", reduce_window(p, [x], [init], combine(p, name), (3,), padding=[(2, 2)])[0])
    p.verify(interpreter)


def test_bools_and_several_operands(interpreter):
    p = Program()
    flags = p.input(small((7, 9), "i1"))
    p.check("any", reduce_window(p, [flags], [False], combine(p, "or"), (2, 3))[0])
    p.check("all", reduce_window(p, [flags], [True], combine(p, "and"), (2, 3), padding=[(1, 0), (1, 1)])[0])
    x, y = p.input(small((7, 9), "f32", 1)), p.input(small((7, 9), "i32", 2))

    def larger(a: Value, i: Value, b: Value, j: Value) -> Sequence[Value]:
        first = p.op("compare", [a, b], element="i1", attributes="comparison_direction = #stablehlo<comparison_direction GE>")
        return p.op("select", [first, a, b], element="f32"), p.op("select", [first, i, j], element="i32")

    def both(a: Value, i: Value, b: Value, j: Value) -> Sequence[Value]:
        return p.op("add", [a, b]), p.op("maximum", [i, j])

    for label, body in (("larger", larger), ("both", both)):
        for number, value in enumerate(reduce_window(p, [x, y], [-9, 0], body, (2, 3), strides=(1, 2), padding=[(1, 1), (0, 1)])):
            p.check(f"{label}: result {number}", value)
    p.verify(interpreter)


@RANDOM
@given(st.data())
def test_random_windows(interpreter, data):
    p = Program()
    for number in range(10):
        rank = data.draw(st.integers(1, 4))
        shape = tuple(data.draw(st.integers(1, 9 if rank < 4 else 4)) for _ in range(rank))

        def each(low: int, high: int, rank: int = rank) -> list[int]:
            return [data.draw(st.integers(low, high)) for _ in range(rank)]

        window = [min(n, w) for n, w in zip(shape, each(1, 4))]
        options = {"strides": each(1, 3), "padding": list(zip(each(0, 2), each(0, 2))), "base": each(1, 2), "dilation": each(1, 2)}
        x = p.input(small(shape, data.draw(st.sampled_from(["f32", "i32"]))))
        name, init = data.draw(st.sampled_from(["add", "maximum"])), data.draw(st.integers(0, 2))
        (found,) = reduce_window(p, [x], [init], combine(p, name), window, **options)
        p.check(f"{number}: {name} of {x.type} in {window} {options}", found)
    p.verify(interpreter)
