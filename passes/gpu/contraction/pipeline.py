"""The frame that every tiled contraction shares: blocks over tiles, a ring of stages in shared memory kept full, the epilogue.

    block → (batch, row tile, column tile)          (tile_order.py)
    start the copies of the first stages-1 tiles
    for step:  wait for the oldest; barrier; start the copy stages-1 steps ahead; multiply
    the epilogue (tile_results.py)

Where a few stages hold all steps, all copies are started at once, and there is no loop.

What a multiplier does with two tiles in shared memory is its own: mma.py, simt.py, wgmma.py. One that goes on while the next step begins
(`schedule.in_flight`) keeps its stage for that long: copies are as many steps less ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.target import TargetView

from ...common.control_flow import loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import create, i64_attr, index_constant, integer, symbol_name
from ...fused.planner.codes import Code
from ...fused.planner.decisions import append_note
from ...tiled.schedules.gpu_contraction import TileSchedule
from ...tiled.schedules.wanted import BLOCKS, CLUSTER, PRODUCER, wanted_of_blocks
from ...tiled.tiles_told import tell_rule
from ..support.emit import barrier, block_id, remainder, thread_id
from ..support.launch import ALIGNMENT, SWIZZLE_ALIGNMENT, OpenKernel, open_kernel
from ..support.layout import Layout
from .contraction import ContractionGroup
from .cp_async import TileCopy, TileShape, commit, wait
from .epilogue import EpilogueEmitter
from .rings import Rings
from .tile_order import Place, Tiles
from .tile_results import Multiplier, TileResults
from .tma import BARRIER_BYTES, StageBarriers, TmaCopy, tensor_map

_PRICE = "hloom.cost_ps"
MakeMultiplier = Callable[[TileSchedule, tuple[TileShape, TileShape], ir.Value], Multiplier]


def emit_tiled(
    contraction: ContractionGroup,
    schedule: TileSchedule,
    shapes: tuple[TileShape, TileShape],
    make_multiplier: MakeMultiplier,
    accumulators: Layout,
    target: TargetView,
    resident: int = 0,
) -> None:
    """The kernel of `contraction`. `make_multiplier(schedule, shapes, thread)` gives its Multiplier.

    `accumulators` says, in the kernel's attributes, how the multiplier deals them out. Registers are bounded so that a multiprocessor holds
    `resident` threads; 0 leaves them to the assembler.
    """
    tiles = Tiles.of(contraction, schedule, target)
    operands = contraction.left, contraction.right
    found = [tensor_map(contraction, *each) if schedule.in_flight else None for each in zip(operands, shapes)]
    maps = [tensor for tensor in found if tensor is not None]
    kernel = open_kernel(contraction.function, tiles.count, schedule.threads, layout_of(schedule, accumulators, tiles), maps)
    tell(contraction.function, kernel, tiles, target)
    if resident:
        kernel.keep_resident(resident)
    with kernel.body:
        thread = thread_id()
        place = tiles.place(block_id())
        layout = Rings(schedule.stages, shapes)
        results = TileResults(contraction, schedule, layout.nbytes)
        room = max(layout.nbytes, results.staging_bytes)
        alignment = SWIZZLE_ALIGNMENT if schedule.in_flight else ALIGNMENT
        arena = kernel.arena(room + (BARRIER_BYTES * schedule.stages if maps else 0), alignment)
        rings = layout.views(arena)
        barriers = StageBarriers(arena, room, schedule.stages, len(maps), thread) if maps else None
        parameters = iter(kernel.maps)
        copies: list[TileCopy | TmaCopy] = []
        for operand, shape, ring, tensor, at in zip(operands, shapes, rings, found, layout.places):
            if tensor is None or barriers is None:
                copies.append(TileCopy(contraction, operand, shape, kernel.buffers, ring, thread, schedule.threads))
            else:
                copies.append(TmaCopy(contraction, tensor, next(parameters), shape, (arena, at), barriers))
        multiplier = make_multiplier(schedule, shapes, thread)
        sums = _accumulate(contraction, schedule, copies, barriers, rings, multiplier, place)
        results.finish(EpilogueEmitter(contraction, kernel.buffers), multiplier, sums, place, thread, arena)


def layout_of(schedule: TileSchedule, accumulators: Layout, tiles: Tiles) -> dict[str, str | int]:
    """What a kernel's attributes say of its schedule."""
    order: dict[str, str | int] = {"rows_together": tiles.together} if tiles.matters or tiles.asked else {}
    return order | {
        "accumulators": str(accumulators),
        "tile": f"{schedule.rows}x{schedule.cols}x{schedule.depth}",
        "warps": f"{schedule.warp_rows}x{schedule.warp_cols}" + (f"x{schedule.warp_inner}" if schedule.warp_inner > 1 else ""),
        "stages": schedule.stages,
    }


def tell(function: ir.Operation, kernel: OpenKernel, tiles: Tiles, target: TargetView, producer: bool = False) -> None:
    """Why these tiles in this order, as a record; and the kernel's price, which is their estimate where that is more than the planner's.

    And what became of a policy's wishes: whether a warp is the `producer` is one.
    """
    schedule = tiles.schedule
    memory = tiles.batch * tiles.order.ps(target) if tiles.matters else 0
    price = max(integer(function, _PRICE, 0), target.launch_ps + max(schedule.estimate.ps, memory))
    kernel.op.attributes[_PRICE] = i64_attr(price)
    blocks = next(iter(ir.DenseI32ArrayAttr(kernel.op.attributes["known_grid_size"])))
    parts = [f"{blocks} blocks of {schedule.rows} x {schedule.cols} results and {schedule.warps} warps"]
    if schedule.warp_inner > 1:
        parts.append(f"{schedule.warp_inner} of which share the inner loop")
    parts.append(f"{schedule.stages} stages of {schedule.depth} of it: bound by {schedule.estimate.bound}")
    if tiles.matters:
        parts.append(f"{tiles.together} rows of tiles together: a wave reads {tiles.order.wave_bytes} bytes")
    name = symbol_name(function)
    if producer:
        parts.append("a warp fetches for the others, which stay for all tiles of a block")
    if schedule.cluster_blocks > 1:
        parts.append(f"two blocks of a cluster share the {'right' if schedule.cluster[0] > 1 else 'left'} operand")
    _tell_policy(function, tiles, producer)
    append_note(function.parent.operation, Code.TILE_CHOSEN, [name], ", ".join(parts), "", {"t_after_ps": schedule.estimate.ps})


def _tell_policy(function: ir.Operation, tiles: Tiles, producer: bool) -> None:
    asked = wanted_of_blocks(function)
    if not asked:
        return
    told = [f"{tiles.together} rows of tiles together"] if tiles.asked else []
    clustered = tiles.schedule.cluster_blocks > 1
    told += [f"a warp {'fetches' if producer else 'does not fetch'} for the others"] if PRODUCER in asked else []
    told += [f"blocks are {'two in a cluster' if clustered else 'in no clusters'}"] if CLUSTER in asked else []
    met = bool(asked.get(PRODUCER, producer)) == producer and bool(asked.get(CLUSTER, clustered)) == clustered
    tell_rule(function, Code.POLICY_FORCED if met else Code.POLICY_UNMET, ", ".join(told))
    del function.attributes[BLOCKS]


def _accumulate(
    contraction: ContractionGroup,
    schedule: TileSchedule,
    copies: Sequence[TileCopy | TmaCopy],
    barriers: StageBarriers | None,
    rings: Sequence[ir.Value],
    multiplier: Multiplier,
    place: Place,
) -> list[ir.Value]:
    batch, row, col = place
    steps, stages = -(-contraction.inner.extent // schedule.depth), schedule.stages
    lead = schedule.ahead(steps)

    def fetch(step: LinearIndex, stage: ir.Value, inside: ir.Value | None) -> ir.Value | None:
        tokens = [t for copy, at in zip(copies, (row, col)) for t in copy.fetch(batch, at, step * schedule.depth, stage, inside)]
        return commit(tokens) if tokens else None

    group = None
    for ahead in range(lead):
        group = fetch(LinearIndex(constant=ahead), index_constant(ahead), None) or group

    shown = schedule.in_flight > 0 and any(isinstance(copy, TileCopy) for copy in copies)

    def body(index: LinearIndex, accumulators: list[ir.Value]) -> list[ir.Value]:
        step = index.value()
        _await(group, lead - 1, barriers, step, shown)
        ahead = index + lead
        inside = arith.cmpi(CmpIPredicate.ult, ahead.value(), index_constant(steps))
        fetch(ahead, remainder(ahead.value(), stages), inside)
        return multiplier.step(rings[0], rings[1], remainder(step, stages), accumulators)

    if lead == steps:
        sums = multiplier.zeros()
        for number in range(steps):
            stage = index_constant(number)
            _await(group, steps - 1 - number, barriers, stage, shown)
            sums = multiplier.step(rings[0], rings[1], stage, sums)
        return sums
    sums = loop(0, steps, 1, multiplier.zeros(), body)
    if group is not None:
        wait(group, 0)
    return sums


def _await(group: ir.Value | None, pending: int, barriers: StageBarriers | None, step: ir.Value, shown: bool) -> None:
    """Until the tiles of a step are there for all threads, `pending` later ones still on their way; `shown` to the async proxy too."""
    if group is not None:
        wait(group, pending)
    if barriers is not None:
        barriers.wait(step)
    if shown:
        show_to_async_proxy()
    barrier()


def show_to_async_proxy() -> None:
    """Makes what this thread wrote to shared memory, by cp.async or by stores, visible to units that read it without the thread (wgmma).

    Both kinds of writes are of the generic proxy, wgmma reads through the async proxy, and a barrier orders the accesses of one proxy only.
    So each thread fences its own writes once they are there (after the wait, before the barrier), and whoever passes the barrier may read.
    The other way round needs none: a stage is written again only after wgmma.wait_group and another barrier.
    """
    kind, space = (ir.Attribute.parse(f"#nvvm.{text}") for text in ("proxy_kind<async.shared>", "shared_space<cta>"))
    create("nvvm.fence.proxy", kind=kind, space=space)
