"""Quantized types of other scales, storages and axes, between floats: scales are powers of two, so that each step is exact."""

from __future__ import annotations

from ..errors import Facts, Unsuitable
from ..grow import Grower
from ..program import Type, Value
from . import variant

STORAGES = ("i8", "i8", "u8", "i16", "i32", "i4", "u4", "i8<-100:100>")
SCALES = (0.25, 0.5, 1.0, 2.0)


def storage_and_zero(g: Grower) -> tuple[str, int]:
    storage = g.rng.choice(STORAGES)
    return storage, g.rng.choice((0, 1, 3)) if storage.startswith("u") else g.rng.choice((-3, 0, 0, 2))


def per_tensor(g: Grower, expressed: str) -> str:
    storage, zero = storage_and_zero(g)
    return f"!quant.uniform<{storage}:{expressed}, {g.rng.choice(SCALES):e}:{zero}>"


def per_axis(g: Grower, expressed: str, shape: tuple[int, ...]) -> str:
    axis = g.rng.randrange(len(shape))
    storage, zero = storage_and_zero(g)
    scales = ", ".join(f"{g.rng.choice(SCALES):e}:{zero}" for _ in range(shape[axis]))
    return f"!quant.uniform<{storage}:{expressed}:{axis}, {{{scales}}}>"


def quantized(g: Grower, x: Value, element: str) -> Value:
    """It is no value for other recipes: of its type there is no argument."""
    value = g.emit("uniform_quantize", [x], Type(x.shape, element), facts=Facts(128.0))
    g.pool.remove(value)
    return value


def again_a_float(g: Grower, q: Value, expressed: str) -> Value:
    return g.emit("uniform_dequantize", [q], Type(q.shape, expressed), facts=Facts())


@variant("uniform_quantize")
def through_quantized(g: Grower, name: str, element: str) -> Value:
    """To a quantized type, perhaps to another one, moved, and back."""
    if element not in ("f32", "f16", "bf16") or g.by_xla:
        raise Unsuitable
    x = g.any(element, high=3, finite=True)
    axes = x.rank and x.type.size and x.type.size < 200 and g.rng.random() < 0.4
    q = quantized(g, x, per_axis(g, element, x.shape) if axes else per_tensor(g, element))
    if not axes and g.rng.random() < 0.4:
        q = quantized(g, q, per_tensor(g, element))
    if not axes and x.rank and g.rng.random() < 0.5:
        order = g.rng.sample(range(x.rank), x.rank)
        q = g.emit("transpose", [q], Type(tuple(x.shape[d] for d in order), q.element), f"permutation = array<i64: {str(order)[1:-1]}>")
        g.pool.remove(q)
    return again_a_float(g, q, element)


@variant("uniform_dequantize")
def quantized_arithmetic(g: Grower, name: str, element: str) -> Value:
    """An op of quantized values of one type."""
    if element != "f32" or g.by_xla:
        raise Unsuitable
    x = g.any(element, high=3, finite=True)
    kind = per_tensor(g, element)
    y = g.value(x.shape, element, finite=True)
    a, b = (quantized(g, v, kind) for v in (x, y))
    op = g.rng.choice(("add", "subtract", "maximum", "minimum", "multiply", "negate", "abs", "select"))
    operands = {"negate": [a], "abs": [a], "select": [g.value(x.shape, "i1"), a, b]}.get(op, [a, b])
    q = g.emit(op, operands, a.type, facts=Facts())
    g.pool.remove(q)
    return again_a_float(g, q, element)
