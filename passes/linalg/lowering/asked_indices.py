"""What a body asks of its loops: their indices, or sums of multiples of them, as `4 * %i + %j`, the row-major place in 3x4."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torch_mlir import ir

from ...common.rewriting import integer, linalg_index, producer, walk
from ...common.scalars import Scalars, constant_integer
from .generic import Generic

Form = dict[int, int]
"""By loop of more than one trip, how much its index counts."""
Use = tuple[ir.Operation, int]
"""An op and the number of one of its operands."""


def asked_indices(source: Generic, told: Collection[Use] = ()) -> dict[ir.Value, Form]:
    """The sums that something else than a larger sum reads, where it is none of the uses `told`."""
    forms: dict[ir.Value, Form] = {}
    for op in walk(source.op):
        if op.name == "linalg.index":
            loop = integer(op, "dim")
            forms[op.results[0]] = {} if source.extents[loop] == 1 else {loop: 1}
        elif op.name == "arith.muli" and op.operands[0] in forms and (factor := constant_integer(op.operands[1])) is not None:
            forms[op.results[0]] = {loop: count * factor for loop, count in forms[op.operands[0]].items()}
        elif op.name == "arith.addi" and all(value in forms for value in op.operands):
            one, other = (forms[value] for value in op.operands)
            forms[op.results[0]] = {loop: one.get(loop, 0) + other.get(loop, 0) for loop in {**one, **other}}

    def asks(use: ir.OpOperand) -> bool:
        reader = use.owner.operation
        return not _in(reader, forms) and (reader, use.operand_number) not in told

    return {value: form for value, form in forms.items() if any(map(asks, value.uses))}


def loop_asked(value: ir.Value) -> int | None:
    """The loop whose bare index a value of a body is."""
    op = producer(value, "linalg.index")
    return None if op is None else integer(op, "dim")


def _in(reader: ir.Operation, forms: Mapping[ir.Value, Form]) -> bool:
    return any(result in forms for result in reader.results)


def index_of(form: Form, numbers: Mapping[int, int], scalars: Scalars) -> ir.Value:
    """The sum as ops, of the loops that have a number now."""
    terms = [
        index if count == 1 else scalars.op("arith.muli", index, scalars.index(count))
        for index, count in ((linalg_index(numbers[loop]), count) for loop, count in sorted(form.items()) if loop in numbers)
    ]
    total = terms[0] if terms else scalars.index(0)
    for term in terms[1:]:
        total = scalars.op("arith.addi", total, term)
    return total
