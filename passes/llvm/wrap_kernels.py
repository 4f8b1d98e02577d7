"""wrap-kernels: the lowered kernels beside the host program again, behind one signature.

Before:
    module @kernels {
      llvm.func @fusion_0_body(%lo: i64, %hi: i64, %a: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias})
          attributes {hloom.tiles = 16 : i64}
    }
After:
    llvm.func internal @fusion_0_body(%lo: i64, %hi: i64, %a: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias})
    llvm.func @fusion_0(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {hloom.tiles = 16 : i64}   // loads the pointers, calls the body

A body that several share (share-kernels) gets a function for each of them, which calls it with its numbers, and is inlined into none:
    llvm.func @fusion_2(…) attributes {hloom.tiles = 6 : i64}   // calls @fusion_1_body(…, 96)

Must hold: isolate-kernels has run. Declined: functions without hloom.tiles, or that are no llvm.func, move as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch_mlir import ir

from ..common.rewriting import integer, ops_in, symbol_name
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
        for wrapper in (wrapper for body in bodies for wrapper in _wrappers(body)):
            block.append(wrapper)
        apart.erase()


def _wrappers(body: ir.Operation) -> Iterator[ir.Operation]:
    """The functions of the common signature for a kernel's body, which becomes internal; one for each of those that share it."""
    tiles = integer(body, "hloom.tiles")
    del body.attributes["hloom.tiles"]
    body.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    if "hloom.shared" not in body.attributes:
        yield _wrapper(body, symbol_name(body).removesuffix("_body"), tiles, [])
        return
    members = ir.DictAttr(body.attributes["hloom.shared"])
    del body.attributes["hloom.shared"]
    body.attributes["no_inline"] = ir.UnitAttr.get()
    for each in members:
        member = ir.DictAttr(each.attr)
        yield _wrapper(body, each.name, ir.IntegerAttr(member["tiles"]).value, list(ir.DenseI64ArrayAttr(member["numbers"])))


def _wrapper(body: ir.Operation, name: str, tiles: int, numbers: list[int]) -> ir.Operation:
    """The function of that name, which calls the body with the pointers and the numbers."""
    marks = f"hloom.effort = {body.attributes['hloom.effort']}, " if "hloom.effort" in body.attributes else ""
    callee = symbol_name(body)
    pointers = len(body.regions[0].blocks[0].arguments) - 2 - len(numbers)
    loads = [
        f"%s{n} = llvm.getelementptr %buffers[{n}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n%p{n} = llvm.load %s{n} : !llvm.ptr -> !llvm.ptr"
        for n in range(pointers)
    ]
    constants = [f"%n{n} = llvm.mlir.constant({number} : i64) : i64" for n, number in enumerate(numbers)]
    code = "\n".join([*loads, *constants])
    arguments = ", ".join(["%lo", "%hi", *(f"%p{n}" for n in range(pointers)), *(f"%n{n}" for n in range(len(numbers)))])
    types = ", ".join(["i64", "i64", *["!llvm.ptr"] * pointers, *["i64"] * len(numbers)])
    parsed = ir.Module.parse(f"""
        llvm.func @{callee}({types})
        llvm.func @{name}(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {{{marks}hloom.tiles = {tiles} : i64}} {{
          {code}
          llvm.call @{callee}({arguments}) : ({types}) -> ()
          llvm.return
        }}""")
    wrapper = parsed.body.operations[1].operation
    wrapper.detach_from_parent()
    return wrapper
