"""split-extremes: a reduction to an extreme and its place becomes two, the extreme and the first place where it stands.

Before (what JAX's argmax is):
    %1:2 = stablehlo.reduce(%x init: %low), (%iota init: %zero) across dimensions = [1]
      reducer(%a, %b) (%i, %j) { %a > %b, or a NaN: %a, %i; equal ones: the lower of %i and %j; else %b, %j }
After:
    %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
    %h = or(compare EQ, %x, broadcast(%m); compare NE, %x, %x)
    %p = stablehlo.select %h, iota, %extent
    %1 = stablehlo.reduce(%p init: %extent) applies stablehlo.minimum across dimensions = [1]

Each of the two is one op with a neutral element, which vectors compute, and threads in any order. Other reductions of several values that
do not depend on one another (a sum and a maximum) become one of each, too (complex/separation.py).

What a body of comparisons, selects and logic gives depends on nothing but how its arguments compare: it is run on an element before and
one after for each of the ways, smaller, equal, greater and NaN, and must choose the greater (all: the smaller) value, a NaN before any
number, the first of two that are alike.

Must hold: places are an iota along the one dimension that is reduced; the initial value is the least (largest) of its type, its place 0.
Declined: all other bodies; targets that are GPUs, which reduce both at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import defining_op, integer, integers, is_used, ops_in
from ..registry import register_pass
from .complex.separation import separate
from .support import build
from .support.constants import splat_value
from .support.driver import rewrite

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b,
}  # fmt: skip
_LOGIC: dict[str, Callable[..., Any]] = {
    "stablehlo.and": lambda a, b: a and b, "stablehlo.or": lambda a, b: a or b, "stablehlo.not": lambda a: not a,
    "stablehlo.select": lambda chosen, a, b: a if chosen else b,
}  # fmt: skip


@register_pass("split-extremes", "splits reductions to an extreme and its place into two", ops=("stablehlo.reduce",))
def split_extremes(module: ir.Operation) -> bool:
    if target_of(module).kind == "cuda":
        return False
    changed = rewrite(module, {"stablehlo.reduce": [_split]})
    return separate(module) or changed


def _split(op: ir.Operation) -> list[ir.Value] | None:
    dims = integers(op, "dimensions")
    if len(op.operands) != 4 or len(dims) != 1:
        return None
    x, places, low, first = op.operands
    (dim,), shape, element = dims, build.shape_of(x), build.element_of(x)
    sign = next((sign for sign in (-1, 1) if _chooses(op.regions[0].blocks[0], element, sign)), None)
    if sign is None or splat_value(low) != build.extreme(element, sign) or splat_value(first) != 0 or not _is_iota(places, dim):
        return None
    name = "maximum" if sign < 0 else "minimum"
    (extreme,) = build.reduce([x], [low], dims, lambda a, b: [build.elementwise(name, a, b)])
    if not is_used(op.results[1]):
        return [extreme, build.zero(build.shape_of(extreme), build.element_of(places))]
    stands = build.compare("EQ", x, build.broadcast(extreme, shape, [d for d in range(len(shape)) if d != dim]))
    if isinstance(element, ir.FloatType):
        stands = build.elementwise("or", stands, build.compare("NE", x, x))
    index = ir.IntegerType.get_signless(32 if shape[dim] < 1 << 31 else 64)
    beyond = build.full(build.tensor([], index), shape[dim])
    candidates = build.select(stands, build.iota(shape, index, dim), build.broadcast(beyond, shape, []))
    (place,) = build.reduce([candidates], [beyond], dims, lambda a, b: [build.elementwise("minimum", a, b)])
    return [extreme, build.convert(place, build.element_of(places))]


def _is_iota(value: ir.Value, dim: int) -> bool:
    op = defining_op(value)
    if op is not None and op.name == "stablehlo.broadcast_in_dim" and len(build.shape_of(op.operands[0])) == 1:
        return integers(op, "broadcast_dimensions") == [dim] and _is_iota(op.operands[0], 0)
    return op is not None and op.name == "stablehlo.iota" and integer(op, "iota_dimension") == dim


def _chooses(block: ir.Block, element: ir.Type, sign: int) -> bool:
    """Whether the body, on an element and a later one, gives the more extreme and its place (`sign` -1: of a maximum)."""
    values = (0.0, 1.0, math.nan) if isinstance(element, ir.FloatType) else (0, 1)
    for before, after in product(values, values):
        later = (after - before) * sign < 0 or (after != after and before == before)
        found = _run(block, [before, 0, after, 1])
        expected = after if later else before
        if found is None or found[1] != int(later) or not (found[0] == expected or (found[0] != found[0] and expected != expected)):
            return False
    return True


def _run(block: ir.Block, arguments: list[Any]) -> list[Any] | None:
    """What the body of a reduction gives on these numbers; None where it holds other ops than comparisons, selects and logic."""
    known = dict(zip(block.arguments, arguments))
    for op in ops_in(block):
        if any(value not in known for value in op.operands):
            return None
        operands = [known[value] for value in op.operands]
        if op.name == "stablehlo.return":
            return operands
        if op.name == "stablehlo.compare" and "TOTALORDER" not in _order(op):
            direction = str(op.attributes["comparison_direction"]).split()[-1].rstrip(">")
            known[op.results[0]] = _COMPARISONS[direction](*operands)
        elif op.name in _LOGIC:
            known[op.results[0]] = _LOGIC[op.name](*operands)
        else:
            return None
    return None


def _order(op: ir.Operation) -> str:
    """The order by which an op compares, where it names one."""
    return str(op.attributes["compare_type"]) if "compare_type" in op.attributes else ""
