"""Complex numbers through every op: functions against NumPy in wider types, special values and all else against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from movement import iota
from programs import COMPLEX, Program, Value, combine, integers

import hloom
from hloom.passes.errors import CompileError
from hloom.runtime.dtypes import numpy_dtype

RANDOM = settings(max_examples=4, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
PARTS = {"complex<f32>": "f32", "complex<f64>": "f64"}

FUNCTIONS = {
    "abs": np.abs,
    "cbrt": lambda z: np.exp(np.log(z) / 3),
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sign": lambda z: z / np.abs(z),
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
REAL = ("abs", "imag", "real")


def numbers(count: int, element: str, seed: int = 0, largest: float = 3.0) -> np.ndarray:
    """Complex numbers whose parts are of magnitudes from e^-8 to e^largest."""
    rng = np.random.default_rng(seed)
    parts = rng.choice([-1.0, 1.0], (2, count)) * np.exp(rng.uniform(-8, largest, (2, count)))
    return (parts[0] + 1j * parts[1]).astype(numpy_dtype(element))


def grid(element: str, values: list[float]) -> np.ndarray:
    """Every value as real part with every one as imaginary part."""
    dtype = numpy_dtype(element)
    parts = np.stack(np.meshgrid(values, values), -1).astype(numpy_dtype(PARTS[element]))
    return np.ascontiguousarray(parts).view(dtype).reshape(-1)


def small(shape: tuple[int, ...], element: str, seed: int = 0) -> np.ndarray:
    """Small whole parts: sums and products are exact."""
    parts = np.random.default_rng([seed, *shape]).integers(-3, 4, (2, *shape))
    return (parts[0] + 1j * parts[1]).astype(numpy_dtype(element))


def unary(p: Program, name: str, x: Value) -> Value:
    return p.op(name, [x], element=PARTS[x.element] if name in REAL else None)


@pytest.mark.parametrize("element", COMPLEX)
def test_functions(interpreter, element):
    """Within a few units in the last place of the magnitude: against numbers that are 11 bits longer at least."""
    p = Program()
    z = numbers(200, element)
    x = p.input(z)
    wide = z.astype(np.clongdouble)
    for name, function in FUNCTIONS.items():
        wanted = function(wide).astype(numpy_dtype(PARTS[element] if name in REAL else element))
        p.check(name, unary(p, name, x), wanted, ulps=4)
    p.verify(interpreter, cpu_only=element == "complex<f64>")


@pytest.mark.parametrize("element", COMPLEX)
def test_arithmetic(interpreter, element):
    p = Program()
    a, b = numbers(200, element, 1, 9), numbers(200, element, 2, 9)
    x, y = p.input(a), p.input(b)
    wide = a.astype(np.clongdouble), b.astype(np.clongdouble)
    for name, function in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}.items():
        p.check(name, p.op(name, [x, y]), function(*wide).astype(a.dtype), ulps=4)
    p.check("negate", p.op("negate", [x]), -a)
    for name in REAL:
        p.check(name, unary(p, name, x), ulps=2)
    whole, other = p.input(small((200,), element, 1)), p.input(small((200,), element, 2))
    for name in ("maximum", "minimum"):
        p.check(name, p.op(name, [whole, other]))
    for direction in ("EQ", "NE"):
        kind = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        p.check(direction, p.op("compare", [whole, other], element="i1", attributes=kind))
    p.verify(interpreter, cpu_only=element == "complex<f64>")


def test_order_is_lexicographic(interpreter):
    """By real parts, then by imaginary ones: the reference does not compare complex numbers, NumPy does."""
    p = Program()
    x = grid("complex<f32>", [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    left, right = (part.ravel() for part in np.meshgrid(x, x))
    for direction, real, same in (("LT", np.less, np.less), ("LE", np.less, np.less_equal), ("GT", np.greater, np.greater)):
        kind = f"comparison_direction = #stablehlo<comparison_direction {direction}>"
        wanted = real(left.real, right.real) | ((left.real == right.real) & same(left.imag, right.imag))
        p.check(direction, p.op("compare", [p.input(left), p.input(right)], element="i1", attributes=kind), wanted)
    z = small((40,), "complex<f32>", 5)

    def before(a: Value, b: Value) -> Value:
        return p.op("compare", [a, b], element="i1", attributes="comparison_direction = #stablehlo<comparison_direction GT>")

    region = p.region([((), "complex<f32>")] * 2, before)
    ordered = p.op("sort", [p.input(z)], attributes="dimension = 0 : i64, is_stable = true", regions=[region])
    p.check("sort", ordered, np.sort(z)[::-1])
    p.verify(interpreter)


@pytest.mark.parametrize("element", COMPLEX)
def test_powers(interpreter, element):
    """A power is an exponential of a product: its error grows with that."""
    p = Program()
    base, exponent = numbers(100, element, 1, 1.5), small((100,), element, 2)
    exponent[::2] *= numpy_dtype(element).type(0.25)
    wanted = np.power(base.astype(np.clongdouble), exponent.astype(np.clongdouble)).astype(base.dtype)
    p.check("power", p.op("power", [p.input(base), p.input(exponent)]), wanted, ulps=60)
    zero = np.zeros(4, base.dtype)
    p.check(
        "of zero", p.op("power", [p.input(zero), p.input(np.array([0, 1, 2 + 1j, 0.5], base.dtype))]), np.array([1, 0, 0, 0], base.dtype)
    )
    infinite, real = p.input(np.full(4, np.inf, base.dtype)), p.input(np.array([2.5, -2, 1, 0], base.dtype))
    p.check("of infinity", p.op("power", [infinite, real]), np.array([np.inf, 0, np.inf, 1], base.dtype))
    p.verify(interpreter, cpu_only=element == "complex<f64>")


def test_quotients_of_large_small_and_infinite_numbers(interpreter):
    """As C99 has them: nothing overflows or vanishes that the quotient does not."""
    pairs = [
        (1e38 + 1e38j, 1e38 + 1e38j, 1),
        (3e38 + 3e38j, 3e38 + 3e38j, 1),
        (1e-44 + 0j, 1e-44 + 0j, 1),
        (1e-30 + 1e-30j, 1e30 + 1e30j, 0),
        (1e30 + 1e30j, 1e-30 + 0j, complex(np.inf, np.inf)),
        (1e20 + 2e20j, 1e-10 + 0j, 1e30 + 2e30j),
        (1 + 1j, 0j, complex(np.inf, np.inf)),
        (-1 + 1j, 0j, complex(-np.inf, np.inf)),
        (1 + 1j, complex(np.inf, 0), 0),
        (complex(np.inf, 1), 1 + 1j, complex(np.inf, -np.inf)),
        (0j, 0j, complex(np.nan, np.nan)),
        (complex(np.nan, 0), 1 + 0j, complex(np.nan, np.nan)),
    ]
    left, right, wanted = (np.array([pair[number] for pair in pairs], np.complex64) for number in range(3))
    p = Program()
    quotient = p.op("divide", [p.input(left), p.input(right)])
    for name in ("real", "imag"):
        p.check(name, unary(p, name, quotient), getattr(wanted, name), absolute=1e-30, ulps=2)
    p.verify(interpreter)


def test_special_values_are_those_of_c99(interpreter):
    """Zeros of both signs, infinities, NaN: the interpreter has the C++ library's functions."""
    z = grid("complex<f32>", [0.0, -0.0, 1, -1, 0.5, -2, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-20, 100])
    p = Program()
    x = p.input(z)
    known = ~((z.real == -np.inf) & (z.imag == -np.inf))
    for name in ("abs", "log", "sqrt", "exponential"):
        value, mask = unary(p, name, x), p.input(known)
        zero = p.constant(np.zeros(z.shape, np.float32 if name == "abs" else np.complex64))
        p.check(name, p.op("select", [mask, value, zero], element=value.element), ulps=4)
    finite = np.isfinite(z) & (np.abs(z) < 50)
    y = p.input(z[finite])
    for name in ("cosine", "sine", "tan", "tanh"):
        p.check(name, unary(p, name, y), ulps=4)
    p.verify(interpreter, cpu_only=True)


def test_real_and_imaginary_parts_and_conversions(interpreter):
    p = Program()
    z = small((3, 5), "complex<f32>")
    x, re, im = p.input(z), p.input(z.real.copy()), p.input(z.imag.copy())
    p.check("complex", p.op("complex", [re, im], element="complex<f32>"))
    p.check("wider", p.op("convert", [x], element="complex<f64>"))
    p.check("narrower", p.op("convert", [p.op("convert", [x], element="complex<f64>")], element="complex<f32>"))
    p.check("of integers", p.op("convert", [p.input(np.arange(5, dtype=np.int32))], element="complex<f32>"))
    p.check("to real", p.op("convert", [x], element="f32"), z.real.copy())
    p.check("splat", p.constant(np.full((3, 5), 2 - 1j, np.complex64)))
    p.check("constant", p.constant(z))
    p.check("long constant", p.constant(numbers(200, "complex<f64>")))
    p.check("iota", iota(p, (3, 4), "complex<f32>", 1))
    p.check("real part of a real", p.op("real", [re]))
    p.check("imaginary part of a real", p.op("imag", [re]))
    p.check("bitcast", p.op("bitcast_convert", [x]), z)
    p.check("empty", p.constant(np.zeros((0, 2), np.complex64)))
    p.verify(interpreter)


@pytest.mark.parametrize("element", COMPLEX)
def test_movement(interpreter, element):
    p = Program()
    x, y = p.input(small((4, 6), element)), p.input(small((4, 6), element, 1))
    mask = p.input(np.random.default_rng(0).integers(0, 2, (4, 6)) > 0)
    start = [p.input(np.array(n, np.int32)) for n in (1, 2)]
    zero = p.constant(np.array(2 + 1j, numpy_dtype(element)))
    p.check("reshape", p.op("reshape", [x], (24,)))
    p.check("transpose", p.op("transpose", [x], (6, 4), attributes=f"permutation = {integers([1, 0])}"))
    p.check("reverse", p.op("reverse", [x], attributes=f"dimensions = {integers([0, 1])}"))
    p.check("broadcast", p.op("broadcast_in_dim", [x], (4, 2, 6), attributes=f"broadcast_dimensions = {integers([0, 2])}"))
    p.check("concatenate", p.op("concatenate", [x, y], (8, 6), attributes="dimension = 0 : i64"))
    p.check("select", p.op("select", [mask, x, y], element=element))
    cut = {"start_indices": [0, 1], "limit_indices": [4, 6], "strides": [2, 2]}
    p.check("slice", p.op("slice", [x], (2, 3), attributes=", ".join(f"{k} = {integers(v)}" for k, v in cut.items())))
    edges = {"edge_padding_low": [1, 0], "edge_padding_high": [-1, 2], "interior_padding": [0, 1]}
    p.check("pad", p.op("pad", [x, zero], (4, 13), attributes=", ".join(f"{k} = {integers(v)}" for k, v in edges.items())))
    p.check("dynamic_slice", p.op("dynamic_slice", [x, *start], (2, 3), attributes=f"slice_sizes = {integers([2, 3])}"))
    p.check("dynamic_update_slice", p.op("dynamic_update_slice", [x, p.input(small((2, 2), element)), *start]))
    places = p.input(np.array([3, 0, 9, 1], np.int32))
    rows = "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
    p.check("gather", p.op("gather", [x, places], (4, 6), attributes=f"dimension_numbers = {rows}, slice_sizes = {integers([1, 6])}"))
    p.verify(interpreter, cpu_only=element == "complex<f64>")


@pytest.mark.parametrize("element", COMPLEX)
def test_reductions(interpreter, element):
    p = Program()
    x = p.input(small((4, 6), element))
    few = p.input(np.where(np.arange(24).reshape(4, 6) % 7, 1, 1 + 1j).astype(numpy_dtype(element)))
    start = p.constant(np.array(2 + 1j, numpy_dtype(element)))
    for name, value in (("add", x), ("multiply", few)):
        for dims in ([0], [1], [0, 1]):
            region = p.region([((), element)] * 2, combine(p, name))
            shape = [n for d, n in enumerate((4, 6)) if d not in dims]
            p.check(
                f"{name} over {dims}", p.op("reduce", [value, start], shape, attributes=f"dimensions = {integers(dims)}", regions=[region])
            )
    windows = f"window_dimensions = {integers([2, 3])}, window_strides = {integers([1, 2])}"
    for name, value in (("add", x), ("multiply", few)):
        region = p.region([((), element)] * 2, combine(p, name))
        p.check(f"windows of {name}", p.op("reduce_window", [value, start], (3, 2), attributes=windows, regions=[region]))
    p.verify(interpreter, cpu_only=element == "complex<f64>")


@pytest.mark.parametrize("element", COMPLEX)
def test_contractions(interpreter, element):
    p = Program()
    x, y = p.input(small((3, 4, 5), element)), p.input(small((3, 5, 6), element))
    numbers_ = "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
    numbers_ += "rhs_contracting_dimensions = [1]>"
    p.check("dot_general", p.op("dot_general", [x, y], (3, 4, 6), attributes=f"dot_dimension_numbers = {numbers_}"))
    image, kernel = p.input(small((2, 6, 6, 3), element)), p.input(small((3, 3, 3, 4), element))
    layout = "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64"
    layout += ", batch_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>"
    p.check("convolution", p.op("convolution", [image, kernel], (2, 6, 6, 4), attributes=layout))
    p.verify(interpreter, cpu_only=element == "complex<f64>")


def test_regions(interpreter):
    """Control flow, a sort by real parts then imaginary parts, a scatter, each with complex operands beside others."""
    element = "complex<f32>"
    p = Program()
    x = p.input(small((7,), element))
    count, limit, flag = p.constant(np.int32(0)), p.input(np.int32(3)), p.input(np.bool_(True))
    below = "comparison_direction = #stablehlo<comparison_direction LT>"
    kinds = [((), "i32"), ((7,), element)]
    one = p.constant(np.int32(1))
    cond = p.region(kinds, lambda i, z: p.op("compare", [i, limit], element="i1", attributes=below))
    body = p.region(kinds, lambda i, z: [p.op("add", [i, one]), p.op("multiply", [z, x])])
    p.check("while", p.ops("while", [count, x], kinds, regions=[cond, body])[1])
    branches = [p.region([], lambda name=name: p.op(name, [x])) for name in ("negate", "sign")]
    p.check("if", p.op("if", [flag], (7,), element, regions=branches))

    def before(a: Value, b: Value, c: Value, d: Value) -> Value:
        ra, rb, ia, ib = (p.op(name, [z], element="f32") for name in ("real", "imag") for z in (a, b))
        less, same, least = (
            p.op("compare", pair, element="i1", attributes=f"comparison_direction = #stablehlo<comparison_direction {how}>")
            for pair, how in (([ra, rb], "LT"), ([ra, rb], "EQ"), ([ia, ib], "LT"))
        )
        return p.op("or", [less, p.op("and", [same, least])])

    order = p.region([((), element), ((), element), ((), "i32"), ((), "i32")], before)
    places = iota(p, (7,), "i32", 0)
    kinds = [((7,), element), ((7,), "i32")]
    found = p.ops("sort", [x, places], kinds, "dimension = 0 : i64, is_stable = true", [order])
    p.check("sort", found[0])
    p.check("argsort", found[1])
    p.verify(interpreter, cpu_only=True)


def test_scatters(interpreter):
    element = "complex<f64>"
    p = Program()
    table, updates = p.input(small((4, 6), element)), p.input(small((5, 6), element))
    places = p.input(np.array([[3], [0], [3], [9], [1]], np.int32))
    rows = (
        "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
    )
    for name in ("add", "multiply"):
        body = p.region([((), element)] * 2, combine(p, name))
        p.check(name, p.op("scatter", [table, places, updates], attributes=f"scatter_dimension_numbers = {rows}", regions=[body]))
    p.verify(interpreter, cpu_only=True)


def test_the_largest_gradient_of_a_pool(interpreter):
    """select_and_scatter with a complex source."""
    p = Program()
    x, source = p.input(small((4, 6), "complex<f32>")), p.input(small((2, 3), "complex<f32>"))
    start = p.constant(np.complex64(0))

    def prefers(a: Value, b: Value) -> Value:
        parts = [p.op("real", [z], element="f32") for z in (a, b)]
        return p.op("compare", parts, element="i1", attributes="comparison_direction = #stablehlo<comparison_direction GE>")

    regions = [p.region([((), "complex<f32>")] * 2, body) for body in (prefers, combine(p, "add"))]
    windows = f"window_dimensions = {integers([2, 2])}, window_strides = {integers([2, 2])}"
    p.check("pool", p.op("select_and_scatter", [x, source, start], attributes=windows, regions=regions))
    p.verify(interpreter, cpu_only=True)


@RANDOM
@given(st.data())
def test_random_programs(interpreter, data):
    """Shapes and a chain of ops, sums at the end."""
    element = data.draw(st.sampled_from(COMPLEX))
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    p = Program()
    value = p.input(small(shape, element))
    for number in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(["add", "subtract", "multiply", "negate", "transpose", "reverse"]))
        if name == "transpose":
            order = data.draw(st.permutations(range(len(value.shape))))
            shape = tuple(value.shape[d] for d in order)
            value = p.op(name, [value], shape, attributes=f"permutation = {integers(order)}")
        elif name == "reverse":
            value = p.op(name, [value], attributes=f"dimensions = {integers([0])}")
        else:
            value = p.op(name, [value] if name == "negate" else [value, p.input(small(value.shape, element, number))])
    p.check("chain", value)
    start = p.constant(np.array(0, numpy_dtype(element)))
    region = p.region([((), element)] * 2, combine(p, "add"))
    p.check("sum", p.op("reduce", [value, start], value.shape[1:], attributes=f"dimensions = {integers([0])}", regions=[region]))
    p.verify(interpreter)


@pytest.mark.parametrize(
    ("op", "result", "message"),
    [
        ("stablehlo.remainder %x, %x", "complex<f32>", "remainder"),
        ("stablehlo.bitcast_convert %x", "2xf32", "between real and complex types"),
    ],
)
def test_what_complex_numbers_do_not_have_is_refused(op, result, message):
    operands = "(tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>)" if "%x, %x" in op else "(tensor<4xcomplex<f32>>)"
    text = f"func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4x{result}> {{\n%0 = {op} : {operands} -> tensor<4x{result}>\n"
    with pytest.raises(CompileError, match=message):
        hloom.compile(f"{text}return %0 : tensor<4x{result}>\n}}")
