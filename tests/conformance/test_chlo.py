"""The ops of CHLO, which become StableHLO's: against SciPy and NumPy in f64, and ragged_dot against JAX."""

from __future__ import annotations

import numpy as np
import pytest
from programs import Program

import hloom

special = pytest.importorskip("scipy.special")


@pytest.fixture
def random():
    return np.random.default_rng(0)


def around(random, low: float, high: float, *edges: float) -> np.ndarray:
    return np.concatenate([random.uniform(low, high, 150), edges]).astype(np.float32)


def tiny_to_huge(random, *edges: float) -> np.ndarray:
    values = np.exp(random.uniform(-20, 20, 150)) * random.choice([-1, 1], 150)
    return np.concatenate([values, edges]).astype(np.float32)


INF, NAN = np.inf, np.nan


def test_functions(random, interpreter):
    """Where a function crosses zero, the error is small beside those of its terms: absolute."""
    p = Program()
    unit = around(random, -1, 1, 0, 1, -1, 1 - 1e-6, NAN, 2)
    wide = tiny_to_huge(random, 0, -0.0, INF, -INF, NAN)
    real = around(random, -30, 30, 1, 2, 3.5, INF, NAN)
    for name, function, x, ulps, absolute in (
        ("acos", np.arccos, unit, 4, 0),
        ("acosh", np.arccosh, np.abs(wide), 4, 0),
        ("asin", np.arcsin, unit, 4, 0),
        ("asinh", np.arcsinh, wide, 4, 0),
        ("atan", np.arctan, wide, 4, 0),
        ("atanh", np.arctanh, unit, 4, 0),
        ("bessel_i1e", special.i1e, np.abs(wide), 12, 0),
        ("cosh", np.cosh, around(random, -88, 88, 0, INF, NAN), 32, 0),
        ("digamma", special.digamma, real, 200, 2e-5),
        ("erf", special.erf, wide, 6, 0),
        ("erf_inv", special.erfinv, unit, 32, 0),
        ("erfc", special.erfc, around(random, -9, 9, 0, INF, NAN), 80, 0),
        ("lgamma", special.gammaln, real, 16, 2e-5),
        ("sinh", np.sinh, around(random, -88, 88, 0, 1e-6, INF, NAN), 32, 0),
        ("square", np.square, wide, 0, 0),
        ("tan", np.tan, around(random, -90, 90, 0, INF, NAN), 4, 0),
        ("conj", np.conj, wide, 0, 0),
    ):
        with np.errstate(all="ignore"):
            want = function(x.astype(np.float64)).astype(np.float32)
        p.check(name, p.op(f"chlo.{name}", [p.input(x)]), want, ulps=ulps, absolute=absolute)
    p.verify(interpreter)


def test_functions_of_two(random, interpreter):
    p = Program()
    positive = np.exp(random.uniform(-4, 4, 100)).astype(np.float32)
    above = (1 + np.exp(random.uniform(-4, 4, 100))).astype(np.float32)
    order = random.integers(1, 6, 100).astype(np.float32)
    x, y = tiny_to_huge(random, 0, -0.0, 1, INF, NAN, 3), tiny_to_huge(random, -1, 0, 1, 0, 3, NAN)
    size = x.size - x.size % 5
    x, y = x[-size:], y[-size:]
    with np.errstate(over="ignore"):
        zeta = special.zeta(above.astype(np.float64), positive.astype(np.float64)).astype(np.float32)
    p.check("zeta", p.op("chlo.zeta", [p.input(above), p.input(positive)]), zeta, ulps=12)
    polygamma = special.polygamma(order.astype(int), positive.astype(np.float64)).astype(np.float32)
    p.check("polygamma", p.op("chlo.polygamma", [p.input(order), p.input(positive)]), polygamma, ulps=64)
    p.check("next_after", p.op("chlo.next_after", [p.input(x), p.input(y)]), np.nextafter(x, y))
    a, b = random.integers(0, 2**32, (2, 40), np.uint32)
    high = (a.astype(np.uint64) * b >> np.uint64(32)).astype(np.uint32)
    p.check("mulhi", p.op("chlo.mulhi", [p.input(a), p.input(b)]), high)
    for name, function in (("is_inf", np.isinf), ("is_pos_inf", np.isposinf), ("is_neg_inf", np.isneginf)):
        p.check(name, p.op(f"chlo.{name}", [p.input(x)], element="i1"), function(x))
    like = p.op("chlo.constant_like", [p.input(x)], attributes="value = 2.5 : f32")
    p.check("constant_like", like, np.full_like(x, 2.5))
    constant = p.op("chlo.constant", [], (2, 3), "f32", "value = dense<1.5> : tensor<2x3xf32>")
    p.check("constant", constant, np.full((2, 3), 1.5, np.float32))
    p.verify(interpreter)


def test_broadcasts(random, interpreter):
    p = Program()
    x, y = random.uniform(0.5, 4, (2, 3)).astype(np.float32), random.uniform(0.5, 4, 3).astype(np.float32)
    m, n = random.integers(0, 1000, (2, 3), np.int32), random.integers(0, 8, (1, 3), np.int32)
    floats, integers = (p.input(x), p.input(y)), (p.input(m), p.input(n))
    for name, function, ulps in (
        ("add", np.add, 0),
        ("atan2", np.arctan2, 4),
        ("divide", np.divide, 0),
        ("maximum", np.maximum, 0),
        ("minimum", np.minimum, 0),
        ("multiply", np.multiply, 0),
        ("next_after", np.nextafter, 0),
        ("power", np.power, 4),
        ("remainder", np.fmod, 0),
        ("subtract", np.subtract, 0),
    ):
        p.check(name, p.op(f"chlo.broadcast_{name}", floats), function(x, y), ulps=ulps)
    for name, function in (
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
        ("shift_left", np.left_shift),
        ("shift_right_arithmetic", np.right_shift),
        ("shift_right_logical", np.right_shift),
    ):
        p.check(name, p.op(f"chlo.broadcast_{name}", integers), function(m, n))
    less = "comparison_direction = #chlo<comparison_direction LT>"
    p.check("compare", p.op("chlo.broadcast_compare", floats, element="i1", attributes=less), x < y)
    chosen = np.array([True, False, True])
    picked = p.op("chlo.broadcast_select", [p.input(chosen), *floats], (2, 3), "f32")
    p.check("select", picked, np.where(chosen, x, y))
    p.verify(interpreter)


def test_scan(random, interpreter):
    """A running sum of rows, and from the last one on."""
    p = Program()
    x, start = random.integers(-9, 9, (4, 3)).astype(np.float32), random.integers(-9, 9, 3).astype(np.float32)
    given = [p.input(x), p.input(start)]

    def step(row, carry):
        total = p.op("add", [row, carry])
        return [total, total]

    for reverse in ("false", "true"):
        attributes = f"dimension = 0 : i64, is_reverse = {reverse}"
        attributes += ", operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>"
        body = p.region([((3,), "f32")] * 2, step)
        rows, last = p.ops("chlo.scan", given, [((4, 3), "f32"), ((3,), "f32")], attributes, [body])
        order = x[::-1] if reverse == "true" else x
        sums = start + np.cumsum(order, 0)
        p.check(f"rows, reverse {reverse}", rows, sums[::-1] if reverse == "true" else sums)
        p.check(f"last, reverse {reverse}", last, sums[-1])
    p.verify(interpreter)


@pytest.mark.parametrize("target", ["auto", "sim:sm_90a"])
def test_ragged_dot(random, target):
    jax = pytest.importorskip("jax")
    x, w = random.integers(-4, 5, (11, 5)).astype(np.float32), random.integers(-4, 5, (3, 5, 7)).astype(np.float32)
    exe = hloom.compile(jax.lax.ragged_dot, x, w, np.array([1, 2, 3], np.int32), target=target)
    for sizes in ([4, 0, 7], [11, 0, 0], [2, 3, 4]):
        sizes = np.array(sizes, np.int32)
        np.testing.assert_array_equal(exe(x, w, sizes), jax.lax.ragged_dot(x, w, sizes))
