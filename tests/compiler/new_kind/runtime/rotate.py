"""thunk.rotate: two copies."""

from collections.abc import Iterator
from typing import Any

from hloom.runtime.cuda.step import BufferAddresses, Step
from hloom.runtime.thunk_schema import SIZE, moving
from hloom.runtime.thunks import Launches, Op


class RotateStep(Step, kind="rotate", fields={**moving(1, 1), "by": SIZE}):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        if op["by"] > op["writes"][0][2]:
            yield f"rotates {op['writes'][0][2]} bytes by {op['by']}"

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        source, target = buffers.address(self.thunk.reads[0]), buffers.address(self.thunk.writes[0])
        size, by = self.thunk.writes[0].size, self.thunk["by"]
        recorder.copy(target + by, source, size - by)
        recorder.copy(target, source + size - by, by)
