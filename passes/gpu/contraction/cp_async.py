"""Copies tiles of an operand from global to shared memory: cp.async through a ring of stages, 16-byte chunks swizzled.

A tile lies in shared memory as `stages x lines x length`, where a line runs along the direction in which the operand is contiguous in
global memory (the inner loop, or its rows or columns). Within a line the 16-byte chunks are permuted by an xor with the line's number, so
that eight lines read at one position fall into eight different groups of banks. Where lines must not be as long as the tile is wide, the
tile is cut into panels, one after the other. What lies outside the operand is filled with zeros.

Each copy moves as many elements as alignment and extents allow, 16 bytes at most. Below 4 bytes, which cp.async cannot do, and where the
operand is computed from its inputs (a prologue), it goes through registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes

from ...common.linear_index import LinearIndex
from ...common.rewriting import create, index_constant, value_of
from ...common.vectors import vector_of
from ..support.emit import all_of, barrier, choose, digits, divide, less_than, remainder, store
from .contraction import ContractionGroup, ElementAccess, LoopGroup, Operand
from .factors import read_stored
from .runs import Run

_CHUNK_BYTES = 16
_SMALLEST_COPY = 4


@dataclass(frozen=True)
class TileShape:
    """How a tile of an operand lies in shared memory. `free` elements along the operand's rows or columns, `depth` along the inner loop."""

    element: ir.Type
    free: int
    depth: int
    along_inner: bool
    width: int
    """Elements of one copy."""
    spread: int = 1
    """How many chunks neighbouring lines are apart after the swizzle."""
    longest: int = 0
    """The longest that a line may be; 0 is as long as the tile is wide."""
    in_pairs: bool = False
    """Whether two of every four lines are read together: 0 1 4 5 8 9 12 13, or 2 3 6 7 …"""

    @property
    def panel_lines(self) -> int:
        """Lines of one panel."""
        return self.free if self.along_inner else self.depth

    @property
    def panels(self) -> int:
        """Panels that the tile is cut into."""
        return self._width // self.length

    @property
    def lines(self) -> int:
        """Lines of all panels."""
        return self.panel_lines * self.panels

    @property
    def length(self) -> int:
        """Elements of a line."""
        return gcd(self._width, self.longest or self._width)

    @property
    def _width(self) -> int:
        return self.depth if self.along_inner else self.free

    @property
    def chunk(self) -> int:
        """Elements of the 16 bytes that the swizzle moves as one."""
        return _CHUNK_BYTES // element_bytes(self.element)

    def swizzle(self, line: ir.Value) -> ir.Value:
        """What the number of a chunk is xored with in this line; lines that differ by a multiple of 8 (16 where they go in pairs) agree."""
        chunks = self.length // self.chunk
        if chunks == 1:
            return index_constant(0)
        if self.in_pairs:
            line = arith.addi(arith.muli(divide(line, 4), index_constant(2)), remainder(line, 2))
        line = remainder(line, 8)
        if self.spread > 1:
            line = arith.muli(line, index_constant(self.spread))
        return remainder(divide(line, max(1, 8 // chunks)), min(8, chunks))

    def position(self, chunk: ir.Value, swizzle: ir.Value) -> LinearIndex:
        """Where in its line the chunk of that number begins."""
        return LinearIndex.of(arith.xori(chunk, swizzle)) * self.chunk


def tile_shape(
    operand: Operand, groups: tuple[LoopGroup, LoopGroup], free: int, depth: int, threads: int, spread: int = 1, longest: int = 0
) -> TileShape:
    """The layout that allows the widest copies, of which every thread makes as many; `groups` are the rows (columns) and the inner loop."""
    largest = _CHUNK_BYTES // element_bytes(operand.element)
    free_width, inner_width = (contiguous_width(operand.access, group, largest) for group in groups)
    along_inner, width = inner_width >= free_width, max(1, inner_width, free_width)
    while width > 1 and free * depth // width % threads:
        width //= 2
    return TileShape(operand.element, free, depth, along_inner, width, 1 if along_inner else spread, longest)


def is_asynchronous(operand: Operand, shape: TileShape) -> bool:
    """Whether the tiles are copied by cp.async, without registers."""
    return not operand.is_computed and shape.width * element_bytes(shape.element) >= _SMALLEST_COPY


def contiguous_width(access: ElementAccess, group: LoopGroup, largest: int) -> int:
    """How many elements along the group's last loop are one aligned piece of memory; 0 if they are not contiguous."""
    if group.last is None or access.index.coefficient(group.last) != 1:
        return 0
    width = access.index.without(group.last).alignment(largest)
    while group.last_extent % width:
        width //= 2
    return width


class TileCopy:
    """Copies the tiles of one operand; all threads of the block take part."""

    def __init__(
        self,
        contraction: ContractionGroup,
        operand: Operand,
        shape: TileShape,
        buffers: Sequence[ir.Value],
        ring: ir.Value,
        thread: ir.Value,
        threads: int,
    ):
        self.contraction, self.operand, self.shape, self.buffers, self.ring = contraction, operand, shape, buffers, ring
        self.is_left = operand is contraction.left
        self.free = contraction.rows if self.is_left else contraction.cols
        units = shape.length // shape.width
        self._count = shape.lines * units // threads
        if self._count * threads != shape.lines * units:
            raise ValueError(f"{threads} threads cannot share {shape.lines} lines of {units} copies")
        self._units, self._threads, self._thread = units, threads, thread
        self._line, self._unit = digits(thread, [0, units])

    def fetch(
        self, batch: LinearIndex, origin: LinearIndex, step: LinearIndex, stage: ir.Value, inside: ir.Value | None = None
    ) -> list[ir.Value]:
        """Starts the copy of the tile at `origin` (rows or columns) and `step` (inner) into `stage`; zeros where `inside` does not hold.

        Returns the tokens of the copies.
        """
        tokens = []
        for number in range(self._count):
            panel, line, unit = self._place(number)
            token = self._copy(batch, origin, step, stage, panel, line, unit, inside)
            tokens += [] if token is None else [token]
        return tokens

    def _place(self, number: int) -> tuple[LinearIndex, LinearIndex, ir.Value]:
        """The panel, its line and the unit that this thread copies in its `number`th turn."""
        panel_lines, at_once = self.shape.panel_lines, self._threads // self._units
        if self._threads % self._units == 0 and panel_lines % at_once == 0:
            panel, line = divmod(number * at_once, panel_lines)
            return LinearIndex(constant=panel), LinearIndex({self._line: 1}, line), self._unit
        place, unit = digits(LinearIndex({self._thread: 1}, number * self._threads).value(), [0, self._units])
        if self.shape.panels == 1:
            return LinearIndex(), LinearIndex.of(place), unit
        panel, line = digits(place, [0, panel_lines])
        return LinearIndex.of(panel), LinearIndex.of(line), unit

    def _copy(
        self,
        batch: LinearIndex,
        origin: LinearIndex,
        step: LinearIndex,
        stage: ir.Value,
        panel: LinearIndex,
        line: LinearIndex,
        unit: ir.Value,
        inside: ir.Value | None,
    ) -> ir.Value | None:
        shape, width = self.shape, self.shape.width
        along = panel * shape.length + LinearIndex.of(unit) * width
        free, inner = (origin + line, step + along) if shape.along_inner else (origin + along, step + line)
        valid = all_of([*self._bounds(free, inner), *([inside] if inside is not None else [])])
        rows, cols = (free, LinearIndex()) if self.is_left else (LinearIndex(), free)
        loops = self.contraction.loops_at(batch, rows, cols, inner)
        per_chunk = shape.chunk // width
        chunk, within = digits(unit, [0, per_chunk])
        position = shape.position(chunk, shape.swizzle(line.value())) + LinearIndex.of(within) * width
        target = [stage, (panel * shape.panel_lines + line).value(), position.value()]
        if is_asynchronous(self.operand, shape):
            access = self.operand.access
            return async_copy(self.buffers[access.buffer], access.index.at(loops).value(), self.ring, target, width, valid)
        run = Run(loops, (self.contraction.inner if shape.along_inner else self.free).last, width)
        kind = shape.element if width == 1 else vector_of(width, shape.element)
        (value,) = choose(valid, [kind], lambda: [read_stored(self.operand, self.buffers, run)])
        store(value, self.ring, target)
        return None

    def _bounds(self, free: LinearIndex, inner: LinearIndex) -> list[ir.Value]:
        conditions = []
        if self.free.extent % self.shape.free:
            conditions.append(less_than(free, self.free.extent))
        if self.contraction.inner.extent % self.shape.depth:
            conditions.append(less_than(inner, self.contraction.inner.extent))
        return conditions


def commit(tokens: Sequence[ir.Value]) -> ir.Value:
    """Makes one group of the copies started since the last."""
    return value_of("nvgpu.device_async_create_group", _token_type(), list(tokens))


def wait(group: ir.Value, pending: int) -> None:
    """Waits until at most `pending` groups are under way."""
    create("nvgpu.device_async_wait", [], [group], numGroups=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), pending))


def share_copies(group: ir.Value | None) -> None:
    """Waits for all copies under way, if there are any, and for all threads of the block: all see what was copied, and may overwrite what
    was read before."""
    if group is not None:
        wait(group, 0)
    barrier()


def _token_type() -> ir.Type:
    return ir.Type.parse("!nvgpu.device.async.token")


def async_copy(
    source: ir.Value, at: ir.Value, target: ir.Value, indices: Sequence[ir.Value], width: int, valid: ir.Value | None
) -> ir.Value:
    """Starts the copy of so many elements, 4 to 16 bytes, and returns its token; zeros where `valid` does not hold."""
    count = []
    if valid is not None:
        count = [arith.select(valid, index_constant(width), index_constant(0))]
    element = ir.MemRefType(source.type).element_type
    attributes = {
        "dstElements": ir.IntegerAttr.get(ir.IndexType.get(), width),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, len(indices), 1, 1, len(count)]),
    }
    if width * element_bytes(element) == _CHUNK_BYTES:
        attributes["bypassL1"] = ir.UnitAttr.get()
    return value_of("nvgpu.device_async_copy", _token_type(), [target, *indices, source, at, *count], **attributes)
