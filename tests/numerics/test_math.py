"""The math library against references in higher precision: every function over its whole range, as vector code of the host."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

from hloom.dialects.context import make_context
from hloom.passes.linalg.expand_math import expand_math
from hloom.passes.llvm.scale_to_avx512 import scale_to_avx512

CHUNK = 1 << 12
LOWER = (
    "convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-cf-to-llvm,reconcile-unrealized-casts"
)
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.int8, "i32": np.int32, "i64": np.int64}
INF, NAN = np.inf, np.nan


@cache
def compiled(body: str, types: tuple[str, ...], result: str, lanes: int, avx512: bool = False) -> Callable[..., np.ndarray]:
    """`body`, which computes %r from %v0, %v1, as a function over arrays, `lanes` elements at a time (1: scalar code)."""
    stored = "i8" if result == "i1" else result
    dialect = "vector" if lanes > 1 else "memref"

    def buffer(element: str) -> str:
        return f"memref<{CHUNK}x{element}>" + (f", {wide(element, lanes)}" if lanes > 1 else "")

    loads = "\n".join(f"%v{i} = {dialect}.load %a{i}[%i] : {buffer(t)}" for i, t in enumerate(types))
    convert = f"arith.extui %r : {wide('i1', lanes)} to" if result == "i1" else f"arith.bitcast %r : {wide(result, lanes)} to"
    text = f"""
    func.func @kernel({", ".join(f"%a{i}: memref<{CHUNK}x{t}>" for i, t in enumerate(types))}, %out: memref<{CHUNK}x{stored}>) {{
      %zero = arith.constant 0 : index
      %step = arith.constant {lanes} : index
      %end = arith.constant {CHUNK} : index
      scf.for %i = %zero to %end step %step {{
        {loads}
        {body}
        %s = {convert} {wide(stored, lanes)}
        {dialect}.store %s, %out[%i] : {buffer(stored)}
      }}
      return
    }}"""
    with make_context() as context:
        module = ir.Module.parse(text)
        expand_math(module.operation)
        if avx512:
            scale_to_avx512(module.operation)
        module.operation.verify()
        PassManager.parse(f"builtin.module({LOWER})", context).run(module.operation)
        engine = ExecutionEngine(module, opt_level=2)
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup("kernel"))

    def run(*arrays: np.ndarray) -> np.ndarray:
        count = len(arrays[0])
        padded = [np.concatenate([a, np.repeat(a[-1:], -count % CHUNK)]) for a in arrays]
        out = np.empty(len(padded[0]), DTYPES[result])
        for start in range(0, len(out), CHUNK):
            pointers = [ctypes.c_void_p(a[start:].ctypes.data) for a in (*padded, out)]
            kernel((ctypes.c_void_p * len(pointers))(*(ctypes.addressof(p) for p in pointers)))
        return out[:count]

    run.engine = engine  # type: ignore[attr-defined]  # the code lives as long as the engine
    return run


def wide(element: str, lanes: int) -> str:
    return f"vector<{lanes}x{element}>" if lanes > 1 else element


def evaluate(op: str, *arrays: np.ndarray, result: str | None = None, lanes: int = 16) -> np.ndarray:
    """`op` (of the math dialect unless it names one) over arrays; the result has the first operand's type unless told."""
    names = {np.dtype(d): n for n, d in DTYPES.items()}
    types = tuple(names[a.dtype] for a in arrays)
    operands = ", ".join(f"%v{i}" for i in range(len(types)))
    signature = ", ".join(wide(t, lanes) for t in dict.fromkeys(types))
    body = f"%r = {op if '.' in op else f'math.{op}'} {operands} : {signature}"
    return compiled(body, types, result or types[0], lanes)(*arrays)


def ulps(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The error of `got` in units of the last place of the rounded `want`; inf where a NaN, an infinity or a zero's sign is wrong."""
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        error = (np.abs(got.astype(want.dtype) - want) / np.spacing(np.abs(rounded)).astype(want.dtype)).astype(float)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    error = np.where(np.isfinite(got) & np.isfinite(rounded), error, np.where(same, 0, INF))
    return np.where((got == 0) & (rounded == 0) & (np.signbit(got) != np.signbit(rounded)), INF, error)


def signed(bits: np.ndarray, dtype: type) -> np.ndarray:
    values: np.ndarray = bits.view(dtype)
    return np.concatenate([values, -values])


def points(dtype: type, rng: np.random.Generator) -> np.ndarray:
    """Every so-manieth float, the neighbourhoods of powers of two, and dense uniform ranges, both signs; then the special values."""
    info = np.finfo(dtype)
    unsigned: Any = np.uint32 if dtype is np.float32 else np.uint64
    top = int(np.array(INF, dtype).view(unsigned))
    powers = np.arange(1, 1 << (info.bits - info.nmant - 1), 1 if dtype is np.float32 else 16, dtype=unsigned)[:-1] << unsigned(info.nmant)
    near = np.concatenate([powers + unsigned(d) for d in range(4)] + [powers - unsigned(d) for d in range(1, 4)])
    uniform = [rng.uniform(0, limit, 30_000).astype(dtype).view(unsigned) for limit in (1, 2, 8, 110, 760, 1e5, 1e9)]
    special = np.array([0, 1, INF, NAN, info.max, info.tiny, info.smallest_subnormal], dtype).view(unsigned)
    return signed(np.concatenate([np.arange(0, top, top // 100_000, dtype=unsigned), near, *uniform, special]), dtype)


def round_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


# Bounds in ulps, f32 and f64; docs/math.md has the errors measured.
UNARY: dict[str, tuple[Callable[..., np.ndarray], float, float]] = {
    "exp": (np.exp, 1, 1), "exp2": (np.exp2, 1, 1), "expm1": (np.expm1, 1.5, 2),
    "log": (np.log, 1, 1.5), "log2": (np.log2, 1.5, 2), "log10": (np.log10, 2, 2), "log1p": (np.log1p, 2, 2),
    "sin": (np.sin, 2, 2), "cos": (np.cos, 2, 2), "tan": (np.tan, 2, 2),
    "asin": (np.arcsin, 2, 2), "acos": (np.arccos, 2, 2), "atan": (np.arctan, 2, 2),
    "sinh": (np.sinh, 2, 2), "cosh": (np.cosh, 2, 2), "tanh": (np.tanh, 5, 3),
    "asinh": (np.arcsinh, 2, 2.5), "acosh": (np.arccosh, 2.1, 2.5), "atanh": (np.arctanh, 2, 2.5),
    "cbrt": (np.cbrt, 2, 2), "rsqrt": (lambda x: 1 / np.sqrt(x), 2, 2), "round": (round_away, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_unary(op: str, dtype: type) -> None:
    reference, bound32, bound64 = UNARY[op]
    x = points(dtype, np.random.default_rng(7))
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64 if dtype is np.float32 else np.longdouble))
    error = ulps(evaluate(op, x), want)
    worst = int(np.argmax(error))
    assert error[worst] <= (bound32 if dtype is np.float32 else bound64), f"{op}({x[worst]!r}): {error[worst]} ulp"


# The reference in f64 is libm's, good to 1 ulp itself.
@pytest.mark.parametrize(("op", "bound32", "bound64"), [("erf", 1.5, 2), ("erfc", 1, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_error_function(op: str, bound32: float, bound64: float, dtype: type) -> None:
    rng = np.random.default_rng(7)
    x: np.ndarray = np.concatenate([points(dtype, rng)[::20], rng.uniform(-6, 6, 20_000), rng.uniform(-30, 30, 10_000)]).astype(dtype)
    want = np.vectorize(getattr(math, op))(x.astype(np.float64))
    assert ulps(evaluate(op, x), want).max() <= (bound32 if dtype is np.float32 else bound64)


@pytest.mark.parametrize("op", ["tanh", "erf", "sin", "cos"])
def test_stays_within_one(op: str) -> None:
    assert np.nanmax(np.abs(evaluate(op, points(np.float32, np.random.default_rng(3))))) == 1


SPECIALS = [0, 0.5, 1, 1.5, 2, 3, 1e-45, 1e-38, 16777216, 16777217, 3.4028235e38, INF, NAN]


def pairs(rng: np.random.Generator, dtype: type = np.float32) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special values, pairs over the whole range and pairs of like size."""
    special: np.ndarray = np.array([*SPECIALS, *(-v for v in SPECIALS)], np.float32).astype(dtype)
    left, right = (v.ravel() for v in np.meshgrid(special, special))
    x = points(dtype, rng)[::3]
    with np.errstate(all="ignore"):
        like: np.ndarray = (x * rng.uniform(-8, 8, len(x))).astype(dtype)
    return np.concatenate([left, x, x]), np.concatenate([right, rng.permutation(x), like])


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_atan2(dtype: type) -> None:
    y, x = pairs(np.random.default_rng(1), dtype)
    wide = np.float64 if dtype is np.float32 else np.longdouble
    assert ulps(evaluate("atan2", y, x), np.arctan2(y.astype(wide), x.astype(wide))).max() <= 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_remainder_is_exact(dtype: type) -> None:
    x, y = pairs(np.random.default_rng(2), dtype)
    x = np.concatenate([x, np.arange(1, 5001).astype(dtype) * dtype(0.1)])
    y = np.concatenate([y, np.full(5000, 0.1, dtype)])
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    assert ulps(evaluate("arith.remf", x, y), want).max() == 0


@pytest.mark.parametrize(("dtype", "least", "most"), [(np.float32, -150, 129), (np.float64, -1075, 1025)], ids=["f32", "f64"])
def test_power(dtype: type, least: int, most: int) -> None:
    rng = np.random.default_rng(4)
    x, y = pairs(rng, dtype)
    base = np.concatenate([np.abs(x[:50_000]), rng.uniform(0.9, 1.1, 50_000).astype(dtype)])
    with np.errstate(all="ignore"):
        exponent = (rng.uniform(least, most, len(base)) / np.log2(base.astype(float))).astype(dtype)
        x, y = np.concatenate([x, base, -base]), np.concatenate([y, exponent, np.rint(exponent)])
        want = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    assert ulps(evaluate("powf", x, y), want).max() <= 1


def test_whole_powers_of_doubles_are_exact() -> None:
    x, y = (v.ravel().astype(np.float64) for v in np.meshgrid(np.arange(-64, 65), np.arange(9)))
    np.testing.assert_array_equal(evaluate("powf", x, y), x**y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("exponent", [np.int32, np.int64], ids=["i32", "i64"])
def test_integer_exponents(exponent: type, dtype: type) -> None:
    x = points(dtype, np.random.default_rng(5))[::5]
    n: np.ndarray = np.random.default_rng(5).integers(-40, 40, len(x)).astype(exponent)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.longdouble), n.astype(np.longdouble))
    assert ulps(evaluate("fpowi", x, n), want).max() <= 1


@pytest.mark.parametrize("power", [-1.0, 0.5, 1.0, 2.0, 3.0, 4.0])
def test_constant_exponents(power: float) -> None:
    x = points(np.float32, np.random.default_rng(6))
    body = f"%c = arith.constant dense<{power}> : vector<16xf32>\n%r = math.powf %v0, %c : vector<16xf32>"
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), np.full(len(x), power))
    assert ulps(compiled(body, ("f32",), "f32", 16)(x), want).max() <= 2


def test_integer_power() -> None:
    rng = np.random.default_rng(8)
    x, n = np.concatenate([rng.integers(-3, 4, 5000), rng.integers(-90, 90, 5000)]), rng.integers(-5, 40, 10_000)
    want = [int(b) ** int(e) if e >= 0 else {1: 1, -1: (-1) ** int(-e)}.get(int(b), 0) for b, e in zip(x, n)]
    wrapped = np.array([v % (1 << 64) for v in want], dtype=np.uint64)
    np.testing.assert_array_equal(evaluate("ipowi", x, n).view(np.uint64), wrapped)
    np.testing.assert_array_equal(evaluate("ipowi", x.astype(np.int32), n.astype(np.int32)).view(np.uint32), wrapped.astype(np.uint32))


@pytest.mark.parametrize(("lanes", "avx512"), [(1, False), (16, False), (16, True)], ids=["scalar", "vector", "avx512"])
def test_weights(lanes: int, avx512: bool) -> None:
    """exp of what is at most 0, for sums that have a 1 among their terms: errors that grow as those of rounding x do, 0 for what is less
    than the normal numbers."""
    if avx512 and not get_host_cpu_features().get("avx512dq"):
        pytest.skip("the host has no AVX-512")
    x = np.concatenate([-np.abs(np.random.default_rng(3).normal(0, 20, 40_000)), [-0.0, 0, -1e9, -INF, NAN, -87.3, -87.4, -3.4e38]])
    x = x.astype(np.float32)
    got = compiled(f"%r = math.exp %v0 {{hloom.weight}} : {wide('f32', lanes)}", ("f32",), "f32", lanes, avx512)(x)
    want = np.exp(x.astype(np.float64))
    want[x < -126 * np.log(2)] = 0
    assert np.all(ulps(got, want) <= 2.6 + 1.2 * np.nan_to_num(np.minimum(np.abs(x), 90)))
    assert np.all(got[x == 0] == 1)


@pytest.mark.parametrize(("op", "reference"), [("exp", np.exp), ("log", np.log), ("tanh", np.tanh), ("sin", np.sin)])
def test_half_is_rounded_from_single(op: str, reference: Callable[..., np.ndarray]) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64))
    assert ulps(evaluate(op, x), want).max() <= 0.501


@pytest.mark.parametrize("op", ["exp", "log", "sin"])
def test_scalar_code_gives_the_same_bits(op: str) -> None:
    x = points(np.float32, np.random.default_rng(9))[::11]
    np.testing.assert_array_equal(evaluate(op, x).view(np.int32), evaluate(op, x, lanes=1).view(np.int32))


def test_isinf() -> None:
    np.testing.assert_array_equal(evaluate("isinf", np.array([INF, -INF, NAN, 0, 1e30], np.float32), result="i1"), [1, 1, 0, 0, 0])


@pytest.mark.skipif(not get_host_cpu_features().get("avx512f"), reason="the host has no AVX-512")
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_avx512_scaling_gives_the_same_bits(dtype: type) -> None:
    x, name = points(dtype, np.random.default_rng(10)), "f32" if dtype is np.float32 else "f64"
    body = f"%r = math.exp %v0 : vector<32x{name}>"
    scaled, portable = (compiled(body, (name,), name, 32, avx512)(x) for avx512 in (True, False))
    np.testing.assert_array_equal(scaled.view(np.uint8), portable.view(np.uint8))
