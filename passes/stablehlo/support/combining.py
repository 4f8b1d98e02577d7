"""What a reduction, or a scatter, combines elements by."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import ops_in


def combining_op(op: ir.Operation) -> str | None:
    """The one op of the body, of its two arguments."""
    block = op.regions[0].blocks[0]
    ops = ops_in(block)
    if len(ops) != 2 or len(ops[0].operands) != 2 or {*ops[0].operands} != {*block.arguments}:
        return None
    return ops[0].name if list(ops[1].operands) == list(ops[0].results) else None
