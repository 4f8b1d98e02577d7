"""dynamic_update_slice on a buffer that is updated in place: the group computes the window alone, and inserts it at the function's edge.

    %w = generic … -> tensor<1x4096xf32>                    // the update
    %i = arith.minsi (arith.maxsi (index of %start), 0), 511
    %r = tensor.insert_slice %w into %x[%i, 0] [1, 4096] [1, 1]
    return %r

assign-buffers names such results in `hloom.window_update`, pairs of an argument and the result that shares its buffer: what lies outside
the window is right already.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import defining_op
from ...common.slices import insert_slice
from .lowering import Lowering

ATTRIBUTE = "hloom.window_update"


def window_updates(function: ir.Operation) -> list[ir.Operation]:
    """The dynamic_update_slices of the group to write as windows: returned alone, once each, at starts that are arguments or constants."""
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
    op = defining_op(start)
    return op is None or op.name == "stablehlo.constant"


def insert_window(low: Lowering, op: ir.Operation) -> None:
    """Lowers the dynamic_update_slice `op` as in the module's docstring."""
    operand, update, *olds = op.operands
    window = list(update.type.shape)
    first = next(o.operation for o in op.block.operations if o.operation.name.startswith("stablehlo."))
    with ir.InsertionPoint(first):
        starts = [_start(low, old, whole - part) for old, whole, part in zip(olds, operand.type.shape, window)]
    offsets = [0 if start is None else start for start in starts]
    inserted = insert_slice(low.returned(update), low.tensor(operand), offsets, window)
    low.set(op.results[0], inserted)


def _start(low: Lowering, old: ir.Value, limit: int) -> ir.Value | None:
    """The clamped start index, emitted at the insertion point; None where only 0 is left."""
    if not limit:
        return None
    known = low.scalar_constant(old)
    scalar = known if known is not None else low.scalars.extract(low.tensor(old), [])
    return low.scalars.clamp_index(low.scalars.to_index(scalar, old.type.element_type), 0, limit)
