"""Operands that are packed in panels of columns, of which a tile has several.

A work reads such an operand by `n floordiv 16` and `n mod 16`. Where lanes run along n and a chunk is a panel, it reads it by n: its
address is that of a panel's first column and the lane.
"""

from __future__ import annotations

from dataclasses import replace

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.contraction import block_registers
from ...common.storage import Panels, Storage
from .contraction_loops import contraction_loop
from .nests import lane_count
from .work import Work


def by_panels(work: Work, target: TargetView) -> Work:
    """The work, a product that reads its packed operand by the column's number. Declined: lanes that do not run along columns, chunks of
    other widths."""
    for number, (m, storage) in enumerate(zip(work.maps, work.inputs)):
        found = _columns(m)
        if found is None or not isinstance(storage, Storage):
            continue
        loop, width = found
        strides = storage.strides
        panels = Panels(width, strides[0])
        if strides[-1] != 1 or strides[0] % width:
            continue
        sizes = (*storage.sizes[1:-1], work.extents[loop])
        inputs, maps = list(work.inputs), list(work.maps)
        inputs[number] = replace(storage, strides=strides[1:], sizes=sizes, panels=panels)
        maps[number] = ir.AffineMap.get(m.n_dims, 0, [*list(m.results)[1:-1], ir.AffineDimExpr.get(loop)])
        new = replace(work, inputs=inputs, maps=maps)
        if contraction_loop(new, target) == loop and lane_count([new], loop, target, block_registers(target)) == width:
            return new
    return work


def _columns(m: ir.AffineMap) -> tuple[int, int] | None:
    """The loop, and the width of the panels, of a map `(n floordiv width, …, n mod width)`."""
    first, *inner, last = m.results if len(m.results) > 1 else (None, None)
    if not isinstance(first, ir.AffineFloorDivExpr) or not isinstance(last, ir.AffineModExpr):
        return None
    number, place = ir.AffineFloorDivExpr(first), ir.AffineModExpr(last)
    loop = dim_position(number.lhs)
    if loop is None or place.lhs != number.lhs or place.rhs != number.rhs or not isinstance(number.rhs, ir.AffineConstantExpr):
        return None
    return None if any(dim_position(e) in (loop, None) for e in inner) else (loop, ir.AffineConstantExpr(number.rhs).value)
