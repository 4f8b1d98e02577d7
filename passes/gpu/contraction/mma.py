"""Contractions on tensor cores: ldmatrix and nvgpu.mma.sync on tiles that pipeline.py keeps in shared memory.

f16 and bf16 multiply as m16n8k16, f32 as tf32 (where the program allows it) as m16n8k8; all accumulate in f32 (operands of
a byte: mma_bytes.py). A warp holds
(16 * rows) x (8 * cols) results; a thread's part of each 16 x 8 is vector<2x2>: rows lane/4 and lane/4 + 8, columns 2 * (lane % 4)
and the next. Each operand may be contiguous along the inner loop or along its rows (columns): ldmatrix transposes; tf32 is read element
by element.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from torch_mlir import ir
from torch_mlir.dialects import vector

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.rewriting import value_of
from ...common.vectors import extract, from_elements, part, splat
from ...tiled.schedules.gpu_contraction import TileSchedule, tensor_core_schedule
from ..support.emit import divide, load, remainder
from ..support.layout import Factor, Layout
from .contraction import ContractionGroup
from .cp_async import TileShape, is_asynchronous, tile_shape
from .pipeline import emit_tiled
from .tile_results import Results, warp_places

FIRST_WITH_ASYNC_COPIES = 80
Fragment = TypeVar("Fragment")
"""What a lane holds of 16 rows or 8 columns."""


def accepts(contraction: ContractionGroup, target: TargetView) -> bool:
    """Whether the contraction's types are tensor-core types of the target."""
    if target.compute_capability < FIRST_WITH_ASYNC_COPIES or str(contraction.accumulator) != "f32":
        return False
    left, right = (str(operand.element) for operand in (contraction.left, contraction.right))
    if left != right:
        return False
    return left in ("f16", "bf16") or (left == "f32" and _allows_tf32(contraction.function))


def emit(contraction: ContractionGroup, target: TargetView) -> None:
    """The kernel of `contraction`."""
    element = contraction.left.element
    schedule = tensor_core_schedule(contraction.sizes, element_bytes(element), target)
    spread = 2 if isinstance(element, ir.F32Type) else 1
    rows, cols = (contraction.rows, contraction.inner), (contraction.cols, contraction.inner)
    left = tile_shape(contraction.left, rows, schedule.rows, schedule.depth, schedule.threads, spread)
    right = tile_shape(contraction.right, cols, schedule.cols, schedule.depth, schedule.threads, spread)
    layout = _accumulators(schedule)
    if isinstance(element, ir.F32Type):
        emit_tiled(contraction, schedule, (left, right), _Tf32, layout, target)
    else:
        asynchronous = is_asynchronous(contraction.left, left) and is_asynchronous(contraction.right, right)
        emit_tiled(contraction, schedule, (left, right), HalfWarp, layout, target, schedule.resident if asynchronous else 0)


def _accumulators(schedule: TileSchedule) -> Layout:
    """The mma's fragments of results, as a layout."""
    strip = schedule.rows // schedule.warp_rows, schedule.cols // schedule.warp_cols
    rows = Factor("w", schedule.warp_rows, schedule.warp_cols), Factor("r", strip[0] // 16), Factor("r", 2), Factor("l", 8, 4)
    cols = Factor("w", schedule.warp_cols), Factor("r", strip[1] // 8), Factor("l", 4), Factor("v", 2)
    return Layout((rows, cols))


def _allows_tf32(function: ir.Operation) -> bool:
    module = function.parent.operation
    return "hloom.allow_tf32" in function.attributes or "hloom.allow_tf32" in module.attributes


class Warp(Generic[Fragment]):
    """A warp's part of a block's tile: its origin, and the accumulators of its 16 x 8 pieces, row by row."""

    inner = 0
    """How far one mma runs along the inner loop."""

    def __init__(self, schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value):
        self.shapes, self.share = shapes, schedule.depth // schedule.warp_inner
        self.lane = remainder(thread, 32)
        self.warp_inner, warp_row, warp_col = warp_places(schedule, thread)
        warp_rows, warp_cols = schedule.rows // schedule.warp_rows, schedule.cols // schedule.warp_cols
        self.origins = LinearIndex.of(warp_row) * warp_rows, LinearIndex.of(warp_col) * warp_cols
        self.warp_row = warp_row
        self.pieces = warp_rows // 16, warp_cols // 8

    def zeros(self) -> list[ir.Value]:
        value = splat(ir.VectorType.get([2, 2], ir.F32Type.get()), 0)
        return [value] * (self.pieces[0] * self.pieces[1])

    def step(self, left: ir.Value, right: ir.Value, stage: ir.Value, accumulators: list[ir.Value]) -> list[ir.Value]:
        sums = list(accumulators)
        rows, cols = self.pieces
        steps = self.share // self.inner
        own = LinearIndex() if self.warp_inner is None else LinearIndex.of(self.warp_inner) * steps
        for number in (own + step for step in range(steps)):
            lefts = [self.left(left, stage, i, number) for i in range(rows)]
            rights = self.right(right, stage, number)
            for i in range(rows):
                for j in range(cols):
                    sums[i * cols + j] = self.multiply(lefts[i], rights[j], sums[i * cols + j])
        return sums

    def left(self, ring: ir.Value, stage: ir.Value, piece: int, number: int | LinearIndex) -> Fragment:
        """The fragment of 16 rows at `piece`, at step `number` along the tile's depth."""
        raise NotImplementedError

    def right(self, ring: ir.Value, stage: ir.Value, number: int | LinearIndex) -> list[Fragment]:
        """The fragments of all columns of the warp."""
        raise NotImplementedError

    def results(self, accumulators: list[ir.Value]) -> list[Results]:
        rows, cols = self.pieces
        row, col = LinearIndex.of(divide(self.lane, 4)), self.origins[1] + LinearIndex.of(remainder(self.lane, 4)) * 2
        return [
            Results(row + (16 * i + 8 * half), col + 8 * j, extract(accumulators[i * cols + j], half))
            for i in range(rows)
            for half in (0, 1)
            for j in range(cols)
        ]

    def multiply(self, left: Fragment, right: Fragment, total: ir.Value) -> ir.Value:
        """`total` and the product of two fragments."""
        raise NotImplementedError


class _Plain(Warp[ir.Value]):
    """Fragments are vectors, as nvgpu has them."""

    def multiply(self, left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
        i64 = ir.IntegerType.get_signless(64)
        attributes: dict[str, ir.Attribute] = {"mmaShape": ir.ArrayAttr.get([ir.IntegerAttr.get(i64, n) for n in (16, 8, self.inner)])}
        if self.inner == 8:
            attributes["tf32Enabled"] = ir.UnitAttr.get()
        return value_of("nvgpu.mma.sync", total.type, [left, right, total], **attributes)


class HalfWarp(_Plain):
    """f16 and bf16: fragments by ldmatrix, four 8 x 8 matrices at a time."""

    inner = 16

    def __init__(self, schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value):
        super().__init__(schedule, shapes, thread)
        self._line = remainder(self.lane, 8)
        self._second, self._fourth = remainder(divide(self.lane, 8), 2), divide(self.lane, 16)
        self._swizzles = [shape.swizzle(self._line) for shape in shapes]

    def left(self, ring: ir.Value, stage: ir.Value, piece: int, number: int | LinearIndex) -> ir.Value:
        return self._matrices(0, ring, stage, self.origins[0] + 16 * piece, number, self._second, self._fourth)

    def right(self, ring: ir.Value, stage: ir.Value, number: int | LinearIndex) -> list[ir.Value]:
        found = []
        for pair in range(self.pieces[1] // 2):
            both = self._matrices(1, ring, stage, self.origins[1] + 16 * pair, number, self._fourth, self._second)
            found += [part(both, 0, 2), part(both, 2, 2)]
        return found

    def _matrices(
        self,
        side: int,
        ring: ir.Value,
        stage: ir.Value,
        origin: LinearIndex,
        number: int | LinearIndex,
        next_free: ir.Value,
        next_inner: ir.Value,
    ) -> ir.Value:
        """16 rows (or columns) from `origin` x 16 of the inner loop; the lanes of `next_free` (`next_inner`) address the second eight."""
        shape = self.shapes[side]
        if shape.along_inner:
            line, chunk = origin + self._line + LinearIndex.of(next_free) * 8, LinearIndex.of(number) * 2 + next_inner
        else:
            line, chunk = LinearIndex.of(number) * 16 + self._line + LinearIndex.of(next_inner) * 8, _eighth(origin) + next_free
        position = shape.position(chunk.value(), self._swizzles[side])
        i32 = ir.IntegerType.get_signless(32)
        return value_of(
            "nvgpu.ldmatrix",
            ir.VectorType.get([4, 2], shape.element),
            [ring, stage, line.value(), position.value()],
            numTiles=ir.IntegerAttr.get(i32, 4),
            transpose=ir.BoolAttr.get(not shape.along_inner),
        )


class _Tf32(_Plain):
    """f32 operands, of which the tensor cores take the leading 19 bits."""

    inner = 8

    def __init__(self, schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value):
        super().__init__(schedule, shapes, thread)
        self._group, self._member = divide(self.lane, 4), remainder(self.lane, 4)

    def left(self, ring: ir.Value, stage: ir.Value, piece: int, number: int | LinearIndex) -> ir.Value:
        origin = self.origins[0] + 16 * piece
        return self._fragment(0, ring, stage, number, [(origin + 8 * i, 4 * k) for k in (0, 1) for i in (0, 1)])

    def right(self, ring: ir.Value, stage: ir.Value, number: int | LinearIndex) -> list[ir.Value]:
        return [self._fragment(1, ring, stage, number, [(self.origins[1] + 8 * j, 4 * k) for k in (0, 1)]) for j in range(self.pieces[1])]

    def _fragment(
        self, side: int, ring: ir.Value, stage: ir.Value, number: int | LinearIndex, corners: list[tuple[LinearIndex, int]]
    ) -> ir.Value:
        """One element for each corner (rows or columns, inner) of an 8 x 4 piece in step `number`."""
        shape, scalars = self.shapes[side], []
        for free, inner in corners:
            if shape.along_inner:
                line, chunk, within = free + self._group, LinearIndex.of(number) * 2 + inner // 4, self._member
                swizzle = shape.swizzle(self._group)
            else:
                line, within = LinearIndex.of(number) * 8 + self._member + inner, remainder(self._group, 4)
                chunk = _eighth(free) * 2 + divide(self._group, 4)
                swizzle = shape.swizzle((LinearIndex.of(self._member) + inner).value())
            position = shape.position(chunk.value(), swizzle) + within
            scalars.append(load(ring, [stage, line.value(), position.value()]))
        flat = from_elements(scalars)
        return vector.shape_cast(ir.VectorType.get([len(scalars), 1], shape.element), flat)


def _eighth(origin: LinearIndex) -> LinearIndex:
    """`origin` / 8; every term is a multiple."""
    return LinearIndex({value: coefficient // 8 for value, coefficient in origin.terms.items()}, origin.constant // 8)
