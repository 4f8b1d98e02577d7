"""The frame that every tiled contraction shares: blocks over tiles, a ring of shared-memory stages kept full by cp.async, the epilogue.

    block → (batch, row tile, column tile)
    start the copies of the first stages-1 tiles
    for step:  wait for the oldest; barrier; start the copy stages-1 steps ahead; multiply
    the epilogue (tile_results.py)

What a multiplier does with two tiles in shared memory is its own: mma.py, simt.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from ..cpu.index import Lin
from ..rewriting import index_constant
from ..schedules.gpu_contraction import TileSchedule
from .contraction import Contraction
from .cp_async import TileCopy, TileShape, commit, wait
from .emit import barrier, block_id, compare_integers, digits, loop, remainder, thread_id
from .epilogue import Epilogue
from .launch import open_kernel, shared_bytes, shared_view
from .layout import Layout
from .tile_results import Multiplier, TileResults

MakeMultiplier = Callable[[TileSchedule, tuple[TileShape, TileShape], ir.Value], Multiplier]


def block_groups(row_tiles: int) -> int:
    """How many row tiles neighbouring blocks run through before the column tile changes: they share what they read through the L2."""
    return max(g for g in range(1, 17) if row_tiles % g == 0)


def emit_tiled(
    contraction: Contraction,
    schedule: TileSchedule,
    shapes: tuple[TileShape, TileShape],
    make_multiplier: MakeMultiplier,
    accumulators: Layout,
    resident: int = 0,
) -> None:
    """The kernel of `contraction`. `make_multiplier(schedule, shapes, thread)` gives its Multiplier.

    `accumulators` says, in the kernel's attributes, how the multiplier deals them out. Registers are bounded so that a multiprocessor holds
    `resident` threads; 0 leaves them to the assembler.
    """
    row_tiles, col_tiles = -(-contraction.rows.extent // schedule.rows), -(-contraction.cols.extent // schedule.cols)
    kernel = open_kernel(
        contraction.function,
        contraction.batch.extent * row_tiles * col_tiles,
        schedule.threads,
        {
            "accumulators": str(accumulators),
            "tile": f"{schedule.rows}x{schedule.cols}x{schedule.depth}",
            "warps": f"{schedule.warp_rows}x{schedule.warp_cols}",
            "stages": schedule.stages,
        },
    )
    if resident:
        kernel.keep_resident(resident)
    with kernel.body:
        thread = thread_id()
        group = block_groups(row_tiles)
        batch, high, col_tile, low = digits(block_id(), [0, row_tiles // group, col_tiles, group])
        batch_index = Lin.of(batch) if contraction.batch.extent > 1 else Lin()
        row = (Lin.of(high) * group + low) * schedule.rows
        col = Lin.of(col_tile) * schedule.cols
        ring_shapes = [[schedule.stages, shape.lines, shape.length] for shape in shapes]
        sizes = [shared_bytes(ring, shape.element) for ring, shape in zip(ring_shapes, shapes)]
        results = TileResults(contraction, schedule, sum(sizes))
        arena = kernel.arena(max(sum(sizes), results.staging_bytes))
        rings = [shared_view(arena, at, ring, shape.element) for at, ring, shape in zip((0, sizes[0]), ring_shapes, shapes)]
        copies = [
            TileCopy(contraction, operand, shape, kernel.buffers, ring, thread, schedule.threads)
            for operand, shape, ring in zip((contraction.left, contraction.right), shapes, rings)
        ]
        multiplier = make_multiplier(schedule, shapes, thread)
        sums = _accumulate(contraction, schedule, copies, rings, multiplier, (batch_index, row, col))
        results.finish(Epilogue(contraction, kernel.buffers), multiplier, sums, (batch_index, row, col), thread, arena)


def _accumulate(
    contraction: Contraction,
    schedule: TileSchedule,
    copies: Sequence[TileCopy],
    rings: Sequence[ir.Value],
    multiplier: Multiplier,
    tile: tuple[Lin, Lin, Lin],
) -> list[ir.Value]:
    batch, row, col = tile
    steps, stages = -(-contraction.inner.extent // schedule.depth), schedule.stages

    def fetch(step: Lin, stage: ir.Value, inside: ir.Value | None) -> ir.Value | None:
        tokens = [t for copy, at in zip(copies, (row, col)) for t in copy.fetch(batch, at, step * schedule.depth, stage, inside)]
        return commit(tokens) if tokens else None

    group = None
    for ahead in range(stages - 1):
        group = fetch(Lin(constant=ahead), index_constant(ahead), None) or group

    def body(step: ir.Value, accumulators: list[ir.Value]) -> list[ir.Value]:
        if group is not None:
            wait(group, stages - 2)
        barrier()
        ahead = Lin.of(step) + (stages - 1)
        inside = compare_integers("ult", ahead.value(), index_constant(steps))
        fetch(ahead, remainder(ahead.value(), stages), inside)
        return multiplier.step(rings[0], rings[1], remainder(step, stages), accumulators)

    sums = loop((0, steps, 1), multiplier.zeros(), body)
    if group is not None:
        wait(group, 0)
    return sums
