"""sort: linalg has none. The op stays, on tensors without signs, its comparator in scalar ops."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import i64_attr, integer
from .generic import shape_of
from .kept import keep
from .lowering import Lowering


def _sort(low: Lowering, op: ir.Operation) -> None:
    operands = [low.tensor(value) for value in op.operands]
    dimension = i64_attr(integer(op, "dimension", -1) % len(shape_of(operands[0])))
    keep(low, op, operands, dimension=dimension, **_stable(op))


def _stable(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {"is_stable": op.attributes["is_stable"]} if "is_stable" in op.attributes else {}


LOWERINGS = {"stablehlo.sort": _sort}
