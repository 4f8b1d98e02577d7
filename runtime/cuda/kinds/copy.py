"""thunk.copy: device memory to device memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...thunk_schema import moving
from ...thunks import Launches, Op
from ..step import BufferAddresses, Step


class CopyStep(Step, kind="copy", fields=moving(1, 1)):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        if op["reads"][0][2] != op["writes"][0][2]:
            yield f"copies {op['reads'][0][2]} bytes to {op['writes'][0][2]}"

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        (source,), (target,) = self.thunk.reads, self.thunk.writes
        recorder.copy(buffers.address(target), buffers.address(source), target.size)
