"""Windows that move along the lanes: a line of results at a time, in two steps.

    line[w] = combine over the other taps of x[.., w]        vectors of columns, neighbours in memory
    y[ow]   = combine over kw of line[ow * s + kw * d]        vectors of results, picked from the line in registers

The line is a buffer on the stack with the neutral element where the padding is, written there once: no tap of the second step is left out.
Taps of the first step that are in the padding are (windows.py). A window of n × m takes n + m steps instead of n * m. Windows along a line
alone, without padding, need none, however long it is: columns are loaded where results take them.

Taps as many as results are apart are a turn. Turns are combined as they lie, then the s columns of each result are picked by shuffles:

    AvgPool1d(4, 2)     v = x[2 ow …] + x[2 ow + 2 …];  y = v[0, 2, 4, …] + v[1, 3, 5, …]

Must hold: the body combines by known ops with neutral elements, in any order; every input that moves with the results' innermost loop is
read at its windows, elements side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.storage import is_i1
from hloom.dialects.target import TargetView

from ...common.affine import used_dims
from ...common.combiner import Combiner, split
from ...common.control_flow import LoopBound, NestBody, for_loop, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Bounds, Storage
from .body import Captured, LanesBody
from .lanes import Lanes
from .nests import chunks, point_indices
from .packing import Scratch
from .results import store_results
from .windows import Window, windows_of
from .work import Point, Work, stride_along

_LONGEST_LINE = 8192
_UNROLLED = 8
"""Taps of the second step that are emitted one by one."""
_SHUFFLED = 8
"""Up to so many elements between results are loaded with them and left out by shuffles; beyond, elements are gathered."""
_FEW_OPS = 2
"""So many ops of a column may be computed again for each tap."""
_OUTSIDE = ("linalg.index", "tensor.extract")

Columns = Callable[[LinearIndex, Lanes], list[ir.Value]]
"""The columns from an index on."""


@dataclass(frozen=True)
class _Line:
    """The results' innermost loop, its taps, and the columns that they read: `low` to before `high` of them exist."""

    loop: int
    tap: int
    step: int
    dilation: int
    results: int
    taps: int
    low: int
    high: int

    @property
    def reach(self) -> int:
        """Columns that all windows of the line span."""
        return (self.results - 1) * self.step + (self.taps - 1) * self.dilation + 1

    @property
    def turns(self) -> int:
        """How many turns of taps are whole: of which a result takes every column."""
        return self.taps // self.step if self.dilation == 1 and self.step <= _SHUFFLED else 0

    @property
    def before(self) -> int:
        """Columns ahead of a turn that is not whole that are loaded with it, so that none behind the line is."""
        return (-self.taps) % self.step if self.turns else 0


def pool_of(work: Work, captured: Captured, target: TargetView, scratch: Scratch) -> Pool | None:
    """`work` where it is a reduction over windows along the results' innermost loop; None where it is another."""
    if work.block is None or any(op.name in _OUTSIDE for op in work.block.operations):
        return None
    found, combiner = _line(work), split(work.block, len(work.inputs), len(work.outputs))
    if found is None or combiner is None or not combiner.commutative or combiner.neutral() is None:
        return None
    line, columns = found
    in_place = _needs_no_line(work, line, combiner)
    if line.reach > _LONGEST_LINE and not in_place:
        return None
    return Pool(work, columns, line, combiner, captured, target, None if in_place else scratch)


def _needs_no_line(work: Work, line: _Line, combiner: Combiner) -> bool:
    """Whether columns are loaded where results take them: they all exist, there are no other taps, and little is computed twice."""
    alone = sum(not parallel for parallel in work.parallel) == 1 and (line.low, line.high) == (0, line.reach)
    return alone and line.turns > 0 and (line.taps == line.step or len(combiner.before) <= _FEW_OPS)


def _line(work: Work) -> tuple[_Line, Work] | None:
    """The line of a work, and the work that reads columns: its loop over taps along the line is one over columns."""
    loops = {_innermost(m, s) for m, s in zip(work.output_maps, work.outputs) if isinstance(s, Storage)}
    if len(loops) != 1 or any(is_i1(s.element) for s in work.outputs if isinstance(s, Storage)):
        return None
    loop = loops.pop()
    if loop is None or not work.parallel[loop]:
        return None
    tap = _tap(work, loop)
    results = work.extents[loop]
    if tap is None or not isinstance(results, int) or not isinstance(taps := work.extents[tap], int):
        return None
    maps, inputs = list(work.maps), list(work.inputs)
    read: set[tuple[int, int, Bounds | None]] = set()
    for number, storage in enumerate(work.inputs):
        m = work.maps[number]
        if not isinstance(storage, Storage) or not {loop, tap} & {d for e in m.results for d in used_dims(e)}:
            continue
        dim = _column_dim(m, storage, loop, tap)
        if dim is None:
            return None
        bounds = storage.bounds[dim] if storage.bounds else None
        read.add((*_steps(m, storage, loop, tap), bounds))
        maps[number], inputs[number] = _of_columns(m, dim, loop, tap), _unbounded(storage, dim)
    if len(read) != 1:
        return None
    ((step, dilation, bounds),) = read
    reach = (results - 1) * step + (taps - 1) * dilation + 1
    if not all(bound.is_constant for bound in bounds or ()):
        return None
    low, high = (0, reach) if bounds is None else (max(0, bounds[0].constant), min(reach, bounds[1].constant))
    parallel, extents = list(work.parallel), list(work.extents)
    parallel[tap], extents[tap] = True, reach
    columns = replace(work, maps=maps, inputs=inputs, parallel=parallel, extents=extents)
    return _Line(loop, tap, step, dilation, results, taps, low, max(low, high)), columns


def _tap(work: Work, loop: int) -> int | None:
    """The summed loop that moves through an input with `loop`, or walks the few elements between two of its steps."""
    for m, storage in zip(work.maps, work.inputs):
        if not isinstance(storage, Storage):
            continue
        for d in (d for d in range(m.n_dims) if not work.parallel[d]):
            steps = _steps(m, storage, loop, d)
            together = any({loop, d} <= set(used_dims(e)) for e in m.results)
            if together or (steps == (work.extents[d], 1) and steps[0] <= _SHUFFLED):
                return d
    return None


def _column_dim(m: ir.AffineMap, storage: Storage, loop: int, tap: int) -> int | None:
    """The dim of an operand along which its columns lie side by side, where both loops walk columns."""
    if min(_steps(m, storage, loop, tap)) < 1:
        return None
    moved = [dim for dim, e in enumerate(m.results) if {loop, tap} & set(used_dims(e))]
    last = moved[-1]
    whole = storage.bounds and any(storage.bounds[dim] for dim in moved)
    return last if storage.strides[last] == 1 and not (whole and len(moved) > 1) else None


def _innermost(m: ir.AffineMap, storage: Storage) -> int | None:
    return next((d for d in range(m.n_dims) if stride_along(m, storage, d) == 1), None)


def _steps(m: ir.AffineMap, storage: Storage, loop: int, tap: int) -> tuple[int, int]:
    """How far both loops step in memory; 0 where that is not constant."""
    return stride_along(m, storage, loop) or 0, stride_along(m, storage, tap) or 0


def _of_columns(m: ir.AffineMap, dim: int, loop: int, tap: int) -> ir.AffineMap:
    """The map with columns, the loop `tap`, in place of both loops."""
    dims = [ir.AffineExpr.get_constant(0) if d in (loop, tap) else ir.AffineExpr.get_dim(d) for d in range(m.n_dims)]
    results = [e.compose(ir.AffineMap.get(m.n_dims, 0, dims)) for e in m.results]
    results[dim] = results[dim] + ir.AffineExpr.get_dim(tap)
    return ir.AffineMap.get(m.n_dims, 0, results)


def _unbounded(storage: Storage, dim: int) -> Storage:
    return replace(storage, bounds=tuple(None if d == dim else pair for d, pair in enumerate(storage.bounds)))


class Pool:
    """`scratch` makes the lines; None where there are none."""

    def __init__(
        self, work: Work, columns: Work, line: _Line, combiner: Combiner, captured: Captured, target: TargetView, scratch: Scratch | None
    ):
        self.work, self.columns, self.line, self.combiner, self.captured = work, columns, line, combiner, captured
        self.outer = [d for d in range(len(work.extents)) if work.parallel[d] and d != line.loop]
        self.reduced = [d for d in range(len(work.extents)) if not work.parallel[d] and d != line.tap]
        self.windows: dict[int, Window] = {window.tap: window for window in windows_of(columns)}
        self.one = work.lanes(target)
        self.after: Sequence[Work] = ()
        self.lines = None if scratch is None else [self._new_line(number, scratch) for number in range(len(work.outputs))]

    def _new_line(self, number: int, scratch: Scratch) -> Storage:
        """A line of neutral elements, some vectors longer than it is read."""
        count = 4 * self.one * max(1, self.line.step)
        length = -(-self.line.reach // count) * count + 2 * count
        line = scratch((length,), self.combiner.values[number].type)
        with ir.InsertionPoint.after(line.base.owner):
            neutral = self._neutral()[number]
            chunks(length, count, self.one, lambda start, lanes: lanes.store(neutral, line, line.address([start.along_lanes()])))
        return line

    def _neutral(self) -> list[ir.Value]:
        found = self.combiner.neutral()
        assert found is not None
        return found

    def emit(self, after: Sequence[Work]) -> None:
        """The pool, and at each of its results the works that come `after` it."""
        self.after = after
        nest_each([self.work.extents[d] for d in self.outer], lambda at: self._at(dict(zip(self.outer, at))))

    def _at(self, fixed: dict[int, LinearIndex]) -> None:
        line = self.line
        taps = [self.windows[d].existing(fixed) if d in self.windows else (0, self.work.extents[d]) for d in self.reduced]

        def columns(start: LinearIndex, lanes: Lanes) -> list[ir.Value]:
            return self._columns(fixed, start, lanes, taps)

        if self.lines is not None:
            store = partial(self._store_columns, self.lines, columns)
            chunks(line.high - line.low, 4 * self.one, self.one, lambda start, lanes: store(start + line.low, lanes))
            columns = partial(self._load_columns, self.lines)
        chunks(line.results, 2 * self.one, self.one, lambda start, lanes: self._results(fixed, start, lanes, columns))

    def _columns(
        self, fixed: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes, taps: list[tuple[LoopBound, LoopBound]]
    ) -> list[ir.Value]:
        """The first step for the columns from `start` on."""
        rank = len(self.work.extents)

        def step(inner: list[LinearIndex], totals: list[ir.Value]) -> list[ir.Value]:
            at = point_indices(rank, {**fixed, **dict(zip(self.reduced, inner))}, self.line.tap, start, lanes)
            results = Point(lanes, at, self.captured).evaluate(self.columns, totals)
            return [lanes.widen(r) for r in results]

        return _over(taps, [lanes.widen(n) for n in self._neutral()], step)

    def _store_columns(self, lines: list[Storage], columns: Columns, start: LinearIndex, lanes: Lanes) -> None:
        whole = Lanes(lanes.count)
        for line, total, neutral in zip(lines, columns(start, lanes), self._neutral()):
            # all lanes: what a masked store leaves half written must reach the cache before it can be loaded
            full = total if lanes.mask is None else arith.select(lanes.mask, total, lanes.widen(neutral))
            whole.store(full, line, line.address([start.along_lanes()]))

    def _load_columns(self, lines: list[Storage], start: LinearIndex, lanes: Lanes) -> list[ir.Value]:
        """What is in the lines from `start` on: they are longer than all lanes need."""
        return [Lanes(lanes.count).load(line, line.address([start.along_lanes()])) for line in lines]

    def _results(self, fixed: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes, columns: Columns) -> None:
        """The second step for the results from `start` on."""
        point = Point(lanes, point_indices(len(self.work.extents), fixed, self.line.loop, start, lanes), self.captured)
        totals = [lanes.widen(point.init(self.work, number)) for number in range(len(self.work.outputs))]
        line, first, turns = self.line, start * self.line.step, self.line.turns
        if lanes.count == 1:
            totals = self._each(line.taps, lanes, totals, lambda tap: columns(first + tap * line.dilation, lanes))
        elif turns:
            wide = lanes.times(line.step)
            whole = self._each(turns - 1, wide, columns(first, wide), lambda turn: columns(first + (turn + 1) * line.step, wide))
            totals = self._picked(whole, range(line.step), lanes, totals)
            if line.before:
                rest = columns(first + (turns * line.step - line.before), wide)
                totals = self._picked(rest, range(line.before, line.step), lanes, totals)
        else:
            totals = self._each(line.taps, lanes, totals, lambda tap: self._apart(first + tap * line.dilation, lanes))
        store_results([point], self.work, [totals], self.after)

    def _each(self, count: int, lanes: Lanes, totals: list[ir.Value], values: Callable[[LinearIndex], list[ir.Value]]) -> list[ir.Value]:
        """`totals` combined with the `values` of 0, 1, … before `count`."""
        if count > _UNROLLED:
            return for_loop(0, count, 1, totals, lambda number, before: self._combined(lanes, before, values(number)))
        for number in range(count):
            totals = self._combined(lanes, totals, values(LinearIndex(constant=number)))
        return totals

    def _picked(self, turn: list[ir.Value], places: range, lanes: Lanes, totals: list[ir.Value]) -> list[ir.Value]:
        """`totals` combined with columns of each lane's turn, which lie side by side."""
        for place in places:
            picked = [self.line.step * lane + place for lane in range(lanes.count)]
            columns = turn if self.line.step == 1 else [vector.shuffle(value, value, picked) for value in turn]
            totals = self._combined(lanes, totals, columns)
        return totals

    def _combined(self, lanes: Lanes, totals: list[ir.Value], values: list[ir.Value]) -> list[ir.Value]:
        assert self.work.block is not None
        body = LanesBody(lanes, [], self.captured)
        arguments = list(self.work.block.arguments)[len(self.work.inputs) :]
        body.reps = {**dict(zip(arguments, totals)), **dict(zip(self.combiner.values, values))}
        body.run(self.combiner.ops)
        return [lanes.widen(body.rep(value)) for value in self.combiner.returned]

    def _apart(self, column: LinearIndex, lanes: Lanes) -> list[ir.Value]:
        """A column of each lane from the lines: of turns of which not all columns are taken, or which are too long to be loaded."""
        assert self.lines is not None
        step = self.line.step
        if step > _SHUFFLED:
            return [Lanes(lanes.count).load(line, line.address([column.uniform() + LinearIndex(lanes=step)])) for line in self.lines]
        turns = self._load_columns(self.lines, column, Lanes(step * lanes.count))
        return turns if step == 1 else [vector.shuffle(turn, turn, [step * lane for lane in range(lanes.count)]) for turn in turns]


def _over(
    loops: list[tuple[LoopBound, LoopBound]], carried: list[ir.Value], body: NestBody, at: tuple[LinearIndex, ...] = ()
) -> list[ir.Value]:
    """Loops over ranges, the first outermost, short ones unrolled. `body(indices, carried)` returns what is carried on."""
    if not loops:
        return body(list(at), carried)
    (lower, upper), *others = loops
    if isinstance(lower, int) and isinstance(upper, int) and upper - lower <= _UNROLLED:
        for tap in range(lower, upper):
            carried = _over(others, carried, body, (*at, LinearIndex(constant=tap)))
        return carried
    return for_loop(lower, upper, 1, carried, lambda index, values: _over(others, values, body, (*at, index)))
