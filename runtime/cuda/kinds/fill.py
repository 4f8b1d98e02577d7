"""thunk.fill: a pattern of bytes, repeated. The driver sets elements of 1, 2 or 4 bytes; a longer pattern is set by columns of 4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import DamagedFileError
from ...schema import each, integer, row
from ...thunk_schema import SLICE
from ...thunks import Launches, Op, Thunk
from ..step import BufferAddresses, Needs, Step

_WIDEST = 4


_FIELDS = {"writes": row(SLICE), "pattern": each(integer(-128, 255), least=1)}


class FillStep(Step, kind="fill", fields=_FIELDS):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        if op["writes"][0][2] % len(op["pattern"]):
            yield f"fills {op['writes'][0][2]} bytes with a pattern of {len(op['pattern'])}"

    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.pattern = shortest(bytes(byte & 255 for byte in thunk["pattern"]))

    def prepare(self, needs: Needs) -> None:
        width = len(self.pattern)
        if width not in (1, 2, 4) and width % _WIDEST:
            raise DamagedFileError(f"a pattern of {width} bytes does not fill {self.thunk.writes[0].size}")

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        (target,) = self.thunk.writes
        address, width = buffers.address(target), len(self.pattern)
        if width <= _WIDEST:
            recorder.fill(address, int.from_bytes(self.pattern, "little"), width, target.size // width)
            return
        for start in range(0, width, _WIDEST):
            value = int.from_bytes(self.pattern[start : start + _WIDEST], "little")
            recorder.fill_column(address + start, value, pitch=width, count=target.size // width)


def shortest(pattern: bytes) -> bytes:
    """The shortest pattern whose repetition is this one."""
    return next((pattern[:n] for n in (1, 2, 4) if len(pattern) % n == 0 and pattern[:n] * (len(pattern) // n) == pattern), pattern)
