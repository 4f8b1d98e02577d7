"""dynamic_update_slice on a buffer that is updated in place: the group computes the window alone, and inserts it at the function's edge.

    %w = generic … -> tensor<1x4096xf32>                    // the update
    %i = arith.minsi (arith.maxsi (index of %start), 0), 511
    %r = tensor.insert_slice %w into %x[%i, 0] [1, 4096] [1, 1]
    return %r

assign-buffers names such results in `hloom.window_update`, pairs of an argument and the result that shares its buffer: what lies outside
the window is right already. Starts that the group computes of single numbers, as a loop that counts down does, come before its tiles.
An update of another shape, whose loops no strides in the window follow (48 elements as 2x3x1x8 of 2x3x33x8), is read in the window's.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.edge import RESHAPES, before_edge
from ...common.ops import emit_scalar, is_elementwise
from ...common.rewriting import defining_op
from ...common.slices import insert_slice
from ...common.storage import row_major, strides_of_view
from . import generic
from .lowering import Lowering

ATTRIBUTE = "hloom.window_update"


def window_updates(function: ir.Operation) -> list[ir.Operation]:
    """The dynamic_update_slices of the group to write as windows: returned alone, once each, at starts that are known before its tiles."""
    if ATTRIBUTE not in function.attributes:
        return []
    block = function.regions[0].blocks[0]
    returned = list(block.operations)[-1].operation
    pairs = list(ir.DenseI64ArrayAttr(function.attributes[ATTRIBUTE]))
    found = []
    for given, number in zip(pairs[::2], pairs[1::2]):
        op = defining_op(returned.operands[number])
        if op is None or op.operands[0] != block.arguments[given] or len(list(op.results[0].uses)) != 1:
            continue
        if 0 not in op.operands[1].type.shape and all(_is_known(start) for start in list(op.operands)[2:]):
            found.append(op)
    return found


def _is_known(start: ir.Value) -> bool:
    """Whether it is an argument, a constant, or whole numbers computed of such, one at a time."""
    waiting, seen = [start], {start}
    while waiting:
        value = waiting.pop()
        op = defining_op(value)
        if op is None or op.name == "stablehlo.constant":
            continue
        if not isinstance(value.type.element_type, ir.IntegerType) or any(extent != 1 for extent in value.type.shape):
            return False
        if op.name != "stablehlo.reshape" and not is_elementwise(op):
            return False
        waiting += [operand for operand in op.operands if operand not in seen]
        seen.update(op.operands)
    return True


def insert_window(low: Lowering, op: ir.Operation) -> None:
    """Lowers the dynamic_update_slice `op` as in the module's docstring."""
    operand, update, *olds = op.operands
    window = list(update.type.shape)
    first = next(o.operation for o in op.block.operations if o.operation.name.startswith("stablehlo."))
    with ir.InsertionPoint(first):
        known: dict[ir.Value, ir.Value] = {}
        starts = [_start(low, old, whole - part, known) for old, whole, part in zip(olds, operand.type.shape, window)]
    offsets = [0 if start is None else start for start in starts]
    value = low.returned(update)
    made = before_edge(value, RESHAPES)
    if strides_of_view(generic.shape_of(made), window, row_major(operand.type.shape)) is None:
        value = generic.copy(value)
    inserted = insert_slice(value, low.tensor(operand), offsets, window)
    low.set(op.results[0], inserted)


def _start(low: Lowering, old: ir.Value, limit: int, known: dict[ir.Value, ir.Value]) -> ir.Value | None:
    """The clamped start index, emitted at the insertion point; None where only 0 is left."""
    if not limit:
        return None
    return low.scalars.clamp_index(low.scalars.to_index(_scalar(low, old, known), old.type.element_type), 0, limit)


def _scalar(low: Lowering, old: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
    """The number that `old`, of one element, holds, emitted at the insertion point. `known`: those that were emitted there."""
    if old not in known:
        constant, op = low.scalar_constant(old), defining_op(old)
        if constant is not None:
            known[old] = constant
        elif op is None:
            known[old] = low.scalars.extract(low.tensor(old), [low.scalars.index(0)] * len(old.type.shape))
        elif op.name == "stablehlo.reshape":
            known[old] = _scalar(low, op.operands[0], known)
        else:
            known[old] = emit_scalar(low.scalars, op, [_scalar(low, value, known) for value in op.operands])
    return known[old]
