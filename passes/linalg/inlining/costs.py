"""What recomputing a producer costs per element, in units of one addition: decides whether a producer is inlined or kept."""

from __future__ import annotations

from torch_mlir import ir

from ...common.byte_floats import sees_float
from ...common.nibbles import takes_nibble
from ...common.rewriting import defining_op
from ..lowering.generic import Generic

_CHEAP_MATH = {"absf", "absi", "floor", "ceil", "trunc", "roundeven", "copysign", "fma", "ctpop", "ctlz"}
_FREE = {"arith.constant", "arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp", "linalg.index", "linalg.yield"}
_EXTENSIONS = {"arith.extf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp", "linalg.yield"}
_DEAR = {"arith.divf": 5, "arith.remf": 20, "arith.divsi": 10, "arith.divui": 10, "arith.remsi": 10, "arith.remui": 10, "tensor.extract": 4}
_MATH = 20
CAP = 1000


def body_cost(source: Generic) -> int:
    return 0 if takes_nibble(source.block) else min(CAP, sum(op_cost(op.operation) for op in source.block.operations))


def op_cost(op: ir.Operation) -> int:
    """What one scalar op costs."""
    if op.name in _FREE or sees_float(op):
        return 0
    if op.name.startswith("math."):
        return 1 if op.name[5:] in _CHEAP_MATH else 8 if op.name in ("math.sqrt", "math.rsqrt") else _MATH
    if op.name == "tensor.extract" and all(_is_loop(index) for index in list(op.operands)[1:]):
        return 1
    return _DEAR.get(op.name, 1)


def _is_loop(index: ir.Value) -> bool:
    """Whether it is a loop, or known: what is read there needs no address of its own."""
    made = defining_op(index)
    return made is not None and made.name in ("linalg.index", "arith.constant")


def only_moves_or_extends(source: Generic) -> bool:
    """The body passes an element on, at most extended, seen as a float of its byte or taken out of its word: what a contraction does to
    its operands itself."""
    return takes_nibble(source.block) or all(op.operation.name in _EXTENSIONS or sees_float(op.operation) for op in source.block.operations)
