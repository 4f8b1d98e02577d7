"""The frame of contractions by wgmma whose epilogue computes much: it runs in the shadow of the next tile's products.

    block → its tiles: its own number, and every so many blocks on
    for tile:  for step:  wait for the copies; barrier; start the copies of a later step, of this tile or the next; start the products;
                          a part of the epilogue of the tile before; wait for the products of the step before
               the sums to shared memory (the slab)
    the epilogue of the last tile

Accumulators are a thread's while the tensor cores add to them, so what the epilogue reads must be elsewhere: in shared memory, which it
passes through anyway (tile_results.py). There are as many blocks as multiprocessors, each with a multiprocessor's shared memory to itself.

Declined: operands that TMA does not fetch (tma.py), results that do not pass through shared memory, and so few steps that much of the
epilogue would fall to each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.target import TargetView

from ...common.control_flow import for_each, if_then, loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..support.emit import barrier, block_id, divide, remainder, thread_id
from ..support.launch import SWIZZLE_ALIGNMENT, OpenKernel, open_kernel
from ..support.layout import Layout
from .contraction import ContractionGroup
from .cp_async import TileShape
from .epilogue import EpilogueEmitter
from .pipeline import layout_of, tell
from .rings import Rings
from .tile_order import Place, Tiles
from .tile_results import Multiplier, TileResults
from .tma import BARRIER_BYTES, StageBarriers, TensorMapParameter, TmaCopy, tensor_map

_MOST_TURNS = 4
"""Vectors of each thread in one step."""


class Overlapping(Multiplier, Protocol):
    """A multiplier during whose steps the threads do something else."""

    def step(
        self, left: ir.Value, right: ir.Value, stage: ir.Value, accumulators: list[ir.Value], meanwhile: Callable[[], None] | None = None
    ) -> list[ir.Value]: ...


MakeOverlapping = Callable[[TileSchedule, tuple[TileShape, TileShape], ir.Value], Overlapping]


def try_overlap(
    contraction: ContractionGroup,
    schedule: TileSchedule,
    shapes: tuple[TileShape, TileShape],
    make_multiplier: MakeOverlapping,
    accumulators: Layout,
    target: TargetView,
) -> bool:
    """Emits the kernel of `contraction`, if it can be one; see emit_tiled."""
    operands = contraction.left, contraction.right
    maps = [tensor for each in zip(operands, shapes) if (tensor := tensor_map(contraction, *each)) is not None]
    results = TileResults(contraction, schedule, target.shared_bytes_per_block)
    steps = -(-contraction.inner.extent // schedule.depth)
    if len(maps) < len(operands) or not results.vector or results.turns > _MOST_TURNS * steps:
        return False
    tiles = Tiles.of(contraction, schedule, target)
    blocks = min(tiles.count, target.multiprocessors)
    kernel = open_kernel(contraction.function, blocks, schedule.threads, layout_of(schedule, accumulators, tiles), maps)
    tell(contraction.function, kernel, tiles, target)
    with kernel.body:
        _StayingBlock(contraction, tiles, shapes, kernel, results, maps, make_multiplier, blocks).run()
    return True


class _StayingBlock:
    """What a block does. Its steps are counted over all of its tiles."""

    def __init__(
        self,
        contraction: ContractionGroup,
        tiles: Tiles,
        shapes: tuple[TileShape, TileShape],
        kernel: OpenKernel,
        results: TileResults,
        maps: Sequence[TensorMapParameter],
        make_multiplier: MakeOverlapping,
        blocks: int,
    ):
        schedule = tiles.schedule
        self.tiles, self.schedule, self.results, self.blocks = tiles, schedule, results, blocks
        self.steps = -(-contraction.inner.extent // schedule.depth)
        self.thread, self.block = thread_id(), LinearIndex.of(block_id())
        rings = Rings(schedule.stages, shapes)
        room = rings.nbytes + results.staging_bytes
        arena = kernel.arena(room + BARRIER_BYTES * schedule.stages, SWIZZLE_ALIGNMENT)
        self.rings = rings.views(arena)
        self.slab = results.slab_in(arena, rings.nbytes)
        self.barriers = StageBarriers(arena, room, schedule.stages, len(maps), self.thread)
        self.copies = [
            TmaCopy(contraction, tensor, parameter, shape, (arena, at), self.barriers)
            for tensor, parameter, shape, at in zip(maps, kernel.maps, shapes, rings.places)
        ]
        self.multiplier = make_multiplier(schedule, shapes, self.thread)
        self.epilogue = EpilogueEmitter(contraction, kernel.buffers)
        self.own = divide((self.block * -1 + (self.tiles.count - 1 + blocks)).value(), blocks)
        self.last = arith.muli(self.own, index_constant(self.steps))

    def run(self) -> None:
        for ahead in range(self._lead):
            self._fetch(LinearIndex(constant=ahead))
        self._multiply(LinearIndex(), lambda step: None)
        for_each(1, self.own, 1, lambda tile: self._multiply(tile, self._finish_beside(tile + -1)))
        barrier()
        self.results.read_back(self.epilogue, self._place(LinearIndex.of(self.own) + -1), self.slab, self.thread)

    @property
    def _lead(self) -> int:
        return self.schedule.stages - 1 - self.schedule.in_flight

    def _place(self, tile: LinearIndex) -> Place:
        """Where the block's tile of that number is."""
        return self.tiles.place((self.block + tile * self.blocks).value())

    def _fetch(self, step: LinearIndex) -> None:
        """Starts the copies of a step, if there is one."""
        number = step.value()
        with if_then(arith.cmpi(CmpIPredicate.ult, number, self.last)):
            batch, row, col = self._place(LinearIndex.of(divide(number, self.steps)))
            inner = LinearIndex.of(remainder(number, self.steps)) * self.schedule.depth
            for copy, at in zip(self.copies, (row, col)):
                copy.fetch(batch, at, inner, remainder(number, self.schedule.stages))

    def _multiply(self, tile: LinearIndex, meanwhile: Callable[[LinearIndex], None]) -> None:
        """The sums of a tile to the slab; `meanwhile` emits what else is done at a step of it."""

        def body(index: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
            step = tile * self.steps + index
            self.barriers.wait(step.value())
            barrier()
            self._fetch(step + self._lead)
            stage = remainder(step.value(), self.schedule.stages)
            return self.multiplier.step(self.rings[0], self.rings[1], stage, sums, lambda: meanwhile(index))

        sums = self.multiplier.results(loop(0, self.steps, 1, self.multiplier.zeros(), body))
        barrier()
        self.results.keep(self.multiplier, sums, self.slab)

    def _finish_beside(self, tile: LinearIndex) -> Callable[[LinearIndex], None]:
        """A step's part of the epilogue of a tile whose sums are in the slab."""
        place, turns = self._place(tile), self.results.turns
        each = -(-turns // self.steps)

        def part(step: LinearIndex) -> None:
            for turn in (step * each + more for more in range(each)):
                inside = arith.cmpi(CmpIPredicate.ult, turn.value(), index_constant(turns)) if turns < self.steps * each else None
                with if_then(inside):
                    self.results.turn(turn, self.epilogue, place, self.slab, self.thread)

        return part
