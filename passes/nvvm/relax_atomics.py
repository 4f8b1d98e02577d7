"""relax-atomics: atomics order nothing but themselves, among the threads of one device: what a kernel wrote is read after it has ended.

Before:
    llvm.cmpxchg %p, %now, %new acq_rel monotonic : !llvm.ptr, i32
After:
    llvm.cmpxchg %p, %now, %new syncscope("device") monotonic monotonic : !llvm.ptr, i32

Upstream makes all atomics of memref acquire and release, which costs a fence of the whole system at each turn of a compare and swap.

Must hold: the LLVM dialect. Declined: fences, which are no accesses.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import i64_attr, walk
from ..registry import register_pass

_ORDERINGS = ("ordering", "success_ordering", "failure_ordering")
_MONOTONIC = 2


@register_pass("relax-atomics", "atomics order nothing but themselves", ops=("llvm.cmpxchg", "llvm.atomicrmw"))
def relax_atomics(module: ir.Operation) -> None:
    for op in walk(module, lambda op: op.name in ("llvm.cmpxchg", "llvm.atomicrmw")):
        with module.context:
            for name in _ORDERINGS:
                if name in op.attributes:
                    op.attributes[name] = i64_attr(_MONOTONIC)
            op.attributes["syncscope"] = ir.StringAttr.get("device")
