"""thunk.copy: device memory to device memory."""

from __future__ import annotations

from typing import Any

from ..thunks import Thunk
from .step import Context, Memory, Needs


class CopyStep:
    def __init__(self, thunk: Thunk):
        self.thunk = thunk

    def prepare(self, needs: Needs) -> None:
        """Needs nothing."""

    def initialise(self, context: Context) -> None:
        """Nor here."""

    def execute(self, recorder: Any, memory: Memory) -> None:
        (source,), (target,) = self.thunk.reads, self.thunk.writes
        if target.size:
            recorder.copy(memory.address(target), memory.address(source), target.size)
