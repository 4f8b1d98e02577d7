"""thunk.while: a conditional node whose body, condition included, runs again as long as the predicate holds; the host is not asked."""

from __future__ import annotations

from typing import Any

from ...schema import integer, row
from ...thunk_schema import SIZE
from ..step import BufferAddresses, Context, Step

_FIELDS = {"reads": row(row(SIZE, SIZE, integer(1, 1)))}


class WhileStep(Step, kind="while", fields=_FIELDS, regions=("cond", "body")):
    def initialise(self, context: Context) -> None:
        super().initialise(context)
        self._conditions = context.conditions

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        predicate, cond = buffers.address(self.thunk.reads[0]), self.inside["cond"]
        if recorder.is_direct:
            cond.execute(recorder, buffers)
            while recorder.read(predicate, 1):
                self.inside["body"].execute(recorder, buffers)
                cond.execute(recorder, buffers)
            return
        condition = recorder.condition()
        cond.execute(recorder, buffers)
        self._conditions.set_while(recorder, condition, predicate)
        node = recorder.loop(condition)
        self.inside["body"].execute(node, buffers)
        cond.execute(node, buffers)
        self._conditions.set_while(node, condition, predicate)
        node.close()
