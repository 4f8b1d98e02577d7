"""Windows that reach into zeros around an operand, which are nowhere in memory: taps there are left out.

    y[ow] = sum over kw of x[ow * s + kw * d - p] * w[kw]

Where the parallel loop is not jammed, the loop over taps runs over those that exist, between bounds known when it is entered. Rows of the
jammed loop that reach into zeros are known while code is emitted: their blocks are emitted with the taps unrolled, and a product
with a zero is not emitted; many taps that all rows of a block have are a loop. Blocks that leave the same taps out, counted from
their first row, are one loop, as those between them are that leave none out: with 128 taps over 49 pixels all blocks are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.control_flow import LoopBound
from ...common.linear_index import LinearIndex, linear_at
from ...common.storage import Storage
from ...errors import PassFailure
from .work import Work

_LONG = 8
"""Beyond so many taps that all rows of a block have they are a loop, though others are unrolled."""
Taps = list[tuple[int, int]] | tuple[LoopBound, LoopBound]
"""What a reduced loop runs over: bounds, or those of pieces one after the other."""


def is_surrounded(work: Work) -> bool:
    """Whether some input has zeros around it that are nowhere in memory."""
    return any(isinstance(s, Storage) and any(s.bounds) for s in work.inputs)


@dataclass(frozen=True)
class Window:
    """One dim of an operand with zeros around it: element `sum(steps[loop] * index) + tap * dilation` exists from `low` to before `high`.

    `steps` are those of the parallel loops; `taps` is the extent of the loop `tap`.
    """

    steps: Mapping[int, int]
    tap: int
    taps: int
    dilation: int
    low: LinearIndex
    high: LinearIndex

    def is_known(self, loop: int) -> bool:
        """Whether it is known while code is emitted which rows of a parallel loop reach into zeros."""
        return set(self.steps) <= {loop} and self.low.is_constant and self.high.is_constant

    def step(self, loop: int | None) -> int:
        """How far the window moves along a loop."""
        return 0 if loop is None else self.steps.get(loop, 0)

    @property
    def taps_a_row(self) -> int:
        """How many taps later a row of its one parallel loop reaches what the next one does."""
        (step,) = self.steps.values()
        return step // self.dilation

    def taps_of(self, row: int) -> range:
        """The taps of a row of its one parallel loop that exist."""
        (step,) = self.steps.values()
        first, behind = (min(self.taps, max(0, -((step * row - bound.constant) // self.dilation))) for bound in (self.low, self.high))
        return range(first, behind)

    def are_alike(self, first: int, second: int, rows: int) -> bool:
        """Whether blocks of `rows` rows of its one parallel loop leave the same taps out: none at all, or those that stand as far from
        their first row."""
        if self.is_inside(first, first + rows) and self.is_inside(second, second + rows):
            return True
        (step,) = self.steps.values()
        passed = (second - first) * self.taps_a_row
        taps = [(self.taps_of(first + u), self.taps_of(second + u)) for u in range(rows)]
        return step % self.dilation == 0 and all((a.start, a.stop) == (b.start + passed, b.stop + passed) for a, b in taps)

    def is_inside(self, first: int, end: int) -> bool:
        """Whether all taps of the rows `first` to before `end` of its one parallel loop exist."""
        return all(len(self.taps_of(row)) == self.taps for row in (first, end - 1))

    def exists(self, row: int, tap: int) -> bool:
        """Whether a tap of a row of its one parallel loop exists."""
        (step,) = self.steps.values()
        return self.low.constant <= step * row + tap * self.dilation < self.high.constant

    def existing(self, at: Mapping[int, LinearIndex]) -> tuple[LoopBound, LoopBound]:
        """The first tap that exists where the parallel loops are `at`, and the one behind the last."""
        start = sum((at[loop] * step for loop, step in self.steps.items()), LinearIndex())
        return self._first(self.low - start), self._first(self.high - start)

    def _first(self, distance: LinearIndex) -> LoopBound:
        """The first tap that is at least so far, at most all of them."""
        if distance.is_constant:
            return min(self.taps, max(0, -(-distance.constant // self.dilation)))
        ahead = arith.maxsi((distance + (self.dilation - 1)).value(), LinearIndex().value())
        if self.dilation > 1:
            ahead = arith.divui(ahead, LinearIndex(constant=self.dilation).value())
        return arith.minui(ahead, LinearIndex(constant=self.taps).value())


def windows_of(work: Work) -> list[Window]:
    """The windows of `work` that reach into zeros. Raises PassFailure where zeros are read otherwise than through a window."""
    found = []
    for m, storage in zip(work.maps, work.inputs):
        if isinstance(storage, Storage) and any(storage.bounds):
            found += _windows(work, m, storage)
    return found


def _windows(work: Work, m: ir.AffineMap, storage: Storage) -> list[Window]:
    found = []
    point = [LinearIndex({dim: 1}) for dim in range(m.n_dims)]
    for result, bounds in zip(m.results, storage.bounds):
        if bounds is None:
            continue
        index = linear_at(result, point) or LinearIndex()
        steps = {loop: step for loop, step in index.terms.items() if work.parallel[loop]}
        taps = [loop for loop in index.terms if not work.parallel[loop]]
        count = work.extents[taps[0]] if len(taps) == 1 else None
        if not isinstance(count, int) or min(index.terms.values()) < 0:
            where = {"op": work.op.name, "loc": str(work.op.location), "stage": "vector"}
            raise PassFailure("zeros around an operand are read otherwise than by the taps of a window", **where)
        low, high = (bound - index.constant for bound in bounds)
        found.append(Window(steps, taps[0], count, index.terms[taps[0]], low, high))
    return found


def taps_missing(windows: Sequence[Window], at: Mapping[int, LinearIndex]) -> ir.Value | None:
    """Whether some tap does not exist where the parallel loops are `at`; None where it is known that all do."""
    bounds = [(found, all_of) for w in windows for found, all_of in zip(w.existing(at), (0, w.taps)) if found != all_of]
    missing = [arith.cmpi(CmpIPredicate.ne, LinearIndex.of(a).value(), LinearIndex.of(b).value()) for a, b in bounds]
    return reduce(arith.ori, missing) if missing else None


def pieces(has: list[list[bool]]) -> list[tuple[int, int]]:
    """Bounds of taps, of which each has some row (`has[tap][row]`): many that have all rows are one piece, others each one."""
    pieces: list[tuple[int, int]] = []
    for whole, taps in groupby(range(len(has)), lambda tap: all(has[tap])):
        run = [tap for tap in taps if any(has[tap])]
        pieces += [(run[0], run[-1] + 1)] if whole and len(run) > _LONG else [(tap, tap + 1) for tap in run]
    return pieces


def both(taps: tuple[LoopBound, LoopBound], part: Taps | None) -> tuple[LoopBound, LoopBound]:
    """The steps of both, where there is a part."""
    if not isinstance(part, tuple):
        return taps
    (first, behind), (start, end) = ((LinearIndex.of(bound).value() for bound in pair) for pair in (taps, part))
    return arith.maxsi(first, start), arith.minsi(behind, end)


def one_by_one(taps: Taps) -> Taps:
    """The steps of a loop each as a piece, where it is known which they are."""
    spans = [taps] if isinstance(taps, tuple) else taps
    if not all(isinstance(bound, int) for span in spans for bound in span):
        return taps
    return [(tap, tap + 1) for lower, upper in spans for tap in range(int(lower), int(upper))]
