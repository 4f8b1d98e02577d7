"""Which tile of a contraction a block computes: rows of tiles in groups, so that neighbouring blocks share what they read through the L2.

    block → batch, group of rows, column, row within the group        (gpu_tile_order.py chooses how many rows a group has)

The last group may have fewer rows: its blocks divide by another number.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...tiled.schedules.gpu_contraction import TileSchedule, blocks_at_once
from ...tiled.schedules.gpu_tile_order import TileGrid, TileOrder, choose_order
from ...tiled.schedules.wanted import ROWS_TOGETHER, wanted_of_blocks
from ..support.emit import digits
from .contraction import ContractionGroup, Operand

Place = tuple[LinearIndex, LinearIndex, LinearIndex]
"""The batch, and the first row and column of a tile."""


@dataclass(frozen=True)
class Tiles:
    """The tiles of a contraction by the numbers of the blocks that compute them; of blocks in clusters those of a cluster together."""

    schedule: TileSchedule
    batch: int
    rows: int
    cols: int
    order: TileOrder
    wave: int
    """How many tiles are computed at once."""
    asked: int = 0
    """How many rows together a policy asks for."""

    @classmethod
    def of(cls, contraction: ContractionGroup, schedule: TileSchedule, target: TargetView) -> Tiles:
        """In the order of least price, or a policy's."""
        tile_rows, tile_cols = schedule.cluster_tile
        rows, cols = -(-contraction.rows.extent // tile_rows), -(-contraction.cols.extent // tile_cols)
        panels = _panel_bytes(contraction, contraction.left, rows), _panel_bytes(contraction, contraction.right, cols)
        widest = max(element_bytes(each.element) for each in (contraction.left, contraction.right))
        wave = blocks_at_once(schedule, contraction.sizes, widest, target) // schedule.cluster_blocks
        asked = wanted_of_blocks(contraction.function).get(ROWS_TOGETHER, 0)
        order = choose_order(TileGrid(rows, cols, *panels, wave), target, -(-asked // schedule.cluster[0]))
        return cls(schedule, contraction.batch.extent, rows, cols, order, wave, asked)

    @property
    def together(self) -> int:
        """How many rows of tiles are visited together."""
        return self.order.together * self.schedule.cluster[0]

    @property
    def count(self) -> int:
        return self.batch * self.rows * self.cols

    @property
    def matters(self) -> bool:
        """Whether another order would read other bytes."""
        return self.rows > 1 and self.cols > 1 and self.rows * self.cols > self.wave

    def place(self, tile: ir.Value) -> Place:
        """Where the tile of that number is."""
        batch, row, col = self._whole(tile) if self.rows % self.order.together == 0 else self._ragged(tile)
        batch_index = LinearIndex.of(batch) if self.batch > 1 else LinearIndex()
        tile_rows, tile_cols = self.schedule.cluster_tile
        return batch_index, row * tile_rows, LinearIndex.of(col) * tile_cols

    def _whole(self, tile: ir.Value) -> tuple[ir.Value, LinearIndex, ir.Value]:
        together = self.order.together
        batch, group, col, row = digits(tile, [0, self.rows // together, self.cols, together])
        return batch, LinearIndex.of(group) * together + row, col

    def _ragged(self, tile: ir.Value) -> tuple[ir.Value, LinearIndex, ir.Value]:
        """Where the last group has fewer rows than the others."""
        together = self.order.together
        groups, last = divmod(self.rows, together)
        batch, number = digits(tile, [0, self.rows * self.cols]) if self.batch > 1 else (tile, tile)
        group, within = digits(number, [0, together * self.cols])
        is_last = arith.cmpi(CmpIPredicate.eq, group, index_constant(groups))
        pairs = zip(digits(within, [0, last]), digits(within, [0, together]))
        col, row = (arith.select(is_last, fewer, all_) for fewer, all_ in pairs)
        return batch, LinearIndex.of(group) * together + row, col


def _panel_bytes(contraction: ContractionGroup, operand: Operand, tiles: int) -> int:
    """What a row (column) of tiles reads of its operand: of a convolution's windows, which share elements, its part of the memory."""
    group = contraction.rows if operand is contraction.left else contraction.cols
    nbytes = element_bytes(operand.access.element)
    buffer = ir.RankedTensorType(contraction.function.regions[0].blocks[0].arguments[operand.access.buffer].type)
    held = nbytes
    for extent in buffer.shape:
        held *= extent
    batches = contraction.batch.extent if any(operand.depends_on(loop) for loop, _ in contraction.batch.loops) else 1
    return -(-min(group.extent * contraction.inner.extent * nbytes, held // batches) // tiles)
