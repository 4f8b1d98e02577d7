"""The body of a linalg op, read once: it is evaluated at every point of a block of registers.

    %1 = arith.mulf %in, %in_0 fastmath<contract> : f32        math.fma %in, %in_0, %out fastmath<contract> : f32
    %2 = arith.addf %out, %1 fastmath<contract> : f32

A sum and the product that it adds become one op where they may be contracted, as LLVM would make them: two ops take every pass longer.
Halves stay two ops, since not every machine has the instruction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from ...common.rewriting import attributes_of, captured_values, has_one_use, ops_in
from ...common.scalars import is_float

_CHOSEN = ("arith.divf",)
"""Ops on floats that are emitted as others where that pays."""
_OF_CONDITIONS = {f"arith.{name}" for name in ("addi", "subi", "muli", "maxsi", "minsi", "divui", "remui", "cmpi", "andi", "ori")}
"""Ops of which conditions on indices are made, beside the indices."""


class Step:
    """An op of a body. `plain`: of floats alone it makes one float. `product`: the step that a sum of contracted products multiplies by;
    its factors come before the other summand in `operands`."""

    def __init__(self, op: ir.Operation, product: Step | None = None):
        self.op, self.name, self.attributes, self.location = op, op.name, attributes_of(op), op.location
        self.operands, self.results = list(op.operands), list(op.results)
        self.product = product
        types = [value.type for value in (*self.operands, *self.results)]
        self.plain = len(self.results) == 1 and not len(op.regions) and self.name not in _CHOSEN and all(map(is_float, types))
        self.keeps_type = self.plain and all(kind == types[-1] for kind in types)
        if product is not None:
            self.name = "math.fma"
            self.operands = [*product.operands, *(value for value in self.operands if value != product.results[0])]

    def emit(self, operands: Sequence[ir.Value], kind: ir.Type) -> ir.Value:
        """The result of a plain step, of that type."""
        return ir.Operation.create(self.name, results=[kind], operands=operands, attributes=self.attributes, loc=self.location).results[0]


class Code:
    """The steps of a block, in order, its arguments, those of them that something reads, and what its terminator yields. `choices`: its
    selects; `conditions`: the steps of their conditions, as far as they are made of indices."""

    def __init__(self, block: ir.Block):
        *ops, last = ops_in(block)
        self.arguments, self.yielded = list(block.arguments), list(last.operands)
        self.read = {argument for argument in self.arguments if next(iter(argument.uses), None) is not None}
        made: dict[ir.Value, Step] = {}
        self.steps: list[Step] = []
        for op in ops:
            product = next((made[value] for value in op.operands if value in made), None) if _is_contracted(op, "arith.addf") else None
            step = Step(op, product)
            if product is not None:
                self.steps.remove(product)
            if _is_contracted(op, "arith.mulf") and has_one_use(op.results[0]):
                made[op.results[0]] = step
            self.steps.append(step)
        self.makers = {result: step for step in self.steps for result in step.results}
        self.choices = [step for step in self.steps if step.name == "arith.select"]
        self.conditions = self._conditions()

    def _conditions(self) -> list[Step]:
        wanted, found = {step.operands[0] for step in self.choices}, list[Step]()
        for step in reversed(self.steps) if wanted else ():
            if _is_of_indices(step) and step.results[0] in wanted:
                found.append(step)
                wanted.update(step.operands)
        return found[::-1]

    def needed(self, chosen: Mapping[Step, ir.Value]) -> list[Step]:
        """The steps that make what is yielded, where some selects give the operand that is told."""
        wanted, found = list(self.yielded), set[Step]()
        while wanted:
            step = self.makers.get(wanted.pop())
            if step is not None and step not in found:
                found.add(step)
                wanted += [chosen[step]] if step in chosen else [*step.operands, *captured_values(step.op)]
        return [step for step in self.steps if step in found]


def _is_of_indices(step: Step) -> bool:
    if step.name in ("linalg.index", "arith.constant"):
        return isinstance(step.results[0].type, ir.IndexType)
    return step.name in _OF_CONDITIONS


def _is_contracted(op: ir.Operation, name: str) -> bool:
    whole = op.name == name and isinstance(op.results[0].type, (ir.F32Type, ir.F64Type))
    return whole and str(op.attributes["fastmath"]) == "#arith.fastmath<contract>"
