"""Tiles fetched by the tensor memory accelerator (TMA): one thread asks for a box of a tensor, and an mbarrier tells when it is there.

    tensor map    what a launch says of an argument: extents, strides, the box and its swizzle; a parameter of the kernel of its own
    a stage       thread 0: mbarrier.arrive.expect_tx with the bytes to come, tma.async.load of each panel
                  all threads: mbarrier.try_wait.parity, the parity changing each time the ring comes round

What lies outside the tensor is filled with zeros, so that tiles need no masks. The dimensions of a tensor map are the loops of the batch,
then those of the tile's lines and of what runs along them; a slice is a map that begins later.

TMA writes through the async proxy, through which wgmma reads: no fence stands between them.

Several loops make up the rows (heads that share keys, beside the tokens) where a tile has all of the inner ones.

Declined (no tensor map): operands that are computed, of several loops along what runs along the lines or the inner loop (convolutions),
whose lines are no multiples of 16 bytes apart, and more than five dimensions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, memref
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes

from ...common.control_flow import if_then
from ...common.linear_index import LinearIndex
from ...common.rewriting import create, i64_array, index_constant, value_of
from ..support.emit import WORKGROUP, barrier, divide, remainder
from .contraction import ContractionGroup, Operand
from .cp_async import TileShape

_MOST_DIMENSIONS = 5
_ALIGNMENT = 16
_LARGEST_BOX = 256
_LARGEST_EXTENT = 1 << 32
BARRIER_BYTES = 8
_BOTH_BLOCKS = 0b11
_TICKS = 10_000_000
"""How long one try of a wait may last; it is tried until it succeeds."""


@dataclass(frozen=True)
class TensorMapParameter:
    """A tensor within a buffer of the kernel, and the box of it that one copy moves; dimensions outermost first."""

    buffer: int
    offset: int
    """The bytes before its first element."""
    batch: tuple[int, ...]
    """The batch's loops, the first dimensions."""
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes."""
    box: tuple[int, ...]
    element: ir.Type

    @property
    def box_bytes(self) -> int:
        return prod(self.box) * element_bytes(self.element)

    @property
    def within(self) -> tuple[int, ...]:
        """The extents of the lines' inner loops, of which a box has all."""
        return self.box[len(self.batch) + 1 : -1]

    @property
    def box_type(self) -> ir.Type:
        return ir.Type.parse(f"memref<{'x'.join(map(str, self.box))}x{self.element}, {WORKGROUP}>")

    @property
    def type(self) -> ir.Type:
        """The type of the kernel's parameter."""
        swizzle = f"swizzle_{self.box[-1] * element_bytes(self.element)}b"
        more = f"swizzle = {swizzle}, l2promo = l2promo_128b, oob = zero, interleave = none"
        return ir.Type.parse(f"!nvgpu.tensormap.descriptor<tensor = {self.box_type}, {more}>")

    @property
    def attribute(self) -> ir.DictAttr:
        """What the type does not say, for the launch."""
        i64 = ir.IntegerType.get_signless(64)
        numbers = {"argument": self.buffer, "offset": self.offset}
        lists = {"extents": self.extents, "strides": self.strides}
        return ir.DictAttr.get({k: ir.IntegerAttr.get(i64, v) for k, v in numbers.items()} | {k: i64_array(v) for k, v in lists.items()})


def box_of(kind: ir.Type) -> tuple[ir.MemRefType, int]:
    """The box that a parameter of type !nvgpu.tensormap.descriptor names, and its swizzle in bytes."""
    found = re.search(r"tensor = (memref<.*>), swizzle = swizzle_(\d+)b", str(kind))
    assert found is not None
    return ir.MemRefType(ir.Type.parse(found[1], kind.context)), int(found[2])


def tensor_map(contraction: ContractionGroup, operand: Operand, shape: TileShape) -> TensorMapParameter | None:
    """The operand as TMA fetches its tiles of that shape, or None."""
    free = contraction.rows if operand is contraction.left else contraction.cols
    if operand.is_computed or not free.loops or len(contraction.inner.loops) != 1:
        return None
    index, nbytes = operand.access.index, element_bytes(operand.element)
    batch = tuple(loop for loop, _ in contraction.batch.loops if index.coefficient(loop))
    line, along = (free, contraction.inner) if shape.along_inner else (contraction.inner, free)
    (_, *within), (*outside, (innermost, _)) = (extent for _, extent in line.loops), along.loops
    if outside or shape.panel_lines % prod(within):
        return None
    sizes = dict([*contraction.batch.loops, *line.loops, *along.loops])
    loops = [*batch, *(loop for loop, _ in line.loops), innermost]
    extents = tuple(sizes[loop] for loop in loops)
    strides = tuple(index.coefficient(loop) * nbytes for loop in loops)
    box = (*[1] * len(batch), shape.panel_lines // prod(within), *within, shape.length)
    fits = (
        len(loops) <= _MOST_DIMENSIONS
        and strides[-1] == nbytes
        and all(stride > 0 and stride % _ALIGNMENT == 0 for stride in strides[:-1])
        and index.constant >= 0
        and index.constant * nbytes % _ALIGNMENT == 0
        and max(box) <= _LARGEST_BOX
        and max(extents) <= _LARGEST_EXTENT
    )
    return (
        TensorMapParameter(operand.access.buffer, index.constant * nbytes, batch, extents, strides, box, operand.element) if fits else None
    )


class StageBarriers:
    """An mbarrier for each stage of a ring, in shared memory at a byte offset of the arena."""

    def __init__(self, arena: ir.Value, offset: int, stages: int, arrivals: int, thread: ir.Value, leader: int = 0):
        """So many arrive at each in a turn: where copies do, thread `leader` for each operand."""
        self.stages = stages
        words = ir.Type.parse(f"memref<{stages}xi64, {WORKGROUP}>")
        self._type = ir.Type.parse(f"!nvgpu.mbarrier.group<memorySpace = {WORKGROUP}, num_barriers = {stages}>")
        place = memref.view(words, arena, index_constant(offset), [])
        self._words = place
        self.group = value_of("builtin.unrealized_conversion_cast", self._type, [place])
        self.leader = arith.cmpi(CmpIPredicate.eq, thread, index_constant(leader))
        for stage in range(stages):
            create("nvgpu.mbarrier.init", [], [self.group, index_constant(arrivals), index_constant(stage), self.leader])
        # TMA counts down what the leader has just written: it must see that before the first copy.
        create("nvvm.fence.mbarrier.init")
        barrier()

    def wait(self, step: ir.Value, before: bool = False) -> None:
        """Until all have arrived for a step; or `before` it: for the step whose stage it takes, if there was one."""
        stage, odd = remainder(step, self.stages), remainder(divide(step, self.stages), 2)
        parity = arith.cmpi(CmpIPredicate.eq if before else CmpIPredicate.ne, odd, index_constant(0))
        create("nvgpu.mbarrier.try_wait.parity", [], [self.group, parity, index_constant(_TICKS), stage])

    def arrive(self, step: ir.Value) -> None:
        """This thread does."""
        token = ir.Type.parse(f"!nvgpu.mbarrier.token<memorySpace = {WORKGROUP}>")
        value_of("nvgpu.mbarrier.arrive", token, [self.group, remainder(step, self.stages)])

    def arrive_at(self, step: ir.Value, rank: ir.Value) -> None:
        """This thread does, at the barrier of the block of that rank (i32) in the cluster."""
        i64 = ir.IntegerType.get_signless(64)
        first = LinearIndex.of(memref.extract_aligned_pointer_as_index(self._words))
        address = (first + LinearIndex.of(remainder(step, self.stages)) * BARRIER_BYTES).value()
        own, other = (ir.Type.parse(f"!llvm.ptr<{space}>") for space in (3, 7))
        place = value_of("llvm.inttoptr", own, [arith.index_cast(i64, address)])
        scope = ir.Attribute.parse("#nvvm.mem_scope<cluster>")
        create("nvvm.mbarrier.arrive", [], [value_of("nvvm.mapa", other, [place, rank])], scope=scope)


class TmaCopy:
    """Copies the tiles of one operand, as cp_async.TileCopy does; thread 0 asks for them."""

    def __init__(
        self,
        contraction: ContractionGroup,
        tensor: TensorMapParameter,
        parameter: ir.Value,
        shape: TileShape,
        place: tuple[ir.Value, int],
        barriers: StageBarriers,
    ):
        """`place`: the arena, and at what byte the operand's ring begins."""
        self.contraction, self.tensor, self.parameter, self.shape = contraction, tensor, parameter, shape
        self.arena, self.offset = place
        self.barriers = barriers
        create("nvgpu.tma.prefetch.descriptor", [], [parameter, barriers.leader])

    def fetch(
        self,
        batch: LinearIndex,
        origin: LinearIndex,
        step: LinearIndex,
        stage: ir.Value,
        inside: ir.Value | None = None,
        for_all: ir.Value | None = None,
    ) -> list[ir.Value]:
        """Starts the copy of the tile at `origin` (rows or columns) and `step` (inner) into `stage`, where `inside` holds.

        Where `for_all` is given, the block for which it holds copies for both blocks of a cluster, to the same place.

        That is a branch and no part of the predicate: where LLVM knows it, the predicate would be a constant, which PTX does not take.
        """
        with if_then(inside):
            nbytes = index_constant(self.shape.panels * self.tensor.box_bytes)
            create("nvgpu.mbarrier.arrive.expect_tx", [], [self.barriers.group, nbytes, stage, self.barriers.leader])
            with if_then(for_all):
                self._copy(batch, origin, step, stage, for_all is not None)
        return []

    def _copy(self, batch: LinearIndex, origin: LinearIndex, step: LinearIndex, stage: ir.Value, for_all: bool) -> None:
        shape, tensor, barriers = self.shape, self.tensor, self.barriers
        blocks = [arith.constant(ir.IntegerType.get_signless(16), _BOTH_BLOCKS)] if for_all else []
        loops = self.contraction.loops_at(batch, 0, 0)
        line, along = (origin, step) if shape.along_inner else (step, origin)
        zeros = [LinearIndex() for _ in tensor.within]
        if zeros:
            line = LinearIndex.of(divide(line.value(), prod(tensor.within)))
        for panel in range(shape.panels):
            innermost_first = [along + panel * shape.length, *zeros, line, *(loops[loop] for loop in reversed(tensor.batch))]
            coordinates = [place.value() for place in innermost_first]
            offset = LinearIndex.of(stage) * (shape.panels * tensor.box_bytes) + (self.offset + panel * tensor.box_bytes)
            target = memref.view(tensor.box_type, self.arena, offset.value(), [])
            segments = ir.DenseI32ArrayAttr.get([1, 1, 1, len(coordinates), 1, len(blocks), 1])
            operands = [target, barriers.group, self.parameter, *coordinates, stage, *blocks, barriers.leader]
            create("nvgpu.tma.async.load", [], operands, operandSegmentSizes=segments)
