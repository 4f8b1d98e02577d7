"""fourier-kernels: turns each group that is a Fourier transform into a kernel over memrefs, whose tiles are rows or blocks of columns.

Before:
    func.func private @fusion_0(%re: tensor<64x1024xf32>, %im: …, %table: tensor<2272xf32>) -> (tensor<64x1024xf32>, …) {
      %0:2 = stablehlo.custom_call @hloom.dft(%re, %im, %table) {hloom.dft = {radices = [array<i64: 4, 8>, array<i64: 4, 8>], …}}
      return %0#0, %0#1
    }
After:
    func.func private @fusion_0(%lo: index, %hi: index, %re: memref<65536xf32>, …) attributes {hloom.tiles = 64 : i64} {
      scf.for %row = %lo to %hi {
        the columns of the row as a 32x32 matrix, transformed, multiplied by %table, transposed to the stack; the columns of that
      }
    }

Columns are transformed side by side, a vector of them at a time (fourier/columns.py), in butterflies that stay in registers
(fourier/butterflies.py), between two buffers on the stack. Where columns are not whole vectors, the last block overlaps the one before.

Must hold: the tiled stage; the call is alone in its group. Declined: groups without such a call.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ..common.control_flow import for_each
from ..common.fourier_plan import TARGET, FourierPlan
from ..common.linear_index import LinearIndex
from ..common.rewriting import create, defining_op, functions, index_constant, is_custom_call, ops_in, shape_of, walk
from ..common.vectors import vector_of
from ..registry import register_pass
from .fourier.arrays import Arrays, Memory, Numbers, numbers
from .fourier.butterflies import times
from .fourier.columns import Columns
from .nests.packing import transpose_square
from .support.open_kernel import open_kernel


@register_pass("fourier-kernels", "turns each Fourier transform into a kernel over memrefs", ops=("stablehlo.custom_call",))
def fourier_kernels(module: ir.Operation) -> None:
    for function in functions(module):
        if "hloom.kind" not in function.attributes:
            continue
        for op in walk(function, lambda op: is_custom_call(op, TARGET)):
            with module.context, function.location:
                _build(function, op)
                function.erase()


def _build(function: ir.Operation, op: ir.Operation) -> None:
    """Emits the kernel of `function` right before it, under its name."""
    plan, shape = FourierPlan.of(op), shape_of(op.operands[0])
    shape = shape[:-1] if plan.taken else shape
    kernel_of = _Rows if len(plan.radices) == 2 else _Blocks
    _, entry = open_kernel(function, kernel_of.tiles(plan, shape))
    with ir.InsertionPoint(entry), op.location:
        kernel_of(plan, shape, _arrays(function, op, entry)).emit(*entry.arguments[:2])
        create("func.return")


def _arrays(function: ir.Operation, op: ir.Operation, entry: ir.Block) -> tuple[list[Memory], list[Memory]]:
    """The memrefs of the call's operands and of its results."""
    block = function.regions[0].blocks[0]
    buffers, returned = list(entry.arguments)[2:], list(ops_in(block)[-1].operands)
    operands = [_buffer(value, buffers) for value in op.operands]
    return operands, [buffers[len(block.arguments) + returned.index(value)] for value in op.results]


def _buffer(value: ir.Value, buffers: list[ir.Value]) -> Memory:
    """The memref of an argument; of a constant, the number that all its elements are."""
    constant = defining_op(value)
    if constant is None:
        return buffers[ir.BlockArgument(value).arg_number]
    return ir.DenseElementsAttr(constant.attributes["value"]).get_splat_value()


class _Kernel:
    def __init__(self, plan: FourierPlan, shape: list[int], buffers: tuple[list[Memory], list[Memory]]):
        (taken, given), count = buffers, 1 if plan.taken else 2
        self.plan, self.shape = plan, shape
        self.kind = vector_of(plan.lanes, ir.MemRefType(given[0].type).element_type)
        self.source, self.target = numbers(taken[:count], plan.taken, self.kind), numbers(given, plan.given, self.kind)
        self.table = taken[count] if count < len(taken) else None

    def columns(self, number: int, width: int, buffers: Sequence[Arrays], factor: float = 1.0) -> Columns:
        return Columns(self.plan.radices[number], width, self.kind, buffers, self.table, self.plan.starts()[number], factor)

    def extend(self, element: Numbers, first: LinearIndex, end: LinearIndex) -> None:
        if self.plan.extended:
            element.store(end, element.load(first))


class _Blocks(_Kernel):
    """Columns of (outer, length, inner): a tile is a block of those of one outer index."""

    @staticmethod
    def width(plan: FourierPlan, inner: int) -> int:
        return 2 * plan.lanes if inner >= 2 * plan.lanes else plan.lanes

    @classmethod
    def tiles(cls, plan: FourierPlan, shape: list[int]) -> int:
        return shape[0] * -(-shape[2] // cls.width(plan, shape[2]))

    def emit(self, low: ir.Value, high: ir.Value) -> None:
        _, length, inner = self.shape
        width, lanes = self.width(self.plan, inner), self.plan.lanes
        buffers = [Arrays.on_stack(width * length, self.kind) for _ in self.plan.radices[0][:-1][:2]]
        columns = self.columns(0, width, buffers, self.plan.factor)
        blocks = index_constant(-(-inner // width))

        def tile(number: LinearIndex) -> None:
            at = LinearIndex.of(arith.divui(number.value(), blocks))
            start = _start(LinearIndex.of(arith.remui(number.value(), blocks)) * width, width, inner)
            source, target = at * (length * inner) + start, at * ((length + self.plan.extended) * inner) + start
            columns.emit(
                lambda k, v: self.source.load(source + k * inner + v),
                lambda k, v, value: self.target.store(target + k * inner + v, value),
            )
            for_each(0, width, lanes, lambda v: self.extend(self.target, target + v, target + v + length * inner))

        for_each(low, high, 1, tile)


class _Rows(_Kernel):
    """Rows of (outer, length), each a tile: a matrix in two steps, by way of its transpose on the stack."""

    @staticmethod
    def tiles(plan: FourierPlan, shape: list[int]) -> int:
        return shape[0]

    def emit(self, low: ir.Value, high: ir.Value) -> None:
        n1, n2 = self.plan.lengths
        lanes = self.plan.lanes
        buffers = [Arrays.on_stack(lanes * max(n1, n2), self.kind) for _ in range(2)]
        turned = Arrays.on_stack(n1 * n2, self.kind)
        first, second = self.columns(0, lanes, buffers), self.columns(1, lanes, buffers)

        def row(number: LinearIndex) -> None:
            source, target = number * (n1 * n2), number * (n1 * n2 + self.plan.extended)

            def block(c: LinearIndex) -> None:
                start = _start(c, lanes, n2)
                first.emit(lambda k, v: self.source.load(source + k * n2 + start + v))
                for_each(0, n1, lanes, lambda k: self._turn(first.result, turned, _start(k, lanes, n1), start))

            def last(c: LinearIndex) -> None:
                start = _start(c, lanes, n1)
                second.emit(
                    lambda k, v: turned.load(k * n1 + start + v),
                    lambda k, v, value: self.target.store(target + k * n1 + start + v, value),
                )

            for_each(0, n2, lanes, block)
            for_each(0, n1, lanes, last)
            self.extend(self.target.narrow(), target, target + n1 * n2)

        for_each(low, high, 1, row)

    def _turn(self, made: Arrays, turned: Arrays, k: LinearIndex, c: LinearIndex) -> None:
        """A square of the transformed columns, multiplied by roots of unity and transposed."""
        n1, n2 = self.plan.lengths
        lanes = self.plan.lanes
        start = self.plan.starts()[-1]
        square = []
        for i in range(lanes):
            at = (k + i) * n2 + c + start
            root = tuple(vector.load(self.kind, self.table, [place.value()]) for place in (at, at + n1 * n2))
            square.append(times(made.load((k + i) * lanes), root))
        parts = [transpose_square([value[part] for value in square]) for part in range(2)]
        for i, value in enumerate(zip(*parts)):
            turned.store((c + i) * n1 + k, value)


def _start(block: LinearIndex, width: int, extent: int) -> LinearIndex:
    """Where a block begins that ends within the extent."""
    if extent % width == 0:
        return block
    last = LinearIndex(constant=extent - width)
    if block.is_constant:
        return block if block.constant <= last.constant else last
    return LinearIndex.of(arith.minui(block.value(), last.value()))
