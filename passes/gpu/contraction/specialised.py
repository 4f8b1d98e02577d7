"""The frame of contractions by wgmma whose warps have roles: one fetches, the warp groups multiply.

    block → its tiles: its own number, and every so many blocks on
    two warp groups                                     a warp more, the producer
      for tile, step:                                     for tile, step:
        wait until the stage is full                        wait until the stage is empty
        start the products                                  start its copies
        wait for those of the step before
        that one's stage is empty
      the epilogue, on registers

No barrier holds the warps together: the producer runs ahead by as many steps as there are stages, over the end of a tile too, so that the
first stages of the next are there when an epilogue ends. Two mbarriers a stage tell: at `full` the copies arrive, at `empty` each warp that
multiplies. There are as many blocks as multiprocessors.

A scheduler has three of the nine warps, so a thread has 168 registers; nvJitLink ignores setmaxnreg (C7504), and none go from role to role.

Nothing is staged in shared memory, which the rings fill: lanes that are neighbours exchange halves of two pieces of 8 columns, so that each
has four columns of one, and a row's part of a store is 32 bytes of f16.

In a cluster of two blocks, whose tiles lie side by side, one operand is the same for both: of its steps each block fetches every other one,
for both, to the same place. A stage is empty then when the warps of both blocks have read it; what is full each block knows of its own.

Declined: operands that TMA does not fetch (tma.py), and epilogues that compute much (overlapped.py runs them beside the products);
clusters where the rows (columns) of tiles are odd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, gpu
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.target import TargetView

from ...common.control_flow import if_else, if_then, loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import create, index_constant, value_of
from ...common.vectors import elements, from_elements
from ...tiled.schedules.gpu_contraction import PRODUCER_THREADS, TileSchedule
from ..support.emit import WARP, all_of, block_id, divide, remainder, shuffle, thread_id
from ..support.launch import SWIZZLE_ALIGNMENT, OpenKernel, open_kernel
from ..support.layout import Layout
from ..support.registers import held
from .contraction import ContractionGroup
from .cp_async import TileShape
from .epilogue import EpilogueEmitter
from .pipeline import MakeMultiplier, layout_of, tell
from .rings import Rings
from .tile_order import Place, Tiles
from .tile_results import Results, TileResults
from .tma import BARRIER_BYTES, StageBarriers, TensorMapParameter, TmaCopy, tensor_map


def try_specialise(
    contraction: ContractionGroup,
    schedule: TileSchedule,
    shapes: tuple[TileShape, TileShape],
    make_multiplier: MakeMultiplier,
    accumulators: Layout,
    target: TargetView,
) -> bool:
    """Emits the kernel of `contraction`, if it can be one; see emit_tiled."""
    operands = contraction.left, contraction.right
    maps = [tensor for each in zip(operands, shapes) if (tensor := tensor_map(contraction, *each)) is not None]
    if len(maps) < len(operands):
        return False
    tiles, together = Tiles.of(contraction, schedule, target), schedule.cluster_blocks
    blocks = together * min(tiles.count, target.multiprocessors // together)
    layout = layout_of(schedule, accumulators, tiles) | {"producer": 1}
    kernel = open_kernel(contraction.function, blocks, schedule.threads + PRODUCER_THREADS, layout, maps)
    if together > 1:
        kernel.op.attributes["known_cluster_size"] = ir.DenseI32ArrayAttr.get([together, 1, 1])
    tell(contraction.function, kernel, tiles, target, producer=True)
    with kernel.body:
        _Roles(contraction, tiles, shapes, kernel, maps, make_multiplier, blocks).run()
    return True


class _Roles:
    """What the warps of a block do. Steps are counted over all of its tiles, up to twice the stages: that tells a stage and its parity, and
    takes one register."""

    def __init__(
        self,
        contraction: ContractionGroup,
        tiles: Tiles,
        shapes: tuple[TileShape, TileShape],
        kernel: OpenKernel,
        maps: Sequence[TensorMapParameter],
        make_multiplier: MakeMultiplier,
        blocks: int,
    ):
        self.tiles, self.schedule, self.blocks = tiles, tiles.schedule, blocks
        self.steps = -(-contraction.inner.extent // self.schedule.depth)
        self.thread = thread_id()
        stages, first = self.schedule.stages, self.schedule.threads
        rings = Rings(stages, shapes)
        room = rings.nbytes
        arena = kernel.arena(room + 2 * BARRIER_BYTES * stages, SWIZZLE_ALIGNMENT)
        self.rings = rings.views(arena)
        arrivals = self.schedule.warps * self.schedule.cluster_blocks
        self.empty = StageBarriers(arena, room + BARRIER_BYTES * stages, stages, arrivals, self.thread, first)
        self.full = StageBarriers(arena, room, stages, len(maps), self.thread, first)
        self.rank = self._enter_cluster() if self.schedule.cluster_blocks > 1 else None
        self.copies = [
            TmaCopy(contraction, tensor, parameter, shape, (arena, at), self.full)
            for tensor, parameter, shape, at in zip(maps, kernel.maps, shapes, rings.places)
        ]
        self.make_multiplier = lambda thread: make_multiplier(self.schedule, shapes, thread)
        self.multiplier = self.make_multiplier(self.thread)
        self.results, self.epilogue = TileResults(contraction, self.schedule, 0, staged=False), EpilogueEmitter(contraction, kernel.buffers)
        self.lane = remainder(self.thread, WARP)

    def run(self) -> None:
        def role(each: Callable[[LinearIndex, ir.Value], ir.Value]) -> list[ir.Value]:
            def body(tile: LinearIndex, turn: list[ir.Value]) -> list[ir.Value]:
                return [each(tile, turn[0])]

            together = self.schedule.cluster_blocks
            loop(divide(block_id(), together), self.tiles.count, self.blocks // together, [index_constant(0)], body)
            return []

        # From lane 0, so that the assembler knows that it is the same for the warp: a branch that parts threads would take registers.
        i32 = ir.IntegerType.get_signless(32)
        warp = shuffle(arith.index_cast(i32, divide(self.thread, WARP)), 0, gpu.ShuffleMode.IDX)
        multiplies = arith.cmpi(CmpIPredicate.ult, warp, arith.constant(i32, self.schedule.warps))
        if_else(multiplies, [], lambda: role(self._multiply), lambda: role(self._fetch))
        if self.rank is not None:
            _meet()  # what the other block has still to write here, copies and arrivals, it has written

    def _enter_cluster(self) -> ir.Value:
        """The block's rank (i32), as soon as the other's mbarriers are there too."""
        _meet()
        return value_of("nvvm.read.ptx.sreg.cluster.ctarank", ir.IntegerType.get_signless(32), [])

    def _place(self, tile: ir.Value) -> Place:
        """Where the block's own tile is."""
        batch, row, col = self.tiles.place(tile)
        if self.rank is None:
            return batch, row, col
        rank, (along_rows, along_cols) = LinearIndex.of(self._rank_index()), self.schedule.cluster
        return batch, row + rank * (self.schedule.rows * (along_rows - 1)), col + rank * (self.schedule.cols * (along_cols - 1))

    def _rank_index(self) -> ir.Value:
        assert self.rank is not None
        return arith.index_castui(ir.IndexType.get(), self.rank)

    def _fetch(self, tile: LinearIndex, turn: ir.Value) -> ir.Value:
        batch, row, col = self._place(tile.value())
        shared = 1 if self.schedule.cluster[0] > 1 else 0

        def body(index: LinearIndex, turns: list[ir.Value]) -> list[ir.Value]:
            (turn,) = turns
            self.empty.wait(turn, before=True)
            mine = None if self.rank is None else arith.cmpi(CmpIPredicate.eq, remainder(index.value(), 2), self._rank_index())
            for number, (copy, at) in enumerate(zip(self.copies, (row, col))):
                for_all = mine if number == shared else None
                copy.fetch(batch, at, index * self.schedule.depth, remainder(turn, self.schedule.stages), for_all=for_all)
            return [self._after(turn)]

        return loop(0, self.steps, 1, [turn], body)[0]

    def _multiply(self, tile: LinearIndex, turn: ir.Value) -> ir.Value:
        leads = arith.cmpi(CmpIPredicate.eq, self.lane, index_constant(0))

        def body(index: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            turn, *sums = carried
            self.full.wait(turn)
            sums = self.multiplier.step(self.rings[0], self.rings[1], remainder(turn, self.schedule.stages), sums)
            follows = arith.cmpi(CmpIPredicate.ne, index.value(), index_constant(0))
            with if_then(all_of([leads, follows])):
                self._release(self._before(turn))
            return [self._after(turn), *sums]

        turn, *sums = loop(0, self.steps, 1, [turn, *self.multiplier.zeros()], body)
        thread, number = _once_more(self.thread, tile.value())
        multiplier = self.make_multiplier(thread)
        found = multiplier.results(sums)
        with if_then(leads):
            self._release(self._before(turn))
        self.results.store(self.epilogue, multiplier, _joined(found, remainder(thread, WARP)), self._place(number))
        return turn

    def _release(self, turn: ir.Value) -> None:
        """The stage is empty, for the producers of both blocks of a cluster."""
        self.empty.arrive(turn)
        if self.rank is not None:
            self.empty.arrive_at(turn, arith.xori(self.rank, arith.constant(self.rank.type, 1)))

    def _after(self, turn: ir.Value) -> ir.Value:
        return remainder((LinearIndex.of(turn) + 1).value(), 2 * self.schedule.stages)

    def _before(self, turn: ir.Value) -> ir.Value:
        return remainder((LinearIndex.of(turn) + (2 * self.schedule.stages - 1)).value(), 2 * self.schedule.stages)


def _meet() -> None:
    """All threads of both blocks of a cluster do."""
    create("nvvm.cluster.arrive")
    create("nvvm.cluster.wait")


def _once_more(*indices: ir.Value) -> list[ir.Value]:
    """Numbers of which LLVM does not know what they are: what an epilogue makes of a thread's would be made before all tiles, and take
    registers that the products need."""
    i32 = ir.IntegerType.get_signless(32)
    numbers = held([arith.index_cast(i32, index) for index in indices])
    return [arith.index_castui(ir.IndexType.get(), number) for number in numbers]


def _joined(results: Sequence[Results], lane: ir.Value) -> Iterator[Results]:
    """Four neighbours a thread for two: of each two pieces of 8 columns even lanes have the first, and odd ones the second. Both rows of a
    piece follow each other: what depends on the columns alone is read once, and not kept. Emitted as they are asked for."""
    odd = arith.cmpi(CmpIPredicate.ne, remainder(lane, 2), index_constant(0))
    first = LinearIndex.of(remainder(lane, 2)) * 8 + LinearIndex.of(divide(remainder(lane, 4), 2)) * 4
    half = len(results) // 2
    for piece in range(0, half, 2):
        for one, other in (results[at : at + 2] for at in (piece, half + piece)):
            kept, given = arith.select(odd, other.values, one.values), arith.select(odd, one.values, other.values)
            got = shuffle(given, 1)
            low, high = arith.select(odd, got, kept), arith.select(odd, kept, got)
            yield Results(one.row, first + 8 * piece, from_elements([*elements(low), *elements(high)]))
