"""Fourier transforms and filters of which only the transform is there: linalg has none. The call stays."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import attributes_of, create
from .lowering import Lowering


def _call(low: Lowering, op: ir.Operation) -> None:
    operands = [low.tensor(value) for value in op.operands]
    new = create(op.name, [value.type for value in op.results], operands, **attributes_of(op))
    for old, result in zip(op.results, new.results):
        low.set(old, result)


LOWERINGS = {f"stablehlo.custom_call @hloom.{name}": _call for name in ("dft", "cufft", "winograd_filter")}
