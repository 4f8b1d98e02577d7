"""Contractions of at most eight rows (or columns): bound by reading the large operand, once, in its own type, 16 bytes a lane.

    the small operand: s <= 8 rows;   the large one: lines that are contiguous along the inner loop, or along its own index
    a lane:   s x lane_width sums over its share of the inner loop, in the accumulator's type
    a warp:   xor shuffles over the lanes that share their results, which deal the sums out among them
    a block:  partial sums of its warps through shared memory, then one thread a result adds them, runs the epilogue and stores

Contiguous along the inner loop, the lanes of a warp run along it and each holds some whole lines; of short ones a warp has several at once.
Otherwise the lanes run along the large operand's index, some of them along the inner loop where there would be too few blocks. Warps share
the inner loop for the same reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import if_then, loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import ACCESS_BYTES, broadcast, elements, extract, from_elements, part, splat, vector_of
from ...tiled.schedules.gpu_contraction import SkinnySchedule, skinny_schedule
from ..support.emit import all_of, barrier, block_id, choose, digits, less_than, load, remainder, store, thread_id
from ..support.launch import OpenKernel, open_kernel, shared_bytes, shared_view
from .contraction import ContractionGroup, LoopGroup, Operand
from .cp_async import contiguous_width
from .epilogue import EpilogueEmitter
from .factors import add, add_lanes, factor_of, multiply_add, read_stored
from .runs import Run

_LOADS_IN_FLIGHT = 4
"""Of a lane; twice as many where a multiprocessor has one block, for memory wants some 20 KB of them in flight."""
_ACCUMULATORS = 32
_HELD = 64
"""Elements that a lane holds at once of the small operand, or sums of a vector of lines: more would not fit the registers."""
_RESIDENT_THREADS = 512
_LANES = 32


@dataclass(frozen=True)
class _Problem:
    """The contraction seen from its large operand: `lines` of it against `small` rows."""

    contraction: ContractionGroup
    large: Operand
    small: Operand
    lines: LoopGroup
    rows: LoopGroup
    width: int
    along_lines: bool
    """One access of the large operand is `width` elements, along its lines' index or along the inner loop."""

    def loops(self, batch: LinearIndex, row: LinearIndex, line: LinearIndex, inner: LinearIndex) -> dict[int, LinearIndex]:
        """Every loop of the contraction where these are the indices."""
        if self.lines is self.contraction.cols:
            return self.contraction.loops_at(batch, row, line, inner)
        return self.contraction.loops_at(batch, line, row, inner)


def emit(contraction: ContractionGroup, target: TargetView) -> None:
    """The kernel of `contraction`."""
    problem = _problem(contraction)
    batches, lines, rows, inner = (each.extent for each in (contraction.batch, problem.lines, problem.rows, contraction.inner))
    schedule = skinny_schedule(batches, rows, lines, inner, problem.width, problem.along_lines, target)
    blocks = -(-lines // schedule.block_cols)
    in_flight = _LOADS_IN_FLIGHT * (2 if rows == 1 and batches * blocks < 2 * target.multiprocessors else 1)
    kernel = open_kernel(
        contraction.function,
        batches * blocks,
        schedule.threads,
        {
            "lanes": f"{schedule.lane_inner}x{schedule.lane_cols}",
            "warps": f"{schedule.warp_inner}x{schedule.warp_cols}",
            "lane": f"{problem.rows.extent}x{schedule.lane_width}",
            "access": f"{problem.width} along the {'lines' if problem.along_lines else 'inner loop'}",
        },
    )
    kernel.keep_resident(_RESIDENT_THREADS)
    with kernel.body:
        batch, block = digits(block_id(), [0, blocks])
        block_line = LinearIndex.of(block) * schedule.block_cols
        batch_index = LinearIndex.of(batch) if batches > 1 else LinearIndex()
        _Skinny(problem, schedule, kernel, batch_index, block_line, in_flight).emit()


def _problem(contraction: ContractionGroup) -> _Problem:
    if contraction.rows.extent <= contraction.cols.extent:
        large, small, lines, rows = contraction.right, contraction.left, contraction.cols, contraction.rows
    else:
        large, small, lines, rows = contraction.left, contraction.right, contraction.rows, contraction.cols
    largest = ACCESS_BYTES // max(element_bytes(large.element), element_bytes(large.access.element))
    inner, own = (contiguous_width(large.access, group, largest) for group in (contraction.inner, lines))
    along_lines = own > inner or (own == inner and contraction.inner.extent < _LANES)
    width = max(1, own if along_lines else inner)
    while width * rows.extent > _HELD:
        width //= 2
    return _Problem(contraction, large, small, lines, rows, width, along_lines)


class _Skinny:
    """Emits one kernel."""

    def __init__(
        self,
        problem: _Problem,
        schedule: SkinnySchedule,
        kernel: OpenKernel,
        batch: LinearIndex,
        block_line: LinearIndex,
        in_flight: int,
    ):
        self.problem, self.schedule, self.kernel, self.batch, self.block_line = problem, schedule, kernel, batch, block_line
        self.in_flight = in_flight
        self.thread = thread_id()
        self.warp_inner, warp_line, lane_inner, lane_line = digits(
            self.thread, [0, schedule.warp_cols, schedule.lane_inner, schedule.lane_cols]
        )
        self.inner_width = 1 if problem.along_lines else problem.width
        share = schedule.lane_inner * self.inner_width
        self.inner = LinearIndex.of(self.warp_inner) * share + LinearIndex.of(lane_inner) * self.inner_width
        self.turn = share * schedule.warp_inner
        own = schedule.lane_cols * schedule.lane_width
        self.line = LinearIndex.of(warp_line) * own + LinearIndex.of(lane_line) * schedule.lane_width
        self.rows = problem.rows.extent

    def emit(self) -> None:
        problem, schedule = self.problem, self.schedule
        accumulator = problem.contraction.accumulator
        with_inner = problem.contraction.inner.extent
        unroll = self.in_flight if problem.along_lines else max(1, self.in_flight // schedule.lane_width)
        unroll = max(1, min(unroll, with_inner // self.turn))
        stride = self.turn * unroll
        sums = self._sums()
        whole = with_inner // stride * stride

        if whole:
            sums = loop(0, whole, stride, sums, lambda start, carried: self._turns(start, carried, unroll, False))
        if whole < with_inner:
            sums = self._turns(LinearIndex(constant=whole), sums, -(-(with_inner - whole) // self.turn), True)
        shape = [schedule.warp_inner * self.rows * schedule.block_cols]
        partial = shared_view(self.kernel.arena(shared_bytes(shape, accumulator)), 0, shape, accumulator)
        self._spread(sums, partial)
        barrier()
        self._finish(partial)

    @property
    def _held(self) -> int:
        """Accumulators are vectors of this many elements: a lane's lines, or parts of its sums along the inner loop."""
        if self.problem.along_lines:
            return self.problem.width
        most = max(1, _ACCUMULATORS // (self.rows * self.schedule.lane_width))
        return min(self.inner_width, 1 << (most.bit_length() - 1))

    @property
    def _per_row(self) -> int:
        return 1 if self.problem.along_lines else self.schedule.lane_width

    def _sums(self) -> list[ir.Value]:
        return [splat(vector_of(self._held, self.problem.contraction.accumulator), 0)] * (self.rows * self._per_row)

    def _turns(self, start: LinearIndex, sums: list[ir.Value], count: int, guarded: bool) -> list[ir.Value]:
        """`count` accesses of every lane from `start` on; what is past the end counts as 0."""
        places = [start + self.inner + number * self.turn for number in range(count)]
        extent = self.problem.contraction.inner.extent
        checks = [less_than(at, extent) if guarded else None for at in places]
        larges = [self._large(at, check) for at, check in zip(places, checks)]
        for at, check, large in zip(places, checks, larges):
            sums = self._multiply(self._small(at, check), large, sums)
        return sums

    def _large(self, inner: LinearIndex, check: ir.Value | None) -> list[ir.Value]:
        """The lane's vectors of the large operand: one, or one a line."""
        problem = self.problem
        count = 1 if problem.along_lines else self.schedule.lane_width
        last = problem.lines.extent - (problem.width if problem.along_lines else 1)
        along = (problem.lines if problem.along_lines else problem.contraction.inner).last

        def read() -> list[ir.Value]:
            found = []
            for number in range(count):
                line = self.block_line + self.line + number
                if problem.lines.extent % self.schedule.block_cols:
                    line = LinearIndex.of(arith.minui(line.value(), index_constant(last)))
                run = Run(problem.loops(self.batch, LinearIndex(), line, inner), along, problem.width)
                found.append(_vector(read_stored(problem.large, self.kernel.buffers, run)))
            return found

        values = choose(check, [vector_of(problem.width, problem.large.element)] * count, read)
        return [factor_of(problem.large, v) for v in values]

    def _small(self, inner: LinearIndex, check: ir.Value | None) -> list[ir.Value]:
        """For each row, as many elements along the inner loop as an access of the large operand has."""
        problem, width = self.problem, self.inner_width
        along = problem.contraction.inner.last

        def read() -> list[ir.Value]:
            runs = [
                Run(problem.loops(self.batch, LinearIndex(constant=row), LinearIndex(), inner), along, width) for row in range(self.rows)
            ]
            return [_vector(read_stored(problem.small, self.kernel.buffers, run)) for run in runs]

        values = choose(check, [vector_of(width, problem.small.element)] * self.rows, read)
        return [factor_of(problem.small, v) for v in values]

    def _multiply(self, smalls: list[ir.Value], larges: list[ir.Value], sums: list[ir.Value]) -> list[ir.Value]:
        held, result = self._held, []
        for row, small in enumerate(smalls):
            for number, large in enumerate(larges):
                total = sums[row * self._per_row + number]
                if self.problem.along_lines:
                    result.append(multiply_add(broadcast(extract(small, 0), held), large, total))
                    continue
                for start in range(0, self.inner_width, held):
                    total = multiply_add(part(small, start, held), part(large, start, held), total)
                result.append(total)
        return result

    def _spread(self, sums: list[ir.Value], partial: ir.Value) -> None:
        """Sums over the lanes that share results, and stores them at [warp, row, line of the block]."""
        schedule, per_row = self.schedule, self.schedule.lane_width
        scalars = [s for v in sums for s in (elements(v) if self.problem.along_lines else [_total(elements(v))])]
        shares = add_lanes(scalars, remainder(self.thread, 32), schedule.lane_cols)
        with if_then(shares.owner):
            for number, value in enumerate(shares.values):
                row, line = digits((shares.first + number).value(), [0, per_row])
                at = (LinearIndex.of(self.warp_inner) * self.rows + row) * schedule.block_cols + self.line + line
                store(value, partial, [at.value()])

    def _finish(self, partial: ir.Value) -> None:
        schedule, problem = self.schedule, self.problem
        results = self.rows * schedule.block_cols
        epilogue = EpilogueEmitter(problem.contraction, self.kernel.buffers)
        for start in range(0, results, schedule.threads):
            index = LinearIndex.of(self.thread) + start
            row, line = digits(index.value(), [0, schedule.block_cols])
            at_line = self.block_line + line
            conditions = [less_than(index, results)] if start + schedule.threads > results else []
            if problem.lines.extent % schedule.block_cols:
                conditions.append(less_than(at_line, problem.lines.extent))
            with if_then(all_of(conditions)):
                total = _total([load(partial, [(index + warp * results).value()]) for warp in range(schedule.warp_inner)])
                epilogue.finish(total, problem.loops(self.batch, LinearIndex.of(row), at_line, LinearIndex()))


def _vector(value: ir.Value) -> ir.Value:
    return value if isinstance(value.type, ir.VectorType) else from_elements([value])


def _total(values: list[ir.Value]) -> ir.Value:
    """Their sum, pairwise."""
    while len(values) > 1:
        pairs = [add(a, b) for a, b in zip(values[::2], values[1::2])]
        values = pairs + ([values[-1]] if len(values) % 2 else [])
    return values[0]
