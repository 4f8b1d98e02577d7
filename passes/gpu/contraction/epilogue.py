"""The epilogue of a contraction at one point: from an accumulator to what is stored, on a scalar or a vector along the columns.

A point is a value for every loop of the contraction; a vector runs along the last loop of the columns. Inputs are read where the linear
forms say: as one aligned vector where they run along that loop, once where they do not depend on it, element by element otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.axes import TileOp
from ...common.linear_index import LinearIndex, linear_results
from ...common.rewriting import defining_op, is_block_argument, ops_in
from ...common.scalar_body import clone_on
from ...common.vectors import broadcast, is_vector, steps
from .contraction import ContractionGroup, ElementAccess, element_access, loops_of, result_number, tile_ops
from .factors import add
from .runs import Run


class EpilogueEmitter:
    """Evaluates the ops after a contraction over the kernel's `buffers` (inputs, then outputs)."""

    def __init__(self, contraction: ContractionGroup, buffers: Sequence[ir.Value]):
        self.contraction, self.buffers = contraction, buffers
        self._ops = tile_ops(contraction.function)
        self._run = Run({}, None)
        self._made: dict[tuple[ir.Value, tuple[LinearIndex, ...]], ir.Value] = {}
        self._bodies: dict[tuple[ir.Value, tuple[LinearIndex, ...]], list[ir.Value]] = {}

    @staticmethod
    def accepts(contraction: ContractionGroup) -> bool:
        """Whether every value of the epilogue can be evaluated at a point."""
        return Check(contraction).all_readable()

    def vector_length(self, largest: int) -> int:
        """The largest power of two up to `largest` that divides the columns' last loop."""
        length = largest
        while self.contraction.cols.last_extent % length:
            length //= 2
        return length

    def finish(self, accumulator: ir.Value, loops: Mapping[int, LinearIndex]) -> None:
        """Stores the results at the point `loops`, where the contraction's sum is `accumulator`, a scalar or a vector."""
        length = ir.VectorType(accumulator.type).shape[0] if is_vector(accumulator) else 1
        self._run = Run(loops, self.contraction.cols.last, length)
        op = self.contraction.op
        self._made, self._bodies = self._known(), {}
        init = self._start(op)
        self._made[(op.results[0], ())] = accumulator if init is None else self._add(accumulator, init)
        for value, access in self.contraction.results:
            self._store(value, access)

    def _store(self, value: ir.Value, access: ElementAccess) -> None:
        self._run.write(self._value(value, self.contraction.forms[value]), self.buffers[access.buffer], access)

    def _known(self) -> dict[tuple[ir.Value, tuple[LinearIndex, ...]], ir.Value]:
        """What else is known at the point."""
        return {}

    def _start(self, op: ir.Operation) -> ir.Value | None:
        """What the sum starts from, or None if it is 0."""
        init = op.operands[len(op.operands) - 1]
        fill = self._ops.get(init)
        constant = defining_op(fill.inputs[0]) if fill is not None and fill.op.name == "linalg.fill" else None
        if constant is not None and constant.name == "arith.constant" and _is_zero(constant.attributes["value"]):
            return None
        return self._value(init, self.contraction.forms[op.results[0]])

    def _add(self, left: ir.Value, right: ir.Value) -> ir.Value:
        if is_vector(left):
            right = broadcast(right, self._run.length)
        return add(right, left)

    def _value(self, value: ir.Value, indices: Sequence[LinearIndex]) -> ir.Value:
        """`value` at the point; a scalar where it is the same for the whole vector."""
        dependent = value in self.contraction.forms
        key = (value, () if dependent else tuple(indices))
        if key not in self._made:
            self._made[key] = self._evaluate(value, indices)
        return self._made[key]

    def _evaluate(self, value: ir.Value, indices: Sequence[LinearIndex]) -> ir.Value:
        tile = self._ops.get(value)
        if tile is None:
            return self._outside(value, indices)
        if tile.op.name == "linalg.fill":
            return self._outside(tile.inputs[0], [])
        own = loops_of(tile, value, indices)
        key = (tile.op.results[0], tuple(own))
        if key not in self._bodies:
            self._bodies[key] = self._body(tile, own)
        return self._bodies[key][result_number(tile, value)]

    def _outside(self, value: ir.Value, indices: Sequence[LinearIndex]) -> ir.Value:
        op = None if is_block_argument(value) else defining_op(value)
        if op is not None and op.name == "arith.constant":
            attribute = op.attributes["value"]
            if not isinstance(value.type, ir.RankedTensorType):
                return arith.constant(value.type, attribute)
            return arith.constant(value.type.element_type, ir.DenseElementsAttr(attribute).get_splat_value())
        access = element_access(value, indices)
        assert access is not None  # accepts() has seen to it
        return self._run.read(self.buffers[access.buffer], access)

    def _body(self, tile: TileOp, own: Sequence[LinearIndex]) -> list[ir.Value]:
        """What an elementwise op yields at the point, where its loops are `own`."""
        block = tile.op.regions[0].blocks[0]
        values: dict[ir.Value, ir.Value] = {}
        for argument, operand, affine_map in zip(block.arguments, [*tile.inputs, *tile.inits], tile.maps):
            if not list(argument.uses):
                continue
            if not isinstance(operand.type, ir.RankedTensorType):
                values[argument] = self._outside(operand, [])
                continue
            at = linear_results(affine_map, own)
            assert at is not None
            values[argument] = self._value(operand, at)
        *ops, last = ops_in(block)
        for op in ops:
            if op.name == "linalg.index":
                values[op.results[0]] = self._index(own[ir.IntegerAttr(op.attributes["dim"]).value])
            else:
                values[op.results[0]] = self._clone(op, [self._inner(values, v) for v in op.operands])
        return [self._inner(values, v) for v in last.operands]

    def _clone(self, op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
        """A scalar op of a body on these operands."""
        return clone_on(op, operands)[0]

    def _inner(self, values: Mapping[ir.Value, ir.Value], value: ir.Value) -> ir.Value:
        return values[value] if value in values else self._outside(value, [])

    def _index(self, form: LinearIndex) -> ir.Value:
        at, length = form.at(self._run.loops).value(), self._run.length
        step = 0 if self._run.along is None else form.coefficient(self._run.along)
        if length == 1 or not step:
            return at
        return arith.addi(broadcast(at, length), steps(length, step))


class Check:
    """Walks an epilogue as the evaluation would and says whether it can."""

    def __init__(self, contraction: ContractionGroup):
        self.contraction = contraction
        self.ops = tile_ops(contraction.function)

    def all_readable(self) -> bool:
        contraction = self.contraction
        init = contraction.op.operands[len(contraction.op.operands) - 1]
        values = [(value, contraction.forms[value]) for value, _ in contraction.results]
        return all(self.readable(v, at) for v, at in [*values, (init, contraction.forms[contraction.op.results[0]])])

    def readable(self, value: ir.Value, indices: Sequence[LinearIndex]) -> bool:
        if value == self.contraction.op.results[0]:
            return True
        tile = self.ops.get(value)
        if tile is None:
            op = None if is_block_argument(value) else defining_op(value)
            if op is not None and op.name == "arith.constant":
                return not isinstance(value.type, ir.RankedTensorType) or ir.DenseElementsAttr(op.attributes["value"]).is_splat
            return self.reads(element_access(value, indices))
        if tile.op.name == "linalg.fill":
            return defining_op(tile.inputs[0]) is not None
        block = tile.op.regions[0].blocks[0]
        if any(not _simple(o.operation) for o in block.operations):
            return False
        own = loops_of(tile, value, indices)
        for argument, operand, affine_map in zip(block.arguments, [*tile.inputs, *tile.inits], tile.maps):
            if not list(argument.uses) or not isinstance(operand.type, ir.RankedTensorType):
                continue
            at = linear_results(affine_map, own)
            if at is None or not self.readable(operand, at):
                return False
        return True

    def reads(self, access: ElementAccess | None) -> bool:
        """Whether memory is read there; None is nowhere."""
        return access is not None


def _simple(op: ir.Operation) -> bool:
    if op.name in ("linalg.yield", "linalg.index"):
        return True
    return op.name.split(".")[0] in ("arith", "math") and len(op.results) == 1 and not list(op.regions)


def _is_zero(attribute: ir.Attribute) -> bool:
    if isinstance(attribute, ir.FloatAttr):
        return ir.FloatAttr(attribute).value == 0.0
    return isinstance(attribute, ir.IntegerAttr) and ir.IntegerAttr(attribute).value == 0
