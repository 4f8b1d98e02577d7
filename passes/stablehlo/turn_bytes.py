"""turn-bytes: dots of bytes read their operands along what is summed, as tensor cores and libraries for bytes want them.

Before (%w is bound):
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x1024xi8>, tensor<1024x512xi8>) -> tensor<256x512xi32>
After:
    %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<1024x512xi8>) -> tensor<512x1024xi8>
    %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [1] : (tensor<256x1024xi8>, tensor<512x1024xi8>) -> tensor<256x512xi32>

wgmma and cuBLASLt take bytes no other way, and a kernel that turns them in registers takes at least twice as long as the tensor cores.
A transpose that depends on bound weights alone is moved into @init by split-init, which comes after: it is done once. Of others each call
reads and writes the bytes, so that the dot must be large. Bytes are 8-bit integers, and the codes of floats that a dot sees in them
(common/byte_floats.py).

Must hold: bound arguments carry `hloom.bound`. Declined: targets other than CUDA's; operands that lie so already; those that depend on
what is not bound, where the tensor cores take no longer for the dot than memory for the transpose.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.byte_floats import MULTIPLIED, sees_floats
from ..common.init_function import bound_values, entry
from ..common.rewriting import defining_op, replace, walk
from ..registry import register_pass
from .support import build
from .support.dimensions import DotDims

_BYTES = {"i8", "ui8", *MULTIPLIED}


@register_pass("turn-bytes", "transposes operands of dots of bytes, on CUDA, to lie along what is summed", ops=("stablehlo.dot_general",))
def turn_bytes(module: ir.Operation) -> None:
    main, target = entry(module, "main"), target_of(module)
    if main is None or target.kind != "cuda":
        return
    bound = bound_values(main)
    for op in walk(main, "stablehlo.dot_general"):
        for side in (0, 1):
            if str(build.element_of(op.operands[side])) in _BYTES and (_depends_on(op.operands[side], bound) or _pays(op, side, target)):
                op = _turned(op, side)


def _pays(op: ir.Operation, side: int, target: TargetView) -> bool:
    """Whether the tensor cores take longer for the dot than a kernel for the transpose."""
    read = prod(build.shape_of(op.operands[side]))
    flops = 2 * read * prod(build.shape_of(op.operands[1 - side])[d] for d in DotDims.of(op).free(1 - side))
    return flops / target.int8_flops > 2 * read / target.dram_bytes_per_second + target.launch_ps * 1e-12


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
