"""external-shared-memory: the symbol of a kernel's dynamic shared memory becomes an external one, as launches with dynamic memory want it.

Before:
    llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
After:
    llvm.mlir.global external @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

Left internal, LLVM gives it a byte of its own. It is aligned for swizzled tiles, which TMA writes and wgmma reads.

Must hold: stage nvvm. Declined: globals of other address spaces, and those of a size.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import i64_attr, integer, walk
from ..registry import register_pass

_SHARED = 3
_ALIGNMENT = 1024


@register_pass("external-shared-memory", "dynamic shared memory as an external symbol")
def external_shared_memory(module: ir.Operation) -> None:
    external = ir.Attribute.parse("#llvm.linkage<external>")
    for symbol in walk(module, _is_dynamic):
        symbol.attributes["linkage"] = external
        symbol.attributes["alignment"] = i64_attr(_ALIGNMENT)


def _is_dynamic(op: ir.Operation) -> bool:
    if op.name != "llvm.mlir.global" or "addr_space" not in op.attributes:
        return False
    kind = str(ir.TypeAttr(op.attributes["global_type"]).value)
    return integer(op, "addr_space") == _SHARED and kind.startswith("!llvm.array<0 x")
