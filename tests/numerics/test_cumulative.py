"""Cumulative reductions, which are scans, and sliding ones, which are split into several short ones, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

BODIES = {"add": (0, np.cumsum), "multiply": (1, np.cumprod), "maximum": ("0xFF800000", np.maximum.accumulate)}


def windowed(shape, window, padding, op, init, result, element="f32"):
    into, out = (f"tensor<{'x'.join(map(str, s))}x{element}>" for s in (shape, result))
    return f"""func.func @main(%x: {into}) -> {out} {{
      %init = stablehlo.constant dense<{init}> : tensor<{element}>
      %r = "stablehlo.reduce_window"(%x, %init) <{{padding = dense<{padding}> : tensor<{len(shape)}x2xi64>,
          window_dimensions = array<i64: {", ".join(map(str, window))}>}}> ({{
      ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
        %s = stablehlo.{op} %a, %b : tensor<{element}>
        stablehlo.return %s : tensor<{element}>
      }}) : ({into}, tensor<{element}>) -> {out}
      return %r : {out}
    }}"""


@pytest.mark.parametrize("op", BODIES)
@pytest.mark.parametrize("length", [17, 37, 100, 1000])
@pytest.mark.parametrize("backwards", [False, True])
def test_along_rows(op, length, backwards):
    init, function = BODIES[op]
    init = init if isinstance(init, str) else f"{init}.0"
    padding = [[0, 0], [0, length - 1] if backwards else [length - 1, 0]]
    x = np.random.default_rng(0).uniform(0.9, 1.1, (5, length)).astype(np.float32)
    found = hloom.compile(windowed(x.shape, (1, length), padding, op, init, x.shape))(x)
    expected = function(x[:, ::-1], axis=1)[:, ::-1] if backwards else function(x, axis=1)
    np.testing.assert_allclose(found, expected, rtol=3e-5)


def test_along_columns_of_integers():
    x = np.random.default_rng(0).integers(-99, 99, (130, 7), np.int32)
    found = hloom.compile(windowed(x.shape, (130, 1), [[129, 0], [0, 0]], "add", 0, x.shape, "i32"))(x)
    np.testing.assert_array_equal(found, np.cumsum(x, axis=0, dtype=np.int32))


@pytest.mark.parametrize(("length", "low", "high"), [(42, 20, 21), (64, 0, 0), (36, 3, -2), (100, 0, 99), (99, 99, 0)])
def test_sliding_sums(length, low, high):
    x = np.random.default_rng(0).integers(-9, 9, 100).astype(np.float32)
    padded = np.pad(x, (low, max(high, 0)))[: 100 + low + high]
    expected = np.array([padded[i : i + length].sum() for i in range(len(padded) - length + 1)])
    found = hloom.compile(windowed(x.shape, (length,), [[low, high]], "add", "0.0", expected.shape))(x)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(3, 1, 33), (5, 8, 41), (1, 2, 2)])
@pytest.mark.parametrize("element", ["f64", "f16", "i8"])
def test_along_each_dimension(shape, element):
    kind = np.dtype({"f": "float", "i": "int"}[element[0]] + element[1:])
    x = np.random.default_rng(0).integers(-3, 4, shape).astype(kind)
    for dim, extent in enumerate(shape):
        window, padding = [1] * len(shape), [[0, 0] for _ in shape]
        window[dim], padding[dim] = extent, [extent - 1, 0]
        zero = 0 if element[0] == "i" else "0.0"
        found = hloom.compile(windowed(shape, window, padding, "add", zero, shape, element))(x)
        np.testing.assert_array_equal(found, np.cumsum(x, axis=dim, dtype=kind))


@pytest.mark.parametrize("backwards", [False, True])
def test_of_what_is_no_number(backwards):
    """From a NaN on all is NaN; an infinity is a maximum as any other number is."""
    x = np.random.default_rng(0).standard_normal((4, 50)).astype(np.float32)
    x[0, 7], x[1, 0], x[2, 49], x[3, 20], x[3, 30] = np.nan, np.nan, np.nan, np.inf, -np.inf
    padding = [[0, 0], [0, 49] if backwards else [49, 0]]
    for op, (init, function) in BODIES.items():
        init = init if isinstance(init, str) else f"{init}.0"
        found = hloom.compile(windowed(x.shape, (1, 50), padding, op, init, x.shape))(x)
        with np.errstate(invalid="ignore"):
            expected = function(x[:, ::-1], axis=1)[:, ::-1] if backwards else function(x, axis=1)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_between_other_ops():
    """What is masked before, and combined with the elements after: an exclusive sum, of one kernel."""
    text = windowed((6, 300), (1, 300), [[0, 0], [299, 0]], "add", "0.0", (6, 300))
    text = text.replace(
        '%r = "stablehlo.reduce_window"(%x,', '%m = stablehlo.multiply %x, %x : tensor<6x300xf32>\n%w = "stablehlo.reduce_window"(%m,'
    )
    text = text.replace("return %r", "%r = stablehlo.subtract %w, %m : tensor<6x300xf32>\nreturn %r")
    exe = hloom.compile(text)
    x = np.random.default_rng(0).integers(-3, 4, (6, 300)).astype(np.float32)
    np.testing.assert_array_equal(exe(x), np.cumsum(x * x, axis=1) - x * x)
    assert len(exe.report.data["groups"]) == 1


def test_logarithms_of_sums_of_jax():
    """Rows side by side, one row, columns, both ways; infinities and what is no number."""
    jax = pytest.importorskip("jax")
    random = np.random.default_rng(0)
    x, line = random.standard_normal((2, 37, 50)).astype(np.float32) * 40, random.standard_normal(101).astype(np.float32)
    x[0, 0, :3], x[0, 1, 7], x[0, 2, 5:7], x[1, 3, 20] = -np.inf, np.inf, [np.inf, -np.inf], np.nan

    def function(x, line):
        scans = [jax.lax.cumlogsumexp(x, axis, reverse=reverse) for axis, reverse in [(1, False), (2, False), (2, True)]]
        return [*scans, jax.lax.cumlogsumexp(line)]

    with np.errstate(invalid="ignore"):
        backwards = np.logaddexp.accumulate(x[:, :, ::-1], 2)[:, :, ::-1]
        expected = [np.logaddexp.accumulate(x, 1), np.logaddexp.accumulate(x, 2), backwards, np.logaddexp.accumulate(line)]
    for found, wanted in zip(hloom.compile(function, x, line)(x, line), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-5)


def test_turned_around():
    """Reversed rows are read a register at a time, whatever their length and the width of their elements."""
    pytest.importorskip("jax")
    inputs = [np.arange(3 * n).reshape(3, n).astype(kind) for n in (1, 5, 8, 37, 100) for kind in ("f4", "i2", "i1", "f2", "?")]

    def function(*inputs):
        return [(x[:, ::-1], x[::-1, ::-1], x[:, ::-1][:, 1:]) for x in inputs]

    for found, expected in zip(hloom.compile(function, *inputs)(*inputs), function(*inputs), strict=True):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(a), b)
