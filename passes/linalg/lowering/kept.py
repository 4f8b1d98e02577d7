"""Ops that linalg has no form for stay what they are up to their kernels: on tensors without signs, their regions in scalar code."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.rewriting import create, value_of
from ...common.scalars import signless
from .lowering import Lowering


def keep(low: Lowering, op: ir.Operation, operands: Sequence[ir.Value], **attributes: ir.Attribute) -> None:
    """The results of `op` are those of its like on `operands`; passes/common/scalar_region.py reads the region."""
    new = create(op.name, [signless(value.type) for value in op.results], operands, regions=1, **attributes)
    old = op.regions[0].blocks[0]
    block = new.regions[0].blocks.append(*[signless(argument.type) for argument in old.arguments])
    with ir.InsertionPoint(block):
        arguments = [low.scalars.extract(argument, []) for argument in block.arguments]
        answers = low.region(old, arguments)
        tensors = [value_of("tensor.from_elements", ir.RankedTensorType.get([], answer.type), [answer]) for answer in answers]
        create("stablehlo.return", [], tensors)
    for result, made in zip(op.results, new.results):
        low.set(result, made)
