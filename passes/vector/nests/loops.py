"""Loops as they are emitted: scf.for over an index range, with values carried."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import create, value_of

Bound: TypeAlias = "int | ir.Value"


def for_loop(
    lower: Bound, upper: Bound, step: int, carried: list[ir.Value], body: Callable[[LinearIndex, list[ir.Value]], list[ir.Value]]
) -> list[ir.Value]:
    """`body(index, carried)` for each index; returns the values carried last. A range known to be one step or none makes no loop."""
    if isinstance(lower, int) and isinstance(upper, int):
        if lower >= upper:
            return carried
        if lower + step >= upper:
            return body(LinearIndex(constant=lower), carried)
    operands = [LinearIndex.of(lower).value(), LinearIndex.of(upper).value(), LinearIndex(constant=step).value(), *carried]
    loop = create("scf.for", [v.type for v in carried], operands, regions=1)
    block = loop.regions[0].blocks.append(ir.IndexType.get(), *[v.type for v in carried])
    with ir.InsertionPoint(block):
        create("scf.yield", [], body(LinearIndex.of(block.arguments[0]), list(block.arguments)[1:]))
    return list(loop.results)


def nest(
    extents: list[Bound], carried: list[ir.Value], body: Callable[[list[LinearIndex], list[ir.Value]], list[ir.Value]]
) -> list[ir.Value]:
    """Loops over all of `extents`, the first outermost; `body(indices, carried)` returns what is carried on."""
    if not extents:
        return body([], carried)
    first, *others = extents
    return for_loop(0, first, 1, carried, lambda index, values: nest(others, values, lambda inner, last: body([index, *inner], last)))


def whole_part(extent: Bound, step: int) -> Bound:
    """The largest multiple of `step` that is not above `extent`."""
    if isinstance(extent, int):
        return extent - extent % step
    index = extent.type
    rest = value_of("arith.remui", index, [extent, LinearIndex(constant=step).value()])
    return value_of("arith.subi", index, [extent, rest])


def if_some(count: ir.Value, body: Callable[[], None]) -> None:
    """Emits `body` under scf.if count > 0."""
    zero = LinearIndex().value()
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 8)  # ugt
    some = value_of("arith.cmpi", ir.IntegerType.get_signless(1), [count, zero], predicate=predicate)
    branch = create("scf.if", [], [some], regions=2)
    with ir.InsertionPoint(branch.regions[0].blocks.append()):
        body()
        create("scf.yield")
