"""Reductions of narrow elements by one op: in the type that is computed with, rounded or wrapped once, as those of f16 and bf16 are."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.rewriting import attributes_of, create, element_of, ops_in
from ..support import build
from .types import narrow_element

_ALONE = frozenset(f"stablehlo.{name}" for name in "add multiply maximum minimum and or xor".split())
"""They give the same in a wider type, the lowest bits of integers."""


def widen_reduction(op: ir.Operation) -> list[ir.Value] | None:
    """A reduce, reduce_window or all_reduce of one operand with a conversion before and after."""
    narrow, body = narrow_element(op.results[0]), _single_op(op.regions[0].blocks[0])
    if len(op.results) != 1 or narrow is None or body is None or element_of(op.operands[0]) != element_of(op.results[0]):
        return None
    values = [build.convert(value, narrow.compute) for value in op.operands]
    kind = build.tensor(build.shape_of(op.results[0]), narrow.compute)
    new = create(op.name, [kind], values, regions=1, **attributes_of(op))
    scalar = build.tensor([], narrow.compute)
    block = new.regions[0].blocks.append(scalar, scalar, arg_locs=[op.location] * 2)
    with ir.InsertionPoint(block):
        create("stablehlo.return", [], [create(body, [scalar], block.arguments).results[0]])
    return [build.convert(new.results[0], element_of(op.results[0]))]


def _single_op(block: ir.Block) -> str | None:
    """The op that a body of two arguments applies to them, if it is one that may be done in a wider type."""
    ops = ops_in(block)
    if len(ops) != 2 or len(block.arguments) != 2 or ops[0].name not in _ALONE:
        return None
    return ops[0].name if _reads_both(ops[0], block.arguments) and list(ops[1].operands) == list(ops[0].results) else None


def _reads_both(op: ir.Operation, arguments: Sequence[ir.Value]) -> bool:
    return set(op.operands) == set(arguments)
