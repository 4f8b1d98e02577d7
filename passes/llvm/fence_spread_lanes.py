"""fence-spread-lanes: what is read once for two lanes stays a vector of as many bits.

Before, on vectors:
    %r = vector.maskedload %m[%i], %mask, %zeros : … into vector<32xf32>
    %s = vector.shuffle %r, %r [0, 0, 1, 1, …, 31, 31]
After:
    %s = llvm.call_intrinsic "llvm.arithmetic.fence"(vector.shuffle %r, %r [0, 0, 1, 1, …, 31, 31])

Where every second lane is 0 then, as between what a pad takes apart, LLVM makes integers of twice the bits of the lanes. Of a read that it
took in halves it asks for an instruction that x86 lacks, and ends the process: "Cannot select: v4i64 = zero_extend_vector_inreg". It does
not see through the fence, which is no instruction.

Must hold: nothing. Declined: other machines than x86, elements that are not f32, reads without a mask.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import producer, walk
from ..registry import register_pass
from .support.fences import fence

_SHUFFLE, _READ = "vector.shuffle", "vector.maskedload"


@register_pass("fence-spread-lanes", "keeps LLVM from widening lanes that are read once for two", ops=frozenset([_SHUFFLE]))
def fence_spread_lanes(module: ir.Operation) -> bool:
    if target_of(module).machine != "x86_64":
        return False
    ops = walk(module, lambda op: op.name == _SHUFFLE and _is_spread(op))
    for op in ops:
        fence(op)
    return bool(ops)


def _is_spread(op: ir.Operation) -> bool:
    kind = ir.VectorType(op.results[0].type)
    if not isinstance(kind.element_type, ir.F32Type) or producer(op.operands[0], _READ) is None:
        return False
    return list(ir.DenseI64ArrayAttr(op.attributes["mask"])) == [lane // 2 for lane in range(kind.shape[-1])]
