"""Sources, and ops that move elements."""

from __future__ import annotations

from .. import errors
from ..elements import eps, is_float, largest, part
from ..errors import Facts, Unsuitable
from ..grow import Grower
from ..program import Type, Value
from . import recipe


def array(numbers) -> str:
    """An array of i64."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if len(numbers) else "array<i64>"


def copied(g: Grower, name: str, x: Value, shape, attributes: str = "") -> Value:
    return g.emit(name, [x], Type(tuple(shape), x.element), attributes, facts=g.facts[x])


@recipe("constant")
def constant(g: Grower, name: str, element: str) -> Value:
    numbers = (True, False) if element == "i1" else (0, 1) if largest(element) < 4 else (0, 1, 2, 3)
    return g.constant(g.shape(), element, g.rng.choice(numbers))


@recipe("iota")
def iota(g: Grower, name: str, element: str) -> Value:
    shape = g.shape(low=1)
    d = g.rng.randrange(len(shape))
    if shape[d] > largest(element) or (is_float(part(element)) and shape[d] * eps(element) > 1):
        shape = tuple(min(extent, 2) for extent in shape)
    return g.emit(name, [], Type(shape, element), f"iota_dimension = {d} : i64", facts=Facts(float(max(shape[d], 1)), True))


@recipe("broadcast_in_dim", through=True)
def broadcast_in_dim(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, high=4)
    rank = g.rng.randrange(x.rank, 6)
    dims = sorted(g.rng.sample(range(rank), x.rank))
    if g.rng.random() < 0.2:
        g.rng.shuffle(dims)
    shape = list(g.shape(rank, rank)) if rank in g.limits.ranks else [g.extent() for _ in range(rank)]
    for extent, d in zip(x.shape, dims):
        shape[d] = extent if extent != 1 or g.rng.random() < 0.5 else shape[d]
    return copied(g, name, x, shape, f"broadcast_dimensions = {array(dims)}")


@recipe("broadcast", through=True)
def broadcast(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, high=3)
    sizes = [g.extent() for _ in range(g.rng.randrange(3))]
    return copied(g, name, x, (*sizes, *x.shape), f"broadcast_sizes = {array(sizes)}")


@recipe("reshape", through=True)
def reshape(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return copied(g, name, x, reshaped(g, x.type.size))


def reshaped(g: Grower, size: int) -> list[int]:
    """A shape of so many elements."""
    shape, rest = [], size
    while rest > 1 and len(shape) < 4:
        factor = g.rng.choice([d for d in range(1, rest + 1) if rest % d == 0])
        shape.append(factor)
        rest //= factor
    if rest != 1 or g.rng.random() < 0.3:
        shape.insert(g.rng.randrange(len(shape) + 1), rest)
    return shape


@recipe("reverse", through=True)
def reverse(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return copied(g, name, x, x.shape, f"dimensions = {array(g.dims(x.rank))}")


@recipe("transpose", through=True)
def transpose(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    order = g.rng.sample(range(x.rank), x.rank)
    return copied(g, name, x, [x.shape[d] for d in order], f"permutation = {array(order)}")


@recipe("slice", through=True)
def slice_(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    starts = [g.rng.randint(0, extent) if g.rng.random() < 0.5 else 0 for extent in x.shape]
    limits = [g.rng.randint(start, extent) if g.rng.random() < 0.5 else extent for start, extent in zip(starts, x.shape)]
    steps = [g.rng.choice((1, 1, 2, 3)) for _ in x.shape]
    shape = [-(-(limit - start) // step) for start, limit, step in zip(starts, limits, steps)]
    attributes = f"start_indices = {array(starts)}, limit_indices = {array(limits)}, strides = {array(steps)}"
    return copied(g, name, x, shape, attributes)


@recipe("concatenate", through=True)
def concatenate(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1)
    d = g.rng.randrange(x.rank)
    parts = [x]
    for _ in range(g.rng.randrange(3)):
        alike = [v for v in g.pool if v.element == element and v.rank == x.rank and g.suits(v, False, False)]
        alike = [v for v in alike if all(v.shape[i] == x.shape[i] for i in range(x.rank) if i != d)]
        parts.append(g.rng.choice(alike or [x]))
    shape = [sum(v.shape[d] for v in parts) if i == d else extent for i, extent in enumerate(x.shape)]
    return g.emit(name, parts, Type(tuple(shape), element), f"dimension = {d} : i64", facts=errors.through(*(g.facts[v] for v in parts)))


@recipe("pad", through=True)
def pad(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    filling = g.value((), element)
    low, high = ([g.rng.choice((-1, 0, 0, 0, 1, 2)) for _ in x.shape] for _ in range(2))
    interior = [g.rng.choice((0, 0, 0, 1, 2)) for _ in x.shape]
    shape = tuple(a + b + e + max(e - 1, 0) * i for a, b, e, i in zip(low, high, x.shape, interior))
    if any(extent < 0 for extent in shape):
        raise Unsuitable
    attributes = f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, interior_padding = {array(interior)}"
    return g.emit(name, [x, filling], Type(shape, element), attributes, facts=errors.through(g.facts[x], g.facts[filling]))


@recipe("optimization_barrier", through=True)
def barrier(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return copied(g, name, x, x.shape)


@recipe("tuple get_tuple_element", through=True)
def tuples(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    y = g.any(g.element())
    kind = Type((), f"tuple<{x.type}, {y.type}>")
    packed = g.emit("tuple", [x, y], kind)
    return g.emit("get_tuple_element", [packed], x.type, "index = 0 : i32", facts=g.facts[x])
