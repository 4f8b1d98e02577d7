"""thunk.while: a conditional node whose body, condition included, runs again as long as the predicate holds; the host is not asked."""

from __future__ import annotations

from typing import Any

from ..thunks import Thunk
from .sequence import Sequence
from .step import Context, Memory, Needs


class WhileStep:
    def __init__(self, thunk: Thunk):
        self.thunk = thunk
        self.cond, self.body = Sequence(thunk.regions["cond"]), Sequence(thunk.regions["body"])

    def prepare(self, needs: Needs) -> None:
        needs.conditions = True
        self.cond.prepare(needs)
        self.body.prepare(needs)

    def initialise(self, context: Context) -> None:
        assert context.conditions is not None
        self._conditions = context.conditions
        self.cond.initialise(context)
        self.body.initialise(context)

    def execute(self, recorder: Any, memory: Memory) -> None:
        predicate = memory.address(self.thunk.reads[0])
        condition = recorder.condition()
        self.cond.execute(recorder, memory)
        self._conditions.set_while(recorder, condition, predicate)
        inside = recorder.loop(condition)
        self.body.execute(inside, memory)
        self.cond.execute(inside, memory)
        self._conditions.set_while(inside, condition, predicate)
        inside.close()
