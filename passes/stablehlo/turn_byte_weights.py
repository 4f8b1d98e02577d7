"""turn-byte-weights: dots of bytes read bound weights along what is summed, as tensor cores and libraries for bytes want them.

Before (%w is bound):
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x1024xi8>, tensor<1024x512xi8>) -> tensor<256x512xi32>
After:
    %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<1024x512xi8>) -> tensor<512x1024xi8>
    %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [1] : (tensor<256x1024xi8>, tensor<512x1024xi8>) -> tensor<256x512xi32>

wgmma and cuBLASLt take bytes no other way. The transpose depends on the weight alone, so that split-init, which comes after, moves it into
@init: it is done once. Bytes are 8-bit integers, and the codes of floats that a dot sees in them (common/byte_floats.py).

Must hold: bound arguments carry `hloom.bound`. Declined: targets other than CUDA's; weights that depend on what is not bound, or lie so
already.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.byte_floats import MULTIPLIED, sees_floats
from ..common.init_function import bound_values, entry
from ..common.rewriting import defining_op, replace, walk
from ..registry import register_pass
from .support import build
from .support.dimensions import DotDims

_BYTES = {"i8", "ui8", *MULTIPLIED}


@register_pass(
    "turn-byte-weights", "transposes bound weights of dots of bytes, on CUDA, to lie along what is summed", ops=("stablehlo.dot_general",)
)
def turn_byte_weights(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None or target_of(module).kind != "cuda" or not (bound := bound_values(main)):
        return
    for op in walk(main, "stablehlo.dot_general"):
        for side in (0, 1):
            if str(build.element_of(op.operands[side])) in _BYTES and _depends_on(op.operands[side], bound):
                op = _turned(op, side)


def _depends_on(value: ir.Value, bound: set[ir.Value]) -> bool:
    """Whether a value is made of bound arguments alone, by ops without regions."""
    pending, seen = [value], set[ir.Value]()
    while pending:
        value = pending.pop()
        op = defining_op(value)
        if value in bound or value in seen:
            continue
        if op is None or list(op.regions) or not op.operands:
            return False
        seen.add(value)
        pending.extend(op.operands)
    return True


def _turned(op: ir.Operation, side: int) -> ir.Operation:
    """The dot that stands in the place of `op`."""
    dims = DotDims.of(op)
    order = [*dims.batch[side], *dims.free(side), *dims.contracting[side]]
    if order == sorted(order):
        return op
    operands = list(op.operands)
    view = defining_op(operands[side])
    with ir.InsertionPoint(op), op.location:
        if view is not None and sees_floats(view):
            codes = build.transpose(view.operands[0], order)
            operands[side] = build.bitcast(codes, build.tensor(build.shape_of(codes), build.element_of(operands[side])))
        else:
            operands[side] = build.transpose(operands[side], order)
        made = dims.moved(side, [order.index(d) for d in range(len(order))]).emit(op, operands[0], operands[1], op.results[0].type)
        replace(op, [made])
    return made.owner.operation
