"""join-regions: the kernels of a launch that several calls share are run by one, whose tiles are theirs.

Before:
    "lhlo.fusion"(%p, %dp, %p1) {callee = @fusion_0, hloom.launch = 0 : i64, …}
    "lhlo.fusion"(%q, %dq, %q1) {callee = @fusion_1, hloom.launch = 0 : i64, …}
After:
    "lhlo.fusion"(%p, %dp, %q, %dq, %p1, %q1) {callee = @launch_0, …}
    func.func private @launch_0(index, index, memref<…>, …) attributes {hloom.tiles = 1024 : i64, hloom.joins = [
        {callee = @fusion_0, buffers = array<i64: 0, 1, 4>, share = 341 : i64, tiles = 8 : i64}, …]}

One parallel region for all. A thread gets a part of the numbers 0 … hloom.tiles, which are divided among the kernels by what they cost,
so that threads share time rather than tiles; lower-launches writes the code. The kernels stay as they are.

Must hold: the vector stage, each group a kernel. Declined: nothing; what split-groups took apart has lost its mark.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.launches import JOINS, LAUNCH, MEMBERS, JoinedCall, joined, shared_launches
from ..common.rewriting import callee_of, create, functions, i64_array, i64_attr, integer, symbol_name, walk
from ..registry import register_pass

SHARES = 1024
"""So many parts of equal cost has a launch, about."""
_SUMS = ("hloom.bytes", "hloom.cost_ps", "hloom.flops")


@register_pass("join-regions", "makes one kernel of those that share a launch, for CPUs")
def join_regions(module: ir.Operation) -> bool:
    kernels = {symbol_name(function): function for function in functions(module)}
    made: dict[tuple[object, ...], str] = {}
    with module.context:
        launches = shared_launches(module)
        for calls in launches:
            call = joined(calls)
            if call.key not in made:
                made[call.key] = f"launch_{len(made)}"
                _declare(made[call.key], call, [kernels[callee_of(each)] for each in calls])
            call.write(made[call.key])
        for host in functions(module):
            if "hloom.tiles" not in host.attributes:
                for left in walk(host, lambda op: op.name == "lhlo.fusion" and LAUNCH in op.attributes):
                    del left.attributes[LAUNCH]
    return bool(launches)


def _declare(name: str, call: JoinedCall, kernels: list[ir.Operation]) -> None:
    """The kernel of that name, before the first of those that it runs."""
    types: list[ir.Type] = [ir.IndexType.get()] * (2 + len(call.inputs) + len(call.outputs))
    costs = [max(1, integer(kernel, "hloom.cost_ps", 1)) for kernel in kernels]
    joins = []
    for kernel, cost, places in zip(kernels, costs, call.places):
        for place, argument in zip(places, list(kernel.regions[0].blocks[0].arguments)[2:]):
            types[2 + place] = argument.type
        share, tiles = max(1, SHARES * cost // sum(costs)), integer(kernel, "hloom.tiles")
        callee = ir.FlatSymbolRefAttr.get(symbol_name(kernel))
        joins.append(ir.DictAttr.get({"callee": callee, "buffers": i64_array(places), "share": i64_attr(share), "tiles": i64_attr(tiles)}))
    sums = {figure: i64_attr(sum(integer(kernel, figure, 0) for kernel in kernels)) for figure in _SUMS}
    tiles = sum(ir.IntegerAttr(each["share"]).value for each in joins)
    with ir.InsertionPoint(kernels[0]), kernels[0].location:
        create(
            "func.func",
            regions=1,
            sym_name=ir.StringAttr.get(name),
            sym_visibility=ir.StringAttr.get("private"),
            function_type=ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            **{JOINS: ir.ArrayAttr.get(joins), MEMBERS: call.members, "hloom.tiles": i64_attr(tiles), **sums},
        )
