"""Sums over windows whose channels are apart (depthwise convolutions), or of few elements each: a thread computes neighbouring results.

    a thread:  some channels (one access) of rows x columns of results; its sums stay in registers
    a row of what its windows cover:  weights of the row's taps, then each element loaded once, for all windows that cover it
    padding:   is not loaded and counts as 0; where so much is loaded that it would not be asked for at once, a row that lies on padding is
               left out by a branch

Threads of a block are neighbours along the channels, then the columns, then the rows, so rows that several of them cover come from the L1.
Where the columns (rows) are no multiple of a thread's, the last threads start earlier, and store what no other does.

Sizes: tiled/schedules/gpu_window.py.

Declined: elements, weights or results that do not lie with the channels last; windows of more than 64 taps along the last dimension;
padding of an operand that is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import gcd

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import if_else, if_then, loop
from ...common.linear_index import LinearIndex, least
from ...common.vectors import lanes_of, splat
from ...common.windows import FEATURES, MOST_FEATURES, MOST_TAPS, SHALLOW_TAPS
from ...tiled.schedules.gpu_window import Windows, WindowSchedule, window_schedule
from ..support.emit import all_of, block_id, choose, digits, less_than, thread_id
from ..support.launch import OpenKernel, open_kernel
from .contraction import ContractionGroup, Edge, LoopGroup, Operand
from .epilogue import EpilogueEmitter
from .factors import factor_of, multiply_add, read_stored
from .runs import Run

_RESIDENT_THREADS = 512
Point = Mapping[int, LinearIndex]


def try_emit(contraction: ContractionGroup, target: TargetView) -> bool:
    """Emits the kernel of `contraction` if it is a sum over windows; says whether it is."""
    problem = _problem(contraction)
    if problem is None:
        return False
    schedule = window_schedule(problem.windows(), target)
    _Kernel(problem, schedule).emit()
    return True


@dataclass(frozen=True)
class _Problem:
    """The contraction with its channels as columns. `outs`: the loops of results besides, the last two of which are a thread's rows and
    columns."""

    contraction: ContractionGroup
    elements: Operand
    weights: Operand
    outs: LoopGroup
    channels: tuple[int, int]
    outer: LoopGroup
    """Of the windows' loops all but the last."""

    @property
    def edges(self) -> tuple[Edge, ...]:
        """What the elements' indices must be inside of."""
        return self.elements.access.edges

    @property
    def across(self) -> tuple[int, int]:
        """The loop of a thread's columns and its extent."""
        return self.outs.loops[-1]

    @property
    def down(self) -> tuple[int, int] | None:
        """The loop of a thread's rows and its extent; None where there is one dimension."""
        return self.outs.loops[-2] if len(self.outs.loops) > 1 else None

    @property
    def tap(self) -> tuple[int, int] | None:
        """The windows' last loop and its extent."""
        loops = self.contraction.inner.loops
        return loops[-1] if loops else None

    def windows(self) -> Windows:
        """What the schedule is chosen by."""
        index = self.elements.access.index
        pairs = (self.down, self.outer.loops[-1] if self.outer.loops else None), (self.across, self.tap)
        steps = [[abs(index.coefficient(each[0])) if each else 0 for each in pair] for pair in pairs]
        units = [gcd(*pair) or 1 for pair in steps]
        strides, dilations = ([pair[side] // unit for pair, unit in zip(steps, units)] for side in range(2))
        rows = self.down[1] if self.down else 1
        taps = self.outer.extent, self.tap[1] if self.tap else 1
        others = self.outs.extent // (rows * self.across[1]) * self.contraction.batch.extent
        size = element_bytes(self.elements.access.element)
        apart = (strides[0], strides[1]), (dilations[0], dilations[1])
        return Windows(self.channels[1], rows, self.across[1], others, taps, *apart, size, not index.coefficient(self.channels[0]))


def _problem(contraction: ContractionGroup) -> _Problem | None:
    elements, weights, outs, along = contraction.left, contraction.right, contraction.rows, contraction.batch
    if contraction.batch.extent == 1:
        along = contraction.cols
    elif contraction.cols.extent > 1:
        elements, weights, outs = contraction.right, contraction.left, contraction.cols
    if along is contraction.cols and not _is_shallow(contraction):
        return None
    *batch, channels = along.loops
    (_, inner), results = (contraction.inner.loops or ((0, 1),))[-1], contraction.results
    plain = not weights.access.edges and not (elements.access.edges and (elements.is_computed or len(elements.leaves) > 1))
    last = [*(leaf.access for leaf in weights.leaves), *(access for _, access in results)]
    last += [leaf.access for leaf in elements.leaves if along is contraction.batch]
    if inner > MOST_TAPS or not plain or not outs.loops or any(access.index.coefficient(channels[0]) != 1 for access in last):
        return None
    seen = replace(contraction, batch=LoopGroup(tuple(batch)), rows=LoopGroup(()), cols=LoopGroup((channels,)))
    problem = _Problem(seen, elements, weights, outs, channels, LoopGroup(contraction.inner.loops[:-1]))
    return problem if _taps_along_columns(problem) else None


def _taps_along_columns(problem: _Problem) -> bool:
    """Whether columns and last taps move towards edges of their own: a window of 3 x 1 has taps along rows alone."""
    moving = [problem.across[0], *([problem.tap[0]] if problem.tap else [])]
    others = [loop for loop, _ in (*problem.outs.loops[:-1], *problem.contraction.batch.loops)]
    edges = [edge for edge in problem.edges if any(edge.index.coefficient(loop) for loop in moving)]
    return not any(edge.index.coefficient(loop) for edge in edges for loop in others)


def _is_shallow(contraction: ContractionGroup) -> bool:
    """Whether all channels see the same few elements of windows that overlap, of two bytes: by the time that tensor cores had gathered a
    line of them, they are multiplied."""
    elements, few = contraction.left, contraction.inner.extent <= SHALLOW_TAPS and len(contraction.cols.loops) == 1
    halves = contraction.is_float and element_bytes(elements.access.element) == 2 and not elements.is_computed
    if not few or not halves or not contraction.rows.loops or contraction.cols.extent not in range(FEATURES, MOST_FEATURES + 1, FEATURES):
        return False
    index = elements.access.index
    step = index.coefficient(contraction.rows.loops[-1][0])
    return any(0 < step < index.coefficient(loop) * extent for loop, extent in contraction.inner.loops)


@dataclass(frozen=True)
class _Strips:
    """The results along a loop, `size` a thread: thread `number` has those from `first` on, of which an earlier one stores some."""

    loop: int | None
    extent: int
    size: int
    number: LinearIndex
    first: LinearIndex

    @staticmethod
    def of(loop: tuple[int, int] | None, size: int, number: ir.Value) -> _Strips:
        index = LinearIndex.of(number)
        if loop is None or loop[1] <= size:
            return _Strips(loop[0] if loop else None, loop[1] if loop else 1, size, LinearIndex(), LinearIndex())
        first = index * size
        if loop[1] % size:
            first = least(first, LinearIndex(constant=loop[1] - size))
        return _Strips(*loop, size, index, first)

    @property
    def count(self) -> int:
        return -(-self.extent // self.size)

    def firsts(self) -> list[int]:
        """Where each thread's begin."""
        return [min(number * self.size, max(0, self.extent - self.size)) for number in range(self.count)]

    def is_own(self, place: int) -> ir.Value | None:
        """Whether no other thread stores the result at `place` of this one's; None where that is so of all threads."""
        if place >= self.count * self.size - max(self.extent, self.size):
            return None
        return less_than(self.number, self.count - 1)


class _Kernel:
    """Emits one kernel."""

    def __init__(self, problem: _Problem, schedule: WindowSchedule):
        self.problem, self.schedule = problem, schedule
        self.others = LoopGroup((*problem.contraction.batch.loops, *problem.outs.loops[:-2]))
        self.kernel: OpenKernel

    def emit(self) -> None:
        schedule = self.schedule
        self.kernel = open_kernel(
            self.problem.contraction.function,
            -(-schedule.total // schedule.threads),
            schedule.threads,
            {"thread": f"{schedule.rows}x{schedule.cols}x{schedule.vector}", "rows": "unrolled" if schedule.unrolled else "loop"},
        )
        self.kernel.keep_resident(_RESIDENT_THREADS)
        with self.kernel.body:
            thread = LinearIndex.of(block_id()) * schedule.threads + thread_id()
            with if_then(less_than(thread, schedule.total) if schedule.total % schedule.threads else None):
                self._thread(thread.value())

    def _thread(self, number: ir.Value) -> None:
        problem, schedule = self.problem, self.schedule
        other, *places = self._places(number)
        self.down = _Strips.of(problem.down, schedule.rows, places[0])
        self.along = _Strips.of(problem.across, schedule.cols, places[1])
        self.point = {i: LinearIndex() for i in range(len(problem.contraction.extents))}
        self.point |= self.others.digits(LinearIndex.of(other))
        for strips in (self.down, self.along):
            if strips.loop is not None:
                self.point[strips.loop] = strips.first
        self.point[problem.channels[0]] = LinearIndex.of(places[2]) * schedule.vector
        self.weights: dict[tuple[int, ...], ir.Value] = {}
        kind = lanes_of(schedule.vector, problem.contraction.accumulator)
        sums = [splat(kind, 0)] * (schedule.rows * schedule.cols)
        self._finish(self._all_rows(sums))

    def _places(self, number: ir.Value) -> list[ir.Value]:
        """What else, the strip of rows and of columns, and the channels."""
        (rows, cols, channels), (lines, part) = self.schedule.counts, self.schedule.block
        other, row, outer, line, col, inner = digits(number, [0, rows // lines, channels // part, lines, cols, part])
        row = (LinearIndex.of(row) * lines + line).value()
        return [other, row, col, (LinearIndex.of(outer) * part + inner).value()]

    def _all_rows(self, sums: list[ir.Value]) -> list[ir.Value]:
        """The sums over all taps, row by row of what the windows cover."""
        if not self.schedule.unrolled:
            return loop(0, self.problem.outer.extent, 1, sums, self._one_of_rows)
        found: dict[tuple[int, ...], list[tuple[int, Point]]] = {}
        for row in range(self.schedule.rows):
            for taps in _points(self.problem.outer):
                point = self._at(row, taps)
                found.setdefault(self._offsets(point), []).append((row, taps))
        for key in sorted(found):
            sums = self._row(found[key], sums)
        return sums

    def _one_of_rows(self, number: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
        return self._row([(0, self.problem.outer.digits(number))], sums)

    def _at(self, row: int, taps: Point) -> dict[int, LinearIndex]:
        """The thread's first column of that row of results, at those taps of the outer loops."""
        point = {**self.point, **taps}
        if row:
            assert self.down.loop is not None
            point[self.down.loop] = self.down.first + row
        return point

    def _offsets(self, point: Point) -> tuple[int, ...]:
        """What tells one element of a thread from another."""
        access = self.problem.elements.access
        return tuple(index.at(point).constant for index in (access.index, *(edge.index for edge in access.edges)))

    def _row(self, windows: Sequence[tuple[int, Point]], sums: list[ir.Value]) -> list[ir.Value]:
        """Adds to `sums` what a row of elements contributes: `windows` are the rows of results and the taps that see it."""
        weights = [self._weights(taps) for _, taps in windows]
        base = self._at(*windows[0])
        rows = [row for row, _ in windows]
        cols = self.schedule.cols

        inside = self._row_inside(base)
        skipped = None if inside is None or not self.schedule.skips else inside

        def add() -> list[ir.Value]:
            elements = self._elements(base, None if skipped is not None else inside)
            own = {row: sums[row * cols : (row + 1) * cols] for row in rows}
            for row, factors in zip(rows, weights):
                for tap, factor in enumerate(factors):
                    for col in range(cols):
                        own[row][col] = multiply_add(elements[col, tap], factor, own[row][col])
            return [value for row in rows for value in own[row]]

        old = [value for row in rows for value in sums[row * cols : (row + 1) * cols]]
        new = add() if skipped is None else if_else(skipped, [value.type for value in old], add, lambda: old)
        result = list(sums)
        for number, row in enumerate(rows):
            result[row * cols : (row + 1) * cols] = new[number * cols : (number + 1) * cols]
        return result

    def _weights(self, taps: Point) -> list[ir.Value]:
        """The weights of a row of taps."""
        problem, vector = self.problem, self.schedule.vector
        key = tuple(index.constant for index in taps.values())
        found = []
        for number in range(problem.tap[1] if problem.tap else 1):
            if not self.schedule.unrolled or (*key, number) not in self.weights:
                point = {**self.point, **taps, **self._tap(number)}
                stored = read_stored(problem.weights, self.kernel.buffers, Run(point, problem.channels[0], vector))
                self.weights[(*key, number)] = factor_of(problem.weights, stored)
            found.append(self.weights[(*key, number)])
        return found

    def _tap(self, number: int) -> Point:
        return {self.problem.tap[0]: LinearIndex(constant=number)} if self.problem.tap else {}

    def _elements(self, base: Point, row_inside: ir.Value | None) -> dict[tuple[int, int], ir.Value]:
        """The factors of a row by column of results and tap, each element loaded once; zeros unless `row_inside`."""
        problem, across = self.problem, self.along.loop
        assert across is not None
        places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        points: dict[tuple[int, ...], Point] = {}
        for tap, col in product(range(problem.tap[1] if problem.tap else 1), range(self.schedule.cols)):
            point = {**base, across: self.along.first + col, **self._tap(tap)}
            key = self._offsets(point)
            places.setdefault(key, []).append((col, tap))
            points[key] = point
        alike: dict[tuple[bool, ...], list[tuple[int, ...]]] = {}
        for key in sorted(places):
            alike.setdefault(self._strips_inside(points[key]), []).append(key)
        found: dict[tuple[int, int], ir.Value] = {}
        for inside, keys in alike.items():
            for key, value in zip(keys, self._loaded(inside, row_inside, [points[key] for key in keys])):
                found |= dict.fromkeys(places[key], factor_of(problem.elements, value))
        return found

    def _loaded(self, inside: Sequence[bool], row_inside: ir.Value | None, points: Sequence[Point]) -> list[ir.Value]:
        """The elements at these points, which are `inside` the edges along the columns in the same strips; zeros beyond these."""
        kind = lanes_of(self.schedule.vector, self.problem.elements.element)
        if not any(inside):
            return [splat(kind, 0)] * len(points)
        column = None if all(inside) else self._inside(points[0], self._edges_along(True))
        condition = all_of([each for each in (row_inside, column) if each is not None])
        return choose(condition, [kind] * len(points), lambda: [self._load(point) for point in points])

    def _load(self, point: Point) -> ir.Value:
        problem, vector = self.problem, self.schedule.vector
        return read_stored(problem.elements, self.kernel.buffers, Run(point, problem.channels[0], vector))

    def _edges_along(self, columns: bool) -> list[Edge]:
        """The edges that a thread's columns and last taps move towards; or those they do not."""
        loops = [self.problem.across[0], *([self.problem.tap[0]] if self.problem.tap else [])]
        return [edge for edge in self.problem.edges if any(edge.index.coefficient(each) for each in loops) == columns]

    def _strips_inside(self, point: Point) -> tuple[bool, ...]:
        """For each strip of columns, whether the element is inside the edges along them; alike for elements that one condition tells of."""
        edges = self._edges_along(True)
        first = self.along.first
        known = []
        for edge in edges:
            offset = edge.index.at(point) - first * edge.index.coefficient(self.problem.across[0])
            assert offset.is_constant
            known.append(offset.constant)
        step = [edge.index.coefficient(self.problem.across[0]) for edge in edges]
        return tuple(
            all(0 <= offset + start * each < edge.extent for offset, each, edge in zip(known, step, edges)) for start in self.along.firsts()
        )

    def _row_inside(self, point: Point) -> ir.Value | None:
        """Whether the row lies inside the edges along the other dimensions; None where that is so of all threads."""
        return self._inside(point, [edge for edge in self._edges_along(False) if not self._always(edge, point)])

    def _always(self, edge: Edge, point: Point) -> bool:
        index = edge.index.at(point)
        low = high = index.constant
        for value, coefficient in index.terms.items():
            if value not in self.down.first.terms:
                return False
            reach = [start * coefficient // self.down.first.terms[value] for start in self.down.firsts()]
            low, high = low + min(reach), high + max(reach)
        return low >= 0 and high < edge.extent

    def _inside(self, point: Point, edges: Sequence[Edge]) -> ir.Value | None:
        return all_of([less_than(edge.index.at(point), edge.extent) for edge in edges])

    def _finish(self, sums: list[ir.Value]) -> None:
        """Stores the results that no other thread does."""
        contraction, cols = self.problem.contraction, self.schedule.cols
        epilogue = EpilogueEmitter(contraction, self.kernel.buffers)
        for row in range(self.schedule.rows):
            for col in range(cols):
                own = [each for each in (self.down.is_own(row), self.along.is_own(col)) if each is not None]
                point = self._at(row, {})
                point[self.problem.across[0]] = self.along.first + col
                with if_then(all_of(own)):
                    epilogue.finish(sums[row * cols + col], point)


def _points(group: LoopGroup) -> Iterator[dict[int, LinearIndex]]:
    """Every point of the group's loops, the last the fastest."""
    for values in product(*(range(extent) for _, extent in group.loops)):
        yield {loop: LinearIndex(constant=value) for (loop, _), value in zip(group.loops, values)}
