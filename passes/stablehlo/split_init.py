"""split-init: what depends on bound arguments alone is computed once, in @init, and not at every call of @main.

Before:
    func.func public @main(%x: tensor<8x16xf32>, %w: tensor<4x16xf32> {hloom.bound}) -> tensor<8x4xf32> {
      %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
      … %0 …
    }
After:
    func.func public @main(%x: tensor<8x16xf32>, %w: … {hloom.bound}, %0: tensor<16x4xf32> {hloom.init_result = 0 : i64}) { … }
    func.func public @init(%w: tensor<4x16xf32> {hloom.argument = 1 : i64}) -> tensor<16x4xf32> { … }

A module in which nothing is left to compute gets no @init. What combines broadcasts alone (the scales of channels, times a scale of all) is
computed of what they spread, and spread then. Must hold: calls are inlined. Declined: results that are larger than what they are made of
(broadcasts, converts to a wider type) and views (reshape, slice, bytes seen as floats) stay in @main: there they cost nothing,
in memory they would. What stands behind an optimization_barrier (pack-filters makes them; all are dropped) stays in @main too.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from ..common.byte_floats import sees_floats
from ..common.init_function import compute_once, early_values, entry
from ..common.nibbles import sees_nibbles
from ..common.ops import FREE, Kind, named
from ..common.rewriting import (
    attributes_of,
    captured_values,
    defining_op,
    integers,
    is_block_argument,
    ops_in,
    producer,
    replace,
    value_of,
    walk,
)
from ..registry import register_pass
from .support import build, constants
from .support.driver import drop_dead

_ELEMENTWISE = frozenset(named(Kind.ELEMENTWISE))


@register_pass("split-init", "moves what depends on bound arguments alone into @init")
def split_init(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None or entry(module, "init") is not None:
        return
    block = main.regions[0].blocks[0]
    early = early_values(main)
    if any([_spread_last(op) for op in _elementwise(block, early)]):
        drop_dead(main)
        early = early_values(main)
    barriers = walk(main, "stablehlo.optimization_barrier")
    asked = [value for barrier in barriers for value in barrier.operands]
    results = list(dict.fromkeys([*_frontier(block, early), *(value for value in asked if not is_block_argument(value))]))
    if results:
        wanted = _producers(results)
        ops = [op for op in ops_in(block) if any(result in wanted for result in op.results)]
        compute_once(module, main, ops, results)
        drop_dead(main)
    for barrier in walk(main, "stablehlo.optimization_barrier"):
        replace(barrier, list(barrier.operands))


def _elementwise(block: ir.Block, early: set[ir.Value]) -> list[ir.Operation]:
    return [op for op in ops_in(block) if op.name in _ELEMENTWISE and op.results[0] in early]


def _spread_last(op: ir.Operation) -> bool:
    """Replaces an elementwise op on broadcasts and splats by a broadcast of the op, where that computes fewer numbers."""
    shape = build.shape_of(op.results[0])
    places = [_places(value, shape) for value in op.operands]
    dims = sorted({dim for each in places if each is not None for dim in each})
    few = [shape[dim] for dim in dims]
    if None in places or prod(few) >= prod(shape):
        return False
    with op.location, ir.InsertionPoint(op):
        spread = [(_source(value), [dims.index(dim) for dim in each or ()]) for value, each in zip(op.operands, places)]
        operands = [build.broadcast(source, few, each) for source, each in spread]
        made = value_of(op.name, build.tensor(few, build.element_of(op.results[0])), operands, **attributes_of(op))
        value = build.broadcast(made, shape, dims)
    replace(op, [value])
    return True


def _places(value: ir.Value, shape: list[int]) -> list[int] | None:
    """The dimensions along which a broadcast of the shape changes, none for a splat; None for another value."""
    if build.shape_of(value) != shape:
        return None
    if constants.splat_attribute(value) is not None:
        return []
    spread = producer(value, "stablehlo.broadcast_in_dim")
    dims = [] if spread is None else integers(spread, "broadcast_dimensions")
    return dims if spread is not None and build.shape_of(spread.operands[0]) == [shape[dim] for dim in dims] else None


def _source(value: ir.Value) -> ir.Value:
    """What is spread: one number of a splat."""
    splat = constants.splat_attribute(value)
    op = defining_op(value)
    assert op is not None
    return op.operands[0] if splat is None else build.splat(build.tensor([], build.element_of(value)), splat)


def _frontier(block: ir.Block, early: set[ir.Value]) -> list[ir.Value]:
    """The values that @init returns: read by what is not early, and worth their memory."""
    ops = ops_in(block)
    late = [op for op in ops if not op.results or any(result not in early for result in op.results)]
    pending = [value for op in late for value in [*op.operands, *captured_values(op)]][::-1]
    found: list[ir.Value] = []
    seen: set[ir.Value] = set()
    while pending:
        value = pending.pop()
        if value in seen or value not in early or is_block_argument(value):
            continue
        seen.add(value)
        op = defining_op(value)
        assert op is not None
        if _stays(op):
            pending += list(op.operands)[::-1]
        else:
            found.append(value)
    return found


def _stays(op: ir.Operation) -> bool:
    if op.name in FREE or sees_floats(op) or sees_nibbles(op):
        return True
    if len(op.results) != 1 or op.regions:
        return False
    sources = [v for v in op.operands if constants.splat_attribute(v) is None]
    return _bytes(op.results[0]) > sum(map(_bytes, sources))


def _bytes(value: ir.Value) -> int:
    element = build.element_of(value)
    return build.count_of(value) * max(1, element.width // 8)


def _producers(values: list[ir.Value]) -> set[ir.Value]:
    """All values of the block that `values` are made of."""
    found: set[ir.Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        op = defining_op(value)
        if value not in found and op is not None:
            found.add(value)
            pending.extend([*op.operands, *captured_values(op)])
    return found
