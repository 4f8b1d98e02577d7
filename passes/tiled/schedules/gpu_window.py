"""Schedules of sums over windows on GPUs (depthwise convolutions, and those of few elements): what a thread computes for itself.

A thread has `vector` channels of `rows` x `cols` neighbouring results. Each element that its windows cover is loaded and converted once,
so large blocks load less; small ones are more threads, and hold fewer registers. The choice is by an estimate of the clocks of a
multiprocessor, whose blocks come in turns of as many as its registers hold:

    a turn    what its warps issue, four a clock, or load, 128 bytes a clock; at least what one warp takes, which waits once, or for each
              row where rows on padding are left out by branches
    memory    elements and results once, or what comes from the L2; turns do not hide it

With branches alone, 32 images in bf16, an H200 took 37 us for 7 x 7 over 56 x 56 x 96 (38 by this estimate, of 2 x 7 results), 13.6 over
14 x 14 x 384 (13.9), 29 for 3 x 3 over 56 x 56 x 144 (29), 35 of stride 2 over 112 x 112 x 96 (38).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from hloom.dialects.target import TargetView
from hloom.runtime.lazy import lazy

_SCHEDULERS = 4
_LINE, _SECTORS = 128, 64
"""Bytes that a multiprocessor loads in a clock, and that neighbouring threads should read side by side."""
_BYTES_PER_CLOCK, _MEMORY_BYTES_PER_CLOCK = 24, 16
"""Into one multiprocessor from the L2, and from memory, all of them reading."""
_LATENCY = 700
"""Until the elements of a row of windows are there."""
_FIXED = 100
"""Instructions of a thread besides: where it is, its epilogue's inputs."""
_STORED = 3
"""Instructions to finish a result."""
_HELD = 40
"""Registers of a thread beside sums, elements and weights."""
_MOST_REGISTERS, _MORE, _ASSEMBLED = 112, 16, 128
"""Of a thread by this count; how many more the assembler takes; and how many it has."""
_AHEAD = 44
"""Registers of elements, of all rows, that may be asked for at once."""
_REGISTERS = 65536
"""Of a multiprocessor."""
_UNROLLED = 3000
"""Multiply-adds of a thread that are written one after the other; more do not fit the caches of instructions."""
_VECTORS, _ROWS, _COLS = (1, 2, 4, 8), (1, 2, 4), (1, 2, 4, 5, 6, 7, 8)
_BLOCKS = (256, 128, 64)
_WARP, _WORD = 32, 4


@dataclass(frozen=True)
class Windows:
    """Of a kernel: the channels, the results along the last two dimensions before these (rows, columns) and along all else, the windows'
    taps and by how many elements neighbouring results and taps are apart, outer and last dimension each, and the bytes of an element."""

    channels: int
    rows: int
    cols: int
    others: int
    taps: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    element_bytes: int
    shared: bool = False
    """Whether all channels see the same elements, one by one."""


@dataclass(frozen=True)
class WindowSchedule:
    """A thread's channels, rows and columns."""

    windows: Windows
    multiprocessors: int
    vector: int
    rows: int
    cols: int
    threads: int
    """Of a block."""

    @property
    def unrolled(self) -> bool:
        """Whether all rows of a thread's windows are written out, or a loop goes through them."""
        return self._multiplied <= _UNROLLED

    @property
    def skips(self) -> bool:
        """Whether rows on padding are left out by a branch, beyond which no element is asked for; else all may be at once."""
        return self._ahead > _AHEAD or not self.unrolled

    @property
    def counts(self) -> tuple[int, int, int]:
        """Threads along the rows, the columns and the channels."""
        of = self.windows
        return -(-of.rows // self.rows), -(-of.cols // self.cols), of.channels // self.vector

    @property
    def total(self) -> int:
        """All threads."""
        rows, cols, channels = self.counts
        return self.windows.others * rows * cols * channels

    @lazy
    def block(self) -> tuple[int, int]:
        """(lines, channels) of a block, about: all columns of so many threads along the rows and channels."""
        rows, cols, channels = self.counts
        wide = -(-_SECTORS // (self.vector * self.windows.element_bytes))
        parts = [n for n in range(1, min(channels, _WARP) + 1) if channels % n == 0 and n >= min(wide, channels)] or [channels]
        part = max([n for n in parts if 2 * n * cols <= self.threads], default=min(parts))
        lines = max(n for n in range(1, min(rows, max(1, self.threads // (cols * part))) + 1) if rows % n == 0)
        return lines, part

    @property
    def registers(self) -> int:
        """What a thread holds: sums, a row of elements (those that all channels see are used one by one), and the weights of a row, which
        its next rows take again."""
        of = self.windows
        word = -(-self.vector * of.element_bytes // 4)
        elements = 0 if of.shared else self._covered(self.cols, 1) * word
        packed = self.rows == 1 or of.shared
        again = -(-(self.rows - 1) * of.strides[0] // max(1, of.dilations[0])) + 1
        weights = of.taps[1] * min(again, of.taps[0]) * (word if packed else self.vector)
        return self.rows * self.cols * self.vector + elements + weights + _HELD

    @lazy
    def clocks(self) -> int:
        """From the kernel's begin to its end."""
        of = self.windows
        taps, lines = of.taps[0] * of.taps[1], self._covered(self.rows, 0)
        elements = lines * self._covered(self.cols, 1)
        halves = of.element_bytes < 4
        read = elements * (1 + self._wide * halves) + taps * (1 + self.vector * halves)
        issued = self._multiplied + read + self.rows * self.cols * self.vector * _STORED + _FIXED
        wavefronts = [max(1, _WARP * width * of.element_bytes // _LINE) for width in (self._wide, self.vector)]
        busy = max(issued / _SCHEDULERS, elements * wavefronts[0] + taps * wavefronts[1]) * self.threads / _WARP
        alone = issued + (lines if self.skips else 1) * _LATENCY
        together = _REGISTERS // (self.threads * min(_ASSEMBLED, self.registers + (_MORE if self.skips else self._ahead)))
        full, rest = divmod(-(-self.total // (self.threads * self.multiprocessors)), together)
        turns = full * max(together * busy, alone) + (max(rest * busy, alone) if rest else 0)
        return int(turns + max(self._memory, self._traffic))

    @property
    def _memory(self) -> float:
        """Clocks for elements and results, once each."""
        of = self.windows
        seen = 0 if of.shared else min(of.strides[0], of.taps[0]) * min(of.strides[1], of.taps[1])
        moved = of.others * of.rows * of.cols * of.channels * (1 + seen) * of.element_bytes
        return moved / self.multiprocessors / _MEMORY_BYTES_PER_CLOCK

    @property
    def _traffic(self) -> float:
        """Clocks for what comes from the L2: what several threads of a block cover comes once."""
        of, (down, channels) = self.windows, self.block
        across = max(1, min(self.counts[1], self.threads // (down * channels)))
        covered = self._covered(self.rows * down, 0) / down * self._covered(self.cols * across, 1) / across
        sharing = channels if of.shared else 1
        return self.total * covered * self._wide * of.element_bytes / sharing / self.multiprocessors / _BYTES_PER_CLOCK

    @property
    def _ahead(self) -> int:
        """Registers of all elements that a thread loads."""
        word = -(-self._wide * self.windows.element_bytes // 4)
        return self._covered(self.rows, 0) * self._covered(self.cols, 1) * word

    @property
    def _wide(self) -> int:
        """Elements of an access."""
        return 1 if self.windows.shared else self.vector

    @property
    def _multiplied(self) -> int:
        return self.windows.taps[0] * self.windows.taps[1] * self.rows * self.cols * self.vector

    def _covered(self, count: int, dim: int) -> int:
        """How many elements along a dimension the windows of `count` neighbouring results cover."""
        stride, dilation = self.windows.strides[dim], self.windows.dilations[dim]
        return len({o * stride + tap * dilation for o in range(count) for tap in range(self.windows.taps[dim])})

    def fits(self) -> bool:
        """Whether it divides the channels, holds no more than there are registers, and is not too long to be written out."""
        of = self.windows
        if self.vector == self.rows == self.cols == 1:
            return True
        word = self.vector * of.element_bytes >= _WORD or of.channels % (2 * self.vector) > 0
        whole = of.channels % self.vector == 0 and word and self.vector * of.element_bytes <= 16
        whole = whole and self.rows <= of.rows and self.cols <= of.cols
        return whole and self.registers <= _MOST_REGISTERS and (self.unrolled or self.rows == 1)


def window_schedule(windows: Windows, target: TargetView) -> WindowSchedule:
    """The schedule of the fewest clocks; of several that of the smallest blocks of results."""
    sizes = product(_VECTORS, _ROWS, _COLS, _BLOCKS)
    found = (WindowSchedule(windows, target.multiprocessors or 108, *each) for each in sizes)
    return min((each for each in found if each.fits()), key=lambda s: (s.clocks, s.vector * s.rows * s.cols))
