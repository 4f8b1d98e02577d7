"""Ops that read and write at computed places."""

from __future__ import annotations

from .. import errors
from ..elements import is_float, part
from ..errors import Facts, Unsuitable
from ..grow import Grower
from ..program import Region, Type, Value
from . import recipe
from .movement import array

INDICES = ("i32", "i64", "ui32", "i32", "i8", "ui8")


def index_type(g: Grower) -> str:
    return g.rng.choice(INDICES)


def starts(g: Grower, shape, kind: str) -> list[Value]:
    """Scalars, in bounds or not."""
    return [g.within((), kind, -3 if kind.startswith("i") and g.rng.random() < 0.3 else 0, min(extent + 2, 100)) for extent in shape]


@recipe("dynamic_slice", through=True)
def dynamic_slice(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    sizes = [g.rng.randint(0 if g.rng.random() < 0.05 else min(1, extent), extent) for extent in x.shape]
    return g.emit(
        name, [x, *starts(g, x.shape, index_type(g))], Type(tuple(sizes), element), f"slice_sizes = {array(sizes)}", facts=g.facts[x]
    )


@recipe("dynamic_update_slice", through=True)
def dynamic_update_slice(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    update = g.value([g.rng.randint(min(1, extent), extent) for extent in x.shape], element)
    return g.emit(name, [x, update, *starts(g, x.shape, index_type(g))], x.type, facts=errors.through(g.facts[x], g.facts[update]))


@recipe("gather", through=True)
def gather(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    collapsed, batching, mapped, sizes, batch = dimensions(g, x)
    kind = index_type(g)
    vector = g.rng.randrange(len(batch) + 1)
    shape = (*batch[:vector], len(mapped), *batch[vector:])
    indices = g.within(shape, kind, -2 if kind.startswith("i") else 0, min(max(x.shape) + 1, 100))
    kept = [size for d, size in enumerate(sizes) if d not in (*collapsed, *batching)]
    rank = len(batch) + len(kept)
    offset = sorted(g.rng.sample(range(rank), len(kept)))
    rest_kept, rest_batch = iter(kept), iter(batch)
    result = [next(rest_kept) if d in offset else next(rest_batch) for d in range(rank)]
    places = [d if d < vector else d + 1 for d in range(len(batching))]
    numbers = f"""offset_dims = {offset}, collapsed_slice_dims = {collapsed}, operand_batching_dims = {batching},
      start_indices_batching_dims = {places}, start_index_map = {mapped}, index_vector_dim = {vector}"""
    attributes = f"slice_sizes = {array(sizes)}, dimension_numbers = #stablehlo.gather<{numbers}>"
    return g.emit(name, [x, indices], Type(tuple(result), element), attributes, facts=g.facts[x])


def dimensions(g: Grower, x: Value):
    """Of a gather or scatter: the window's dimensions that vanish, those that are batched, those indexed, the window, and the batch."""
    roles = [g.rng.choice(("collapsed", "collapsed", "kept", "kept", "batching")) for _ in x.shape]
    if roles.count("batching") > 1:
        roles = ["kept" if role == "batching" else role for role in roles]
    collapsed = [d for d, role in enumerate(roles) if role == "collapsed"]
    batching = [d for d, role in enumerate(roles) if role == "batching"]
    mapped = [d for d in range(x.rank) if d not in batching and (d in collapsed or g.rng.random() < 0.4)]
    g.rng.shuffle(mapped)
    sizes = [1 if d in (*collapsed, *batching) else g.rng.randint(1, extent) for d, extent in enumerate(x.shape)]
    batch = [*(x.shape[d] for d in batching), *(g.rng.choice((1, 2, 3, 5)) for _ in range(g.rng.randrange(3)))]
    return collapsed, batching, mapped, sizes, batch


def updating(g: Grower, element: str) -> tuple[Region, str]:
    """A scatter's body, and its op."""
    among = ["set", "add", "maximum", "minimum", "multiply"] if element != "i1" else ["set", "and", "or", "xor"]
    if part(element) != element:
        among = among[:2]
    op = g.rng.choice(among)
    scalar = Type((), element)
    return g.region([scalar, scalar], lambda old, new: [new if op == "set" else g.emit(op, [old, new])]), op


@recipe("scatter", through=True)
def scatter(g: Grower, name: str, element: str) -> Value:
    """Indices are such that no window lies partly out of bounds: there XLA and the reference differ."""
    x = g.any(element, low=1, full=True, finite=True)
    inserted, batching, mapped, sizes, batch = dimensions(g, x)
    sizes = [x.shape[d] if d not in (*inserted, *batching) else 1 for d in range(x.rank)]
    mapped = [d for d in mapped if sizes[d] == 1] or ([inserted[0]] if inserted else [])
    kind = g.rng.choice(("i32", "i64"))
    vector = g.rng.randrange(len(batch) + 1)
    indices = g.within((*batch[:vector], len(mapped), *batch[vector:]), kind, -2, max(x.shape) + 1)
    kept = [size for d, size in enumerate(sizes) if d not in (*inserted, *batching)]
    rank = len(batch) + len(kept)
    window = sorted(g.rng.sample(range(rank), len(kept)))
    rest_kept, rest_batch = iter(kept), iter(batch)
    shape = [next(rest_kept) if d in window else next(rest_batch) for d in range(rank)]
    update = g.value(shape, element, finite=True)
    body, op = updating(g, element)
    places = [d if d < vector else d + 1 for d in range(len(batching))]
    numbers = f"""update_window_dims = {window}, inserted_window_dims = {inserted}, input_batching_dims = {batching},
      scatter_indices_batching_dims = {places}, scatter_dims_to_operand_dims = {mapped}, index_vector_dim = {vector}"""
    attributes = f"indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<{numbers}>"
    facts = updated(g, element, op, x, update)
    return g.emit(name, [x, indices, update], x.type, attributes, [body], facts)


def updated(g: Grower, element: str, op: str, x: Value, update: Value) -> Facts:
    """Updates are applied in order, so exact ones give an exact result."""
    both = g.facts[x], g.facts[update]
    if op in ("set", "maximum", "minimum") or not is_float(part(element)):
        return errors.through(*both)
    if op == "add":
        sum_ = errors.total(element, update.type.size + 1, errors.through(*both))
        return sum_ if not all(f.exact for f in both) else Facts(sum_.bound, sum_.whole)
    if not all(f.exact for f in both):
        raise Unsuitable
    return Facts()


@recipe("select_and_scatter")
def select_and_scatter(g: Grower, name: str, element: str) -> Value:
    """The reference adds the initial value once for each element: it is 0. With GT, XLA takes another of equal elements."""
    x = g.any(element, low=1, high=4, full=True, finite=True)
    window = [g.rng.choice((1, 1, 2, 3)) for _ in x.shape]
    steps = [g.rng.choice((1, 2, 3)) for _ in x.shape]
    pads = [(g.rng.randrange(size), g.rng.randrange(size)) if g.rng.random() < 0.4 else (0, 0) for size in window]
    shape = [(low + extent + high - size) // step + 1 for extent, size, step, (low, high) in zip(x.shape, window, steps, pads)]
    if any(extent < 1 for extent in shape) or any(low + high and size > extent for extent, size, (low, high) in zip(x.shape, window, pads)):
        raise Unsuitable
    source = g.value(shape, element, finite=True)
    zero = g.constant((), element, False if element == "i1" else 0)
    scalar = Type((), element)
    direction = f"comparison_direction = #stablehlo<comparison_direction {'GE' if g.by_xla else g.rng.choice(('GE', 'GT', 'LE'))}>"
    select = g.region([scalar, scalar], lambda a, b: [g.emit("compare", [a, b], Type((), "i1"), direction)])
    add = g.region([scalar, scalar], lambda a, b: [g.emit("add", [a, b])])
    facts = errors.total(element, source.type.size + 1, g.facts[source])
    padding = f"padding = dense<{[list(pair) for pair in pads]}> : tensor<{x.rank}x2xi64>"
    attributes = f"window_dimensions = {array(window)}, window_strides = {array(steps)}, {padding}"
    return g.emit(name, [x, source, zero], x.type, attributes, [select, add], facts)


@recipe("torch_index_select", by_xla=True)
def torch_index_select(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    d = g.rng.randrange(x.rank)
    count = g.rng.choice((1, 2, 5))
    indices = g.within((count,), "i32", 0, x.shape[d] - 1)
    shape = (*x.shape[:d], count, *x.shape[d + 1 :])
    return g.emit(name, [x, indices], Type(shape, element), f"dim = {d} : i64, batch_dims = 0 : i64", facts=g.facts[x])
