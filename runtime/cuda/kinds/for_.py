"""thunk.for: a body that runs a known number of times; written out where that makes few nodes, else a conditional node with a counter."""

from __future__ import annotations

from typing import Any

from ...schema import integer
from ...thunks import Thunk, walk
from ..step import COUNTER_BYTES, BufferAddresses, Context, Needs, Step

_MOST_UNROLLED = 64
"""Thunks that a loop may become when it is written out: about what the kernels that count would cost."""


class ForStep(Step, kind="for", fields={"trip_count": integer(0)}, regions=("body",)):
    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.count: int = thunk["trip_count"]
        self.unrolled = self.count * sum(1 for _ in walk(thunk.regions["body"])) <= _MOST_UNROLLED

    def prepare(self, needs: Needs) -> None:
        super().prepare(needs)
        if not self.unrolled:
            self._counter = needs.ask_counter()

    def initialise(self, context: Context) -> None:
        super().initialise(context)
        if not self.unrolled:
            self._conditions, self._address = context.conditions, context.counter(self._counter)

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        body = self.inside["body"]
        if self.unrolled or recorder.is_direct:
            for _ in range(self.count):
                body.execute(recorder, buffers)
            return
        condition = recorder.condition()
        recorder.fill(self._address, 0, 4, COUNTER_BYTES // 4)
        self._conditions.set_for(recorder, condition, self._address, self.count)
        node = recorder.loop(condition)
        body.execute(node, buffers)
        self._conditions.set_for(node, condition, self._address, self.count)
        node.close()
