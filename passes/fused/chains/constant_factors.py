"""Constant factors of a large matrix follow the contractions that sum over it, where there are fewer elements.

    t = s * c;  o = t · w      becomes      o = (s · w) * c          sums in f32, then what they were

Gradients of attention's scores are scaled as the scores were, each of them for itself. A power of 2 changes no bit, other constants where a
product is rounded. In f16 s might be no number where t is one: it stays.
"""

from __future__ import annotations

from math import isfinite

from torch_mlir import ir

from ...common.rewriting import clone_with, defining_op, element_of, erase_unused, ops_in, replace
from ...stablehlo.support.build import convert, count_of, elementwise, full_like, shape_of, tensor
from ...stablehlo.support.constants import splat_value

_DOT = "stablehlo.dot_general"
_FACTORS = {"stablehlo.multiply": (0, 1), "stablehlo.divide": (0,)}
"""Ops, and which of their operands they scale."""
_MOVES = ("stablehlo.reshape", "stablehlo.transpose")
_KINDS = ("f32", "bf16")
"""Floats of one range."""


def move_behind(function: ir.Operation) -> None:
    """Moves the constant factors of what the function's contractions sum over."""
    for dot in [op for op in ops_in(function.regions[0].blocks[0]) if op.name == _DOT]:
        for number in (0, 1):
            if count_of(dot.operands[number]) > count_of(dot.results[0]):
                dot = _moved(dot, number)


def _moved(dot: ir.Operation, number: int) -> ir.Operation:
    """The contraction, or a new one whose operand `number` lacks a constant factor."""
    path: list[ir.Operation] = []
    op = defining_op(dot.operands[number])
    while op is not None and _keeps(op):
        path.append(op)
        op = defining_op(op.operands[0])
    found = None if op is None else _factor(op)
    if op is None or found is None or str(element_of(dot.results[0])) not in _KINDS:
        return dot
    scaled, factor = found
    with ir.InsertionPoint(dot), dot.location:
        known = {op.results[0]: op.operands[scaled]}
        for each in reversed(path):
            clone_with(each, known)
        left = dot.operands[number]
        copy = clone_with(dot, {left: known[left]})
        copy.results[0].set_type(tensor(shape_of(dot.results[0]), ir.F32Type.get()))
        total = copy.results[0]
        made = elementwise(op.name.removeprefix("stablehlo."), total, full_like(total, factor))
        replace(dot, [convert(made, element_of(dot.results[0]))])
    erase_unused([op, *reversed(path)])
    return copy


def _keeps(op: ir.Operation) -> bool:
    """Whether an op leaves numbers what they are, but for rounding."""
    return op.name in _MOVES or (op.name == "stablehlo.convert" and all(str(element_of(v)) in _KINDS for v in (*op.operands, *op.results)))


def _factor(op: ir.Operation) -> tuple[int, float] | None:
    """Which operand an op scales, and by what constant."""
    if str(element_of(op.results[0])) not in _KINDS:
        return None
    for scaled in _FACTORS.get(op.name, ()):
        constant = splat_value(op.operands[1 - scaled])
        if isinstance(constant, float) and isfinite(constant) and constant:
            return scaled, constant
    return None
