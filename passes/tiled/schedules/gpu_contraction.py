"""Schedules of contractions on GPUs: how large the tiles are, how the warps of a block share them, how deep the pipeline is.

A schedule is chosen by an estimate, not by a table: blocks run in waves over the multiprocessors, a wave lasts as long as one block, and
a block of small tiles reads its operands more often per flop. All of it is integer arithmetic, so the same program gets the same kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hloom.dialects.target import TargetView

STATIC_SHARED_BYTES = 48 << 10
"""What a kernel may have of shared memory without asking for more at launch."""
RESIDENT_THREADS = 512
"""Of a multiprocessor on tensor cores: two blocks of the largest tile, so that one multiplies while the other waits."""
SKINNY = 8
"""A contraction of at most this many rows (or columns) is bound by reading the other operand once."""


@dataclass(frozen=True)
class Sizes:
    """A contraction's extents: batch x rows x cols sums over inner."""

    batch: int
    rows: int
    cols: int
    inner: int


@dataclass(frozen=True)
class TileSchedule:
    """A block computes rows x cols results, `depth` of the inner loop at a time, through `stages` buffers."""

    rows: int
    cols: int
    depth: int
    stages: int
    warp_rows: int
    warp_cols: int
    in_flight: int = 0
    """How many steps are still being multiplied, by units that read shared memory without the threads, when the next begins."""
    resident: int = RESIDENT_THREADS
    """How many threads of such blocks a multiprocessor is to hold."""

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return self.warp_rows * self.warp_cols

    @property
    def threads(self) -> int:
        return 32 * self.warps


@dataclass(frozen=True)
class SkinnySchedule:
    """Each lane reads vectors of the large operand.

    `lane_cols` x `lane_inner` lanes of a warp run along the columns and the inner loop, `warp_cols` x `warp_inner` warps of a block
    likewise; a lane holds `lane_width` columns.
    """

    lane_cols: int
    lane_inner: int
    lane_width: int
    warp_cols: int
    warp_inner: int

    @property
    def block_cols(self) -> int:
        """Columns that a block computes."""
        return self.lane_cols * self.lane_width * self.warp_cols

    @property
    def threads(self) -> int:
        return 32 * self.warp_cols * self.warp_inner


BlockTile = tuple[int, int, int, int]
"""Rows and columns of a block's tile; rows and columns of its warps."""

_SKINNY_WARPS = 8
_MOST_STAGES = 4
_STAGES_OF_DEEP_STEPS = 3
_RESERVED_BYTES = 1024
_WIDEST_SWIZZLE = 128
_IN_FLIGHT = 1
_TENSOR_CORE_TILES = (
    (128, 128, 2, 4),
    (128, 64, 2, 2),
    (64, 128, 2, 2),
    (64, 64, 2, 2),
    (64, 32, 2, 2),
    (32, 64, 2, 2),
    (32, 32, 2, 2),
    (16, 64, 1, 2),
    (64, 16, 2, 1),
)
_WARPGROUP_TILES = ((128, 256, 8, 1), (128, 128, 8, 1), (128, 64, 8, 1), (64, 128, 4, 1), (64, 64, 4, 1), (64, 32, 4, 1))
_SIMT_TILES = ((128, 128, 4, 2), (64, 128, 2, 2), (128, 64, 4, 1), (64, 64, 2, 2), (32, 64, 1, 2), (64, 32, 2, 1), (32, 32, 1, 1))


def tensor_core_schedule(sizes: Sizes, element_bytes: int, target: TargetView) -> TileSchedule:
    """Tiles for mma.sync: warps hold multiples of 16 x 16 results. Where shared memory allows, steps are twice as deep."""
    depth = 64 // element_bytes
    tile = _best(_fitting(_TENSOR_CORE_TILES, depth, element_bytes), sizes, target)
    room = _room(tile, RESIDENT_THREADS, target)
    deep = _staged(tile, 2 * depth, sizes, element_bytes, room)
    return deep if deep.stages >= _STAGES_OF_DEEP_STEPS else _staged(tile, depth, sizes, element_bytes, room)


def simt_schedule(sizes: Sizes, element_bytes: int, target: TargetView) -> TileSchedule:
    """Tiles for fused multiply-adds: a thread holds up to 8 x 8 results."""
    depth = 16 if element_bytes <= 4 else 8
    return _staged(_best(_fitting(_SIMT_TILES, depth, element_bytes), sizes, target), depth, sizes, element_bytes, STATIC_SHARED_BYTES)


def warpgroup_schedule(sizes: Sizes, element_bytes: int, target: TargetView) -> TileSchedule | None:
    """Tiles for wgmma, of warp groups of 64 rows; a step is as deep as the widest swizzle. None where there is no room for the stages.

    The widest tiles take the place of two blocks.
    """
    depth, least = _WIDEST_SWIZZLE // element_bytes, _IN_FLIGHT + 2
    resident: dict[BlockTile, int] = {}
    for threads in (RESIDENT_THREADS // 2, RESIDENT_THREADS):
        fitting = (t for t in _WARPGROUP_TILES if least * _stage_bytes(t, depth, element_bytes) <= _room(t, threads, target))
        resident |= dict.fromkeys(fitting, threads)
    if not resident:
        return None
    tile = _best([t for t in _WARPGROUP_TILES if t in resident], sizes, target)
    staged = _staged(tile, depth, sizes, element_bytes, _room(tile, resident[tile], target))
    return replace(staged, stages=max(least, staged.stages), in_flight=_IN_FLIGHT, resident=resident[tile])


def _fitting(tiles: Sequence[BlockTile], depth: int, element_bytes: int) -> list[BlockTile]:
    """Those of which two stages fit."""
    return [t for t in tiles if 2 * _stage_bytes(t, depth, element_bytes) <= STATIC_SHARED_BYTES]


def _best(tiles: Sequence[BlockTile], sizes: Sizes, target: TargetView) -> BlockTile:
    """The tile of least cost."""
    processors = target.multiprocessors or 108

    def cost(tile: BlockTile) -> int:
        rows, cols, _, _ = tile
        waves = -(-sizes.batch * -(-sizes.rows // rows) * -(-sizes.cols // cols) // processors)
        # A block's flops, and what it reads of both operands, weighed at 32 flops an element.
        return waves * (rows * cols + 32 * (rows + cols))

    return min(tiles, key=cost)


def _staged(tile: BlockTile, depth: int, sizes: Sizes, element_bytes: int, room: int) -> TileSchedule:
    """The schedule with as many stages as there is room and use for."""
    rows, cols, warp_rows, warp_cols = tile
    stages = min(_MOST_STAGES, max(2, -(-sizes.inner // depth)), room // _stage_bytes(tile, depth, element_bytes))
    return TileSchedule(rows, cols, depth, stages, warp_rows, warp_cols)


def _stage_bytes(tile: BlockTile, depth: int, element_bytes: int) -> int:
    return (tile[0] + tile[1]) * depth * element_bytes


def _room(tile: BlockTile, threads: int, target: TargetView) -> int:
    """Shared memory for a block, so that so many threads of such blocks fit a multiprocessor."""
    share = target.shared_bytes_per_multiprocessor * 32 * tile[2] * tile[3] // threads - _RESERVED_BYTES
    return max(STATIC_SHARED_BYTES, min(share, target.shared_bytes_per_block))


def skinny_schedule(batch: int, cols: int, inner: int, width: int, along_cols: bool, target: TargetView) -> SkinnySchedule:
    """`width` elements of the large operand are one access, along its columns or along the inner loop."""
    processors = target.multiprocessors or 108
    lane_cols = 1
    if along_cols:
        lane_cols = 32
        while lane_cols > 4 and batch * -(-cols // (lane_cols * width)) < 2 * processors:
            lane_cols //= 2
    lane_width = width if along_cols else 4
    while not along_cols and lane_width > 1 and batch * -(-cols // (lane_width * 4)) < 2 * processors:
        lane_width //= 2
    lane_inner = 32 // lane_cols
    share = lane_inner * (1 if along_cols else width)
    warp_inner = _SKINNY_WARPS

    def too_few_blocks(warps: int) -> bool:
        return batch * -(-cols // (lane_cols * lane_width * (_SKINNY_WARPS // warps))) < 2 * processors

    while warp_inner > 1 and (inner < share * warp_inner or not too_few_blocks(warp_inner // 2)):
        warp_inner //= 2
    return SkinnySchedule(lane_cols, lane_inner, lane_width, _SKINNY_WARPS // warp_inner, warp_inner)
