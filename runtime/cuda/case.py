"""thunk.case: a conditional node with a body for each branch."""

from __future__ import annotations

from typing import Any

from ..thunks import Thunk
from .sequence import Sequence
from .step import Context, Memory, Needs


class CaseStep:
    def __init__(self, thunk: Thunk):
        self.thunk = thunk
        self.branches = [Sequence(branch.regions["body"]) for branch in thunk.regions["branches"]]

    def prepare(self, needs: Needs) -> None:
        needs.conditions = True
        for branch in self.branches:
            branch.prepare(needs)

    def initialise(self, context: Context) -> None:
        assert context.conditions is not None
        self._conditions = context.conditions
        for branch in self.branches:
            branch.initialise(context)

    def execute(self, recorder: Any, memory: Memory) -> None:
        (index,) = self.thunk.reads
        condition = recorder.condition()
        self._conditions.set_case(recorder, condition, memory.address(index), index.size, len(self.branches))
        for inside, branch in zip(recorder.branches(condition, len(self.branches)), self.branches):
            inside.begin()
            branch.execute(inside, memory)
            inside.close()
