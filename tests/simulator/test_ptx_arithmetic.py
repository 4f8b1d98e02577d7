"""Instructions of PTX, one by one, beside exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from ptx_kernels import elementwise

RNG = np.random.default_rng(3)
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 1.5, 2.0**-126, 2.0**-149, 3.4e38, -3.4e38, 1 + 2.0**-23, 0.1, 65504.0], np.float32)


def floats(count: int, dtype=np.float32) -> np.ndarray:
    spread = RNG.standard_normal(count) * 2.0 ** RNG.integers(-20, 20, count)
    spread[: len(EDGES)] = EDGES
    return RNG.permutation(spread).astype(dtype)


def rounded(exact: Fraction, mode: str, dtype) -> float:
    """Correctly, by looking at the neighbours of a guess."""
    guess = dtype(float(exact))
    near = {float(guess), *(float(np.nextafter(guess, dtype(limit))) for limit in (-np.inf, np.inf))}
    finite = sorted(x for x in near if np.isfinite(x))
    if mode == "rn":
        return min(finite, key=lambda x: (abs(Fraction(x) - exact), int(np.array(x, dtype).view(f"u{np.dtype(dtype).itemsize}")) & 1))
    below, above = [x for x in finite if Fraction(x) <= exact], [x for x in finite if Fraction(x) >= exact]
    down = mode == "rm" or (mode == "rz" and exact > 0)
    return max(below) if down else min(above)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(("kind", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_fma_rounds_once(mode, kind, dtype):
    a, b = (RNG.standard_normal(256).astype(dtype) for _ in range(2))
    c = (-(a.astype(np.longdouble) * b)).astype(dtype)  # what is left are the product's last bits
    c[::2] = RNG.standard_normal(128) * 2.0 ** RNG.integers(-40, 40, 128)
    found = elementwise(f"fma.{mode}.{kind} %w, %x, %y, %z;", kind, a, b, c)
    for x, y, z, value in zip(a, b, c, found):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        assert float(value) == rounded(exact, mode, dtype), (x, y, z)


def test_fma_of_half_way_products():
    """1 + 2^-12 squared is 1 + 2^-11 + 2^-24, half-way between two of f32; the third operand decides."""
    a = np.full(32, 1 + 2.0**-12, np.float32)
    c = np.array([0, 2.0**-80, -(2.0**-80), 2.0**-24] * 8, np.float32)
    expected = [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-23, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-23] * 8
    np.testing.assert_array_equal(elementwise("fma.rn.f32 %w, %x, %y, %z;", "f32", a, a, c), np.array(expected, np.float32))


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(("name", "exact"), [("add", lambda x, y: x + y), ("mul", lambda x, y: x * y), ("sub", lambda x, y: x - y)])
def test_sums_and_products_round_as_told(mode, name, exact):
    a, b = (RNG.standard_normal(128).astype(np.float32) for _ in range(2))
    for x, y, value in zip(a, b, elementwise(f"{name}.{mode}.f32 %w, %x, %y;", "f32", a, b)):
        assert float(value) == rounded(exact(Fraction(float(x)), Fraction(float(y))), mode, np.float32)


INTEGERS = {
    "mul.hi.s32": ("s32", lambda x, y: (int(x) * int(y)) >> 32),
    "mul.hi.u64": ("u64", lambda x, y: (int(x) * int(y)) >> 64),
    "div.s32": ("s32", lambda x, y: int(Fraction(int(x), int(y)))),
    "rem.s32": ("s32", lambda x, y: int(x) - int(y) * int(Fraction(int(x), int(y)))),
    "shl.b32": ("u32", lambda x, y: (int(x) << min(int(y), 64)) % 2**32),
    "shr.s32": ("s32", lambda x, y: int(x) >> min(int(y) % 2**32, 31)),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name):
    kind, exact = INTEGERS[name]
    dtype = np.dtype(kind.replace("s", "int").replace("u", "uint"))
    limits = np.iinfo(dtype)
    x = RNG.integers(limits.min, limits.max, 64, dtype, endpoint=True)
    y = RNG.integers(limits.min, limits.max, 64, dtype, endpoint=True)
    y[y == 0] = 1
    y[::2] = RNG.integers(1, 40, 32)
    expected = np.array([exact(a, b) for a, b in zip(x, y)], dtype)
    np.testing.assert_array_equal(elementwise(f"{name} %w, %x, %y;", kind, x, y), expected)


def test_bits():
    x, y = (RNG.integers(0, 2**32, 64, np.uint32) for _ in range(2))
    both = x.astype(np.uint64) | y.astype(np.uint64) << np.uint64(32)
    cases = {
        "shf.l.wrap.b32 %w, %x, %y, 13;": (both << np.uint64(13) >> np.uint64(32)).astype(np.uint32),
        "shf.r.clamp.b32 %w, %x, %y, 40;": y,
        "bfe.u32 %w, %x, 7, 9;": x >> np.uint32(7) & np.uint32(511),
        "bfe.s32 %w, %x, 28, 4;": (x.view(np.int32) >> 28).view(np.uint32),
        "bfi.b32 %w, %x, %y, 8, 16;": (y & np.uint32(0xFF0000FF)) | (x << np.uint32(8) & np.uint32(0xFFFF00)),
        "prmt.b32 %w, %x, %y, 0x5410;": (x & np.uint32(0xFFFF)) | y << np.uint32(16),
        "lop3.b32 %w, %x, %y, 255, 0x96;": x ^ y ^ np.uint32(255),
        "popc.b32 %w, %x;": np.bitwise_count(x).astype(np.uint32),
        "brev.b32 %w, %x;": np.array([int(f"{v:032b}"[::-1], 2) for v in x], np.uint32),
        "clz.b32 %w, %x;": np.array([32 - int(v).bit_length() for v in x], np.uint32),
        "not.b32 %w, %x;": ~x,
    }
    for code, expected in cases.items():
        np.testing.assert_array_equal(elementwise(code, "b32", x, y), expected, code)


def test_extremes_and_nan():
    x = np.array([np.nan, 1, np.nan, -0.0, 0.0, 2, -3, np.inf] * 4, np.float32)
    y = np.array([1, np.nan, np.nan, 0.0, -0.0, 3, -4, 5] * 4, np.float32)
    largest = elementwise("max.f32 %w, %x, %y;", "f32", x, y)
    np.testing.assert_array_equal(largest, np.fmax(x, y))
    assert not np.signbit(largest[3]) and not np.signbit(largest[4])
    np.testing.assert_array_equal(elementwise("min.NaN.f32 %w, %x, %y;", "f32", x, y), np.minimum(x, y))


def test_subnormal_numbers_are_flushed_where_the_instruction_says():
    x = np.array([2.0**-130, -(2.0**-130), 1, 2.0**-126] * 8, np.float32)
    one = np.ones(32, np.float32)
    kept, flushed = (elementwise(f"mul.rn{ftz}.f32 %w, %x, %y;", "f32", x, one) for ftz in ("", ".ftz"))
    np.testing.assert_array_equal(kept, x)
    np.testing.assert_array_equal(flushed, np.where(np.abs(x) < 2.0**-126, 0, x))
    assert np.signbit(flushed[1])


CONVERSIONS = [
    ("cvt.rni.s32.f32", np.float32, np.int32, [0.5, 1.5, -2.5, 3e9, -3e9, np.nan, 7.4, -0.6], [0, 2, -2, 2**31 - 1, -(2**31), 0, 7, -1]),
    ("cvt.rzi.u32.f32", np.float32, np.uint32, [0.9, -1, 5e9, np.nan, 4.0, 1e3, 2.5, 3], [0, 0, 2**32 - 1, 0, 4, 1000, 2, 3]),
    ("cvt.rmi.f32.f32", np.float32, np.float32, [0.5, -0.5, 2, -2.1, 7.9, 0, 1, -1], [0, -1, 2, -3, 7, 0, 1, -1]),
    ("cvt.rn.f16.f32", np.float32, np.float16, [1, 65519, 65520, 2.0**-25, 1 + 2.0**-11, 1e-8, -2, 0], [1, 65504, np.inf, 0, 1, 0, -2, 0]),
    ("cvt.rz.f16.f32", np.float32, np.float16, [65535, 1 + 2.0**-11, -70000, 0.5, 1, 2, 3, 4], [65504, 1, -65504, 0.5, 1, 2, 3, 4]),
    ("cvt.rn.bf16.f32", np.float32, ml_dtypes.bfloat16, [1, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -0.1, 3.3e38, 0, 2, 4],
     [1, 1, 1 + 2.0**-6, -0.1, 3.3e38, 0, 2, 4]),
    ("cvt.sat.f32.f32", np.float32, np.float32, [-1, 2, 0.5, np.nan, 1, 0, -np.inf, np.inf], [0, 1, 0.5, 0, 1, 0, 0, 1]),
    ("cvt.rn.f32.s64", np.int64, np.float32, [2**24 + 1, 2**60 + 2**36, 2**60 + 2**36 + 1, -7, 0, 1, 2**53 + 1, -(2**62) - 1],
     [2**24, 2**60, 2**60 + 2**37, -7, 0, 1, 2**53, -(2**62)]),
    ("cvt.rz.f32.u32", np.uint32, np.float32, [2**32 - 1, 2**24 + 1, 3, 0, 1, 2, 4, 5], [2**32 - 256, 2**24, 3, 0, 1, 2, 4, 5]),
    ("cvt.rna.tf32.f32", np.float32, np.float32, [1 + 2.0**-11, 1 + 2.0**-12, -1 - 2.0**-11, 2, 3, 4, 5, 6],
     [1 + 2.0**-10, 1, -1 - 2.0**-10, 2, 3, 4, 5, 6]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "source", "target", "given", "expected"), CONVERSIONS, ids=[case[0] for case in CONVERSIONS])
def test_conversions(code, source, target, given, expected):
    kind = f"b{8 * np.dtype(source).itemsize}"
    found = elementwise(f"{code} %w, %x;", kind, np.array(given * 4, source), result=target)
    np.testing.assert_array_equal(found.astype(np.float64), np.array(expected * 4).astype(target).astype(np.float64))


def test_pairs():
    x, y = (RNG.standard_normal(64).astype(np.float16).view(np.uint32) for _ in range(2))
    a, b = x.view(np.float16), y.view(np.float16)
    np.testing.assert_array_equal(elementwise("add.rn.f16x2 %w, %x, %y;", "b32", x, y).view(np.float16), a + b)
    both = np.stack([floats(32), floats(32)], 1).reshape(-1).view(np.uint64)
    with np.errstate(over="ignore"):
        squares = both.view(np.float32) ** 2
    np.testing.assert_array_equal(elementwise("mul.rn.f32x2 %w, %x, %x;", "b64", both).view(np.float32), squares)
    packed = elementwise("cvt.rn.bf16x2.f32 %w, %x, %y;", "f32", floats(32), ones := np.ones(32, np.float32), result=np.uint32)
    np.testing.assert_array_equal(packed.view(ml_dtypes.bfloat16)[::2].astype(np.float32), ones)  # the second operand is the low half
    bytes_ = elementwise("{ .reg .b16 %q; cvt.rn.satfinite.e4m3x2.f32 %q, %x, %y; cvt.u32.u16 %w, %q; }", "f32",
                         np.full(32, 1e9, np.float32), ones, result=np.uint32)  # fmt: skip
    np.testing.assert_array_equal(bytes_.astype(np.uint16).view(ml_dtypes.float8_e4m3fn).astype(np.float32), np.array([1, 448] * 32))


def test_comparisons_with_nan():
    x = np.array([np.nan, 1, 2, 1] * 8, np.float32)
    y = np.array([1, 1, 1, np.nan] * 8, np.float32)
    with np.errstate(invalid="ignore"):
        cases = {"lt": x < y, "ge": x >= y, "ltu": ~(x >= y), "equ": (x == y) | np.isnan(x) | np.isnan(y), "neu": x != y,
                 "ne": (x != y) & ~np.isnan(x) & ~np.isnan(y), "nan": np.isnan(x) | np.isnan(y)}  # fmt: skip
    for name, expected in cases.items():
        code = f"{{ .reg .pred %q; setp.{name}.f32 %q, %x, %y; selp.b32 %w, 1, 0, %q; }}"
        np.testing.assert_array_equal(elementwise(code, "f32", x, y, result=np.uint32), expected.astype(np.uint32), name)
