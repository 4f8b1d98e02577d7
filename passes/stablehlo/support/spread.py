"""The operands of CHLO's ops that broadcast."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import integers
from . import build


def spread(op: ir.Operation) -> list[ir.Value]:
    """The operands, broadcast to the shape of the result by their last dimensions if nothing says otherwise."""
    shape, values = build.shape_of(op.results[0]), []
    for value in op.operands:
        rank = len(build.shape_of(value))
        last = list(range(len(shape) - rank, len(shape)))
        values.append(build.broadcast(value, shape, last if rank == len(shape) else integers(op, "broadcast_dimensions", last)))
    return values
