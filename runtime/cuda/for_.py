"""thunk.for: a body that runs a known number of times; written out where that makes few nodes, else a conditional node with a counter."""

from __future__ import annotations

from typing import Any

from ..thunks import Thunk, walk
from .sequence import Sequence
from .step import COUNTER_BYTES, Context, Memory, Needs

_MOST_UNROLLED = 64
"""Thunks that a loop may become when it is written out: about what the kernels that count would cost."""


class ForStep:
    def __init__(self, thunk: Thunk):
        self.count = int(thunk["trip_count"])
        self.body = Sequence(thunk.regions["body"])
        self.unrolled = self.count * sum(1 for _ in walk(thunk.regions["body"])) <= _MOST_UNROLLED

    def prepare(self, needs: Needs) -> None:
        self.body.prepare(needs)
        if not self.unrolled:
            needs.conditions = True
            self._counter = needs.ask_counter()

    def initialise(self, context: Context) -> None:
        self.body.initialise(context)
        if not self.unrolled:
            assert context.conditions is not None
            self._conditions, self._address = context.conditions, context.counter(self._counter)

    def execute(self, recorder: Any, memory: Memory) -> None:
        if self.unrolled:
            for _ in range(self.count):
                self.body.execute(recorder, memory)
            return
        condition = recorder.condition()
        recorder.fill(self._address, 0, 4, COUNTER_BYTES // 4)
        self._conditions.set_for(recorder, condition, self._address, self.count)
        inside = recorder.loop(condition)
        self.body.execute(inside, memory)
        self._conditions.set_for(inside, condition, self._address, self.count)
        inside.close()
