"""Numbers that points read at a column alone come to shared memory a step ahead, as tiles do; those of a row alone are read once.

    before the loop:  registers = the numbers of a thread's two rows
    for 64 columns at a time:
        wait; start the copies of the next tiles, and of the next columns' numbers
        s = q k;  p at (s, row's numbers, column's numbers in shared memory)

The gradients of softmax have up to three of either kind, a maximum, a sum and a correction. Read where they are used, they are loads from
global memory behind the products: a warp waits for them at each step, and has few others beside it that could work on.

Taken: elements of four bytes that lie in memory at every row (column). All others are read where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from hloom.dialects.storage import element_bytes, is_i1

from ...common.linear_index import LinearIndex
from ..contraction.contraction import ContractionGroup, ElementAccess, tile_ops
from ..contraction.cp_async import async_copy
from ..contraction.epilogue import Check
from ..contraction.runs import Run
from ..support.emit import all_of, less_than, load
from ..support.launch import shared_bytes, shared_view
from .group import reads_elements
from .products_group import ProductsGroup

_BYTES = 4
"""Of a number, the least that a thread copies by itself."""


class _Reads(Check):
    """Notes what is read from memory."""

    def __init__(self, contraction: ContractionGroup):
        super().__init__(contraction)
        self.found: dict[ElementAccess, None] = {}

    def reads(self, access: ElementAccess | None) -> bool:
        if access is not None:
            self.found[access] = None
        return super().reads(access)


class NumbersAhead:
    """The numbers of a group's rows and columns while its kernel is emitted. `threads` are no fewer than a step's columns."""

    def __init__(self, group: ProductsGroup, stages: int, columns: int, threads: int):
        first, reads = group.first, _Reads(group.first)
        for tile in {tile.op: tile for tile in tile_ops(first.function).values() if tile.op in group.loops}.values():
            reads_elements(first, tile, group.loops[tile.op], reads)
        own, across = ({loop for loop, _ in loops.loops} for loops in (first.rows, first.cols))
        beside = own | across | {loop for loop, _ in first.batch.loops}
        near = [access for access in reads.found if _is_number(access) and set(access.index.terms) <= beside]
        self.of_rows = [access for access in near if not across & set(access.index.terms)]
        self.of_columns = [access for access in near if across & set(access.index.terms) and not own & set(access.index.terms)]
        self.first, self.columns, self.threads = first, columns, threads
        self._shape = [stages, threads]
        self._rings: dict[ElementAccess, ir.Value] = {}
        self._rows: list[dict[ElementAccess, ir.Value]] = []

    @property
    def bytes(self) -> int:
        return sum(shared_bytes(self._shape, access.element) for access in self.of_columns)

    def place(self, arena: ir.Value, offset: int) -> None:
        """Gives the columns' numbers their part of the arena."""
        for access in self.of_columns:
            self._rings[access] = shared_view(arena, offset, self._shape, access.element)
            offset += shared_bytes(self._shape, access.element)

    def read_rows(self, points: Sequence[Mapping[int, LinearIndex]], buffers: Sequence[ir.Value]) -> None:
        """Reads the numbers of a thread's rows, which are at these points."""
        for loops in points:
            self._rows.append({access: Run(loops, None).read(buffers[access.buffer], access) for access in self.of_rows})

    def fetch(
        self, buffers: Sequence[ir.Value], thread: ir.Value, batch: LinearIndex, column: LinearIndex, stage: ir.Value, inside: ir.Value
    ) -> list[ir.Value]:
        """Starts the copies of a step's numbers, one a thread; zeros behind the last column."""
        own = LinearIndex.of(thread)
        conditions = [inside, *([less_than(own, self.columns)] if self.threads > self.columns else [])]
        if self.first.cols.extent % self.columns:
            conditions.append(less_than(column + own, self.first.cols.extent))
        loops, valid = self.first.loops_at(batch, 0, column + own), all_of(conditions)
        return [
            async_copy(buffers[access.buffer], access.index.at(loops).value(), ring, [stage, thread], 1, valid)
            for access, ring in self._rings.items()
        ]

    def at(self, access: ElementAccess, half: int, stage: ir.Value, column: LinearIndex, run: Run) -> ir.Value | None:
        """The number at a row, or at columns of a step; None where it is read from memory."""
        if access in self._rings:
            steps = run.along is not None and access.index.coefficient(run.along) != 0
            return load(self._rings[access], [stage, column.value()], run.length if steps else 1)
        return self._rows[half].get(access)


def _is_number(access: ElementAccess) -> bool:
    return not access.edges and not is_i1(access.element) and element_bytes(access.element) == _BYTES
