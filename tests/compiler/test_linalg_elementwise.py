"""Every elementwise op on edge values: lowered to linalg and run, against the reference interpreter."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from linalg_oracle import TYPES, run_lowered

from hloom.compiler.interpreter import Interpreter

FLOATS = ["f32", "f64", "f16", "bf16"]
SIGNED, UNSIGNED = ["i8", "i32", "i64"], ["ui8", "ui16", "ui32", "ui64"]
PASSES = ["lower-to-linalg", "inline-producers", "collapse-loop-dims"]


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter() as started:
        yield started


def edge_values(element: str) -> np.ndarray:
    dtype = TYPES[element]
    if element == "i1":
        return np.array([False, True])
    if element[0] in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.array([low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 100, *([-1, -2, -7] if low else [])], object).astype(dtype)
    info = ml_dtypes.finfo(dtype)
    tiny = float(info.smallest_subnormal)
    numbers = [
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.49,
        3.7,
        -3.7,
        100,
        -100,
        tiny,
        -tiny,
        float(info.max),
        np.inf,
        -np.inf,
        np.nan,
    ]
    return np.array(numbers, np.float64).astype(dtype)


def normal(values: np.ndarray) -> np.ndarray:
    """Without bf16's subnormals: the instruction that rounds f32 to bf16 flushes them."""
    if values.dtype != ml_dtypes.bfloat16:
        return values
    signed = values.astype(np.float32)
    wide = np.abs(signed)
    subnormal = (wide > 0) & (wide < float(ml_dtypes.finfo(values.dtype).smallest_normal))
    return np.where(subnormal, np.copysign(np.float32(0), signed).astype(values.dtype), values)


def pairs(element: str) -> list[np.ndarray]:
    values = normal(edge_values(element))
    crossed = list(itertools.product(range(len(values)), repeat=2))
    return [values[[i for i, _ in crossed]], values[[j for _, j in crossed]]]


def check(interpreter, text: str, inputs: list[np.ndarray], ulps: float = 0) -> None:
    wanted = interpreter.run(text, inputs).results
    got = run_lowered(text, inputs, PASSES)
    for w, g in zip(wanted, got):
        if w.dtype.kind in "biu":
            np.testing.assert_array_equal(g, w)
            continue
        eps = float(ml_dtypes.finfo(g.dtype).eps)
        g, w = normal(g).astype(np.float64), normal(w).astype(np.float64)
        if not ulps:
            np.testing.assert_array_equal(np.signbit(g[w == 0]), np.signbit(w[w == 0]))
        np.testing.assert_allclose(g, w, rtol=ulps * eps, atol=0)


def run_op(interpreter, op: str, element: str, arity: int, ulps: float = 0, result: str | None = None) -> None:
    inputs = [edge_values(element)] if arity == 1 else pairs(element)
    n, out = len(inputs[0]), result or element
    names = ["%a", "%b"][:arity]
    signature = ", ".join(f"{name}: tensor<{n}x{element}>" for name in names)
    types = ", ".join([f"tensor<{n}x{element}>"] * arity)
    check(
        interpreter,
        f"""func.func @main({signature}) -> tensor<{n}x{out}> {{
          %0 = {op.format(args=", ".join(names))} : ({types}) -> tensor<{n}x{out}>
          return %0 : tensor<{n}x{out}> }}""",
        inputs,
        ulps,
    )


def generic(op: str, attributes: str = "") -> str:
    return f'"stablehlo.{op}"({{args}}) {attributes}'


EXACT = ["abs", "negate", "sign", "ceil", "floor", "round_nearest_afz", "round_nearest_even", "sqrt"]


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", EXACT)
def test_float_unary(interpreter, op, element):
    run_op(interpreter, generic(op), element, 1)


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize(
    "op", ["exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "cosine", "sine", "tan", "cbrt", "rsqrt"]
)
def test_float_functions(interpreter, op, element):
    run_op(interpreter, generic(op), element, 1, ulps=8)


@pytest.mark.parametrize("element", FLOATS)
def test_is_finite(interpreter, element):
    run_op(interpreter, generic("is_finite"), element, 1, result="i1")


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"])
def test_float_binary(interpreter, op, element):
    run_op(interpreter, generic(op), element, 2)


@pytest.mark.parametrize("op", ["power", "atan2"])
def test_float_binary_functions(interpreter, op):
    run_op(interpreter, generic(op), "f32", 2, ulps=8)


@pytest.mark.parametrize("element", SIGNED + UNSIGNED)
@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"])
def test_integer_binary(interpreter, op, element):
    run_op(interpreter, generic(op), element, 2)


@pytest.mark.parametrize("element", SIGNED + UNSIGNED)
@pytest.mark.parametrize("op", ["not", "popcnt", "count_leading_zeros"])
def test_integer_unary(interpreter, op, element):
    run_op(interpreter, generic(op), element, 1)


@pytest.mark.parametrize("element", SIGNED)
@pytest.mark.parametrize("op", ["abs", "negate", "sign"])
def test_signed_unary(interpreter, op, element):
    run_op(interpreter, generic(op), element, 1)


@pytest.mark.parametrize("op", ["and", "or", "xor", "add", "multiply", "maximum", "minimum"])
def test_bool_binary(interpreter, op):
    run_op(interpreter, generic(op), "i1", 2)


def test_bool_not(interpreter):
    run_op(interpreter, generic("not"), "i1", 1)


@pytest.mark.parametrize("element", SIGNED + UNSIGNED)
@pytest.mark.parametrize("op", ["shift_left", "shift_right_arithmetic", "shift_right_logical"])
def test_shifts(op, element):
    """Amounts at and beyond the width, where the interpreter and hardware disagree with each other."""
    dtype = TYPES[element]
    width = np.dtype(dtype).itemsize * 8
    x, amount = (a.ravel() for a in np.meshgrid(edge_values(element), np.array([0, 1, 3, width - 1, width, width + 1]).astype(dtype)))
    (got,) = run_lowered(binary(f"stablehlo.{op}", len(x), element), [x, amount], PASSES)
    bits = 1 << width

    def shifted(value: int, by: int) -> int:
        if op == "shift_left":
            return (value << by) % bits
        if op == "shift_right_logical":
            return (value % bits) >> by
        signed = value - bits if element[0] == "u" and value >> (width - 1) else value
        return (signed >> by) % bits

    assert [v % bits for v in got.tolist()] == [shifted(int(v), int(a)) for v, a in zip(x, amount)]


def binary(op: str, n: int, element: str) -> str:
    kind = f"tensor<{n}x{element}>"
    return f'func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{ %0 = "{op}"(%a, %b) : ({kind}, {kind}) -> {kind} return %0 : {kind} }}'


@pytest.mark.parametrize("element", SIGNED + UNSIGNED)
def test_division_is_total(element):
    """Division by zero and INT_MIN / -1, which the interpreter aborts on, are what XLA computes."""
    x, y = pairs(element)
    (quotient,) = run_lowered(binary("stablehlo.divide", len(x), element), [x, y], PASSES)
    (rest,) = run_lowered(binary("stablehlo.remainder", len(x), element), [x, y], PASSES)
    for a, b, q, r in zip(x.tolist(), y.tolist(), quotient, rest):
        if b == 0:
            assert (q, r) == (np.array(-1).astype(q.dtype), a)
            continue
        exact = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        assert q == np.array(exact, object).astype(q.dtype) if abs(exact) <= np.iinfo(q.dtype).max else q == a
        assert r == a - exact * b


@pytest.mark.parametrize("element", ["i32", "ui8"])
def test_integer_power(element):
    x, y = (a.ravel() for a in np.meshgrid(edge_values(element), np.array([0, 1, 2, 3, 5, 31, *([-1, -2] if element == "i32" else [])])))
    y = y.astype(TYPES[element])
    (got,) = run_lowered(binary("stablehlo.power", len(x), element), [x, y], PASSES)
    bits = 1 << (np.dtype(TYPES[element]).itemsize * 8)
    for a, b, g in zip(x.tolist(), y.tolist(), got.tolist()):
        wanted = a**b if b >= 0 else {1: 1, -1: (-1) ** -b}.get(a, 0)
        assert g % bits == wanted % bits, (a, b)


@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
@pytest.mark.parametrize(
    ("element", "kind"), [("f32", "FLOAT"), ("f32", "TOTALORDER"), ("bf16", "FLOAT"), ("i8", "SIGNED"), ("ui8", "UNSIGNED")]
)
def test_compare(interpreter, direction, element, kind):
    if kind == "TOTALORDER":
        x, y = pairs("f32")
        keys = [np.where(v.view(np.int32) < 0, v.view(np.int32) ^ 0x7FFFFFFF, v.view(np.int32)) for v in (x, y)]
        wanted = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal}[
            direction
        ](*keys)
        (got,) = run_lowered(compare(direction, kind, len(x), element), [x, y], PASSES)
        np.testing.assert_array_equal(got, wanted)
        return
    inputs = pairs(element)
    check(interpreter, compare(direction, kind, len(inputs[0]), element), inputs)


def compare(direction: str, kind: str, n: int, element: str) -> str:
    t = f"tensor<{n}x{element}>"
    return f"""func.func @main(%a: {t}, %b: {t}) -> tensor<{n}xi1> {{
      %0 = stablehlo.compare {direction}, %a, %b, {kind} : ({t}, {t}) -> tensor<{n}xi1>
      return %0 : tensor<{n}xi1> }}"""


ALL = ["f64", "f32", "f16", "bf16", "i1", "i8", "i32", "i64", "ui8", "ui32", "ui64"]


@pytest.mark.parametrize("source", ALL)
def test_convert(source):
    """To every type in one program; float to integer saturates with NaN to 0, as XLA does."""
    x = edge_values(source)
    n = len(x)
    body = "\n".join(f"%{i} = stablehlo.convert %a : (tensor<{n}x{source}>) -> tensor<{n}x{t}>" for i, t in enumerate(ALL))
    types = ", ".join(f"tensor<{n}x{t}>" for t in ALL)
    values = ", ".join(f"%{i}" for i in range(len(ALL)))
    text = f"func.func @main(%a: tensor<{n}x{source}>) -> ({types}) {{\n{body}\nreturn {values} : {types} }}"
    for target, got in zip(ALL, run_lowered(text, [x], PASSES)):
        wanted = converted(x, target)
        if target == "bf16":
            got, wanted = (normal(v).astype(np.float32) for v in (got, wanted))
        np.testing.assert_array_equal(got, wanted, err_msg=f"{source} to {target}")


def converted(x: np.ndarray, target: str) -> np.ndarray:
    dtype = TYPES[target]
    if target == "i1":
        return x != 0
    if x.dtype.kind in "fV" and target[0] in "iu":
        info = np.iinfo(dtype)
        exact = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v) for v in x.astype(np.float64)]
        return np.array(exact, dtype)
    with np.errstate(all="ignore"):
        if x.dtype.kind in "iu" and dtype in (np.float16, ml_dtypes.bfloat16):
            return x.astype(np.float64).astype(dtype)
        return x.astype(dtype)


@pytest.mark.parametrize("element", ["f32", "i32", "ui8"])
def test_clamp(interpreter, element):
    x, low = pairs(element)
    high = np.roll(low, 7)
    t = f"tensor<{len(x)}x{element}>"
    text = f"func.func @main(%l: {t}, %x: {t}, %h: {t}) -> {t} {{ %0 = stablehlo.clamp %l, %x, %h : {t} return %0 : {t} }}"
    check(interpreter, text, [low, x, high])


def test_select_with_scalar_predicate_and_clamp_with_scalar_bounds(interpreter):
    text = """func.func @main(%p: tensor<i1>, %l: tensor<f32>, %x: tensor<4xf32>, %h: tensor<f32>) -> tensor<4xf32> {
      %0 = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      %1 = stablehlo.select %p, %x, %0 : tensor<i1>, tensor<4xf32>
      return %1 : tensor<4xf32> }"""
    x = np.array([-3, 0.5, 3, np.nan], np.float32)
    for predicate in (False, True):
        check(interpreter, text, [np.array(predicate), np.float32(-1).reshape(()), x, np.float32(1).reshape(())])


@pytest.mark.parametrize(("exponent", "mantissa"), [(5, 10), (8, 7), (4, 3), (8, 23), (3, 0)])
def test_reduce_precision(interpreter, exponent, mantissa):
    x = np.concatenate(
        [edge_values("f32"), np.random.default_rng(0).normal(size=64).astype(np.float32) * np.float32(10.0) ** np.arange(-32, 32)]
    )
    t = f"tensor<{len(x)}xf32>"
    text = (
        f"func.func @main(%x: {t}) -> {t} {{ %0 = stablehlo.reduce_precision %x, format = e{exponent}m{mantissa} : {t} return %0 : {t} }}"
    )
    check(interpreter, text, [x.astype(np.float32)])


@pytest.mark.parametrize(("source", "target"), [("f32", "ui32"), ("i16", "bf16"), ("f64", "i64")])
def test_bitcast_same_width(source, target):
    x = np.arange(1, 9).astype(TYPES[source])
    text = f"""func.func @main(%x: tensor<8x{source}>) -> tensor<8x{target}> {{
      %0 = stablehlo.bitcast_convert %x : (tensor<8x{source}>) -> tensor<8x{target}>
      return %0 : tensor<8x{target}> }}"""
    (got,) = run_lowered(text, [x], PASSES)
    np.testing.assert_array_equal(got.view(np.uint8), x.view(np.uint8))


@pytest.mark.parametrize(("source", "target"), [("ui32", "ui8"), ("f32", "i16"), ("i64", "f16")])
def test_bitcast_between_widths(source, target):
    x = np.random.default_rng(1).integers(0, 255, 24 * 8, np.uint8).view(TYPES[source])[:6].reshape(2, 3)
    ratio = x.itemsize // np.dtype(TYPES[target]).itemsize
    wide, narrow = f"tensor<2x3x{source}>", f"tensor<2x3x{ratio}x{target}>"
    split = f"func.func @main(%x: {wide}) -> {narrow} {{ %0 = stablehlo.bitcast_convert %x : ({wide}) -> {narrow} return %0 : {narrow} }}"
    joined = f"func.func @main(%x: {narrow}) -> {wide} {{ %0 = stablehlo.bitcast_convert %x : ({narrow}) -> {wide} return %0 : {wide} }}"
    (pieces,) = run_lowered(split, [x], PASSES)
    np.testing.assert_array_equal(pieces.view(np.uint8).ravel(), x.view(np.uint8).ravel())
    (whole,) = run_lowered(joined, [pieces], PASSES)
    np.testing.assert_array_equal(whole.view(np.uint8), x.view(np.uint8))
