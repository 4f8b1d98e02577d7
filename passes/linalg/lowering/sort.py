"""sort: linalg has none. The op stays, on tensors without signs, its comparator in scalar ops."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import i64_attr, integer, shape_of
from ...common.sorting.runs import FIRST
from .kept import keep
from .lowering import Lowering


def _sort(low: Lowering, op: ir.Operation) -> None:
    operands = [low.tensor(value) for value in op.operands]
    dimension = i64_attr(integer(op, "dimension", -1) % len(shape_of(operands[0])))
    keep(low, op, operands, dimension=dimension, **_kept(op))


def _kept(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in ("is_stable", FIRST) if name in op.attributes}


LOWERINGS = {"stablehlo.sort": _sort}
