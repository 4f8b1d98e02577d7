"""Scatters without updates, those whose body works on wider elements than it is given, and those of one window at a known place.

    %0 = scatter(%x, dense<1>, %u) ({ return update })                // x.at[1:-1, 1:-1].set(u)
    →  dynamic_update_slice(%x, %u, 1, 1)
    %0 = scatter(%x, dense<1>, %u) ({ add }) : tensor<8xf32>          // x.at[1:-1].add(u)
    →  dynamic_update_slice(%x, slice(%x) [1:7] + %u, 1)

A scatter is a kernel of its own; a window shares one with what computes it. One that is out of bounds is dropped.
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from ...common.ops import is_elementwise
from ...common.rewriting import attributes_of, element_of, ops_in, value_of
from ...common.scatter_windows import Windows
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
    wanted = [ir.RankedTensorType(argument.type).element_type for argument in op.regions[0].blocks[0].arguments]
    values = [*operands[:count], *operands[count + 1 :]]
    if all(element_of(value) == element for value, element in zip(values, wanted)):
        return None
    wide = [build.convert(value, element) for value, element in zip(values, wanted)]
    return list(with_region(op, [*wide[:count], operands[count], *wide[count:]], [result.type for result in op.results]).results)


def _one_window(op: ir.Operation) -> Values:
    if len(op.results) != 1:
        return None
    operand, places, update = op.operands
    windows, known, body = Windows.of(op), constants.read(places, _MOST_DIMS), ops_in(op.regions[0].blocks[0])
    if known is None or windows.over or windows.batch or operand.type != op.results[0].type or build.count_of(update) == 0:
        return None
    starts = [int(known.flat[windows.moved[d]]) if d in windows.moved else 0 for d in range(len(windows.shape))]
    if any(start < 0 or start + size > whole for start, size, whole in zip(starts, windows.window, windows.shape)):
        return [operand]
    window = build.reshape(update, windows.window)
    old, new = op.regions[0].blocks[0].arguments
    returned = body[-1].operands[0]
    if returned != new:
        if len(body) != 2 or returned != body[0].results[0] or not is_elementwise(body[0]) or set(body[0].operands) != {old, new}:
            return None
        before = build.slice_(operand, starts, [start + size for start, size in zip(starts, windows.window)])
        given = [before if value == old else window for value in body[0].operands]
        window = value_of(body[0].name, window.type, given, **attributes_of(body[0]))
    index = ir.IntegerType.get_signless(32)
    return [build.dynamic_update_slice(operand, window, [build.full(build.tensor([], index), np.int32(start)) for start in starts])]


SCATTERS = {"stablehlo.scatter": [_without_updates, _widened, _one_window]}
