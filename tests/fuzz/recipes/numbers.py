"""Linear algebra, transforms, random bits, normalisation."""

from __future__ import annotations

from ..elements import COMPLEX, Data, eps, is_float, largest, part, width
from ..errors import INFINITE, Facts, Unsuitable
from ..grow import Grower
from ..program import Type, Value
from . import recipe
from .movement import array


def tame(g: Grower, shape, element: str) -> Value:
    """Small floats; whole ones where the program has only those."""
    return g.argument(shape, element, Data("tame" if "tame" in g.limits.data else "whole"))


def batch_of_square(g: Grower) -> tuple[tuple[int, ...], int]:
    n = g.rng.choice((1, 2, 3, 5, 9))
    return tuple(g.rng.choice((1, 2, 3)) for _ in range(g.rng.randrange(3))), n


def definite(g: Grower, element: str) -> Value:
    """A matrix that is positive definite: xᵀx + 4 n, the diagonal by iotas; 4 alone in a type that it would leave."""
    batch, n = batch_of_square(g)
    if 20 * n > largest(element):  # an element of x is at most 4
        return diagonal(g, (*batch, n, n), element, 4)
    x = tame(g, (*batch, n, n), element)
    dims = list(range(len(batch)))
    numbers = f"""lhs_batching_dimensions = {dims}, rhs_batching_dimensions = {dims},
      lhs_contracting_dimensions = [{len(batch)}], rhs_contracting_dimensions = [{len(batch)}]"""
    conj = g.emit("chlo.conj", [x]) if element in COMPLEX else x
    gram = g.emit("dot_general", [conj, x], x.type, f"dot_dimension_numbers = #stablehlo.dot<{numbers}>")
    return g.emit("add", [gram, diagonal(g, (*batch, n, n), element, 4 * n)])


def diagonal(g: Grower, shape, element: str, number: int) -> Value:
    rank = len(shape)
    places = [g.emit("iota", [], [Type(shape, "i32")], f"iota_dimension = {rank - i} : i64") for i in (1, 2)]
    on = g.emit("compare", places, Type(shape, "i1"), "comparison_direction = #stablehlo<comparison_direction EQ>")
    return g.emit("select", [on, g.constant(shape, element, number), g.constant(shape, element, 0)], Type(shape, element))


@recipe("cholesky", by_xla=True)
def cholesky(g: Grower, name: str, element: str) -> Value:
    """The other triangle may have anything: it is masked."""
    x, lower = definite(g, element), g.rng.random() < 0.5
    facts = Facts(16.0, False, 0, 64 * eps(element))
    root = g.emit(name, [x], None, f"lower = {str(lower).lower()}", facts=facts)
    rows, columns = (g.emit("iota", [], Type(x.shape, "i32"), f"iota_dimension = {x.rank - i} : i64") for i in (2, 1))
    direction = f"comparison_direction = #stablehlo<comparison_direction {'GE' if lower else 'LE'}>"
    within = g.emit("compare", [rows, columns], Type(x.shape, "i1"), direction)
    g.pool.remove(root)
    return g.emit("select", [within, root, g.constant(x.shape, element, 1)], x.type, facts=facts)


@recipe("triangular_solve", by_xla=True)
def triangular_solve(g: Grower, name: str, element: str) -> Value:
    batch, n = batch_of_square(g)
    a = g.emit("add", [tame(g, (*batch, n, n), element), diagonal(g, (*batch, n, n), element, 8)])
    left = g.rng.random() < 0.5
    columns = g.rng.choice((1, 2, 5))
    b = tame(g, (*batch, *((n, columns) if left else (columns, n))), element)
    among = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    unit = g.rng.random() < 0.2 and n < 4
    flags = {"left_side": left, "lower": g.rng.random() < 0.5, "unit_diagonal": unit}
    attributes = ", ".join(f"{key} = {str(flag).lower()}" for key, flag in flags.items())
    attributes += f", transpose_a = #stablehlo<transpose {g.rng.choice(among)}>"
    return g.emit(name, [a, b], b.type, attributes, facts=Facts(64.0, False, 0, 64 * eps(element)))


@recipe("fft", by_xla=True)
def fft(g: Grower, name: str, element: str) -> Value:
    kind = g.rng.choice(("FFT", "IFFT") if element in COMPLEX else ("RFFT", "IRFFT"))
    count = g.rng.choice((1, 1, 2, 3))
    lengths = [g.rng.choice((1, 2, 3, 4, 7, 8, 15, 16, 17)) for _ in range(count)]
    batch = [g.rng.choice((1, 2, 3)) for _ in range(g.rng.randrange(2))]
    half = [*batch, *lengths[:-1], lengths[-1] // 2 + 1]
    full = [*batch, *lengths]
    other = f"complex<{element}>"
    source, result = {
        "FFT": (Type(tuple(full), element), Type(tuple(full), element)),
        "IFFT": (Type(tuple(full), element), Type(tuple(full), element)),
        "RFFT": (Type(tuple(full), element), Type(tuple(half), other)),
        "IRFFT": (Type(tuple(half), other), Type(tuple(full), element)),
    }[kind]
    x = tame(g, source.shape, source.element)
    size = 1
    for length in lengths:
        size *= length
    attributes = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {array(lengths)}"
    scale = 1 if kind.startswith("I") else size
    return g.emit(name, [x], result, attributes, facts=Facts(8.0 * scale, False, 0, 32 * eps(result.element) * 8 * scale**0.5))


@recipe("rng_bit_generator", by_xla=True)
def rng_bit_generator(g: Grower, name: str, element: str) -> Value:
    algorithm, words = g.rng.choice((("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2)))
    state = g.value((words,), "ui64")
    kinds = [state.type, Type(g.shape(), element)]
    bits = g.emit_all(name, [state], kinds, f"rng_algorithm = #stablehlo<rng_algorithm {algorithm}>")[1]
    if element.startswith("ui"):
        return bits
    g.pool.remove(bits)  # XLA makes them unsigned, and computes so with them
    return g.emit("bitcast_convert", [bits], Type(bits.shape, f"ui{width(element)}"))


@recipe("rng", by_xla=True)
def rng(g: Grower, name: str, element: str) -> Value:
    """Its results are open, but for their range: here it is empty of choice, from 2 to 3 for integers; floats are floored, and 3, to which
    XLA rounds some of bf16, is 2."""
    low, high = g.constant((), element, 0 if element == "i1" else 2), g.constant((), element, 1 if element == "i1" else 3)
    shape = g.shape(low=1)
    extents = f"value = dense<{list(shape)}> : tensor<{len(shape)}xi64>"
    size = g.emit("constant", [], [Type((len(shape),), "i64")], extents)
    value = g.emit(name, [low, high, size], Type(shape, element), "rng_distribution = #stablehlo<rng_distribution UNIFORM>")
    if not is_float(element):
        return value
    g.pool.remove(value)
    below = g.emit("minimum", [value, g.constant(shape, element, 2.5)])
    g.pool.remove(below)
    return g.emit("floor", [below])


@recipe("batch_norm_inference", by_xla=True)
def batch_norm_inference(g: Grower, name: str, element: str) -> Value:
    x, d, vectors = batch(g, element, 4)
    attributes = f"epsilon = 1.0e-01 : f32, feature_index = {d} : i64"
    vectors[3] = g.emit("abs", [vectors[3]])
    return g.emit(name, [x, *vectors], x.type, attributes, facts=Facts(256.0, False, 0, 1024 * eps(element)))


def batch(g: Grower, element: str, count: int) -> tuple[Value, int, list[Value]]:
    shape = tuple(g.rng.choice((1, 2, 3, 5)) for _ in range(g.rng.choice((2, 3, 4))))
    d = g.rng.randrange(len(shape))
    return tame(g, shape, element), d, [tame(g, (shape[d],), element) for _ in range(count)]


@recipe("batch_norm_training", by_xla=True)
def batch_norm_training(g: Grower, name: str, element: str) -> Value:
    x, d, vectors = batch(g, element, 2)
    vector = vectors[0].type
    facts = Facts(256.0, False, 0, 2048 * eps(element))
    attributes = f"epsilon = 1.0e-01 : f32, feature_index = {d} : i64"
    return g.emit_all(name, [x, *vectors], [x.type, vector, vector], attributes, facts=facts)[0]


@recipe("batch_norm_grad", by_xla=True)
def batch_norm_grad(g: Grower, name: str, element: str) -> Value:
    x, d, (scale, mean, variance) = batch(g, element, 3)
    variance = g.emit("abs", [variance])
    facts = Facts(4096.0, False, 0, 16384 * eps(element))
    attributes = f"epsilon = 1.0e-01 : f32, feature_index = {d} : i64"
    y = tame(g, x.shape, element)
    return g.emit_all(name, [x, scale, mean, variance, y], [x.type, scale.type, scale.type], attributes, facts=facts)[0]


QUANTIZED = "!quant.uniform<i8:f32, 5.000000e-01:3>"


@recipe("uniform_quantize uniform_dequantize")
def uniform(g: Grower, name: str, element: str) -> Value:
    """f32 to i8 and back. `element` is that of the side that is not quantized. XLA has no quantized types."""
    if part(element) != element or g.by_xla:
        raise Unsuitable
    x = g.any(element if element in ("f64", "f32", "f16", "bf16") else "f32", finite=True)
    kind = Type(x.shape, QUANTIZED.replace("f32", x.element))
    q = g.emit("uniform_quantize", [x], kind, facts=Facts(INFINITE))
    if kind.element != QUANTIZED:  # no argument is of such a type
        g.pool.remove(q)
    return g.emit("uniform_dequantize", [q], x.type, facts=Facts(128.0))
