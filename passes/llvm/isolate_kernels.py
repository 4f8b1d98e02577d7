"""isolate-kernels: the kernels of the vector stage, and what they use, in a module of their own.

Before:
    func.func private @fusion_0(%lo: index, %hi: index, %a: memref<1024xf32>, %out: memref<1024xf32>) attributes {hloom.tiles = 16 : i64}
    "thunk.program"() …
After:
    "thunk.program"() …
    module @kernels {
      func.func private @fusion_0_body(%lo: index, %hi: index, %a: memref<1024xf32> {llvm.noalias}, %out: memref<1024xf32> {llvm.noalias})
          attributes {hloom.tiles = 16 : i64}
    }

Upstream's conversions run on that module alone and see nothing of the host program; wrap-kernels brings the kernels back. Arguments are
noalias, save those that buffer assignment lets share a buffer (hloom.inplace). Constants of the kernels and declarations of what they call
in the native library move with them.

Must hold: the vector stage. Declined: functions without hloom.tiles, or that run kernels (lower-launches); a module without kernels
stays as it is.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.launches import JOINS
from ..common.rewriting import create, functions, integer, ops_in, symbol_name
from ..registry import register_pass

_KEPT = ("hloom.tiles", "hloom.effort")
"""What later passes ask of a kernel."""


@register_pass("isolate-kernels", "moves the kernels into a module of their own")
def isolate_kernels(module: ir.Operation) -> None:
    kernels = [f for f in functions(module) if "hloom.tiles" in f.attributes and JOINS not in f.attributes]
    if not kernels:
        return
    names = {symbol_name(k) for k in kernels}
    block = module.regions[0].blocks[0]
    moving = [op for op in ops_in(block) if _is_used(op, names)]
    with ir.InsertionPoint(block):
        apart = create("builtin.module", regions=1, sym_name=ir.StringAttr.get("kernels"))
    body = apart.regions[0].blocks.append()
    for op in moving:
        op.detach_from_parent()
        body.append(op)
    for kernel in kernels:
        _prepare(kernel)


def _is_used(op: ir.Operation, kernels: set[str]) -> bool:
    """Whether the op is a kernel, a constant of one, or declares what kernels call in the native library."""
    if op.name == "func.func":
        return symbol_name(op) in kernels or not (op.regions[0].blocks or JOINS in op.attributes)
    return op.name == "memref.global" and symbol_name(op).rpartition("_constant_")[0] in kernels


def _prepare(kernel: ir.Operation) -> None:
    """Renames the kernel to its body's name and says which pointers alias nothing."""
    shared: set[int] = set()
    if "hloom.inplace" in kernel.attributes:
        pairs = list(ir.DenseI64ArrayAttr(kernel.attributes["hloom.inplace"]))
        inputs = integer(kernel, "hloom.inputs")
        shared = {2 + argument for argument in pairs[::2]} | {2 + inputs + result for result in pairs[1::2]}
    noalias, plain = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()}), ir.DictAttr.get({})
    count = len(kernel.regions[0].blocks[0].arguments)
    kernel.attributes["arg_attrs"] = ir.ArrayAttr.get([noalias if i >= 2 and i not in shared else plain for i in range(count)])
    kernel.attributes["sym_name"] = ir.StringAttr.get(symbol_name(kernel) + "_body")
    for name in [n for n in kernel.attributes if n.startswith("hloom.") and n not in _KEPT]:
        del kernel.attributes[name]
