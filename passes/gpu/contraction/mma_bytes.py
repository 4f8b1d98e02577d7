"""Contractions of bytes on tensor cores, by mma.sync m16n8k32: integers, signed or not, summed in i32, where sums wrap; and from sm_89 on
floats, f8E4M3FN and f8E5M2 in any pair, summed in f32.

Fragments are those of mma.py with four bytes where that has two halves, so an operand that is contiguous along the inner loop comes by the
same ldmatrix. ldmatrix transposes no bytes. An operand that is contiguous along its rows (columns) is read as pairs of neighbours:

    ldmatrix, transposed, of lines k = 0 1 4 5 8 9 12 13     lane (g, t) has (2g, 2g + 1) at k = 4t and 4t + 1
    the same of lines k = 2 3 6 7 10 11 14 15                                              4t + 2 and 4t + 3
    two permutations of bytes                                2g at k = 4t … 4t + 3, and 2g + 1 there

The fragments then hold row (column) 2g + i where those of mma.py hold g + 8i: only where the results lie changes. Four neighbours along
the columns are in one thread.

Declined: sums in other types, operands that are no extension of a byte, integers before sm_80, floats before sm_89.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from hloom.dialects.target import TargetView

from ...common.byte_floats import MULTIPLIED, sees_float
from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, value_of
from ...common.vectors import extract, from_elements, splat, vector_of
from ...tiled.schedules.gpu_contraction import TileSchedule, tensor_core_schedule
from ..support.emit import WORKGROUP, divide, remainder
from ..support.layout import Factor, Layout
from .contraction import ContractionGroup, Operand
from .cp_async import TileShape, is_asynchronous, tile_shape
from .mma import FIRST_WITH_ASYNC_COPIES, Warp
from .pipeline import emit_tiled
from .tile_results import Results

_INTEGERS = {"arith.extsi": "s8", "arith.extui": "u8"}
_UNIT = 16
"""Bytes of what the swizzle moves as one."""


def multiplicands(contraction: ContractionGroup, target: TargetView) -> tuple[str, str] | None:
    """What PTX calls the elements of the left and the right operand; None where the target does not multiply them."""
    if target.compute_capability < FIRST_WITH_ASYNC_COPIES:
        return None
    left, right = (_multiplicand(operand, str(contraction.accumulator)) for operand in (contraction.left, contraction.right))
    is_float = str(contraction.accumulator) == "f32"
    return None if left is None or right is None or (is_float and not target.multiplies_f8) else (left, right)


def _multiplicand(operand: Operand, accumulator: str) -> str | None:
    if operand.widening is None or accumulator not in ("i32", "f32"):
        return None
    if accumulator == "f32":
        return MULTIPLIED.get(str(operand.element))
    return _INTEGERS.get(operand.widening.name) if str(operand.element) == "i8" else None


def as_bytes(operand: Operand) -> Operand:
    """An operand of floats as their codes."""
    view = defining_op(operand.stored) if operand.ops else None
    if view is None or not sees_float(view):
        return operand
    return replace(operand, value=view.operands[0], ops=tuple(op for op in operand.ops if op not in (view, operand.widening)))


def try_emit(contraction: ContractionGroup, target: TargetView) -> bool:
    """Emits the kernel of `contraction`, if it can be one."""
    kinds = multiplicands(contraction, target)
    if kinds is None:
        return False
    contraction = replace(contraction, left=as_bytes(contraction.left), right=as_bytes(contraction.right))
    schedule = tensor_core_schedule(contraction.sizes, 1, target)
    sides = (contraction.left, contraction.rows, schedule.rows), (contraction.right, contraction.cols, schedule.cols)
    found = [tile_shape(side, (group, contraction.inner), free, schedule.depth, schedule.threads) for side, group, free in sides]
    left, right = (replace(shape, in_pairs=not shape.along_inner) for shape in found)

    def multiplier(schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value) -> _Bytes:
        return _Bytes(schedule, shapes, thread, kinds, contraction.accumulator)

    asynchronous = is_asynchronous(contraction.left, left) and is_asynchronous(contraction.right, right)
    resident = schedule.resident if asynchronous else 0
    emit_tiled(contraction, schedule, (left, right), multiplier, _accumulators(schedule, left, right), target, resident)
    return True


def _accumulators(schedule: TileSchedule, left: TileShape, right: TileShape) -> Layout:
    """The mma's fragments of results, as a layout."""
    strip = schedule.rows // schedule.warp_rows, schedule.cols // schedule.warp_cols
    halves, groups = Factor("r", 2), Factor("l", 8, 4)
    rows = (halves, groups) if left.along_inner else (groups, halves)
    cols = (Factor("r", 2), Factor("l", 4), Factor("v", 2)) if right.along_inner else (Factor("l", 4), Factor("v", 4))
    warps = Factor("w", schedule.warp_rows, schedule.warp_cols), Factor("w", schedule.warp_cols)
    return Layout(((warps[0], Factor("r", strip[0] // 16), *rows), (warps[1], Factor("r", strip[1] // 16), *cols)))


class _Bytes(Warp[list[ir.Value]]):
    """Accumulators are vectors of four: both columns of the first row, then of the second."""

    inner = 32

    def __init__(
        self,
        schedule: TileSchedule,
        shapes: tuple[TileShape, TileShape],
        thread: ir.Value,
        kinds: tuple[str, str],
        accumulator: ir.Type,
    ):
        super().__init__(schedule, shapes, thread)
        self._accumulator = accumulator
        self._line = remainder(self.lane, 8)
        self._second, self._fourth = remainder(divide(self.lane, 8), 2), divide(self.lane, 16)
        # of the lines 0 1 4 5 8 9 12 13, the one that this lane gives the address of; two more for lanes of the second eight
        pair = LinearIndex.of(divide(self._line, 2)) * 4 + LinearIndex.of(remainder(self._line, 2))
        self._paired = pair + LinearIndex.of(self._second) * 2
        lines = (self._line if shape.along_inner else self._paired.value() for shape in shapes)
        self._swizzles = [shape.swizzle(line) for shape, line in zip(shapes, lines)]
        self._instruction = {
            "shape": "#nvvm.shape<m = 16, n = 8, k = 32>",
            "multiplicandAPtxType": f"#nvvm.mma_type<{kinds[0]}>",
            "multiplicandBPtxType": f"#nvvm.mma_type<{kinds[1]}>",
            "layoutA": "#nvvm.mma_layout<row>",
            "layoutB": "#nvvm.mma_layout<col>",
        }
        if isinstance(accumulator, ir.IntegerType):
            self._instruction["intOverflowBehavior"] = "#nvvm.mma_int_overflow<wrapped>"

    def zeros(self) -> list[ir.Value]:
        return [splat(vector_of(4, self._accumulator), 0)] * (self.pieces[0] * self.pieces[1])

    def left(self, ring: ir.Value, stage: ir.Value, piece: int, number: int | LinearIndex) -> list[ir.Value]:
        origin = self.origins[0] + 16 * piece
        if self.shapes[0].along_inner:
            return self._lines(0, ring, stage, origin, number, self._second, self._fourth)
        (even, odd), (later_even, later_odd) = self._pairs(0, ring, stage, origin, number)
        return [even, odd, later_even, later_odd]

    def right(self, ring: ir.Value, stage: ir.Value, number: int | LinearIndex) -> list[list[ir.Value]]:
        found = []
        for piece in range(0, self.pieces[1], 2):
            origin = self.origins[1] + 8 * piece
            if self.shapes[1].along_inner:
                registers = self._lines(1, ring, stage, origin, number, self._fourth, self._second)
                found += [registers[:2], registers[2:]]
            else:
                found += [list(each) for each in zip(*self._pairs(1, ring, stage, origin, number))]
        return found

    def _lines(
        self,
        side: int,
        ring: ir.Value,
        stage: ir.Value,
        origin: LinearIndex,
        number: int | LinearIndex,
        next_free: ir.Value,
        next_inner: ir.Value,
    ) -> list[ir.Value]:
        """Registers of 16 rows (or columns) from `origin` x 32 of the inner loop, of which one line each lies in a row."""
        line, chunk = origin + self._line + LinearIndex.of(next_free) * 8, LinearIndex.of(number) * 2 + next_inner
        matrices = self._matrices(side, _viewed(ring, 32), stage, line, chunk, False)
        return [extract(extract(matrices, i), 0) for i in range(4)]

    def _pairs(
        self, side: int, ring: ir.Value, stage: ir.Value, origin: LinearIndex, number: int | LinearIndex
    ) -> list[tuple[ir.Value, ir.Value]]:
        """Registers of the even and the odd ones of 16 rows (or columns) from `origin`, for each 16 of 32 of the inner loop."""
        line = self._paired + LinearIndex.of(self._fourth) * 16 + number * 32
        matrices = self._matrices(side, _viewed(ring, 16), stage, line, _chunk_of(origin), True)
        i8 = ir.IntegerType.get_signless(8)
        parts = [vector.bitcast(vector_of(4, i8), extract(matrices, i)) for i in range(4)]
        return [(_register(low, high, 0), _register(low, high, 1)) for low, high in (parts[:2], parts[2:])]

    def _matrices(self, side: int, view: ir.Value, stage: ir.Value, line: LinearIndex, chunk: LinearIndex, transpose: bool) -> ir.Value:
        element = ir.MemRefType(view.type).element_type
        position = LinearIndex.of(arith.xori(chunk.value(), self._swizzles[side])) * (8 * _UNIT // element.width)
        return value_of(
            "nvgpu.ldmatrix",
            ir.VectorType.get([4, 32 // element.width], element),
            [view, stage, line.value(), position.value()],
            numTiles=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
            transpose=ir.BoolAttr.get(transpose),
        )

    def multiply(self, left: list[ir.Value], right: list[ir.Value], total: ir.Value) -> ir.Value:
        sums = [extract(total, i) for i in range(4)]
        kind = ir.Type.parse(f"!llvm.struct<({', '.join([str(self._accumulator)] * 4)})>")
        attributes = {name: ir.Attribute.parse(text) for name, text in self._instruction.items()}
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(left), len(right), len(sums)])
        made = value_of("nvvm.mma.sync", kind, [*left, *right, *sums], **attributes)
        places = (ir.DenseI64ArrayAttr.get([i]) for i in range(4))
        return from_elements([value_of("llvm.extractvalue", self._accumulator, [made], position=place) for place in places])

    def results(self, accumulators: list[ir.Value]) -> list[Results]:
        group, member = (LinearIndex.of(part) for part in (divide(self.lane, 4), remainder(self.lane, 4)))
        rows, cols = self.pieces
        found = []
        for i, half, pair in product(range(rows), (0, 1), range(cols // 2)):
            row = group + (16 * i + 8 * half) if self.shapes[0].along_inner else group * 2 + (16 * i + half)
            pieces = (accumulators[i * cols + 2 * pair + j] for j in (0, 1))
            (a, b), (c, d) = ([extract(piece, 2 * half + v) for v in (0, 1)] for piece in pieces)
            col = self.origins[1] + 16 * pair
            if self.shapes[1].along_inner:
                found += [Results(row, col + member * 2 + 8 * j, from_elements(two)) for j, two in enumerate(([a, b], [c, d]))]
            else:
                found.append(Results(row, col + member * 4, from_elements([a, c, b, d])))
        return found


def _register(low: ir.Value, high: ir.Value, first: int) -> ir.Value:
    """Every second byte of two words, from `first` on, as one word."""
    i32 = ir.IntegerType.get_signless(32)
    chosen = vector.shuffle(low, high, [first, first + 2, first + 4, first + 6])
    return extract(vector.bitcast(vector_of(1, i32), chosen), 0)


def _viewed(ring: ir.Value, width: int) -> ir.Value:
    """A ring of bytes, which is a view of the block's memory, seen as integers of `width` bits."""
    view = ring.owner.operation
    stages, lines, length = ir.MemRefType(ring.type).shape
    kind = ir.Type.parse(f"memref<{stages}x{lines}x{length * 8 // width}xi{width}, {WORKGROUP}>")
    return memref.view(kind, view.operands[0], view.operands[1], [])


def _chunk_of(origin: LinearIndex) -> LinearIndex:
    """`origin` / 16; every term is a multiple."""
    terms = {value: coefficient // _UNIT for value, coefficient in origin.terms.items()}
    return LinearIndex(terms, origin.constant // _UNIT)
