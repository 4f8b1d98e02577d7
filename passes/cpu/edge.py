"""The edge of a group function: the reshapes and insertions between what its tile loop makes and what it returns."""

from __future__ import annotations

from torch_mlir import ir

from ..rewriting import defining_op

_AT_EDGE = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.insert_slice")


def edge(value: ir.Value) -> list[ir.Operation]:
    """The ops between the tile loop and a returned value, the last first; the first operand of each is the value before it."""
    chain = []
    op = defining_op(value)
    while op is not None and op.name in _AT_EDGE:
        chain.append(op)
        op = defining_op(op.operands[0])
    return chain


def positions(block: ir.Block, made: ir.Value) -> list[int]:
    """Where the function whose body is `block` returns `made`."""
    before = [chain[-1].operands[0] if (chain := edge(value)) else value for value in returned(block)]
    return [position for position, value in enumerate(before) if value == made]


def returned(block: ir.Block) -> list[ir.Value]:
    return list(list(block.operations)[-1].operation.operands)
