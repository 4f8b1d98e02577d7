"""Scatters without updates, those whose body works on wider elements than it is given, those of one window at a known place, and those of
one place a row in an array that is the same everywhere.

    %0 = scatter(%x, dense<1>, %u) ({ return update })                // x.at[1:-1, 1:-1].set(u)
    →  dynamic_update_slice(%x, %u, 1, 1)
    %0 = scatter(%x, dense<1>, %u) ({ add }) : tensor<8xf32>          // x.at[1:-1].add(u)
    →  dynamic_update_slice(%x, slice(%x) [1:7] + %u, 1)

    %0 = scatter(dense<0>, %i, %u) ({ add }) : tensor<64x1000xf32>    // one index for each of 64 rows: the gradient of a cross-entropy
    →  select(iota == %i, 0 + %u, dense<0>)

A scatter is a kernel of its own; a window and a select share one with what computes them, and what reads them. What is out of bounds is
dropped. Declined: of the last, arrays that are not the same everywhere, which a scatter may update in place, and windows of more places.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import numpy as np
from torch_mlir import ir

from ...common.ops import is_elementwise
from ...common.rewriting import attributes_of, element_of, ops_in, value_of
from ...common.scatter_windows import UNSIGNED, Windows
from ..support import build, constants
from ..support.driver import with_region

Values = list[ir.Value] | None
_MOST_DIMS = 64


def _without_updates(op: ir.Operation) -> Values:
    updated = list(op.operands)[: len(op.results)]
    unchanged = build.count_of(op.operands[len(updated) + 1]) == 0 and all(a.type == b.type for a, b in zip(updated, op.results))
    return updated if unchanged else None


def _widened(op: ir.Operation) -> Values:
    """What is updated and the updates are converted first: the body, and so the result, have the wider type."""
    count = len(op.results)
    operands = list(op.operands)
    wanted = [element_of(argument) for argument in op.regions[0].blocks[0].arguments]
    values = [*operands[:count], *operands[count + 1 :]]
    if all(element_of(value) == element for value, element in zip(values, wanted)):
        return None
    wide = [build.convert(value, element) for value, element in zip(values, wanted)]
    return list(with_region(op, [*wide[:count], operands[count], *wide[count:]], [result.type for result in op.results]).results)


def _one_window(op: ir.Operation) -> Values:
    if len(op.results) != 1:
        return None
    operand, places, update = op.operands
    windows, known, body = Windows.of(op), constants.read(places, _MOST_DIMS), _body(op)
    if body is None or known is None or windows.over or windows.batch or operand.type != op.results[0].type or build.count_of(update) == 0:
        return None
    starts = [int(known.flat[windows.moved[d]]) if d in windows.moved else 0 for d in range(len(windows.shape))]
    if any(start < 0 or start + size > whole for start, size, whole in zip(starts, windows.window, windows.shape)):
        return [operand]
    ends = [start + size for start, size in zip(starts, windows.window)]
    window = body(lambda: build.slice_(operand, starts, ends), build.reshape(update, windows.window))
    index = ir.IntegerType.get_signless(32)
    return [build.dynamic_update_slice(operand, window, [build.full(build.tensor([], index), np.int32(start)) for start in starts])]


def _one_place_each(op: ir.Operation) -> Values:
    """Each element is updated once at most: an index is one for each place along the batching dims, or the only one."""
    if len(op.results) != 1 or UNSIGNED in op.attributes:
        return None
    operand, places, updates = op.operands
    windows, everywhere, body = Windows.of(op), constants.splat_value(operand), _body(op)
    if body is None or everywhere is None or not windows.moved or operand.type != op.results[0].type:
        return None
    given = {of: d for d, of in windows.batch.items()}
    alone = all(windows.updates[d] == 1 for d in windows.over if d not in given)
    narrow = all(windows.window[d] == (1 if d in windows.moved else size) for d, size in enumerate(windows.shape) if d not in windows.batch)
    if not alone or not narrow:
        return None
    rows = [given[d] for d in windows.over if d in given]
    here = [build.compare("EQ", _numbers(operand, d), _index(places, windows, d, rows)) for d in windows.moved]
    kept = {**given, **{of: d for d, of in windows.at.items() if d not in windows.moved}}
    dims = [kept[of] for of in sorted(kept)]
    new = body(lambda: build.full_like(updates, everywhere), updates)
    new = build.broadcast(build.reshape(new, [windows.shape[d] for d in dims]), windows.shape, dims)
    return [build.select(reduce(partial(build.elementwise, "and"), here), new, operand)]


def _numbers(operand: ir.Value, dim: int) -> ir.Value:
    return build.iota(build.shape_of(operand), ir.IntegerType.get_signless(32), dim)


def _index(places: ir.Value, windows: Windows, dim: int, rows: list[int]) -> ir.Value:
    """Of each element's row (dims `rows`) the index along `dim`, in i32; one that is out of bounds is -1 or the extent."""
    component = windows.moved[dim]
    if windows.component < len(build.shape_of(places)):
        places = build.slice_dim(places, windows.component, component, component + 1)
    wide = build.convert(build.reshape(places, [windows.shape[d] for d in rows]), ir.IntegerType.get_signless(64))
    ends = (build.full_like(wide, np.int64(end)) for end in (-1, windows.shape[dim]))
    inside = build.elementwise("clamp", next(ends), wide, next(ends))
    return build.broadcast(build.convert(inside, ir.IntegerType.get_signless(32)), windows.shape, rows)


def _body(op: ir.Operation) -> Callable[[Callable[[], ir.Value], ir.Value], ir.Value] | None:
    """What makes new elements of the old, which it asks for, and their updates, where the body is the update or one op of both."""
    block = op.regions[0].blocks[0]
    (old, new), body = block.arguments, ops_in(block)
    returned = body[-1].operands[0]
    if returned == new:
        return lambda before, update: update
    if len(body) != 2 or returned != body[0].results[0] or not is_elementwise(body[0]) or set(body[0].operands) != {old, new}:
        return None

    def combined(before: Callable[[], ir.Value], update: ir.Value) -> ir.Value:
        given = [before() if value == old else update for value in body[0].operands]
        return value_of(body[0].name, update.type, given, **attributes_of(body[0]))

    return combined


SCATTERS = {"stablehlo.scatter": [_without_updates, _widened, _one_window, _one_place_each]}
