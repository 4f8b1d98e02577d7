"""The edge of a group function: the reshapes and insertions between what its tile loop makes and what it returns."""

from __future__ import annotations

from torch_mlir import ir

from .rewriting import defining_op

RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")
AT_EDGE = (*RESHAPES, "tensor.insert_slice")
"""What may stand between a group's ops and its results."""


def reassociation(view: ir.Operation) -> list[list[int]]:
    """The dimensions of the larger rank that each of the smaller is, of a reshape."""
    return [[ir.IntegerAttr(d).value for d in ir.ArrayAttr(group)] for group in ir.ArrayAttr(view.attributes["reassociation"])]


def edge(value: ir.Value, names: tuple[str, ...] = AT_EDGE) -> list[ir.Operation]:
    """The ops called `names` that lead to `value`, the last first; the first operand of each is the value before it."""
    chain = []
    op = defining_op(value)
    while op is not None and op.name in names:
        chain.append(op)
        op = defining_op(op.operands[0])
    return chain


def before_edge(value: ir.Value, names: tuple[str, ...] = AT_EDGE) -> ir.Value:
    """The value that `edge` starts from: what the tile loop makes, of a value that is returned."""
    chain = edge(value, names)
    return chain[-1].operands[0] if chain else value


def positions(block: ir.Block, made: ir.Value) -> list[int]:
    """Where the function whose body is `block` returns `made`."""
    return [position for position, value in enumerate(returned(block)) if before_edge(value) == made]


def returned(block: ir.Block) -> list[ir.Value]:
    """The values that the function whose body is `block` returns."""
    return list(list(block.operations)[-1].operation.operands)
