"""Scatters without updates, and those whose body works on wider elements than it is given."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import element_of
from ..support import build
from ..support.driver import with_region

Values = list[ir.Value] | None


def _without_updates(op: ir.Operation) -> Values:
    updated = list(op.operands)[: len(op.results)]
    unchanged = build.count_of(op.operands[len(updated) + 1]) == 0 and all(a.type == b.type for a, b in zip(updated, op.results))
    return updated if unchanged else None


def _widened(op: ir.Operation) -> Values:
    """What is updated and the updates are converted first: the body, and so the result, have the wider type."""
    count = len(op.results)
    operands = list(op.operands)
    wanted = [ir.RankedTensorType(argument.type).element_type for argument in op.regions[0].blocks[0].arguments]
    values = [*operands[:count], *operands[count + 1 :]]
    if all(element_of(value) == element for value, element in zip(values, wanted)):
        return None
    wide = [build.convert(value, element) for value, element in zip(values, wanted)]
    return list(with_region(op, [*wide[:count], operands[count], *wide[count:]], [result.type for result in op.results]).results)


SCATTERS = {"stablehlo.scatter": [_without_updates, _widened]}
