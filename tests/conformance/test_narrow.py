"""Every kind of op on narrow types, against the reference interpreter; conversions have a file of their own.

Where the interpreter differs: it rounds after each step of a reduction (hloom rounds once, as of f16 and bf16), takes NaN and what is
below the range for numbers in f4, f6 and E8M0, and computes logistic step by step.
"""

from __future__ import annotations

import numpy as np
import pytest
from movement import (
    check_moves,
    dynamic_slice,
    dynamic_update_slice,
    gather,
    iota,
    slice_,
)
from programs import NARROW_INTEGERS, Program, Value
from test_contraction import convolution, dot
from test_control import times
from test_reduce import one, reduce
from test_scatter import ROWS, scatter
from test_select_and_scatter import selected
from test_window import reduce_window
from values import codes, spread

from hloom.runtime.dtypes import NARROW, numpy_dtype

KINDS = ["f8E4M3B11FNUZ", "f8E5M2"]
"""One of each way to tell infinity, NaN and zeros."""
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]
ON_GPUS = ("ui4", "f8E5M2")
"""Types that a simulated GPU runs, too."""


def all_pairs(element: str) -> tuple[np.ndarray, np.ndarray]:
    """Every code with every other, of f8 with some."""
    left = codes(element)
    right = left if left.size <= 64 else left[[0, 1, 7, 8, 0x3C, 0x45, 0x7B, 0x7C, 0x7E, 0x7F, 0x80, 0x81, 0xB9, 0xFB, 0xFC, 0xFF]]
    a, b = np.meshgrid(left, right)
    return a.ravel(), b.ravel()


def compare(p: Program, x: Value, y: Value, direction: str, order: str = "") -> Value:
    attributes = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
    return p.op("compare", [x, y], x.shape, "i1", attributes + (f", compare_type = #stablehlo<comparison_type {order}>" if order else ""))


def some(shape, element: str, seed: int = 0) -> np.ndarray:
    return spread(element, int(np.prod(shape)), seed).reshape(shape)


def few(shape, element: str, seed: int = 0) -> np.ndarray:
    """Small numbers that every type has, so that sums of a few are exact in most."""
    low = 1 if element == "f8E8M0FNU" else 0 if element.startswith("u") else -1
    return np.random.default_rng([seed, *shape]).integers(low, 2, shape).astype(numpy_dtype(element))


def checked(p: Program, interpreter, element: str) -> None:
    p.verify(interpreter, cpu_only=element not in ON_GPUS)


@pytest.mark.parametrize("element", NARROW_INTEGERS)
def test_integer_ops(interpreter, element):
    p = Program()
    x, y = map(p.input, all_pairs(element))
    for name in "add subtract multiply maximum minimum and or xor shift_left shift_right_arithmetic shift_right_logical".split():
        p.check(name, p.op(name, [x, y]))
    for name in ["not", "popcnt", "count_leading_zeros", *(["abs", "negate", "sign"] if element.startswith("i") else [])]:
        p.check(name, p.op(name, [x]))
    for direction in DIRECTIONS:
        p.check(direction, compare(p, x, y, direction))
    p.check("clamp", p.op("clamp", [y, x, p.op("maximum", [x, y])]))
    p.check("select", p.op("select", [compare(p, x, y, "LT"), x, y], x.shape, element))
    divisors = np.where(np.isin(p.inputs[1].astype(int), (0, -1)), 1, p.inputs[1].astype(int)).astype(numpy_dtype(element))
    for name in ("divide", "remainder"):
        p.check(name, p.op(name, [x, p.input(divisors)]))
    checked(p, interpreter, element)


@pytest.mark.parametrize("element", NARROW_INTEGERS)
def test_integer_division_at_its_edges(interpreter, element):
    """x / 0 is all ones, x % 0 is x, the least number divided by -1 wraps: as of wider integers."""
    p = Program()
    x = p.input(codes(element))
    zero, ones = (p.constant(np.full(codes(element).shape, v, np.uint8).view(numpy_dtype(element))) for v in (0, codes(element).size - 1))
    p.check(
        "by zero", p.op("divide", [x, zero]), np.full(codes(element).shape, codes(element).size - 1, np.uint8).view(numpy_dtype(element))
    )
    p.check("remainder by zero", p.op("remainder", [x, zero]), codes(element))
    if element.startswith("i"):
        wrapped = (-np.arange(codes(element).size) % codes(element).size).astype(np.uint8).view(numpy_dtype(element))
        p.check("by -1", p.op("divide", [x, ones]), wrapped)
    checked(p, interpreter, element)


@pytest.mark.parametrize("element", KINDS)
def test_float_ops(interpreter, element):
    p = Program()
    x, y = map(p.input, all_pairs(element))
    for name in "add subtract multiply divide maximum minimum remainder".split():
        p.check(name, p.op(name, [x, y]))
    for name in "abs negate sqrt exponential tanh".split():
        p.check(name, p.op(name, [x]))
    p.check("floor", p.op("floor", [x]), np.floor(p.inputs[0].astype(np.float32)).astype(numpy_dtype(element)))
    for direction in DIRECTIONS:
        p.check(direction, compare(p, x, y, direction))
    p.check("is_finite", p.op("is_finite", [x], element="i1"))
    p.check("select", p.op("select", [compare(p, x, y, "LT"), x, y], x.shape, element))
    a = p.op("multiply", [p.op("add", [x, y]), y])
    p.check("a chain rounds at each op", p.op("subtract", [a, x]))
    checked(p, interpreter, element)


@pytest.mark.parametrize("element", ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU"])
def test_floats_without_all_numbers(interpreter, element):
    """By ml_dtypes: computed in f32, rounded once."""
    p = Program()
    a, b = all_pairs(element)
    x, y = p.input(a), p.input(b)
    for name, function in {"add": np.add, "multiply": np.multiply, "divide": np.divide}.items():
        with np.errstate(all="ignore"):
            exact = function(a.astype(np.float32), b.astype(np.float32))
        known = np.isfinite(exact) & ((exact >= 2.0**-126) | (element != "f8E8M0FNU"))
        mask = p.input(known)
        wanted = np.where(known, exact.astype(numpy_dtype(element)).view(np.uint8), 0 if element != "f8E8M0FNU" else 0x7F)
        one = p.constant(np.full(a.shape, 0 if element != "f8E8M0FNU" else 0x7F, np.uint8).view(numpy_dtype(element)))
        p.check(name, p.op("select", [mask, p.op(name, [x, y]), one], a.shape, element), wanted.astype(np.uint8).view(numpy_dtype(element)))
    p.check("LT", compare(p, x, y, "LT"), a.astype(np.float32) < b.astype(np.float32))
    checked(p, interpreter, element)


@pytest.mark.parametrize("element", ["i2", "ui4", "f4E2M1FN", "f6E3M2FN", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"])
def test_moves(interpreter, element):
    p = Program()
    x, y = p.input(some((5, 17), element, 1)), p.input(some((5, 17), element, 2))
    zero = p.input(some((), element))
    starts = [p.input(np.int32(n).reshape(())) for n in (2, 9)]
    check_moves(p, x, y, zero)
    p.check("dynamic_slice", dynamic_slice(p, x, starts, [2, 5]))
    p.check("dynamic_update_slice", dynamic_update_slice(p, x, slice_(p, y, [0, 0], [2, 5], [1, 1]), starts))
    rows = p.input(np.array([[4], [0], [7], [-1]], np.int32))
    p.check("gather", gather(p, x, rows, [4, 17], offset=[1], collapsed=[0], start=[0], vector=1, sizes=[1, 17]))
    p.check("constant", p.constant(some((3, 5), element)))
    p.check("a long constant", p.constant(some((300,), element)))
    p.check("a splat", p.constant(np.full((7,), codes(element)[-2])))
    p.check("argument", x)
    p.check("rotated carries", times(p, 3, [x, y], lambda i, a, b: (b, a))[0])
    checked(p, interpreter, element)


@pytest.mark.parametrize("element", ["i2", "ui4", "f4E2M1FN", "f8E5M2", "f8E8M0FNU"])
def test_reductions_and_contractions(interpreter, element):
    """Of numbers whose sums are exact."""
    p = Program()
    x = p.input(few((3, 4), element))
    for name in ("add", "maximum", "minimum", "multiply"):
        p.check(name, one(p, name, x, 1, [1]))
    if element in NARROW_INTEGERS:
        p.check("any integers wrap", one(p, "add", p.input(some((17, 5), element)), 1, [0]))
        p.check("dot wraps", dot(p, p.input(some((5, 7), element)), p.input(some((7, 3), element, 1)), ((), ()), ((1,), (0,))))
        p.check(
            "dot to i32",
            dot(
                p,
                p.input(some((5, 7), element)),
                p.input(some((7, 3), element, 1)),
                ((), ()),
                ((1,), (0,)),
                "i32" if element[0] == "i" else "ui32",
            ),
        )
    else:
        p.check("dot to f32", dot(p, x, p.input(few((4, 3), element, 1)), ((), ()), ((1,), (0,)), "f32"))
        p.check("dot", dot(p, x, p.input(few((4, 1), element, 1)), ((), ()), ((1,), (0,))))
    p.check("window", reduce_window(p, [x], [1], lambda a, b: p.op("maximum", [a, b]), [1, 2])[0])
    if element != "f8E8M0FNU":
        p.check("convolution", convolution(p, p.input(few((1, 4, 4, 1), element)), p.input(few((2, 1, 1, 1), element, 1))))
        p.check("iota", iota(p, (2, 2), element, 0))
    checked(p, interpreter, element)


@pytest.mark.parametrize("element", ["ui2", "f8E4M3FN"])
def test_regions_of_other_ops(interpreter, element):
    """Comparators, bodies with several ops, updates: on the CPU, which has all of them."""
    p = Program()
    x, y = p.input(few((5, 7), element, 1)), p.input(few((8, 7), element, 2))
    places = p.input(np.array([[4], [0], [2], [4], [-1], [5], [2], [100]], np.int32))
    p.check("scatter", scatter(p, [x], places, [y], ROWS, lambda a, b: p.op("add", [a, b]))[0])
    scalars = [((), element), ((), element)]
    ascending = p.region(scalars, lambda a, b: compare(p, a, b, "LT"))
    p.check("sort", p.ops("sort", [y], [(y.shape, element)], "dimension = 0 : i64, is_stable = true", [ascending])[0])

    def larger(a: Value, b: Value, c: Value, d: Value) -> list[Value]:
        keep = compare(p, a, c, "GE")
        return [p.op("select", [keep, *pair], (), pair[0].element) for pair in ((a, c), (b, d))]

    at = iota(p, (8, 7), "i32", 0)
    starts = [p.constant(np.array(v, numpy_dtype(k))) for v, k in ((0, element), (0, "i32"))]
    for number, value in enumerate(reduce(p, [y, at], starts, [0], larger)):
        p.check(f"argmax {number}", value)
    source = p.input(few((2, 3), element, 3))
    p.check(
        "select_and_scatter", selected(p, x, source, p.constant(np.array(0, numpy_dtype(element))), "GE", (2, 2), (2, 2), [(0, 0), (0, 0)])
    )
    p.verify(interpreter, cpu_only=True)


def test_reduce_precision(interpreter):
    p = Program()
    for element in ("f8E3M4", "f8E4M3", "f8E5M2"):
        x = p.input(codes(element))
        for bits in ((3, 1), (2, 2), (4, 2), (8, 23), (3, 4)):
            attributes = "exponent_bits = {} : i32, mantissa_bits = {} : i32".format(*bits)
            p.check(f"{element} to {bits}", p.op("reduce_precision", [x], attributes=attributes))
    p.verify(interpreter)


@pytest.mark.parametrize("element", ["f4E2M1FN", "f8E4M3FN", "f8E4M3B11FNUZ", "f8E5M2", "f8E8M0FNU"])
def test_next_after(interpreter, element):
    """By the order of the type's numbers, infinity among them; what is beyond is NaN (of f4, which has none, -0)."""
    p = Program()
    a, b = all_pairs(element)
    x, y = a.astype(np.float32), b.astype(np.float32)
    numbers = np.unique(codes(element).astype(np.float32))
    numbers = numbers[~np.isnan(numbers)]
    places = np.searchsorted(numbers, x) + np.sign(np.nan_to_num(y) - np.nan_to_num(x)).astype(int)
    wanted = np.where(x == y, y, numbers[places.clip(0, len(numbers) - 1)] + np.float32(0))
    wanted = np.where((wanted == 0) & (x < 0) & (y != x) & (element != "f8E4M3B11FNUZ"), np.float32(-0.0), wanted)
    known = ~np.isnan(x) & ~np.isnan(y)
    found = p.op("select", [p.input(known), p.op("chlo.next_after", [p.input(a), p.input(b)]), p.input(a)], a.shape, element)
    p.check(element, found, np.where(known, wanted.astype(a.dtype).view(np.uint8), a.view(np.uint8)).view(a.dtype))
    p.verify(interpreter, cpu_only=True)


def test_other_spellings(interpreter):
    """CHLO's ops on integers of four bits, with broadcasts and without."""
    p = Program()
    x, y = (part.reshape(16, 16) for part in all_pairs("i4"))
    wide = x.astype(np.int64)
    amounts = np.arange(16, dtype=np.int64) % 4
    shifts = p.input(amounts.astype(numpy_dtype("i4")))
    p.check("logical", p.op("chlo.broadcast_shift_right_logical", [p.input(x), shifts]), ((wide & 15) >> amounts).astype(x.dtype))
    p.check("arithmetic", p.op("chlo.broadcast_shift_right_arithmetic", [p.input(x), shifts]), (wide >> amounts).astype(x.dtype))
    p.check("mulhi", p.op("chlo.mulhi", [p.input(x), p.input(y)]), ((wide * y.astype(np.int64)) >> 4).astype(x.dtype))
    floats = codes("f8E5M2").reshape(16, 16)
    following = p.op("chlo.broadcast_next_after", [p.input(floats), p.input(floats[3])])
    p.check("next_after", following, np.nextafter(floats, np.tile(floats[3], (16, 1))))
    like = p.op("chlo.constant_like", [p.input(x)], attributes="value = 3 : i4")
    p.check("like", like, np.full_like(x, 3))
    p.verify(interpreter)


def test_total_order(interpreter):
    """By the f32 that a code stands for: -NaN below -inf, -0 below 0, NaN above inf."""
    p = Program()
    a, b = all_pairs("f8E5M2")
    keys = [np.where(v.view(np.uint8) < 128, v.view(np.uint8).astype(int), 127 - v.view(np.uint8).astype(int)) for v in (a, b)]
    p.check("LT", compare(p, p.input(a), p.input(b), "LT", "TOTALORDER"), keys[0] < keys[1])
    a, b = all_pairs("f8E5M2FNUZ")  # whose NaN has the sign that its code has, in ml_dtypes and XLA too
    keys = [np.where(np.isnan(v), -np.inf, v.astype(np.float32)) for v in (a, b)]
    p.check("FNUZ", compare(p, p.input(a), p.input(b), "LT", "TOTALORDER"), keys[0] < keys[1])
    p.verify(interpreter)


BITCASTS = """
3x2xi4 3xi8, 3xi8 3x2xui4, 2x3x8xui4 2x3xi32, 5xf32 5x8xi4, 3x4xi2 3xf8E5M2, 3xf8E4M3FN 3x4xi2, 3x2xi2 3xf4E2M1FN, 3xui4 3x2xui2,
256xf8E4M3FN 256xi8, 256xui8 256xf8E8M0FNU, 16xi4 16xf4E2M1FN, 16xi4 16xui4, 7xui16 7x2xf8E4M3FN, 3x4xf8E5M2 3xf32,
3x8xi1 3xui8, 5xi16 5x16xi1, 2x4xi1 2xui4, 5xi4 5x4xi1, 3xf64 3x64xi1
"""


def parsed(text: str) -> tuple[tuple[int, ...], str]:
    *shape, element = text.split("x")
    return tuple(map(int, shape)), element


def test_bitcasts(interpreter):
    """Packed, the lowest bits first."""
    p = Program()
    for pair in BITCASTS.split(","):
        (shape, source), (wanted, target) = map(parsed, pair.split())
        every = np.arange(shape[0], dtype=np.uint8).view(numpy_dtype(source)) if shape in ((16,), (256,)) else some(shape, source)
        p.check(pair, p.op("bitcast_convert", [p.input(every)], wanted, target), recast(every, source, target, wanted))
    p.verify(interpreter)


def recast(values: np.ndarray, source: str, target: str, shape) -> np.ndarray:
    def bits(element: str) -> int:
        return 8 * numpy_dtype(element).itemsize if element not in NARROW and element != "i1" else int(element.lstrip("uif")[0])

    raw = np.unpackbits(values.reshape(-1, 1).view(np.uint8), axis=1, bitorder="little")[:, : bits(source)].reshape(-1, bits(target))
    return np.packbits(raw, axis=1, bitorder="little").reshape(-1).view(numpy_dtype(target)).reshape(shape)
