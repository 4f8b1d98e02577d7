"""Every elementwise op, of every type that it takes, on edge values; compared with the reference interpreter, bit by bit except functions.

Where StableHLO leaves the result to the implementation and the interpreter aborts or differs from hardware (integer division by zero,
shifts by the width and more, floats out of an integer's range), the wanted values are XLA's, by NumPy.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from programs import FLOATS, INTEGERS, SIGNED, TYPES, UNSIGNED, Program
from values import edges, pairs, small, spread

import hloom
from hloom.runtime.dtypes import numpy_dtype

EXACT = "abs negate sign ceil floor round_nearest_afz round_nearest_even sqrt".split()
MATH = """exponential exponential_minus_one log log_plus_one logistic sine cosine tan tanh cbrt rsqrt""".split()
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]


def ulps(name: str, element: str) -> float:
    """Half precision is computed in f32 and rounded once, so it is never further off than the rounding of a value near a tie."""
    if element in ("f16", "bf16"):
        return 1
    return 5 if name == "tanh" else 2


@pytest.mark.parametrize("element", FLOATS)
def test_exact_functions_of_a_float(interpreter, element):
    p = Program()
    x = p.input(spread(element, 1021))
    for name in EXACT:
        p.check(name, p.op(name, [x]))
    p.check("is_finite", p.op("is_finite", [x], element="i1"))
    p.verify(interpreter)


@pytest.mark.parametrize("element", FLOATS)
def test_math_functions(interpreter, element):
    p = Program()
    x_values = spread(element, 1021)
    x = p.input(x_values)
    for name in MATH:
        exact = np.cbrt(x_values.astype(np.longdouble)).astype(np.float64) if (name, element) == ("cbrt", "f64") else None
        p.check(name, p.op(name, [x]), exact, ulps=ulps(name, element))  # libm's cbrt, the interpreter's, is off by 2.4 ulp
    p.verify(interpreter)


@pytest.mark.parametrize("element", FLOATS)
def test_binary_ops_of_floats(interpreter, element):
    p = Program()
    x, y = map(p.input, pairs(element))
    for name in "add subtract multiply divide maximum minimum remainder".split():
        p.check(name, p.op(name, [x, y]))
    for name in ("power", "atan2"):
        p.check(name, p.op(name, [x, y]), ulps=ulps(name, element))
    p.verify(interpreter)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_every_op_of_a_chain_rounds_to_half_precision(interpreter, element):
    p = Program()
    x, y = (p.input(spread(element, 1021, seed)) for seed in (1, 2))
    a = p.op("add", [x, y])
    b = p.op("multiply", [a, y])
    c = p.op("subtract", [b, x])
    d = p.op("divide", [c, a])
    p.check("chain", p.op("add", [d, c]))
    p.check("there and back", p.op("convert", [p.op("convert", [p.op("add", [x, y])], element="f32")], element=element))
    p.verify(interpreter)


@pytest.mark.parametrize("element", INTEGERS)
def test_integer_ops(interpreter, element):
    p = Program()
    left, right = pairs(element)
    x, y = p.input(left), p.input(right)
    for name in "add subtract multiply maximum minimum and or xor".split():
        p.check(name, p.op(name, [x, y]))
    for name in ["not", "popcnt", "count_leading_zeros", *(["abs", "negate", "sign"] if element in SIGNED else [])]:
        p.check(name, p.op(name, [x]))
    p.verify(interpreter)


def test_bool_ops(interpreter):
    p = Program()
    x, y = (p.input(np.array(v)) for v in ([False, False, True, True] * 5, [False, True, False, True] * 5))
    for name in "and or xor add multiply maximum minimum".split():
        p.check(name, p.op(name, [x, y]))
    p.check("not", p.op("not", [x]))
    p.verify(interpreter)


@pytest.mark.parametrize("element", INTEGERS)
def test_integer_division(interpreter, element):
    """x / 0 is all ones, x % 0 is x, INT_MIN / -1 wraps, INT_MIN % -1 is 0."""
    left, right = pairs(element)
    q, r = zip(*[divided(int(a), int(b), element) for a, b in zip(left, right)])
    p = Program()
    x, y = p.input(left), p.input(right)
    p.check("divide", p.op("divide", [x, y]), wrapped(q, element))
    p.check("remainder", p.op("remainder", [x, y]), wrapped(r, element))
    for number in edges(element).tolist():
        c = p.constant(np.full(left.shape, number, left.dtype))
        q, r = zip(*[divided(int(a), number, element) for a in left])
        p.check(f"divide by the constant {number}", p.op("divide", [x, c]), wrapped(q, element))
        p.check(f"remainder by the constant {number}", p.op("remainder", [x, c]), wrapped(r, element))
    p.verify(interpreter)


def divided(a: int, b: int, element: str) -> tuple[int, int]:
    if b == 0:
        return -1, a
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def wrapped(values, element: str) -> np.ndarray:
    bits = 8 * numpy_dtype(element).itemsize
    return np.array([v % (1 << bits) for v in values], f"u{bits // 8}").view(numpy_dtype(element))


@pytest.mark.parametrize("element", INTEGERS)
def test_shifts(interpreter, element):
    width = 8 * numpy_dtype(element).itemsize
    amounts = [0, 1, 3, width - 1, width, width + 1, 2 * width - 1]
    values, by = (v.ravel() for v in np.meshgrid(edges(element), np.array(amounts).astype(numpy_dtype(element))))
    p = Program()
    x, amount = p.input(values), p.input(by)
    for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
        wanted = wrapped([shifted(name, int(v), int(a), width) for v, a in zip(values, by)], element)
        p.check(name, p.op(name, [x, amount]), wanted)
        for number in amounts:
            wanted = wrapped([shifted(name, int(v), number, width) for v in values], element)
            p.check(f"{name} by the constant {number}", p.op(name, [x, p.constant(np.full_like(by, number))]), wanted)
    p.verify(interpreter)


def shifted(name: str, value: int, by: int, width: int) -> int:
    unsigned = value % (1 << width)
    if name == "shift_left":
        return unsigned << by
    if name == "shift_right_logical":
        return unsigned >> by
    return (unsigned - (unsigned >> (width - 1) << width)) >> by


@pytest.mark.parametrize("element", INTEGERS)
def test_integer_power(interpreter, element):
    """Modulo the width; a negative exponent rounds 1 / x^n towards zero."""
    exponents = np.array([0, 1, 2, 3, 5, 31, 64, 127, *([-1, -2, -128] if element in SIGNED else [])]).astype(numpy_dtype(element))
    base, power = (v.ravel() for v in np.meshgrid(edges(element), exponents))
    wanted = [int(a) ** int(b) if b >= 0 else {1: 1, -1: (-1) ** -int(b)}.get(int(a), 0) for a, b in zip(base, power)]
    p = Program()
    p.check("power", p.op("power", [p.input(base), p.input(power)]), wrapped(wanted, element))
    p.verify(interpreter)


@pytest.mark.parametrize("element", TYPES)
def test_compare(interpreter, element):
    left, right = pairs(element)
    p = Program()
    x, y = p.input(left), p.input(right)
    kind = "FLOAT" if element in FLOATS else "UNSIGNED" if element in [*UNSIGNED, "i1"] else "SIGNED"
    for direction in DIRECTIONS:
        p.check(direction, p.op("compare", [x, y], element="i1", attributes=comparison(direction, kind)))
    if element in FLOATS:
        keys = [total_order(v) for v in (left, right)]
        for direction, function in zip(DIRECTIONS, [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]):
            value = p.op("compare", [x, y], element="i1", attributes=comparison(direction, "TOTALORDER"))
            p.check(f"{direction} in total order", value, function(*keys))
    p.verify(interpreter)


def comparison(direction: str, kind: str) -> str:
    return f"comparison_direction = #stablehlo<comparison_direction {direction}>, compare_type = #stablehlo<comparison_type {kind}>"


def total_order(x: np.ndarray) -> np.ndarray:
    """IEEE's totalOrder, which the interpreter does not have, as integers: -NaN < -inf < -0 < +0 < inf < NaN."""
    bits = x.view(f"i{x.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


@pytest.mark.parametrize("element", TYPES)
def test_select_and_clamp(interpreter, element):
    left, right = pairs(element)
    p = Program()
    x, low, high = p.input(left), p.input(right), p.input(np.roll(right, 7))
    chosen, one = p.input(np.random.default_rng(0).integers(0, 2, left.shape).astype(bool)), p.input(np.array(True))
    p.check("select", p.op("select", [chosen, x, low], element=element))
    p.check("select by one", p.op("select", [one, x, low], x.shape, element))
    if element != "i1":
        p.check("clamp", p.op("clamp", [low, x, high]))
        bounds = [p.input(np.array(v, left.dtype)) for v in (1, 3)]
        p.check("clamp between two", p.op("clamp", [bounds[0], x, bounds[1]], x.shape))
    p.verify(interpreter)


@pytest.mark.parametrize("source", TYPES)
def test_convert(interpreter, source):
    """Float to integer beyond its range is left open by StableHLO: hloom saturates, NaN becomes 0. All else is exact or rounds once."""
    p = Program()
    values = spread(source, 300)
    x = p.input(values)
    for target in TYPES:
        p.check(f"{source} to {target}", p.op("convert", [x], element=target), converted(values, target))
    p.verify(interpreter)


@pytest.mark.parametrize("source", TYPES)
def test_convert_by_the_interpreter(interpreter, source):
    """Numbers that all types hold, and for floats all that float types hold."""
    p = Program()
    x, y = p.input(np.abs(small((61,), source))), p.input(spread(source, 300))
    for target in TYPES:
        p.check(f"{source} to {target}", p.op("convert", [x], element=target))
        if target in FLOATS or source not in FLOATS:
            p.check(f"any {source} to {target}", p.op("convert", [y], element=target))
    p.verify(interpreter)


def converted(x: np.ndarray, target: str) -> np.ndarray:
    dtype = numpy_dtype(target)
    floats = x.dtype.kind not in "iub"
    with np.errstate(all="ignore"):
        if target == "i1":
            return x != 0
        if floats and dtype.kind in "iu":
            info = np.iinfo(dtype)
            wide = x.astype(np.float64)
            low, high = info.min, info.max
            return np.array([0 if np.isnan(v) else high if v >= high else low if v <= low else int(v) for v in wide], dtype)
        if not floats and dtype.itemsize == 2 and dtype.kind not in "iu":
            return np.array([round_once(int(v), dtype) for v in x], dtype)
        return x.astype(dtype)


def round_once(value: int, dtype: np.dtype) -> float:
    """An integer as a number that rounds to `dtype` as the integer does: bits below those that decide are one sticky bit."""
    drop = max(0, abs(value).bit_length() - 20)
    kept = abs(value) >> drop << drop
    sticky = (1 << drop - 1) if drop and kept != abs(value) else 0
    return float(kept + sticky) * (-1 if value < 0 else 1)


@pytest.mark.parametrize("element", FLOATS)
def test_reduce_precision(interpreter, element):
    p = Program()
    x = p.input(spread(element, 1021))
    for exponent, mantissa in [(5, 10), (8, 7), (4, 3), (5, 2), (8, 23), (3, 1), (11, 52)]:
        attributes = f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32"
        p.check(f"e{exponent}m{mantissa}", p.op("reduce_precision", [x], attributes=attributes))
    p.verify(interpreter)


@pytest.mark.parametrize("element", [t for t in TYPES if t != "i1"])
def test_bitcast_convert(interpreter, element):
    p = Program()
    values = np.random.default_rng(0).integers(0, 256, 3 * 4 * 8, np.uint8).view(numpy_dtype(element)).reshape(3, -1)
    x = p.input(values)
    width = values.itemsize
    for target in (t for t in TYPES if t != "i1"):
        other = numpy_dtype(target).itemsize
        if other == width:
            shape: tuple[int, ...] = values.shape
        elif other < width:
            shape = (*values.shape, width // other)
        else:
            continue
        pieces = p.op("bitcast_convert", [x], shape, target)
        p.check(f"{element} to {target}", pieces, values.view(np.uint8).reshape(-1).view(numpy_dtype(target)).reshape(shape))
        if other < width:
            whole = np.arange(np.prod(shape) * other, dtype=np.uint8).view(numpy_dtype(target)).reshape(shape)
            joined = p.op("bitcast_convert", [p.input(whole)], values.shape, element)
            p.check(f"{target} to {element}", joined, whole.reshape(-1).view(values.dtype).reshape(values.shape))
    p.verify(interpreter)


SHAPES = [(), (1,), (3,), (17,), (61,), (1021,), (0,), (3, 0, 2), (1, 1), (17, 61), (61, 17)]
SHAPES += [(2, 3, 5), (1, 3, 1, 7), (2, 1, 3, 2, 5), (5, 1, 1, 1, 1)]


@pytest.mark.parametrize("element", ["f32", "f16", "i8", "f64"])
def test_shapes(interpreter, element):
    """Sizes that no vector divides, ranks 0 to 5, no elements; each shape is a kernel of its own."""
    p = Program()
    for shape in SHAPES:
        x, y = (p.input(small(shape, element, seed)) for seed in (1, 2))
        product = p.op("multiply", [p.op("add", [x, y]), y])
        p.check(f"{list(shape)}", p.op("maximum", [product, p.op("negate", [x])]))
        less = "comparison_direction = #stablehlo<comparison_direction LT>"
        p.check(f"{list(shape)} compared", p.op("compare", [x, y], element="i1", attributes=less))
    p.verify(interpreter)


@pytest.mark.parametrize("element", ["f32", "bf16", "i32", "ui8"])
def test_constants_are_folded_to_the_same_bits(interpreter, element):
    """The same ops on constants, which the compiler may evaluate."""
    p = Program()
    left, right = (v[::7] for v in pairs(element))
    x, y, like = p.constant(left), p.constant(right), p.input(left)
    names = "add subtract multiply maximum minimum".split() + (["divide"] if element in FLOATS else ["and", "or", "xor"])
    for name in names:
        p.check(name, p.op(name, [x, y]))
        p.check(f"{name} of a constant and a value", p.op(name, [like, y]))
        for number in edges(element)[::4].tolist() if name != "divide" else []:
            splat = p.constant(np.full(left.shape, number).astype(left.dtype))
            p.check(f"{name} by {number}", p.op(name, [like, splat]))
    for name in ["abs", "negate", "sign", "floor"] if element in FLOATS else ["not"]:
        p.check(name, p.op(name, [x]))
    p.verify(interpreter)


@pytest.mark.parametrize("element", FLOATS)
def test_division_by_one_number(interpreter, element):
    """Rounded as any other division, though a compiler may multiply by the reciprocal: a constant, and the same number in each row."""
    p = Program()
    numbers = edges(element)
    x = p.input(spread(element, 300))
    for number in numbers[:20].tolist():
        p.check(f"by {number}", p.op("divide", [x, p.constant(np.full(x.shape, number).astype(numbers.dtype))]))
    rows, sums = (p.input(v.reshape(43, -1)) for v in (np.tile(numbers, 43), numbers))
    columns = p.op("broadcast_in_dim", [sums], rows.shape, attributes="broadcast_dimensions = array<i64: 0, 1>")
    p.check("row by row", p.op("divide", [rows, columns]))
    p.verify(interpreter)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_angles_of_constants_that_are_zero(target):
    """MLIR would fold each of them to NaN."""
    lines = [f"%{name} = stablehlo.constant dense<{value}> : tensor<3xf32>" for name, value in (("p", "0.0"), ("m", "-0.0"))]
    pairs = list(itertools.product("pm", repeat=2))
    lines += [f"%{y}{x} = stablehlo.atan2 %{y}, %{x} : tensor<3xf32>" for y, x in pairs]
    names, kinds = ", ".join(f"%{y}{x}" for y, x in pairs), ", ".join(["tensor<3xf32>"] * 4)
    text = f"func.func @main() -> ({kinds}) {{\n" + "\n".join(lines) + f"\nreturn {names} : {kinds}\n}}"
    results = hloom.compile(text, target=target).flat([])
    for (y, x), got in zip(pairs, results):
        wanted = np.arctan2(*(np.full(3, -0.0 if sign == "m" else 0.0, np.float32) for sign in (y, x)))
        np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))
        np.testing.assert_allclose(got, wanted, rtol=1e-7)
