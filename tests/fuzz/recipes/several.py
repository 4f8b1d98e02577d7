"""Reductions, windows, scatters and sorts of several operands, and those whose bodies are more than one op."""

from __future__ import annotations

from math import prod

from .. import errors
from ..elements import COMPLEX, is_float, is_integer, part
from ..errors import Facts, Unsuitable
from ..grow import Grower
from ..program import Region, Type, Value
from . import variant
from .elementwise import ordered
from .indexing import dimensions
from .movement import array
from .reducing import DIRECTION, combining, neutral, windows


def alike(g: Grower, x: Value) -> list[Value]:
    """One to three values of the shape of `x`, `x` first."""
    elements = [g.element() for _ in range(g.rng.choice((0, 1, 1, 2)))]
    return [x, *(g.value(x.shape, element, exact=element in COMPLEX) for element in elements)]


def each_alone(g: Grower, ops: list[str], elements: list[str]) -> Region:
    """A body that combines each operand by an op of its own."""
    scalars = [Type((), element) for element in elements]

    def combined(*arguments: Value) -> list[Value]:
        first, second = arguments[: len(ops)], arguments[len(ops) :]
        return [g.emit(op, [a, b]) for op, a, b in zip(ops, first, second)]

    return g.region([*scalars, *scalars], combined)


def folded(g: Grower, operands: list[Value], inits: list[Value], ops: list[str], count: int) -> list[Facts]:
    facts = []
    for value, init, op in zip(operands, inits, ops):
        known = g.facts[value]
        each = errors.through(known, g.facts[init]) if op in ("maximum", "minimum") else known
        facts.append(errors.folded(op, value.element, count, each))
    return facts


@variant("reduce", through=True)
def reduce_several(g: Grower, name: str, element: str) -> Value:
    operands = alike(g, g.any(element, exact=element in COMPLEX))
    elements, x = [v.element for v in operands], operands[0]
    ops = [combining(g, each) for each in elements]
    inits = [neutral(g, op, each) for op, each in zip(ops, elements)]
    dims = g.dims(x.rank)
    shape = tuple(extent for d, extent in enumerate(x.shape) if d not in dims)
    facts = folded(g, operands, inits, ops, prod(x.shape[d] for d in dims))
    kinds = [Type(shape, each) for each in elements]
    region = each_alone(g, ops, elements)
    return g.emit_all(name, [*operands, *inits], kinds, f"dimensions = {array(dims)}", [region], facts)[0]


@variant("reduce_window", through=True)
def reduce_window_several(g: Grower, name: str, element: str) -> Value:
    operands = alike(g, g.any(element, low=1, exact=element in COMPLEX))
    elements, x = [v.element for v in operands], operands[0]
    ops = [combining(g, each) for each in elements]
    inits = [neutral(g, op, each) for op, each in zip(ops, elements)]
    window = [g.rng.choice((1, 2, 3)) for _ in x.shape]
    steps, pads = [g.rng.choice((1, 1, 2)) for _ in x.shape], [(g.rng.choice((0, 1)), g.rng.choice((0, 1))) for _ in x.shape]
    shape = tuple(windows(e, w, s, 1, 1, p) for e, w, s, p in zip(x.shape, window, steps, pads))
    facts = folded(g, operands, inits, ops, prod(window))
    padding = f"padding = dense<{[list(pair) for pair in pads]}> : tensor<{x.rank}x2xi64>"
    attributes = f"window_dimensions = {array(window)}, window_strides = {array(steps)}, {padding}"
    kinds = [Type(shape, each) for each in elements]
    return g.emit_all(name, [*operands, *inits], kinds, attributes, [each_alone(g, ops, elements)], facts)[0]


@variant("reduce")
def reduce_by_choice(g: Grower, name: str, element: str) -> Value:
    """By a body of several ops that is associative, but of which the order counts: the first or last element that is not 0."""
    x, zero = g.any(element), g.constant((), element, False if element == "i1" else 0)
    first, scalar = g.rng.random() < 0.5, Type((), element)

    def chosen(a: Value, b: Value) -> list[Value]:
        wanted = a if first else b
        nothing = g.constant((), element, False if element == "i1" else 0)
        flag = g.emit("compare", [wanted, nothing], Type((), "i1"), f"{DIRECTION} NE>")
        return [g.emit("select", [flag, wanted, b if first else a], scalar)]

    dims = g.dims(x.rank)
    shape = tuple(extent for d, extent in enumerate(x.shape) if d not in dims)
    facts = Facts(g.facts[x].bound, g.facts[x].whole)
    return g.emit(name, [x, zero], Type(shape, element), f"dimensions = {array(dims)}", [g.region([scalar, scalar], chosen)], facts)


@variant("reduce reduce_window")
def reduce_clamped(g: Grower, name: str, element: str) -> Value:
    """By the larger of two, but at most a constant of the body: min(max(a, b), 2). XLA does nothing with a single element."""
    if element in COMPLEX or element == "i1" or g.by_xla:
        raise Unsuitable
    x, scalar = g.any(element, low=1, finite=True), Type((), element)
    ceiling = 1 if element in ("i2", "ui2") else 2

    def body(a: Value, b: Value) -> list[Value]:
        larger = g.emit("maximum", [a, b])
        return [g.emit("minimum", [larger, g.constant((), element, ceiling)])]

    init = g.constant((), element, 0)
    facts = Facts(max(2.0, g.facts[x].bound), g.facts[x].whole)
    region = g.region([scalar, scalar], body)
    if name == "reduce":
        dims = g.dims(x.rank) or [0]
        shape = tuple(extent for d, extent in enumerate(x.shape) if d not in dims)
        return g.emit(name, [x, init], Type(shape, element), f"dimensions = {array(dims)}", [region], facts)
    window = [g.rng.choice((1, 2, 3)) for _ in x.shape]
    shape = tuple(windows(e, w, 1, 1, 1, (0, 0)) for e, w in zip(x.shape, window))
    return g.emit(name, [x, init], Type(shape, element), f"window_dimensions = {array(window)}", [region], facts)


@variant("scatter", through=True)
def scatter_several(g: Grower, name: str, element: str) -> Value:
    """Rows of several operands, each updated by an op of its own, in order."""
    x = g.any(element, low=1, full=True, finite=True, exact=True)
    operands = [x, *(g.value(x.shape, g.element(), finite=True, exact=True) for _ in range(g.rng.choice((1, 1, 2))))]
    elements = [v.element for v in operands]
    inserted, batching, mapped, _, batch = dimensions(g, x)
    if batching:
        raise Unsuitable
    mapped = [d for d in mapped if d in inserted] or inserted[:1]
    kept = [extent for d, extent in enumerate(x.shape) if d not in inserted]
    indices = g.within((*batch, len(mapped)), g.rng.choice(("i32", "i64", "ui32")), 0, max(x.shape) + 1)
    shape = (*batch, *kept)
    updates = [g.value(shape, each, finite=True, exact=True) for each in elements]
    ops = [g.rng.choice(("set", combining(g, each) if each not in COMPLEX else "add")) for each in elements]
    scalars = [Type((), each) for each in elements]

    def body(*arguments: Value) -> list[Value]:
        old, new = arguments[: len(ops)], arguments[len(ops) :]
        return [b if op == "set" else g.emit(op, [a, b]) for op, a, b in zip(ops, old, new)]

    window = list(range(len(batch), len(shape)))
    numbers = f"""update_window_dims = {window}, inserted_window_dims = {inserted}, scatter_dims_to_operand_dims = {mapped},
      index_vector_dim = {len(batch)}"""
    attributes = f"indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<{numbers}>"
    facts = []
    for op, value, update in zip(ops, operands, updates):
        both = errors.through(g.facts[value], g.facts[update])
        facts.append(both if op in ("set", "maximum", "minimum") or not is_float(part(value.element)) else Facts())
    kinds = [v.type for v in operands]
    region = g.region([*scalars, *scalars], body)
    return g.emit_all(name, [*operands, indices, *updates], kinds, attributes, [region], facts)[0]


@variant("sort")
def sort_by_keys(g: Grower, name: str, element: str) -> Value:
    """Stable, by one to three keys, each up or down, of floats in the total order or not, as JAX's lexsort."""
    if element in COMPLEX:
        raise Unsuitable
    x = g.any(element, low=1, finite=True)
    elements = [g.element(*(t for t in g.limits.types if t not in COMPLEX and "quant" not in t)) for _ in range(g.rng.randrange(3))]
    keys = [x, *(g.value(x.shape, each, finite=True) for each in elements)]
    operands = [*keys, *(g.value(x.shape, g.element()) for _ in range(g.rng.randrange(2)))]
    ways = [g.rng.choice(("LT", "GT")) for _ in keys]
    scalars = [Type((), v.element) for v in operands for _ in range(2)]
    flag = Type((), "i1")

    def order(key: Value) -> str:
        if is_float(key.element):
            kind = g.rng.choice(("TOTALORDER", "FLOAT"))
        else:
            kind = "SIGNED" if is_integer(key.element) and not key.element.startswith("ui") else "UNSIGNED"
        return f", compare_type = #stablehlo<comparison_type {kind}>"

    orders = [order(key) for key in keys]

    def before(*pairs: Value) -> list[Value]:
        result = None
        for n in reversed(range(len(keys))):
            a, b = pairs[2 * n : 2 * n + 2]
            less = g.emit("compare", [a, b], flag, f"{DIRECTION} {ways[n]}>{orders[n]}")
            if result is None:
                result = less
            elif g.rng.random() < 0.5:
                equal = g.emit("compare", [a, b], flag, f"{DIRECTION} EQ>{orders[n]}")
                result = g.emit("or", [less, g.emit("and", [equal, result])])
            else:
                equal = g.emit("compare", [a, b], flag, f"{DIRECTION} EQ>{orders[n]}")
                result = g.emit("select", [equal, result, less], flag)
        return [result]

    attributes = f"dimension = {g.rng.randrange(x.rank)} : i64, is_stable = true"
    facts = [g.facts[v] for v in operands]
    return g.emit_all(name, operands, [v.type for v in operands], attributes, [g.region(scalars, before)], facts)[0]


@variant("chlo.broadcast_subtract chlo.broadcast_minimum chlo.broadcast_and chlo.broadcast_or chlo.broadcast_xor chlo.broadcast_compare")
def broadcasting_exactly(g: Grower, name: str, element: str) -> Value:
    """Operands of any shapes that NumPy broadcasts."""
    if element == "i1" and name == "chlo.broadcast_subtract":  # there is no stablehlo.subtract of i1
        raise Unsuitable
    if name == "chlo.broadcast_minimum":
        ordered(g, element)
    x = g.any(element, low=1, finite=element in COMPLEX)
    shape = [extent if g.rng.random() < 0.7 else 1 for extent in x.shape[g.rng.randrange(x.rank) :]]
    y = g.value(shape, element, finite=element in COMPLEX)
    operands = [x, y] if g.rng.random() < 0.5 else [y, x]
    if name == "chlo.broadcast_compare":
        way = g.rng.choice(("EQ", "NE") if element in COMPLEX else ("EQ", "LT", "GE"))
        return g.emit(name, operands, Type(x.shape, "i1"), f"comparison_direction = #chlo<comparison_direction {way}>")
    return g.emit(name, operands, x.type)
