"""Which batch and which rows a block has.

Neighbouring blocks have the rows of one batch, which read the same keys and values. Where a mask leaves columns out, the last rows have
most to do: blocks with many columns begin first, so that the short ones fill up the end. That runs through as many batches at a time as
have their keys and values in half the last cache.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.contraction import LIVE
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ..contraction.contraction import ContractionGroup
from ..support.emit import block_id, digits


def place(first: ContractionGroup, second: ContractionGroup, row_tiles: int, target: TargetView) -> tuple[LinearIndex, ir.Value]:
    """The block's batch, and the number of its tile of rows."""
    batches = first.batch.extent
    if LIVE not in first.function.attributes:
        batch, row_tile = digits(block_id(), [0, row_tiles])
        return LinearIndex.of(batch) if batches > 1 else LinearIndex(), row_tile
    together = _together(first, second, target)
    high, behind, low = digits(block_id(), [0, row_tiles, together])
    row_tile = arith.subi(index_constant(row_tiles - 1), behind)
    return LinearIndex.of(high) * together + low if batches > 1 else LinearIndex(), row_tile


def _together(first: ContractionGroup, second: ContractionGroup, target: TargetView) -> int:
    """How many batches' keys and values fit."""
    elements = first.cols.extent * (first.inner.extent + second.cols.extent)
    room = max(1, target.llc_bytes // 2 // (elements * element_bytes(first.left.element)))
    return max(n for n in range(1, min(room, first.batch.extent) + 1) if first.batch.extent % n == 0)
