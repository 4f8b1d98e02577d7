"""Ops whose shapes are operands: here constants, so that every type is static."""

from __future__ import annotations

from ..errors import Facts, Unsuitable
from ..grow import Grower
from ..program import Type, Value
from . import recipe
from .contracting import operands_of
from .movement import array, reshaped


def numbers(g: Grower, given) -> Value:
    given = list(given)
    kind = Type((len(given),), "i64")
    return g.emit("constant", [], [kind], f"value = dense<{given}> : {kind}" if given else f"value = dense<> : {kind}")


@recipe("dynamic_broadcast_in_dim", through=True)
def dynamic_broadcast_in_dim(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, high=4)
    shape = (*(g.rng.choice((1, 2, 3)) for _ in range(g.rng.randrange(5 - x.rank))), *x.shape)
    dims = range(len(shape) - x.rank, len(shape))
    return g.emit(name, [x, numbers(g, shape)], Type(shape, element), f"broadcast_dimensions = {array(dims)}", facts=g.facts[x])


@recipe("dynamic_reshape", through=True)
def dynamic_reshape(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    shape = reshaped(g, x.type.size)
    return g.emit(name, [x, numbers(g, shape)], Type(tuple(shape), element), facts=g.facts[x])


@recipe("dynamic_iota")
def dynamic_iota(g: Grower, name: str, element: str) -> Value:
    if element == "i1":  # the verifier admits it, the specification does not
        raise Unsuitable
    shape = (g.rng.choice((1, 2)), g.rng.choice((1, 2)))
    d = g.rng.randrange(2)
    return g.emit(name, [numbers(g, shape)], Type(shape, element), f"iota_dimension = {d} : i64", facts=Facts(2.0, True))


@recipe("dynamic_pad", through=True)
def dynamic_pad(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    filling = g.constant((), element, False if element == "i1" else 1)
    low, high, interior = ([g.rng.choice((0, 0, 1, 2)) for _ in x.shape] for _ in range(3))
    shape = tuple(a + b + e + (e - 1) * i for a, b, e, i in zip(low, high, x.shape, interior))
    operands = [x, filling, *(numbers(g, each) for each in (low, high, interior))]
    return g.emit(
        name, operands, Type(shape, element), facts=Facts(max(g.facts[x].bound, 1), g.facts[x].whole, g.facts[x].ulps, g.facts[x].absolute)
    )


@recipe("real_dynamic_slice", through=True)
def real_dynamic_slice(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    starts = [g.rng.randrange(extent) for extent in x.shape]
    limits = [g.rng.randint(start + 1, extent) for start, extent in zip(starts, x.shape)]
    steps = [g.rng.choice((1, 1, 2)) for _ in x.shape]
    shape = tuple(-(-(limit - start) // step) for start, limit, step in zip(starts, limits, steps))
    return g.emit(name, [x, *(numbers(g, each) for each in (starts, limits, steps))], Type(shape, element), facts=g.facts[x])


@recipe("dynamic_gather", through=True)
def dynamic_gather(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=2, high=2, full=True)
    indices = g.within((3,), "i32", 0, x.shape[0] - 1)
    dims = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
    attributes = f"dimension_numbers = #stablehlo.gather<{dims}>"
    return g.emit(name, [x, indices, numbers(g, (1, x.shape[1]))], Type((3, x.shape[1]), element), attributes, facts=g.facts[x])


@recipe("dynamic_conv", through=True)
def dynamic_conv(g: Grower, name: str, element: str) -> Value:
    """XLA has none."""
    if g.by_xla:
        raise Unsuitable
    x, y = g.value((1, 4, 2), element, exact=True, finite=True), g.value((2, 2, 3), element, exact=True, finite=True)
    pads = g.emit("constant", [], [Type((1, 2), "i64")], "value = dense<[[1, 0]]> : tensor<1x2xi64>")
    dims = "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>"
    facts = operands_of(g, x, y, element, 4)
    return g.emit(
        name, [x, y, pads], Type((1, 4, 3), element), f"{dims}, batch_group_count = 1 : i64, feature_group_count = 1 : i64", facts=facts
    )


@recipe("get_dimension_size")
def get_dimension_size(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1)
    return g.emit(name, [x], Type((), "i32"), f"dimension = {g.rng.randrange(x.rank)} : i64")


@recipe("set_dimension_size", by_xla=True, alone=True)
def set_dimension_size(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    size = g.constant((), "i32", x.shape[0])
    return g.emit(name, [x, size], x.type, "dimension = 0 : i64", facts=g.facts[x])
