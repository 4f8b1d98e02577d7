"""Reductions, windows and sorts."""

from __future__ import annotations

from math import prod

import ml_dtypes

from .. import errors
from ..elements import COMPLEX, dtype, is_float, is_integer, largest, part
from ..errors import Facts, Unsuitable
from ..grow import Grower
from ..program import Region, Type, Value
from . import recipe
from .movement import array


def combining(g: Grower, element: str) -> str:
    if element in COMPLEX:
        return g.rng.choice(("add", "multiply"))
    if element == "i1":
        return g.rng.choice(("and", "or", "xor"))
    return g.rng.choice(("add", "add", "maximum", "minimum", "multiply", *(("and", "or", "xor") if is_integer(element) else ())))


def body(g: Grower, op: str, element: str) -> Region:
    scalar = Type((), element)
    return g.region([scalar, scalar], lambda a, b: [g.emit(op, [a, b])])


def identity(op: str, element: str, large: float) -> float | bool:
    """What leaves every element as it is; for extrema of floats `large` or its negative, which is no larger than them."""
    if element == "i1":
        return op == "and"
    if is_integer(element):
        least, most = ml_dtypes.iinfo(dtype(element)).min, ml_dtypes.iinfo(dtype(element)).max
        return {"multiply": 1, "maximum": int(least), "minimum": int(most), "and": -1 if least else int(most)}.get(op, 0)
    return {"multiply": 1, "maximum": -large, "minimum": large}.get(op, 0)


def neutral(g: Grower, op: str, element: str) -> Value:
    """An initial value: the neutral one for floats, and where XLA is asked, which may leave it out."""
    if is_float(part(element)) or g.by_xla or g.rng.random() < 0.5:
        return g.constant((), element, identity(op, element, largest(element) if g.by_xla else min(largest(element), 448)))
    return g.value((), element)


@recipe("reduce", through=True)
def reduce(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, exact=element in COMPLEX)
    dims = g.dims(x.rank)
    if dims and element not in (*COMPLEX, "i1") and g.facts[x].exact and g.rng.random() < 0.2 and not g.isolated:
        if not is_float(element) or g.facts[x].bound < errors.INFINITE:
            return places_of_extremes(g, x, dims, tuple(extent for d, extent in enumerate(x.shape) if d not in dims))
    op = combining(g, element)
    count = prod(x.shape[d] for d in dims)
    init = neutral(g, op, element)
    each = errors.through(g.facts[x], g.facts[init]) if op in ("maximum", "minimum") else g.facts[x]
    facts = errors.folded(op, element, count, each)
    shape = tuple(extent for d, extent in enumerate(x.shape) if d not in dims)
    return g.emit(name, [x, init], Type(shape, element), f"dimensions = {array(dims)}", [body(g, op, element)], facts)


def places_of_extremes(g: Grower, x: Value, dims: list[int], shape: tuple[int, ...]) -> Value:
    """An argmax or argmin: two operands, of which the lower index stays among equal values."""
    largest_ = g.rng.random() < 0.5
    index = g.emit("iota", [], [Type(x.shape, "i32")], f"iota_dimension = {g.rng.randrange(x.rank)} : i64")
    flag, wanted = Type((), "i1"), "GT" if largest_ else "LT"

    def better(a: Value, i: Value, b: Value, j: Value) -> list[Value]:
        compared = [(a, b, wanted), (a, b, "EQ"), (i, j, "LT")]
        first, equal, lower = (g.emit("compare", [v, w], flag, f"{DIRECTION} {d}>") for v, w, d in compared)
        take = g.emit("or", [first, g.emit("and", [equal, lower])])
        return [g.emit("select", [take, a, b], a.type), g.emit("select", [take, i, j], i.type)]

    scalars = [Type((), x.element), Type((), "i32")]
    inits = [neutral(g, "maximum" if largest_ else "minimum", x.element), g.constant((), "i32", 0)]
    kinds = [Type(shape, x.element), Type(shape, "i32")]
    region = g.region([*scalars, *scalars], better)
    return g.emit_all("reduce", [x, index, *inits], kinds, f"dimensions = {array(dims)}", [region], Facts(g.facts[x].bound))[1]


DIRECTION = "comparison_direction = #stablehlo<comparison_direction"


@recipe("map")
def map_(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    y = g.value(x.shape, element)
    op = "and" if element == "i1" else "subtract"
    return g.emit(name, [x, y], x.type, f"dimensions = {array(range(x.rank))}", [body(g, op, element)])


@recipe("reduce_window", through=True)
def reduce_window(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, exact=element in COMPLEX)
    op = combining(g, element)
    window = [g.rng.choice((1, 1, 2, 3)) for _ in x.shape]
    cumulative = x.rank and g.rng.random() < 0.2
    steps, dilations, bases = ([g.rng.choice((1, 1, 1, 2)) for _ in x.shape] for _ in range(3))
    pads = [(g.rng.choice((0, 0, 1)), g.rng.choice((0, 0, 1, 2))) for _ in x.shape]
    if cumulative:
        d = g.rng.randrange(x.rank)
        window, steps, dilations, bases, pads = [1] * x.rank, [1] * x.rank, [1] * x.rank, [1] * x.rank, [(0, 0)] * x.rank
        window[d], pads[d] = max(x.shape[d], 1), (max(x.shape[d], 1) - 1, 0)
    shape = [windows(e, w, s, d, b, p) for e, w, s, d, b, p in zip(x.shape, window, steps, dilations, bases, pads)]
    init = neutral(g, op, element)
    each = errors.through(g.facts[x], g.facts[init]) if op in ("maximum", "minimum") else g.facts[x]
    facts = errors.folded(op, element, prod(window), each)
    attributes = (
        f"window_dimensions = {array(window)}, window_strides = {array(steps)}, window_dilations = {array(dilations)}, "
        f"base_dilations = {array(bases)}"
    )
    if x.rank:
        attributes += f", padding = dense<{[list(pair) for pair in pads]}> : tensor<{x.rank}x2xi64>"
    return g.emit(name, [x, init], Type(tuple(shape), element), attributes, [body(g, op, element)], facts)


def windows(extent: int, window: int, step: int, dilation: int, base: int, pads: tuple[int, int]) -> int:
    """How many windows there are along a dimension."""
    padded = sum(pads) + (max(0, extent - 1) * base + 1 if extent else 0)
    dilated = (window - 1) * dilation + 1
    return 0 if padded == 0 or dilated > padded else (padded - dilated) // step + 1


@recipe("sort")
def sort(g: Grower, name: str, element: str) -> Value:
    """Stable, of keys without NaN: with them a FLOAT comparison is no order, and the reference has no TOTALORDER."""
    x = g.any(element, low=1, finite=True)
    others = [g.value(x.shape, g.element()) for _ in range(g.rng.choice((0, 0, 1, 2)))]
    operands = [x, *others]
    d = g.rng.randrange(x.rank)
    direction = f"comparison_direction = #stablehlo<comparison_direction {g.rng.choice(('LT', 'GT', 'LT'))}>"
    scalars = [Type((), v.element) for v in operands for _ in range(2)]
    two = len(others) and g.rng.random() < 0.4 and others[0].element not in COMPLEX and g.suits(others[0], True, True)

    def before(*pairs: Value) -> list[Value]:
        """By the first key, or by the second one where the first are equal."""
        first = g.emit("compare", pairs[:2], Type((), "i1"), direction)
        if not two:
            return [first]
        equal = g.emit("compare", pairs[:2], Type((), "i1"), f"{DIRECTION} EQ>")
        return [g.emit("or", [first, g.emit("and", [equal, g.emit("compare", pairs[2:4], Type((), "i1"), direction)])])]

    comparator = g.region(scalars, before)
    attributes = f"dimension = {d} : i64, is_stable = true"
    facts = errors.through(*(g.facts[v] for v in operands))
    return g.emit_all(name, operands, [v.type for v in operands], attributes, [comparator], facts)[0]


@recipe("chlo.top_k")
def top_k(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, finite=True, full=True)
    k = g.rng.randint(1, x.shape[-1])
    kinds = [Type((*x.shape[:-1], k), element), Type((*x.shape[:-1], k), "i32")]
    if x.type.size == 0:
        raise Unsuitable
    return g.emit_all(name, [x], kinds, f"k = {k} : i64", facts=Facts(g.facts[x].bound))[0]
