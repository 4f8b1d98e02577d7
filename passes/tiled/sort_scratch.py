"""sort-scratch: a sort gets a second buffer for each operand, behind the arena, between which and its results its rows go back and forth.

Before:
    "lhlo.fusion"(%x, %out) {callee = @fusion_0, …}
    func.func private @fusion_0(%x: tensor<4x100xf32>) -> tensor<4x100xf32> { %r = "stablehlo.sort"(%x) …; return %r }
After:
    %s = memref.view %arena[…]
    "lhlo.fusion"(%x, %out, %s) {callee = @fusion_0, …}
    func.func private @fusion_0(%x: tensor<4x100xf32>) -> (tensor<4x100xf32>, tensor<4x100xf32>) {
      %r = "stablehlo.sort"(%x) …; %e = tensor.empty(); return %r, %e
    }

A sort of words (common/sorting/scratch.py) gets two buffers of words instead, none where its rows are short.

Must hold: the linalg stage. Declined: groups without a sort.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import functions, i64_array, ops_in, segments, symbol_name, update_signature, value_of, walk
from ..common.sorting.scratch import scratch_of
from ..registry import register_pass
from .emission.behind_arena import Host, call, hosts_of


@register_pass("sort-scratch", "gives every sort a second buffer for each operand", ops=("stablehlo.sort",))
def sort_scratch(module: ir.Operation) -> None:
    with module.context, ir.Location.unknown():
        hosts = hosts_of(module)
        for function in functions(module):
            for sort in walk(function, "stablehlo.sort") if "hloom.kind" in function.attributes else []:
                _extend(function, scratch_of(sort), hosts)
        for host in hosts:
            host.finish()


def _extend(function: ir.Operation, kinds: list[ir.Type], hosts: list[Host]) -> None:
    returned = ops_in(function.regions[0].blocks[0])[-1]
    with ir.InsertionPoint(returned), returned.location:
        empties = [value_of("tensor.empty", kind) for kind in kinds]
        ir.Operation.create("func.return", operands=[*returned.operands, *empties])
    returned.erase()
    update_signature(function)
    name = symbol_name(function)
    for host in hosts:
        host.begin_group()
        calls = host.calls(name)
        scratch = [host.buffer(kind) for kind in kinds] if calls else []
        for op in calls:
            inputs, outputs = segments(op)
            with ir.InsertionPoint(op), op.location:
                call(op, name, inputs, [*outputs, *scratch], i64_array([]))
            op.erase()
