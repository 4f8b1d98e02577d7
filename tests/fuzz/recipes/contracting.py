"""Contractions."""

from __future__ import annotations

from math import prod

from .. import errors
from ..elements import eps, is_float, part
from ..errors import Facts, Unsuitable
from ..grow import Grower
from ..program import Type, Value
from . import recipe
from .movement import array
from .reducing import windows


def operands_of(g: Grower, x: Value, y: Value, element: str, count: int) -> Facts:
    """To XLA a product of two is no sum that begins with 0: the sign of a zero is open there."""
    facts = errors.contracted(element, count, g.facts[x], g.facts[y])
    open_sign = g.by_xla and facts.exact and is_float(part(element))
    return Facts(facts.bound, facts.whole, 0, eps(element)) if open_sign else facts


@recipe("dot_general", through=True)
def dot_general(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, high=4, finite=True, exact=part(element) != element)
    roles = [g.rng.choice(("batch", "contracted", "contracted", "free", "free")) for _ in x.shape]
    batch, contracted = ([d for d, role in enumerate(roles) if role == wanted] for wanted in ("batch", "contracted"))
    free = [g.extent() for _ in range(g.rng.choice((0, 1, 1, 2)))]
    extents = (
        [(("b", d), x.shape[d]) for d in batch] + [(("c", d), x.shape[d]) for d in contracted] + [(("f", i), e) for i, e in enumerate(free)]
    )
    if g.rng.random() < 0.5:
        g.rng.shuffle(extents)
    y = g.value([extent for _, extent in extents], element, finite=True, exact=part(element) != element)
    if not is_float(part(element)) and g.rng.random() < 0.5 and element != "i1":
        kind = g.rng.choice(("i32", element))
    else:
        kind = element
    place = {what: d for d, (what, _) in enumerate(extents)}
    others = [e for d, e in enumerate(x.shape) if d not in (*batch, *contracted)]
    result = [*(x.shape[d] for d in batch), *others, *(e for what, e in extents if what[0] == "f")]
    numbers = f"""lhs_batching_dimensions = {batch}, rhs_batching_dimensions = {[place["b", d] for d in batch]},
      lhs_contracting_dimensions = {contracted}, rhs_contracting_dimensions = {[place["c", d] for d in contracted]}"""
    count = prod(x.shape[d] for d in contracted)
    if count * prod(result) > 1_000_000:
        raise Unsuitable
    facts = operands_of(g, x, y, element, count)
    return g.emit(name, [x, y], Type(tuple(result), kind), f"dot_dimension_numbers = #stablehlo.dot<{numbers}>", facts=facts)


@recipe("dot", through=True)
def dot(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, high=2, finite=True, exact=part(element) != element)
    y = g.value((x.shape[-1], g.extent()) if g.rng.random() < 0.7 else (x.shape[-1],), element, finite=True, exact=part(element) != element)
    return g.emit(name, [x, y], Type((*x.shape[:-1], *y.shape[1:]), element), facts=operands_of(g, x, y, element, x.shape[-1]))


@recipe("einsum", through=True, by_xla=True)
def einsum(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=2, high=2, finite=True)
    y = g.value((x.shape[1], g.extent()), element, finite=True)
    facts = operands_of(g, x, y, element, x.shape[1])
    return g.emit(name, [x, y], Type((x.shape[0], y.shape[1]), element), 'einsum_config = "ab,bc->ac"', facts=facts)


@recipe("unary_einsum", through=True, by_xla=True)
def unary_einsum(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=2, high=2, finite=True)
    facts = errors.folded("add", element, x.shape[1], g.facts[x])
    return g.emit(name, [x], Type(x.shape[:1], element), 'einsum_config = "ab->a"', facts=facts)


@recipe("convolution", through=True)
def convolution(g: Grower, name: str, element: str) -> Value:
    spatial = g.rng.choice((1, 1, 2, 2, 0, 3)) if 4 in g.limits.ranks else 1
    groups = g.rng.choice((1, 1, 1, 2, 3))
    batch_groups = g.rng.choice((1, 1, 1, 2)) if groups == 1 else 1
    batch, channels, features = (
        g.rng.choice((1, 2, 3)) * batch_groups,
        g.rng.choice((1, 2, 3)),
        g.rng.choice((1, 2, 4)) * groups * batch_groups,
    )
    image = [g.rng.choice((1, 3, 5, 7)) for _ in range(spatial)]
    window = [g.rng.choice((1, 2, 3)) for _ in range(spatial)]
    steps, dilations, bases = ([g.rng.choice((1, 1, 2)) for _ in range(spatial)] for _ in range(3))
    pads = [(g.rng.choice((0, 0, 1, -1)), g.rng.choice((0, 0, 1, 2))) for _ in range(spatial)]
    flips = [g.rng.random() < 0.2 for _ in range(spatial)]
    sizes = {"b": batch, "f": channels * groups, **{str(i): e for i, e in enumerate(image)}}
    kernel = {"o": features, "i": channels, **{str(i): e for i, e in enumerate(window)}}
    result = {"b": batch // batch_groups, "f": features}
    result |= {str(i): windows(*each) for i, each in enumerate(zip(image, window, steps, dilations, bases, pads))}
    orders = [g.rng.sample(list(names), len(names)) if g.rng.random() < 0.5 else list(names) for names in (sizes, kernel, result)]
    exact = part(element) != element
    x = g.value([sizes[d] for d in orders[0]], element, finite=True, exact=exact)
    y = g.value([kernel[d] for d in orders[1]], element, finite=True, exact=exact)
    labels = [f"[{', '.join(order)}]" for order in orders]
    numbers = f"dimension_numbers = #stablehlo.conv<{labels[0]}x{labels[1]}->{labels[2]}>"
    counts = f"batch_group_count = {batch_groups} : i64, feature_group_count = {groups} : i64"
    given = f"window_strides = {array(steps)}, lhs_dilation = {array(bases)}, rhs_dilation = {array(dilations)}, "
    if spatial:
        given += f"padding = dense<{[list(pair) for pair in pads]}> : tensor<{spatial}x2xi64>, "
        given += f"window_reversal = array<i1: {', '.join(str(flip).lower() for flip in flips)}>, "
    facts = operands_of(g, x, y, element, channels * prod(window))
    return g.emit(name, [x, y], Type(tuple(result[d] for d in orders[2]), element), given + f"{numbers}, {counts}", facts=facts)
