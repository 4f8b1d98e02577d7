"""What a group computes of one element, as an expression over views of its buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch_mlir import ir

from hloom.dialects.evaluation import Opcode, Type
from hloom.dialects.storage import element_bytes

from ...common.dense_constants import is_splat, splat_bytes
from ...common.rewriting import defining_op, element_of, integers, shape_of
from ...stablehlo.support.dimensions import DotDims
from .views import Declined, View

MOST_TERMS = 8
"""Of a sum: the transforms of filters have 3 to 5. Products of matrices are compiled."""
_ARITHMETIC = {
    "stablehlo.add": Opcode.ADD,
    "stablehlo.subtract": Opcode.SUBTRACT,
    "stablehlo.multiply": Opcode.MULTIPLY,
    "stablehlo.divide": Opcode.DIVIDE,
    "stablehlo.negate": Opcode.NEGATE,
    "stablehlo.abs": Opcode.ABS,
    "stablehlo.sqrt": Opcode.SQRT,
    "stablehlo.rsqrt": Opcode.RSQRT,
}


@dataclass(frozen=True, eq=False)
class Node:
    """A value that has an element at each point; `view` of a LOAD, `bits` of a CONSTANT, `terms` of a SUM."""

    opcode: Opcode
    type: Type
    values: tuple[Node, ...] = ()
    view: View | None = None
    bits: int = 0
    terms: int = 1


def type_of(value: ir.Value) -> Type:
    """The type of a tensor's elements. Raises Declined where the tensor is empty or its elements have no such type."""
    kind = ir.RankedTensorType(value.type)
    if 0 in kind.shape:
        raise Declined("an empty tensor")
    if isinstance(kind.element_type, ir.F32Type | ir.F64Type):
        return Type.F32 if isinstance(kind.element_type, ir.F32Type) else Type.F64
    widths = {1: Type.BITS8, 2: Type.BITS16, 4: Type.BITS32, 8: Type.BITS64}
    try:
        return widths[element_bytes(kind.element_type)]
    except (KeyError, ValueError):
        raise Declined(f"elements of {kind.element_type}") from None


def splat_bits(op: ir.Operation) -> int:
    """The bits of a constant's one value. Raises Declined where it has several."""
    if not is_splat(op.attributes["value"]):
        raise Declined("a constant of several values")
    return int.from_bytes(splat_bytes(ir.DenseElementsAttr(op.attributes["value"])), "little", signed=True)


class Expressions:
    """The expressions of a group's values. Raises Declined for what no program computes."""

    def __init__(self) -> None:
        self.known: dict[ir.Value, Node] = {}

    def of(self, value: ir.Value) -> Node:
        if value not in self.known:
            self.known[value] = self._of(value)
        return self.known[value]

    def _of(self, value: ir.Value) -> Node:
        kind, op = type_of(value), defining_op(value)
        if op is None:
            buffer = ir.BlockArgument(value).arg_number
            return Node(Opcode.LOAD, kind, view=View.whole(buffer, shape_of(value), kind.bytes))
        if op.name == "stablehlo.constant":
            return Node(Opcode.CONSTANT, kind, bits=splat_bits(op))
        if op.name in _ARITHMETIC and kind <= Type.F64:
            return Node(_ARITHMETIC[op.name], kind, tuple(map(self.of, op.operands)))
        if op.name == "stablehlo.convert":
            return self._convert(self.of(op.operands[0]), kind, op)
        if op.name == "stablehlo.dot_general":
            return self._dot(op, kind)
        move = self._movement(op, value)
        return moved(self.of(op.operands[0]), move)

    def _convert(self, node: Node, kind: Type, op: ir.Operation) -> Node:
        if element_of(op.operands[0]) == element_of(op.results[0]):
            return node
        if max(node.type, kind) > Type.F64:
            raise Declined("a conversion of other types than f32 and f64")
        return Node(Opcode.CONVERT, kind, (node,))

    def _movement(self, op: ir.Operation, result: ir.Value) -> Callable[[View], View]:
        shape = shape_of(result)
        if op.name == "stablehlo.transpose":
            return lambda view: view.transposed(integers(op, "permutation"))
        if op.name == "stablehlo.broadcast_in_dim":
            return lambda view: view.broadcast(integers(op, "broadcast_dimensions"), shape)
        if op.name == "stablehlo.slice":
            return lambda view: view.sliced(integers(op, "start_indices"), integers(op, "strides"), shape)
        if op.name == "stablehlo.reverse":
            return lambda view: view.reversed(integers(op, "dimensions"))
        if op.name == "stablehlo.reshape":
            return lambda view: view.reshaped(shape)
        raise Declined(f"an op that is not interpreted, {op.name}")

    def _dot(self, op: ir.Operation, kind: Type) -> Node:
        """Both operands over the dimensions of the result, and the contracted one as the sum's."""
        dims = DotDims.of(op)
        contracted = [dims.contracting[side][0] for side in (0, 1) if len(dims.contracting[side]) == 1]
        operands = list(map(self.of, op.operands))
        if dims.batch[0] or len(contracted) != 2 or any(node.type is not kind or kind > Type.F64 or has_sum(node) for node in operands):
            raise Declined("a product of other than two matrices of floats")
        terms = shape_of(op.operands[0])[contracted[0]]
        if terms > MOST_TERMS:
            raise Declined("a long sum")
        shape, free = shape_of(op.results[0]), [dims.free(side) for side in (0, 1)]

        def over_result(side: int) -> Callable[[View], View]:
            first = len(free[0]) if side else 0

            def move(view: View) -> View:
                strides = [0] * len(shape)
                strides[first : first + len(free[side])] = [view.strides[d] for d in free[side]]
                return replace(view, shape=tuple(shape), strides=tuple(strides), term=view.strides[contracted[side]])

            return move

        factors = tuple(moved(node, over_result(side)) for side, node in enumerate(operands))
        return Node(Opcode.SUM, kind, (Node(Opcode.MULTIPLY, kind, factors),), terms=terms)


def moved(node: Node, move: Callable[[View], View]) -> Node:
    """The expression with each of its views moved."""
    done: dict[Node, Node] = {}

    def visit(each: Node) -> Node:
        if each not in done:
            view = each.view and move(each.view)
            done[each] = replace(each, values=tuple(map(visit, each.values)), view=view)
        return done[each]

    return visit(node)


def has_sum(node: Node) -> bool:
    return node.opcode is Opcode.SUM or any(map(has_sum, node.values))
