"""From the accumulators of a tile to memory: the epilogue, on vectors that make whole sectors of 32 bytes.

Accumulators lie in the registers as the multiplier wants them: a warp's store of one row is 8 elements long. Where that is less than a
sector (a result of two bytes or one), the tile goes through shared memory, in slabs of rows as large as the rings leave room for, and comes
back as eight neighbours a thread (16 bytes of f16), or four, consecutive threads along the row. So it does where several warps share a part
of the tile, each with the sum over its slices of the inner loop: whoever reads an element back adds their sums, in the warps' order, so
that results are the same from run to run. Otherwise the epilogue runs on the registers as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes

from ...common.control_flow import for_each, if_then
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import elements, from_elements, is_vector
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..support.emit import all_of, barrier, digits, divide, less_than, load, remainder, store
from ..support.launch import shared_bytes, shared_view
from .contraction import ContractionGroup
from .epilogue import EpilogueEmitter
from .factors import add

_SECTOR_BYTES = 32
_WARP_ROW = 8
"""Neighbours along a row that one store of a warp covers."""
_VECTORS, _ACCESS = (8, 4), 4
_VECTORS_OF_SUMS = (4, 2, 1)
_BANKS = 32
_MOST_CODE = 600
"""Operations of an epilogue, of all elements, that follow each other."""
_PADDING = 8
"""Elements after each staged row: rows that are written together then lie in different banks."""


@dataclass(frozen=True)
class Results:
    """Accumulators of one thread that are neighbours along the columns: at `row` of its warp's rows, from `col` of the block's tile on."""

    row: LinearIndex
    col: LinearIndex
    values: ir.Value


class Multiplier(Protocol):
    """Multiplies tiles in shared memory; it is made where the kernel begins, with the thread's number."""

    warp_row: ir.Value
    """Which of the tile's `warp_rows` strips of rows the thread's warp computes."""
    warp_inner: ir.Value | None
    """Which of the `warp_inner` shares of the inner loop the thread's warp takes; None where there is one."""

    def zeros(self) -> list[ir.Value]:
        """The accumulators to start from."""

    def step(self, left: ir.Value, right: ir.Value, stage: ir.Value, accumulators: list[ir.Value]) -> list[ir.Value]:
        """Adds the product of the tiles in `stage` of the two rings."""

    def results(self, accumulators: list[ir.Value]) -> list[Results]:
        """Where the accumulators lie in the warp's strip."""


def warp_places(schedule: TileSchedule, thread: ir.Value) -> tuple[ir.Value | None, ir.Value, ir.Value]:
    """The thread's warp in its block: its share of the inner loop (None where there is one), its strip of rows, of columns."""
    warp = divide(thread, 32)
    if schedule.warp_inner == 1:
        return None, *digits(warp, [0, schedule.warp_cols])
    share, row, col = digits(warp, [0, schedule.warp_rows, schedule.warp_cols])
    return share, row, col


class TileResults:
    """Finishes the tiles of a kernel, whose rings have `room` bytes that are free by then; those that are not `staged` on the registers."""

    def __init__(self, contraction: ContractionGroup, schedule: TileSchedule, room: int, staged: bool = True):
        self.contraction, self.schedule = contraction, schedule
        self.strip, self.slices = schedule.rows // schedule.warp_rows, schedule.warp_inner
        self.slab = self.strip
        while self.slab > 16 and self._bytes(self.slab) > room:
            self.slab //= 2
        self.vector = 0
        if self.slices > 1:
            self.vector = next(filter(self._fits, _VECTORS_OF_SUMS))
        elif staged and self._narrow():
            self.vector = next(filter(self._fits, _VECTORS), 0)

    @property
    def staging_bytes(self) -> int:
        """Shared memory that the results pass through, in bytes; 0 where they do not."""
        return self._bytes(self.slab) if self.vector else 0

    def finish(
        self,
        epilogue: EpilogueEmitter,
        multiplier: Multiplier,
        accumulators: list[ir.Value],
        tile: tuple[LinearIndex, LinearIndex, LinearIndex],
        thread: ir.Value,
        arena: ir.Value,
    ) -> None:
        """Runs the epilogue on the tile at (batch, row, col)."""
        if not self.vector:
            self.store(epilogue, multiplier, multiplier.results(accumulators), tile)
            return
        slab = self.slab_in(arena, 0)
        results = multiplier.results(accumulators)
        for first in range(0, self.strip, self.slab):
            barrier()
            self.keep(multiplier, results, slab, first)
            barrier()
            self.read_back(epilogue, tile, slab, thread, first)

    def store(
        self,
        epilogue: EpilogueEmitter,
        multiplier: Multiplier,
        results: Iterable[Results],
        tile: tuple[LinearIndex, LinearIndex, LinearIndex],
    ) -> None:
        """The epilogue on the registers."""
        for result in results:
            self._emit(epilogue, tile, LinearIndex.of(multiplier.warp_row) * self.strip + result.row, result.col, result.values)

    def slab_in(self, arena: ir.Value, offset: int) -> ir.Value:
        """The buffer that a slab passes through, at a byte offset of the arena."""
        return shared_view(arena, offset, self._slab_shape(self.slab), self.contraction.accumulator)

    def keep(self, multiplier: Multiplier, results: Sequence[Results], slab: ir.Value, first: int = 0) -> None:
        """Stores the accumulators of each warp's rows from `first` on to the slab."""
        own = LinearIndex.of(multiplier.warp_row) * self.slab
        if multiplier.warp_inner is not None:
            own = own + LinearIndex.of(multiplier.warp_inner) * (self.slab * self.schedule.warp_rows)
        for result in results:
            if first <= result.row.constant < first + self.slab:
                store(result.values, slab, self._place(own + result.row + -first, result.col))

    @property
    def turns(self) -> int:
        """How many times all threads read one vector each, until they have read a slab."""
        return self.slab * self.schedule.warp_rows * (self.schedule.cols // self.vector) // self.schedule.threads

    def read_back(
        self,
        epilogue: EpilogueEmitter,
        tile: tuple[LinearIndex, LinearIndex, LinearIndex],
        slab: ir.Value,
        thread: ir.Value,
        first: int = 0,
    ) -> None:
        """The epilogue of all that the slab holds."""
        at_once = self._at_once(self.turns, self.contraction.work)

        def some(number: LinearIndex) -> None:
            for more in range(at_once):
                self.turn(number + more, epilogue, tile, slab, thread, first)

        for_each(0, self.turns, at_once, some)

    def turn(
        self,
        number: LinearIndex,
        epilogue: EpilogueEmitter,
        tile: tuple[LinearIndex, LinearIndex, LinearIndex],
        slab: ir.Value,
        thread: ir.Value,
        first: int = 0,
    ) -> None:
        """The epilogue of one vector of each thread. Neighbours along a row are of as many threads as divide its vectors."""
        vectors = self.schedule.cols // self.vector
        across = vectors & -vectors
        lines, part = number, LinearIndex()
        if across < vectors:
            lines, part = map(LinearIndex.of, digits(number.value(), [0, vectors // across]))
        at = LinearIndex.of(divide(thread, across)) + lines * (self.schedule.threads // across)
        strip, row = digits(at.value(), [0, self.slab])
        col = (LinearIndex.of(remainder(thread, across)) + part * across) * self.vector
        line = LinearIndex.of(strip) * self.slab + row
        values = self._staged(slab, line, col)
        for share in range(1, self.slices):
            values = add(values, self._staged(slab, line + share * self.slab * self.schedule.warp_rows, col))
        self._emit(epilogue, tile, LinearIndex.of(strip) * self.strip + row + first, col, values)

    def _at_once(self, turns: int, work: int) -> int:
        """How many turns follow each other without a loop: all of a light epilogue, whose loads are then under way together; of one that
        computes much few, for code that runs once comes slower from memory than it is executed."""
        while turns % 2 == 0 and turns * self.vector * work > _MOST_CODE:
            turns //= 2
        return turns

    def _staged(self, slab: ir.Value, line: LinearIndex, col: LinearIndex) -> ir.Value:
        """The thread's neighbours in a line of the slab: a vector, or one element."""
        access = min(self.vector, _ACCESS)
        loaded = [load(slab, self._place(line, col + at), access) for at in range(0, self.vector, access)]
        return loaded[0] if len(loaded) == 1 else from_elements([each for piece in loaded for each in elements(piece)])

    def _place(self, row: LinearIndex, col: LinearIndex) -> list[ir.Value]:
        """Where an element is staged. In every other 32 banks neighbouring accesses are swapped, so that eight threads that read every
        other one of them read from different banks. What is constant is added last: accesses then share one address.
        """
        if self.slices > 1:
            return [row.value(), arith.xori(col.value(), self._swizzle(row.value()))]
        if self.vector == _ACCESS:
            return [row.value(), col.value()]
        pairs = col.constant // self.vector * self.vector
        start = (col - pairs).value()
        number = LinearIndex.of(divide(start, _BANKS)) + row + pairs // _BANKS
        swapped = arith.muli(remainder(number.value(), self.vector // _ACCESS), index_constant(_ACCESS))
        return [row.value(), (LinearIndex.of(arith.xori(start, swapped)) + pairs).value()]

    def _swizzle(self, line: ir.Value) -> ir.Value:
        """What columns are xored with in a line of sums. Four lines that a warp stores to at once, eight columns each, then lie in other
        banks, whether they are neighbours or each second or fourth."""
        number = divide(line, max(1, _BANKS // self.schedule.cols))
        mixed = arith.xori(number, divide(number, 4))
        return arith.muli(remainder(mixed, min(_BANKS, self.schedule.cols) // _WARP_ROW), index_constant(_WARP_ROW))

    def _emit(
        self,
        epilogue: EpilogueEmitter,
        tile: tuple[LinearIndex, LinearIndex, LinearIndex],
        row: LinearIndex,
        col: LinearIndex,
        values: ir.Value,
    ) -> None:
        """The epilogue at a row and column of the tile; element by element where a vector would straddle an end."""
        contraction, (batch, first_row, first_col) = self.contraction, tile
        length = ir.VectorType(values.type).shape[0] if is_vector(values) else 1
        pieces: Sequence[ir.Value] = [values] if epilogue.vector_length(length) == length else elements(values)
        for number, piece in enumerate(pieces):
            at_row, at_col = first_row + row, first_col + col + number
            conditions = [less_than(at_row, contraction.rows.extent)] if contraction.rows.extent % self.schedule.rows else []
            conditions += [less_than(at_col, contraction.cols.extent)] if contraction.cols.extent % self.schedule.cols else []
            with if_then(all_of(conditions)):
                epilogue.finish(piece, contraction.loops_at(batch, at_row, at_col))

    def _narrow(self) -> bool:
        """Whether a row's part of a warp's store would be less than a sector."""
        return any(_WARP_ROW * element_bytes(access.element) < _SECTOR_BYTES for _, access in self.contraction.results)

    def _fits(self, vector: int) -> bool:
        """Whether results are stored so many at a time, as many by each thread."""
        schedule = self.schedule
        whole = self.contraction.cols.last_extent % vector == 0 and (schedule.cols >= vector * _ACCESS or self.slices > 1)
        return whole and self.slab * schedule.warp_rows * schedule.cols % (vector * schedule.threads) == 0

    def _slab_shape(self, slab: int) -> list[int]:
        padding = _PADDING if self.slices == 1 else 0
        return [self.slices * slab * self.schedule.warp_rows, self.schedule.cols + padding]

    def _bytes(self, slab: int) -> int:
        return shared_bytes(self._slab_shape(slab), self.contraction.accumulator)
