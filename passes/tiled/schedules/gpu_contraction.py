"""Schedules of contractions on GPUs: how large the tiles are, how the warps of a block share them, how deep the pipeline is.

A schedule is chosen by an estimate of its time (gpu_time.py), not by a table. Large tiles read their operands less often; small ones, and
warps that share the inner loop of a tile, make use of the schedulers where there are few results. All of it is integer arithmetic, so the
same program gets the same kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from hloom.dialects.target import TargetView

from .gpu_time import (
    UNKNOWN,
    Blocks,
    Estimate,
    WarpStep,
    estimate,
    overlapped,
    resident,
    simt_step,
    specialised,
    tensor_core_step,
    warpgroup_step,
)

STATIC_SHARED_BYTES = 48 << 10
"""What a kernel may have of shared memory without asking for more at launch."""
RESIDENT_THREADS = 512
"""Of a multiprocessor on tensor cores: two blocks of the largest tile, so that one multiplies while the other waits."""
SKINNY = 8
"""A contraction of at most this many rows (or columns) is bound by reading the other operand once."""


@dataclass(frozen=True)
class Sizes:
    """A contraction's extents: batch x rows x cols sums over inner; and the scalar operations of its epilogue for each result."""

    batch: int
    rows: int
    cols: int
    inner: int
    work: int = 0


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
    warp_inner: int = 1
    """How many warps share each part of the tile: each takes as many steps of the inner loop, and their sums are added at the end."""
    cluster: tuple[int, int] = (1, 1)
    """Blocks along the rows and along the columns that fetch together what they share: blocks of other rows the right operand."""
    estimate: Estimate = UNKNOWN
    """How long it takes, as it was chosen by."""

    def ahead(self, steps: int) -> int:
        """How many of the steps are copied before the first is multiplied: all, where there are a few and each has its stage."""
        return steps if steps <= min(self.stages, _MOST_STAGES[0]) else self.stages - 1 - self.in_flight

    @property
    def cluster_blocks(self) -> int:
        return self.cluster[0] * self.cluster[1]

    @property
    def cluster_tile(self) -> tuple[int, int]:
        """Rows and columns that the blocks of a cluster compute."""
        return self.rows * self.cluster[0], self.cols * self.cluster[1]

    @property
    def strip(self) -> tuple[int, int]:
        """Rows and columns of a warp."""
        return self.rows // self.warp_rows, self.cols // self.warp_cols

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return self.warp_inner * self.warp_rows * self.warp_cols

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
_LANE_LINES = 8
"""Lines of a lane, of one row: as many accesses in flight."""
_STAGES_OF_DEEP_STEPS = 3
_MOST_STAGES = (4, 8)
"""The second where few blocks wait for memory."""
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
_WARPGROUP_TILES = (
    (128, 256, 8, 1),
    (128, 128, 8, 1),
    (128, 96, 8, 1),
    (128, 64, 8, 1),
    (64, 128, 4, 1),
    (64, 64, 4, 1),
    (64, 32, 4, 1),
)
_OVERLAPPED_TILES = ((128, 192, 8, 1), (128, 128, 8, 1))
_SPECIALISED_TILES = ((128, 256, 8, 1), (128, 192, 8, 1), (128, 128, 8, 1))
_CLUSTERS = ((1, 1), (2, 1), (1, 2))
PRODUCER_THREADS = 32
"""Of the warp that fetches for the others."""
_MUCH_WORK = 12
"""Operations for each result that are worth it."""
_SUM_BYTES = 4
_SLAB_PADDING = 8
_SHARED_TENSOR_CORE_TILES = (
    ((64, 64, 2, 2), 2),
    ((32, 64, 1, 2), 4),
    ((64, 32, 2, 1), 4),
    ((32, 32, 1, 1), 8),
    ((16, 32, 1, 1), 8),
    ((32, 16, 1, 1), 8),
    ((16, 16, 1, 1), 8),
)
"""Tiles whose parts several warps share, and how many. Blocks have eight warps, as those of other small kernels have: kernels that
synchronise share a launch (join-chains) where their blocks are of one size."""
_SIMT_TILES = ((128, 128, 4, 2), (64, 128, 2, 2), (128, 64, 4, 1), (64, 64, 2, 2), (32, 64, 1, 2), (64, 32, 2, 1), (32, 32, 1, 1))
_SHARED_SIMT_TILES = (
    ((64, 64, 2, 2), 2, 16),
    ((32, 64, 1, 2), 4, 8),
    ((64, 32, 2, 1), 4, 8),
    ((32, 32, 1, 1), 8, 8),
    ((16, 32, 1, 1), 8, 8),
    ((8, 32, 1, 1), 8, 16),
)
"""The same, with the steps of the inner loop that a share is in each step of the pipeline."""
_STEP_BYTES = 64
_MMA_BYTES = 32
"""How far one instruction runs along the inner loop."""
_COPY_BYTES = 16


def tensor_core_schedule(sizes: Sizes, element_bytes: int, target: TargetView) -> TileSchedule:
    """Tiles for mma.sync: warps hold multiples of 16 x 16 results. Where shared memory allows, steps may be twice as deep."""
    found = []
    for tile, shares in (*((tile, 1) for tile in _TENSOR_CORE_TILES), *_SHARED_TENSOR_CORE_TILES):
        room, least = _room(_threads(tile, shares), RESIDENT_THREADS, target), max(_STEP_BYTES, _MMA_BYTES * shares) // element_bytes
        for depth, most in product((least, 2 * least), _MOST_STAGES):
            staged = _staged(tile, shares, depth, sizes, element_bytes, room, most)
            if depth > least and staged.stages < _STAGES_OF_DEEP_STEPS:
                continue
            rows, cols = staged.strip
            step = tensor_core_step(rows // 16, cols // 8, depth * element_bytes // (_MMA_BYTES * shares))
            found.append(_timed(staged, sizes, element_bytes, step, target))
    return _fastest(found)


def simt_schedule(sizes: Sizes, element_bytes: int, target: TargetView) -> TileSchedule:
    """Tiles for fused multiply-adds: a thread holds up to 8 x 8 results."""
    depth = 16 if element_bytes <= 4 else 8
    found = [_staged(tile, 1, depth, sizes, element_bytes, STATIC_SHARED_BYTES) for tile in _SIMT_TILES]
    for tile, shares, share in _SHARED_SIMT_TILES:
        room = _room(_threads(tile, shares), RESIDENT_THREADS, target)
        found.append(_staged(tile, shares, shares * max(share, 16 // element_bytes), sizes, element_bytes, room))
    timed = []
    for each in found:
        rows, cols = each.strip
        step = simt_step(rows // 4, cols // 8, each.depth // each.warp_inner, element_bytes)
        timed.append(_timed(each, sizes, element_bytes, step, target))
    return _fastest(timed)


def warpgroup_schedule(sizes: Sizes, element_bytes: int, target: TargetView) -> TileSchedule | None:
    """Tiles for wgmma, of warp groups of 64 rows; a step is as deep as the widest swizzle. None where there is no room for the stages.

    The widest tiles take the place of two blocks, many stages that of more.
    """
    depth, least = _WIDEST_SWIZZLE // element_bytes, _IN_FLIGHT + 2
    found = []
    for tile, most, parts in product(_WARPGROUP_TILES, _MOST_STAGES, (1, 2, 4)):
        threads = RESIDENT_THREADS // parts
        room = _room(_threads(tile, 1), threads, target)
        staged = _staged(tile, 1, depth, sizes, element_bytes, room, most)
        if least * _stage_bytes(staged, element_bytes) <= room:
            schedule = replace(staged, stages=max(least, staged.stages), in_flight=_IN_FLIGHT, resident=threads)
            found.append(_timed(schedule, sizes, element_bytes, warpgroup_step(tile[1]), target))
    return _fastest(found) if found else None


def overlapped_schedules(sizes: Sizes, element_bytes: int, target: TargetView) -> list[TileSchedule]:
    """Tiles for wgmma whose epilogue runs beside the next tile's products, the fastest first.

    The rings and the sums of a tile fill a multiprocessor's shared memory.
    """
    depth, least = _WIDEST_SWIZZLE // element_bytes, _IN_FLIGHT + 2
    found = []
    for tile in _OVERLAPPED_TILES if sizes.work >= _MUCH_WORK else ():
        rows, cols, *_ = tile
        room = target.shared_bytes_per_block - rows * (cols + _SLAB_PADDING) * _SUM_BYTES - _RESERVED_BYTES
        staged = replace(_staged(tile, 1, depth, sizes, element_bytes, room), in_flight=_IN_FLIGHT, resident=_threads(tile, 1))
        if least * _stage_bytes(staged, element_bytes) > room:
            continue
        staged = replace(staged, stages=max(least, staged.stages))
        blocks = _blocks(staged, sizes, element_bytes)
        found.append(replace(staged, estimate=overlapped(blocks, warpgroup_step(cols), sizes.work, target)))
    return sorted(found, key=lambda each: each.estimate.clocks)


def specialised_schedules(sizes: Sizes, element_bytes: int, target: TargetView) -> list[TileSchedule]:
    """Tiles for wgmma by blocks of which a warp fetches, the fastest first: as many stages as a multiprocessor has room for. Blocks
    alone, and two in a cluster where the rows (columns) of tiles are even."""
    depth, most = _WIDEST_SWIZZLE // element_bytes, _MOST_STAGES[1]
    found = []
    for tile in _SPECIALISED_TILES if sizes.work < _MUCH_WORK else ():
        rows, cols, warp_rows, warp_cols = tile
        schedule = TileSchedule(rows, cols, depth, 0, warp_rows, warp_cols, in_flight=_IN_FLIGHT)
        stages = min(most, (target.shared_bytes_per_block - _RESERVED_BYTES) // _stage_bytes(schedule, element_bytes))
        for cluster in _CLUSTERS if stages >= _IN_FLIGHT + 2 else ():
            staged = replace(schedule, stages=stages, resident=_threads(tile, 1) + PRODUCER_THREADS, cluster=cluster)
            if -(-sizes.rows // rows) % cluster[0] or -(-sizes.cols // cols) % cluster[1]:
                continue
            fetched = (rows // cluster[1] + cols // cluster[0]) * depth * element_bytes
            blocks = replace(_blocks(staged, sizes, element_bytes), ahead=stages - _IN_FLIGHT, stage_bytes=fetched)
            found.append(replace(staged, estimate=specialised(blocks, warpgroup_step(cols), sizes.work, target)))
    return sorted(found, key=lambda each: each.estimate.clocks)


def blocks_at_once(schedule: TileSchedule, sizes: Sizes, element_bytes: int, target: TargetView) -> int:
    """How many blocks of such a schedule a GPU runs at once."""
    return (target.multiprocessors or 108) * resident(_blocks(schedule, sizes, element_bytes), target)


def _timed(schedule: TileSchedule, sizes: Sizes, element_bytes: int, step: WarpStep, target: TargetView) -> TileSchedule:
    blocks = _blocks(schedule, sizes, element_bytes)
    return replace(schedule, estimate=estimate(blocks, step, sizes.work, target))


def _blocks(schedule: TileSchedule, sizes: Sizes, element_bytes: int) -> Blocks:
    rows, cols = schedule.strip
    stage_bytes, steps = _stage_bytes(schedule, element_bytes), -(-sizes.inner // schedule.depth)
    return Blocks(
        count=sizes.batch * -(-sizes.rows // schedule.rows) * -(-sizes.cols // schedule.cols),
        warps=schedule.warps,
        stage_bytes=stage_bytes,
        stages=schedule.stages,
        ahead=schedule.ahead(steps),
        steps=steps,
        copies=0 if schedule.in_flight else -(-stage_bytes // (_COPY_BYTES * schedule.threads)),
        sharing=schedule.warp_inner,
        sums=rows * cols // 32,
    )


def _fastest(schedules: Sequence[TileSchedule]) -> TileSchedule:
    """The one of least time, the first of several, of those that have room for two stages."""
    return min((each for each in schedules if each.stages > 1), key=lambda each: each.estimate.clocks)


def _staged(
    tile: BlockTile, shares: int, depth: int, sizes: Sizes, element_bytes: int, room: int, most: int = _MOST_STAGES[0]
) -> TileSchedule:
    """The schedule with as many stages as there is room and use for, up to `most`."""
    rows, cols, warp_rows, warp_cols = tile
    schedule = TileSchedule(rows, cols, depth, 0, warp_rows, warp_cols, warp_inner=shares)
    stages = min(most, max(2, -(-sizes.inner // depth)), room // _stage_bytes(schedule, element_bytes))
    return replace(schedule, stages=stages)


def _stage_bytes(schedule: TileSchedule, element_bytes: int) -> int:
    return (schedule.rows + schedule.cols) * schedule.depth * element_bytes


def _threads(tile: BlockTile, shares: int) -> int:
    return 32 * tile[2] * tile[3] * shares


def _room(block: int, threads: int, target: TargetView) -> int:
    """Shared memory for a block of so many threads, so that `threads` threads of such blocks fit a multiprocessor."""
    share = target.shared_bytes_per_multiprocessor * block // threads - _RESERVED_BYTES
    return max(STATIC_SHARED_BYTES, min(share, target.shared_bytes_per_block))


def skinny_schedule(batch: int, rows: int, cols: int, inner: int, width: int, along_cols: bool, target: TargetView) -> SkinnySchedule:
    """`width` elements of the large operand are one access, along its columns or along the inner loop."""
    processors = target.multiprocessors or 108
    if along_cols:
        lane_cols = 32
        while lane_cols > 4 and batch * -(-cols // (lane_cols * width)) < 2 * processors:
            lane_cols //= 2
    else:
        lane_cols = max(1, 32 // (1 << (-(-inner // width) - 1).bit_length()))  # no lane stands beyond the end of a short line
    lane_width = width if along_cols else _LANE_LINES if rows == 1 else _LANE_LINES // 2
    while not along_cols and lane_width > 1 and batch * -(-cols // (lane_width * lane_cols * 4)) < 2 * processors:
        lane_width //= 2
    lane_inner = 32 // lane_cols
    share = lane_inner * (1 if along_cols else width)
    warp_inner = _SKINNY_WARPS

    def too_few_blocks(warps: int) -> bool:
        return batch * -(-cols // (lane_cols * lane_width * (_SKINNY_WARPS // warps))) < 2 * processors

    while warp_inner > 1 and (inner < share * warp_inner or not too_few_blocks(warp_inner // 2)):
        warp_inner //= 2
    return SkinnySchedule(lane_cols, lane_inner, lane_width, _SKINNY_WARPS // warp_inner, warp_inner)
