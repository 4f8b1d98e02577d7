"""In which order the blocks of a tiled contraction visit its tiles, so that those that run together read few panels of both operands.

    rows together 1            rows together 2        (tiles of a grid of 4 x 4, by the blocks that compute them)
     0  1  2  3                 0  2  4  6
     4  5  6  7                 1  3  5  7
     8  9 10 11                 8 10 12 14
    12 13 14 15                 9 11 13 15

A panel is what a row (column) of tiles reads of the left (right) operand. Blocks that run at once are a wave. Four blocks read five panels
in the first order, four in the second. An order is priced by the bytes that all waves read from memory: panels stay in the L2 from wave to
wave where it has room for them. Half of it counts, for an L2 of two halves holds twice what all multiprocessors read.
"""

from __future__ import annotations

from dataclasses import dataclass

from hloom.dialects.target import TargetView

_MOST = 64
"""Rows of tiles together: more are no nearer to a square of any GPU's blocks."""
_GAIN_PERCENT = 5
"""Which part of the bytes a last group of fewer rows must save: its blocks take a few instructions more."""
_PICOSECONDS = 10**12


@dataclass(frozen=True)
class TileGrid:
    """Rows and columns of tiles, the bytes of the panels behind one row and one column, and how many blocks run at once."""

    rows: int
    cols: int
    row_bytes: int
    col_bytes: int
    wave: int


@dataclass(frozen=True)
class TileOrder:
    """How many rows of tiles are visited together; the bytes that a wave reads, and that all of them read from memory."""

    together: int
    wave_bytes: int
    total_bytes: int

    def ps(self, target: TargetView) -> int:
        """How long memory takes for them."""
        return self.total_bytes * _PICOSECONDS // target.dram_bytes_per_second


def choose_order(grid: TileGrid, target: TargetView, asked: int = 0) -> TileOrder:
    """The order that reads the fewest bytes; where several do, that of the smallest waves. `asked`: how many rows, if a policy says so."""
    if asked:
        return price(grid, min(asked, grid.rows), target)
    found = [price(grid, together, target) for together in range(1, min(grid.rows, _MOST) + 1)]
    least, even = (
        min(orders, key=lambda each: (each.total_bytes, each.wave_bytes, each.together))
        for orders in (found, [each for each in found if grid.rows % each.together == 0])
    )
    return least if 100 * least.total_bytes < (100 - _GAIN_PERCENT) * even.total_bytes else even


def price(grid: TileGrid, together: int, target: TargetView) -> TileOrder:
    """The order in which so many rows are visited together."""
    wave, group, room = min(grid.wave, grid.rows * grid.cols), together * grid.cols, target.llc_bytes // 2
    rows, cols = (together, -(-wave // together)) if wave < group else (-(-wave // grid.cols), grid.cols)
    rows, cols = min(rows, grid.rows), min(cols, grid.cols)
    lefts, rights = grid.rows * grid.row_bytes, grid.cols * grid.col_bytes
    stays = together * grid.row_bytes + cols * grid.col_bytes <= room
    left_reads = 1 if stays else -(-group // max(wave, 1))
    right_reads = 1 if rows * grid.row_bytes + rights <= room else -(-grid.rows // max(together, rows))
    return TileOrder(together, rows * grid.row_bytes + cols * grid.col_bytes, left_reads * lefts + right_reads * rights)
