"""select_and_scatter: any selection, windows with strides and padding, NaN and ties, as the interpreter says, and an init of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import FLOATS, INTEGERS, Program, Value, combine, integers
from values import small

import hloom

RANDOM = settings(max_examples=2, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def selected(p: Program, x: Value, source: Value, init: Value, direction: str, window, strides, padding) -> Value:
    pairs = f"dense<{[list(pair) for pair in padding]}> : tensor<{len(window)}x2xi64>"
    attributes = f"window_dimensions = {integers(window)}, window_strides = {integers(strides)}, padding = {pairs}"
    compared = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
    scalars = [((), x.element)] * 2
    regions = [
        p.region(scalars, lambda a, b: p.op("compare", [a, b], element="i1", attributes=compared)),
        p.region(scalars, combine(p, "add")),
    ]
    return p.op("select_and_scatter", [x, source, init], attributes=attributes, regions=regions)


@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_every_type(interpreter, element):
    """Of equal elements GE keeps the first, GT takes the last; small integers have many."""
    p = Program()
    x, source, zero = p.input(small((7, 9), element, 1)), p.input(small((3, 4), element, 2)), p.input(small((), element) * 0)
    for direction in ("GE", "GT", "LE", "LT"):
        p.check(direction, selected(p, x, source, zero, direction, (3, 3), (2, 2), [(0, 0), (0, 0)]))
    p.verify(interpreter)


def test_nan_and_padding(interpreter):
    p = Program()
    values = np.array([np.nan, 1, np.nan, -np.inf, np.nan, np.nan, 5, -0.0, 0.0], np.float32)
    zero = p.input(np.float32(0))
    for direction in ("GE", "GT", "LE"):
        for low, high in ((0, 0), (2, 2), (3, 1)):
            count = 9 + low + high - 2
            source = p.input(np.arange(1, count + 1, dtype=np.float32))
            p.check(f"{direction} {low}", selected(p, p.input(values), source, zero, direction, (3,), (1,), [(low, high)]))
    p.verify(interpreter)


def test_the_init_is_added_once():
    p = Program()
    x, source = np.array([1, 5, 2, 7], np.float32), np.array([3, 4, 5], np.float32)
    found = selected(p, p.input(x), p.input(source), p.input(np.float32(100)), "GE", (2,), (1,), [(0, 0)])
    p.check("init", found)
    assert hloom.compile(p.text())(*p.inputs).tolist() == [100, 107, 100, 105]


@RANDOM
@given(st.data())
def test_any_window(interpreter, data):
    p = Program()
    for _ in range(6):
        rank = data.draw(st.integers(1, 3))
        shape = tuple(data.draw(st.integers(2, 7)) for _ in range(rank))
        window = [data.draw(st.integers(1, min(3, n))) for n in shape]
        strides = [data.draw(st.integers(1, 3)) for _ in shape]
        padding = [(data.draw(st.integers(0, w - 1)), data.draw(st.integers(0, w - 1))) for w in window]
        made = tuple((n + low + high - w) // s + 1 for n, (low, high), w, s in zip(shape, padding, window, strides))
        x, source = small(shape, "f32", 1), small(made, "f32", 2)
        direction = data.draw(st.sampled_from(["GE", "GT", "LE"]))
        found = selected(p, p.input(x), p.input(source), p.input(np.float32(0)), direction, window, strides, padding)
        p.check(f"{direction} in {window} of {shape} by {strides}, {padding}", found)
    p.verify(interpreter)
