"""lower-launches: the code of a function that runs several kernels, each for its part of the numbers that it is given.

Before:
    func.func private @launch_0(index, index, memref<…>, …) attributes {hloom.tiles = 1024 : i64, hloom.joins = [
        {callee = @fusion_0, buffers = array<i64: 0, 1, 4>, share = 341 : i64, tiles = 8 : i64}, …]}
After:
    llvm.func @launch_0(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {hloom.tiles = 1024 : i64} {
      // for each kernel: which of its share lies in [lo, hi), and the tiles of that part
      %a = min(max(lo - first, 0), 341) * 8 / 341;  %b = min(max(hi - first, 0), 341) * 8 / 341
      if a < b { fusion_0(a, b, its buffers) }
    }

Parts that meet, meet in tiles too: what one thread leaves another takes up.

Must hold: wrap-kernels has run. Declined: nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch_mlir import ir

from ..common.launches import JOINS
from ..common.rewriting import functions, integer, symbol_name
from ..registry import register_pass


@register_pass("lower-launches", "writes the functions that run several kernels")
def lower_launches(module: ir.Operation) -> None:
    block = module.regions[0].blocks[0]
    for function in [function for function in functions(module) if JOINS in function.attributes]:
        with module.context, ir.Location.unknown():
            parsed = ir.Module.parse(_text(function))
            made = list(parsed.body.operations)[-1].operation
            made.detach_from_parent()
            block.append(made)
        function.erase()


def _text(function: ir.Operation) -> str:
    joins = [ir.DictAttr(each) for each in ir.ArrayAttr(function.attributes[JOINS])]
    callees = [ir.FlatSymbolRefAttr(each["callee"]).value for each in joins]
    most = max(len(ir.DenseI64ArrayAttr(each["buffers"])) for each in joins)
    declared = "\n".join(f"llvm.func @{callee}(i64, i64, !llvm.ptr)" for callee in dict.fromkeys(callees))
    code = "\n".join(line for number, each in enumerate(joins) for line in _run(number, each, _first(joins, number)))
    return f"""
        {declared}
        llvm.func @{symbol_name(function)}(%lo: i64, %hi: i64, %buffers: !llvm.ptr)
            attributes {{hloom.tiles = {integer(function, "hloom.tiles")} : i64}} {{
          %zero = llvm.mlir.constant(0 : i64) : i64
          %most = llvm.mlir.constant({most} : i64) : i64
          %own = llvm.alloca %most x !llvm.ptr : (i64) -> !llvm.ptr
          {code}
          llvm.return
        }}"""


def _first(joins: list[ir.DictAttr], number: int) -> int:
    return sum(ir.IntegerAttr(each["share"]).value for each in joins[:number])


def _run(n: int, join: ir.DictAttr, first: int) -> Iterator[str]:
    """Runs the tiles of kernel `n` that belong to the part; `first` is the first number of its share."""
    share, tiles = (ir.IntegerAttr(join[name]).value for name in ("share", "tiles"))
    for name, value in (("first", first), ("share", share), ("tiles", tiles)):
        yield f"%{name}{n} = llvm.mlir.constant({value} : i64) : i64"
    for bound in ("lo", "hi"):
        yield f"%{bound}{n}_0 = llvm.sub %{bound}, %first{n} : i64"
        yield f"%{bound}{n}_1 = llvm.intr.smax(%{bound}{n}_0, %zero) : (i64, i64) -> i64"
        yield f"%{bound}{n}_2 = llvm.intr.smin(%{bound}{n}_1, %share{n}) : (i64, i64) -> i64"
        yield f"%{bound}{n}_3 = llvm.mul %{bound}{n}_2, %tiles{n} : i64"
        yield f"%{bound}{n}_4 = llvm.udiv %{bound}{n}_3, %share{n} : i64"
    yield f'%any{n} = llvm.icmp "ult" %lo{n}_4, %hi{n}_4 : i64'
    yield f"llvm.cond_br %any{n}, ^run{n}, ^next{n}"
    yield f"^run{n}:"
    for place, buffer in enumerate(ir.DenseI64ArrayAttr(join["buffers"])):
        yield f"%from{n}_{place} = llvm.getelementptr %buffers[{buffer}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"
        yield f"%to{n}_{place} = llvm.getelementptr %own[{place}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"
        yield f"%buffer{n}_{place} = llvm.load %from{n}_{place} : !llvm.ptr -> !llvm.ptr"
        yield f"llvm.store %buffer{n}_{place}, %to{n}_{place} : !llvm.ptr, !llvm.ptr"
    callee = ir.FlatSymbolRefAttr(join["callee"]).value
    yield f"llvm.call @{callee}(%lo{n}_4, %hi{n}_4, %own) : (i64, i64, !llvm.ptr) -> ()"
    yield f"llvm.br ^next{n}"
    yield f"^next{n}:"
