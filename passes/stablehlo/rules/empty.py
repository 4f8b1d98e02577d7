"""What has no elements is a constant, so that no later stage meets an op without points."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.ops import OPS, Kind, named
from ..support import build
from ..support.driver import Rules


def _empty(op: ir.Operation) -> Sequence[ir.Value] | None:
    if not all(build.count_of(result) == 0 for result in op.results):
        return None
    return [build.constant(ir.Attribute.parse(f"dense<> : {result.type}")) for result in op.results]


def empty_rules() -> Rules:
    return dict.fromkeys(OPS.keys() - {"stablehlo.constant"} - named(Kind.CONTROL, Kind.TERMINATOR), (_empty,))
