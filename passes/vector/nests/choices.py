"""What a body chooses at a point, where it is known before anything is emitted.

    %0 = arith.cmpi slt, %i, %c3            at i from 0 to 2:  %first
    %1 = arith.select %0, %first, %rest     at i from 3 on:    %rest

Nobody asks there for what makes the other side. A concatenation of many parts has a piece for each, and all parts in each piece would be
the square of their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import integer
from ...common.scalar_body import Rep, linear
from .code import Code, Step
from .comparisons import clamped, compared, divided
from .lanes import Lanes

Known = LinearIndex | bool | None
"""An index, or whether a condition holds, in all live lanes; None where that is not known."""


def chosen_sides(code: Code, indices: Sequence[Rep], outside: Callable[[ir.Value], Rep], lanes: Lanes) -> dict[Step, ir.Value]:
    """The selects of which the condition is known, and the operand that each gives."""
    known: dict[ir.Value, Known] = {}

    def of(value: ir.Value) -> Known:
        if value in code.makers or not isinstance(value.type, ir.IndexType):
            return known.get(value)
        return rep if isinstance(rep := outside(value), LinearIndex) else None

    for step in code.conditions:
        if step.name == "linalg.index":
            index = indices[integer(step.op, "dim")]
            known[step.results[0]] = index if isinstance(index, LinearIndex) else None
        elif step.name == "arith.constant":
            known[step.results[0]] = LinearIndex(constant=integer(step.op, "value"))
        else:
            first, second = map(of, step.operands)
            known[step.results[0]] = _result(step, first, second, lanes)
    holds = {step: of(step.operands[0]) for step in code.choices}
    return {step: step.operands[1 if held else 2] for step, held in holds.items() if isinstance(held, bool)}


def _result(step: Step, a: Known, b: Known, lanes: Lanes) -> Known:
    if step.name in ("arith.andi", "arith.ori"):
        decisive, known = step.name == "arith.ori", [each for each in (a, b) if isinstance(each, bool)]
        return decisive if decisive in known else not decisive if len(known) == 2 else None
    if not isinstance(a, LinearIndex) or not isinstance(b, LinearIndex):
        return None
    if step.name == "arith.cmpi":
        return compared(step.op, a, b, lanes)
    for rule in (clamped, divided):
        if (found := rule(step.name, a, b, lanes)) is not None:
            return found
    return linear(step.name.removeprefix("arith."), a, b)
