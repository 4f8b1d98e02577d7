"""sort: linalg has none. The op stays, on tensors without signs, its comparator in scalar ops."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import create, i64_attr, integer, value_of
from ...common.scalars import signless
from .generic import element_of, shape_of
from .lowering import Lowering


def _sort(low: Lowering, op: ir.Operation) -> None:
    operands = [low.tensor(value) for value in op.operands]
    dimension = i64_attr(integer(op, "dimension", -1) % len(shape_of(operands[0])))
    new = create("stablehlo.sort", [signless(value.type) for value in operands], operands, regions=1, dimension=dimension, **_stable(op))
    scalars = [ir.RankedTensorType.get([], element_of(value)) for value in operands for _ in "ab"]
    block = new.regions[0].blocks.append(*scalars)
    with ir.InsertionPoint(block):
        arguments = [low.scalars.extract(argument, []) for argument in block.arguments]
        (less,) = low.region(op.regions[0].blocks[0], arguments)
        answer = value_of("tensor.from_elements", ir.RankedTensorType.get([], less.type), [less])
        create("stablehlo.return", [], [answer])
    for old, result in zip(op.results, new.results):
        low.set(old, result)


def _stable(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {"is_stable": op.attributes["is_stable"]} if "is_stable" in op.attributes else {}


LOWERINGS = {"stablehlo.sort": _sort}
