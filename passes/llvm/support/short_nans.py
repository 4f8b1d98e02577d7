"""Which functions meet no NaN of f32 but those whose lower half is 0.

The NaN of an operation is the processor's own or an operand's, made quiet: its lower half is 0 if that of every NaN is which comes from
outside. That of a bf16 is; a NaN in an f32 of memory, of an f16 or of an f64 may hold anything.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.bf16 import is_of, known_integer
from ...common.rewriting import defining_op, walk

_LOADS = {"memref.load", "vector.load", "vector.maskedload", "vector.gather", "vector.transfer_read"}
_CALLS = {"func.call", "llvm.call"}
_OF_INTEGERS = {f"arith.{name}" for name in ("addi", "subi", "shli", "shrui", "shrsi", "andi", "ori", "xori", "select", "constant")}
_OF_INTEGERS |= {"vector.broadcast", "vector.shuffle"}

_FROM_FLOATS = {"arith.bitcast", "arith.fptosi"}


def has_short_nans(function: ir.Operation) -> bool:
    """Whether the lower half of every NaN of f32 in the function is 0. What integers make of the bits of f32 alone is taken for the math
    library's, where it is no NaN but one that it was given."""
    arguments = [argument for block in function.regions[0].blocks for argument in block.arguments]
    return not any(is_of(argument.type, ir.F32Type) for argument in arguments) and not walk(function, _may_bring_another)


def _may_bring_another(op: ir.Operation) -> bool:
    if not any(is_of(result.type, ir.F32Type) for result in op.results):
        return False
    if op.name in _LOADS:
        base = defining_op(op.operands[0])
        return base is None or base.name != "memref.alloca"
    if op.name in ("arith.extf", "arith.truncf"):
        return not is_of(op.operands[0].type, ir.BF16Type)
    if op.name in ("arith.bitcast", "vector.bitcast"):
        return not _of_floats(op.operands[0])
    return op.name in _CALLS


def _of_floats(value: ir.Value) -> bool:
    """Whether integers are computed from f32 and constants alone, or have nothing in their lower halves."""
    pending, seen = [value], set[ir.Value]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        op = defining_op(value)
        if op is None:
            return False
        if op.name in _FROM_FLOATS and is_of(op.operands[0].type, ir.F32Type):
            continue
        if _is_upper(op):
            continue
        if op.name not in _OF_INTEGERS:
            return False
        pending += list(op.operands)[op.name == "arith.select" :]
    return True


def _is_upper(op: ir.Operation) -> bool:
    """Whether the lower half of what the op makes is 0."""
    if op.name not in ("arith.shli", "arith.andi"):
        return False
    number = known_integer(op.operands[1])
    return number is not None and (number >= 16 if op.name == "arith.shli" else number & 0xFFFF == 0)
