"""Reductions whose accumulators stay in registers while the reduced loops run: contractions, convolutions, sums of columns, and any
other body.

The vector loop is parallel (columns of a matrix product, pixels of a convolution); a second parallel loop is unrolled and jammed, so
that what is loaded along the vector loop serves several rows. The accumulators of a block, rows × lanes, are carried by the loops over
the reduced dimensions:

    for n in chunks: for m in blocks of U:
      acc[0..U) = init
      for k: b = load B[k, n…]; for u: acc[u] = fma(broadcast A[m+u, k], b, acc[u])
      store acc

With no loop to vectorise the same code runs with one lane: any reduction body, several operands included.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.control_flow import for_each, nest, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .body import Captured
from .lanes import Lanes, Rep
from .nests import chunks, lane_count, point_indices, whole_part
from .packing import Scratch, pack, packable, summed
from .work import Point, Work, stride_along

Step = Callable[[Point, list[ir.Value]], list[Rep]]
"""Adds what one point of the reduced loops gives to the accumulators."""


def emit_contraction(
    work: Work, vector: int | None, captured: Captured, target: TargetView, scratch: Scratch, step: Step | None = None
) -> None:
    """Emits `work`, a reduction, vectorised along the parallel loop `vector` (None: scalar code).

    `scratch` makes a buffer on the stack. `step` stands for the work's body where that is given; its operands lie as it wants them.
    """
    _Contraction(work, vector, captured, target, scratch, step).emit()


def contraction_loop(work: Work, target: TargetView) -> int | None:
    """The loop of a product of matrices to vectorise whatever its operands' layout: the result's innermost, if packing makes it so."""
    if len(work.inputs) < 2 or len(work.outputs) != 1:
        return None
    one = max(1, target.vector_bits // work.widest())
    output = work.outputs[0]
    assert output is not None
    for dim, extent in enumerate(work.extents):
        if work.parallel[dim] and size_bound(extent) >= one and stride_along(work.output_maps[0], output, dim) == 1:
            jam = jam_loop(work, dim)
            inputs = [(n, stride_along(work.maps[n], s, dim)) for n, s in enumerate(work.inputs) if isinstance(s, Storage)]
            strided = [n for n, along in inputs if along is None or along not in (0, 1)]
            return dim if all(packable(work, n, dim, jam, target) for n in strided) else None
    return None


def jam_loop(work: Work, vector: int | None) -> int | None:
    """The parallel loop along which the fewest operands move: whatever does not move is loaded once for all jammed rows."""
    best, best_still = None, 0
    for dim in range(len(work.extents)):
        if dim == vector or not work.parallel[dim] or work.extents[dim] == 1:
            continue
        inputs = [(m, s) for m, s in zip(work.maps, work.inputs) if isinstance(s, Storage)]
        still = [stride_along(m, s, dim) == 0 and (vector is None or stride_along(m, s, vector) != 0) for m, s in inputs]
        if sum(still) > best_still:
            best, best_still = dim, sum(still)
    return best


class _Contraction:
    def __init__(self, work: Work, vector: int | None, captured: Captured, target: TargetView, scratch: Scratch, step: Step | None = None):
        self.work, self.vector, self.captured, self.target = work, vector, captured, target
        self.scratch, self.step = scratch, step
        self.rank = len(work.extents)
        self.jam = jam_loop(work, vector)
        self.outer = [d for d in range(self.rank) if work.parallel[d] and d not in (vector, self.jam)]
        self.reduced = [d for d in range(self.rank) if not work.parallel[d]]

    def emit(self) -> None:
        extents = self.work.extents

        def at(indices: list[LinearIndex]) -> None:
            fixed = dict(zip(self.outer, indices))
            if self.vector is None:
                self._rows(fixed, LinearIndex(), Lanes(1))
                return
            if self.step is None:
                self._pack(fixed, self.vector)
            registers = self._columns() if self.jam is not None else max(1, 16 // len(self.work.outputs))
            count = lane_count([self.work], self.vector, self.target, registers)
            one = max(1, self.target.vector_bits // self.work.widest())
            chunks(extents[self.vector], count, one, lambda start, lanes: self._rows(fixed, start, lanes))

        nest_each([extents[d] for d in self.outer], at)

    def _pack(self, fixed: dict[int, LinearIndex], vector: int) -> None:
        one = max(1, self.target.vector_bits // self.work.widest())
        for number in range(len(self.work.inputs)):
            if packable(self.work, number, vector, self.jam, self.target):
                self.work = pack(self.work, number, summed(self.work, number), vector, fixed, one, self.scratch)

    def _rows(self, fixed: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes) -> None:
        """All rows of the jam loop at one chunk: blocks of as many as fit the registers, then smaller ones."""
        if self.jam is None:
            self._block(fixed, start, lanes, 1, LinearIndex())
            return
        extent = self.work.extents[self.jam]
        done: int | ir.Value = 0
        for rows in self._block_sizes(lanes, extent):
            if isinstance(extent, int) and isinstance(done, int):
                upper: int | ir.Value = done + (extent - done) // rows * rows
            else:
                left = (LinearIndex.of(extent) - LinearIndex.of(done)).value()
                upper = (LinearIndex.of(done) + LinearIndex.of(whole_part(left, rows))).value()
            for_each(done, upper, rows, partial(self._block, fixed, start, lanes, rows))
            done = upper

    def _columns(self) -> int:
        """Registers along the vector loop: where a block of columns × rows loads the least for what it computes."""
        return min((1, 2, 4), key=lambda registers: 1 / registers + 1 / self._most_rows(registers))

    def _most_rows(self, registers: int) -> int:
        """Rows of `registers` accumulators each that fit the registers, beside a block of the one operand and an element of the other."""
        rows = (self.target.vector_registers - 1) // registers - 1
        return min(12, max(1, rows // len(self.work.outputs)))

    def _block_sizes(self, lanes: Lanes, extent: int | ir.Value) -> list[int]:
        """Rows of the blocks, each for what the one before leaves; of a known extent as few blocks as can be, equal but for the last."""
        one = max(1, self.target.vector_bits // self.work.widest())
        registers = max(1, lanes.count // one)
        most = self._most_rows(registers)
        if isinstance(extent, int):
            fewest = -(-extent // most)
            rows = -(-extent // fewest)
            return [rows, extent % rows] if extent % rows else [rows]
        sizes = [most]
        while sizes[-1] > 1:
            sizes.append(max(1, sizes[-1] // 3))
        return sizes

    def _point(
        self,
        fixed: dict[int, LinearIndex],
        start: LinearIndex,
        lanes: Lanes,
        row: LinearIndex,
        inner: list[LinearIndex],
        known: dict[ir.Value, Rep] | None = None,
    ) -> Point:
        dims = {**fixed, **dict(zip(self.reduced, inner))}
        if self.jam is not None:
            dims[self.jam] = row
        at = point_indices(self.rank, dims, self.vector, start, lanes)
        return Point(lanes, at, self.captured, known)

    def _block(self, fixed: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes, rows: int, row: LinearIndex) -> None:
        work, outputs = self.work, len(self.work.outputs)
        accumulators = []
        for u in range(rows):
            point = self._point(fixed, start, lanes, row + u, [])
            accumulators += [lanes.widen(point.init(work, number)) for number in range(outputs)]

        def step(indices: list[LinearIndex], values: list[ir.Value]) -> list[ir.Value]:
            updated = []
            for u in range(rows):
                point = self._point(fixed, start, lanes, row + u, indices)
                sums = values[u * outputs : (u + 1) * outputs]
                results = point.evaluate(work, sums) if self.step is None else self.step(point, sums)
                updated += [lanes.widen(r) for r in results]
            return updated

        totals = nest([work.extents[d] for d in self.reduced], accumulators, step)
        for u in range(rows):
            point = self._point(fixed, start, lanes, row + u, [])
            for number in range(outputs):
                point.store(work, number, totals[u * outputs + number])
