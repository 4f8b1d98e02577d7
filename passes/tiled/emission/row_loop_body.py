"""Emission of a tile that goes through its rows in blocks (schedules/row_loop.py).

%z = fill on the tile's part of what is summed over the rows
%done:2 = scf.for %m = 0 to rows step 64 iter_args(%dq = …, %dk = %z) {
  the ops that have rows, on 64 of them; those that sum over rows add to %dk
  insert_slice of these rows into %dq; yield %dq, %dk
}
the ops that read %dk

Where rows are of several axes, a loop over each of the others stands around it. Where one block has all rows there is no loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.affine import loop_of
from ...common.axes import Axes
from ...common.rewriting import create, index_constant, shape_of
from ...common.slices import extract_slice, insert_slice
from ..schedules.row_loop import RowLoop, sums_over
from .tile_body import Live, TileBody

Made = tuple[int, int]
"""Number of an op, and of its result."""


class RowLoopBody(TileBody):
    """A TileBody whose rows are a loop in the tile. `sizes` are those of the tile's own axes."""

    def __init__(
        self, axes: Axes, sizes: dict[int, int], forall: ir.Operation, results: list[ir.Value], loop: RowLoop, live: Live | None = None
    ):
        super().__init__(axes, sizes, forall, results, live)
        self.loop = loop
        self.carried: dict[Made, ir.Value] = {}
        """In the loop: the tile's part of what it makes, all rows of it."""

    def _emit_ops(self) -> None:
        ops, rows = self.axes.ops, set(self.loop.axes)
        inside = [number for number, op in enumerate(ops) if rows & set(op.axes)]
        first = next(number for number in inside if sums_over(ops[number], self.loop.axis))
        behind = {number for number in range(first, len(ops)) if number not in inside and self._reads_from(number, set(inside))}
        for number in range(len(ops)):
            if number not in inside and number not in behind:
                self._emit_at(number)
        self._emit_loop(inside)
        for number in sorted(behind):
            self._emit_at(number)

    def _reads_from(self, number: int, others: set[int]) -> bool:
        """Whether an op reads what the others make, directly or not."""
        made = {maker[0] for maker in map(self.axes.producer, self.axes.reads(self.axes.ops[number])) if maker is not None}
        return bool(made & others) or any(self._reads_from(each, others) for each in made)

    def _emit_loop(self, inside: list[int]) -> None:
        starts = {(n, 0): self.made[self._start_of(n)] for n in inside if sums_over(self.axes.ops[n], self.loop.axis)}
        for number, value in enumerate(self.results):
            made = self.axes.producer(value)
            if made is not None and made[0] in inside and made not in starts:
                starts[made] = self._slice_of(made, self._shared(number))
        outside = self.sizes, self.size, self.offset
        self.sizes, self.size, self.offset = {**self.sizes, **self.loop.block}, dict(self.size), dict(self.offset)
        self.made.update(zip(starts, self._emit_loops(self.loop.axes, inside, starts)))
        self.sizes, self.size, self.offset = outside
        self.carried = {}

    def _emit_loops(self, rows: Sequence[int], inside: list[int], starts: dict[Made, ir.Value]) -> list[ir.Value]:
        """The loops over these axes, one in the other, and all that is done for a block of rows; returns what they make of `starts`."""
        if not rows:
            self.carried = starts
            if self.live is not None:
                self._bind_live(self.live)
            for number in inside:
                self._emit_at(number)
            return [self._updated(made) for made in starts]
        axis, *others = rows
        if self.sizes[axis] == self.axes.extent[axis]:
            self._bind_axis(axis, self.sizes[axis], index_constant(0))
            return self._emit_loops(others, inside, starts)
        bounds = [index_constant(n) for n in (0, self.axes.extent[axis], self.sizes[axis])]
        loop = create("scf.for", [v.type for v in starts.values()], [*bounds, *starts.values()], regions=1)
        row, *carried = loop.regions[0].blocks.append(ir.IndexType.get(), *[v.type for v in starts.values()]).arguments
        with ir.InsertionPoint(loop.regions[0].blocks[0]):
            self._bind_axis(axis, self.sizes[axis], row)
            create("scf.yield", [], self._emit_loops(others, inside, dict(zip(starts, carried))))
        return list(loop.results)

    def _start_of(self, number: int) -> Made:
        """What a sum over rows begins with."""
        made = self.axes.producer(self.axes.ops[number].inits[0])
        assert made is not None  # row_loop.py has seen to it
        return made

    def _place(self, made: Made) -> tuple[list[int | ir.Value], list[int | ir.Value]]:
        """Where a block of rows lies in the tile's part of a value: offsets and sizes."""
        axes = self._axes_of(made)
        return [self.offset[a] if a in self.loop.axes else 0 for a in axes], [self.size.get(a, self.axes.extent[a]) for a in axes]

    def _axes_of(self, made: Made) -> list[int]:
        op = self.axes.ops[made[0]]
        return [op.axes[loop_of(e)] for e in op.output_maps[made[1]].results]

    def _updated(self, made: Made) -> ir.Value:
        offsets, sizes = self._place(made)
        whole = self.carried[made]
        if not any(isinstance(n, ir.Value) for n in sizes) and sizes == shape_of(whole):
            return self.made[made]
        return insert_slice(self.made[made], whole, offsets, sizes)

    def _init(self, number: int, result: int, m: ir.AffineMap, init: ir.Value) -> ir.Value:
        made = (number, result)
        if made in self.carried and sums_over(self.axes.ops[number], self.loop.axis):
            return self._block_of(made)
        goes_to = self.goes_to.get(made)
        head = None if goes_to is None else self.axes.producer(self.results[goes_to])
        if head in self.carried and self.axes.producer(init) is None:
            offsets, sizes = self._place(made)
            return extract_slice(self.carried[head], offsets, sizes)
        return super()._init(number, result, m, init)

    def _block_of(self, made: Made) -> ir.Value:
        offsets, sizes = self._place(made)
        whole = self.carried[made]
        if not any(isinstance(n, ir.Value) for n in (*offsets, *sizes)):
            return whole
        return extract_slice(whole, offsets, sizes)

    def _slice_of(self, made: Made, shared: ir.Value) -> ir.Value:
        """The tile's part of a result, all rows of it."""
        axes = self._axes_of(made)
        return extract_slice(shared, [self.offset.get(a, 0) for a in axes], [self.size.get(a, self.axes.extent[a]) for a in axes])
