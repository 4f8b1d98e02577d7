"""wrap-kernels: the lowered kernels beside the host program again, behind one signature.

Before:
    module @kernels {
      llvm.func @fusion_0_body(%lo: i64, %hi: i64, %a: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias})
          attributes {hloom.tiles = 16 : i64}
    }
After:
    llvm.func internal @fusion_0_body(%lo: i64, %hi: i64, %a: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias})
    llvm.func @fusion_0(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {hloom.tiles = 16 : i64}   // loads the pointers, calls the body

Must hold: isolate-kernels has run. Declined: functions without hloom.tiles, or that are no llvm.func, move as they are.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import llvm  # noqa: F401  the bindings would, amid the pass

from ..common.rewriting import ops_in, symbol_name
from ..registry import register_pass


@register_pass("wrap-kernels", "brings the lowered kernels back, behind one signature")
def wrap_kernels(module: ir.Operation) -> None:
    block = module.regions[0].blocks[0]
    for apart in [op for op in ops_in(block) if op.name == "builtin.module"]:
        ops = ops_in(apart.regions[0].blocks[0])
        bodies = [op for op in ops if op.name == "llvm.func" and "hloom.tiles" in op.attributes]
        for op in ops:
            op.detach_from_parent()
            block.append(op)
        for body in bodies:
            block.append(_wrapper(body))
        apart.erase()


def _wrapper(body: ir.Operation) -> ir.Operation:
    """The function of the common signature for a kernel's body, which becomes internal."""
    tiles = body.attributes["hloom.tiles"]
    del body.attributes["hloom.tiles"]
    marks = "hloom.few_passes, " if "hloom.few_passes" in body.attributes else ""
    body.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    name = symbol_name(body)
    pointers = len(body.regions[0].blocks[0].arguments) - 2
    loads = "\n".join(
        f"%s{n} = llvm.getelementptr %buffers[{n}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n%p{n} = llvm.load %s{n} : !llvm.ptr -> !llvm.ptr"
        for n in range(pointers)
    )
    arguments = ", ".join(["%lo", "%hi", *(f"%p{n}" for n in range(pointers))])
    types = ", ".join(["i64", "i64", *["!llvm.ptr"] * pointers])
    parsed = ir.Module.parse(f"""
        llvm.func @{name}({types})
        llvm.func @{name.removesuffix("_body")}(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {{{marks}hloom.tiles = {tiles}}} {{
          {loads}
          llvm.call @{name}({arguments}) : ({types}) -> ()
          llvm.return
        }}""")
    wrapper = parsed.body.operations[1].operation
    wrapper.detach_from_parent()
    return wrapper
