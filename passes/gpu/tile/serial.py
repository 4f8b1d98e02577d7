"""A reduction done by one thread for one element of its result (or for the places of a vector): the way that always works."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch_mlir import ir

from ...common.axes import TileOp
from ...common.linear_index import LinearIndex
from ...common.scalar_body import Rep
from ...common.vectors import widened
from .body import ThreadBody
from .extents import loop_extents
from .loops import nest_over

if TYPE_CHECKING:
    from .tile_values import TileValues


def reduce_at(tile: TileValues, op: TileOp, kept: Sequence[LinearIndex], lanes: int) -> list[Rep]:
    """The results of the reduction `op` at the indices of its loops that are kept; those of the reduced ones do not matter."""
    block = op.op.regions[0].blocks[0]
    accumulators = list(block.arguments)[len(op.inputs) :]
    ops = [o.operation for o in block.operations]
    trips = [(d, extent.bound) for d, extent in enumerate(loop_extents(op)) if not op.parallel[d]]

    def inside(ivs: dict[int, LinearIndex], carried: list[ir.Value]) -> list[ir.Value]:
        indices = [ivs.get(d, index) for d, index in enumerate(kept)]
        body = ThreadBody(tile, op, indices, lanes, dict(zip(accumulators, carried)))
        body.run(ops[:-1])
        return [widened(body.value(v), lanes) for v in ops[-1].operands]

    start = [tile.materialise(tile.read_operand(op, len(op.inputs) + n, kept, lanes), lanes) for n in range(len(op.inits))]
    return list(nest_over(tile.memo, trips, [widened(v, lanes) for v in start], inside))
