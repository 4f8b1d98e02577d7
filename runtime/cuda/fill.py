"""thunk.fill: a pattern of bytes, repeated. The driver sets elements of 1, 2 or 4 bytes; a longer pattern is set by columns of 4."""

from __future__ import annotations

from typing import Any

from ..errors import DamagedFileError
from ..thunks import Thunk
from .step import Context, Memory, Needs

_WIDEST = 4


class FillStep:
    def __init__(self, thunk: Thunk):
        self.thunk = thunk
        self.pattern = shortest(bytes(byte & 255 for byte in thunk["pattern"]))

    def prepare(self, needs: Needs) -> None:
        width, size = len(self.pattern), self.thunk.writes[0].size
        if not width or size % width or not (width in (1, 2, 4) or width % _WIDEST == 0):
            raise DamagedFileError(f"a pattern of {width} bytes does not fill {size}")

    def initialise(self, context: Context) -> None:
        """Nothing to look up."""

    def execute(self, recorder: Any, memory: Memory) -> None:
        (target,) = self.thunk.writes
        if not target.size:
            return
        address, width = memory.address(target), len(self.pattern)
        if width <= _WIDEST:
            recorder.fill(address, int.from_bytes(self.pattern, "little"), width, target.size // width)
            return
        for start in range(0, width, _WIDEST):
            value = int.from_bytes(self.pattern[start : start + _WIDEST], "little")
            recorder.fill_column(address + start, value, pitch=width, count=target.size // width)


def shortest(pattern: bytes) -> bytes:
    """The shortest pattern whose repetition is this one."""
    return next((pattern[:n] for n in (1, 2, 4) if len(pattern) % n == 0 and pattern[:n] * (len(pattern) // n) == pattern), pattern)
