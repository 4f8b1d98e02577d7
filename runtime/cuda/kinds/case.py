"""thunk.case: a conditional node with a body for each branch, a thunk.sequence."""

from __future__ import annotations

from typing import Any

from ...schema import each, one_of, record, row
from ...thunk_schema import SIZE, body
from ..step import BufferAddresses, Context, Step

_FIELDS = {
    "reads": row(row(SIZE, SIZE, one_of(1, 2, 4, 8))),
    "branches": each(record({"op": one_of("sequence"), "body": body}, more=True), least=1),
}


class CaseStep(Step, kind="case", fields=_FIELDS, regions=("branches",)):
    def initialise(self, context: Context) -> None:
        super().initialise(context)
        self._conditions = context.conditions

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        (index,), branches = self.thunk.reads, self.inside["branches"].steps
        if recorder.is_direct:
            number = recorder.read(buffers.address(index), index.size)
            branches[number if 0 <= number < len(branches) else -1].execute(recorder, buffers)
            return
        condition = recorder.condition()
        self._conditions.set_case(recorder, condition, buffers.address(index), index.size, len(branches))
        for node, branch in zip(recorder.branches(condition, len(branches)), branches):
            node.begin()
            branch.execute(node, buffers)
            node.close()


class SequenceStep(Step, kind="sequence", regions=("body",)):
    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        self.inside["body"].execute(recorder, buffers)
