"""split-sorts: for a GPU, a sort of rows that no block has room for becomes several groups: sorted runs, then merges two and two.

Before:
    "lhlo.fusion"(%x, %out) {callee = @fusion_0, …}
    func.func private @fusion_0(%x: tensor<5000xf32>) -> tensor<5000xf32> { %r = "stablehlo.sort"(%x) …; return %r }
After:
    %s = memref.view %arena[…]
    "lhlo.fusion"(%x, %out) {callee = @fusion_0_runs, …}
    "lhlo.fusion"(%out, %s) {callee = @fusion_0_merge_2048, …}
    "lhlo.fusion"(%s, %out) {callee = @fusion_0, …}
    func.func private @fusion_0_runs(%x) -> … { %r = "stablehlo.sort"(%x) {hloom.runs = 2048} …; return %r }
    func.func private @fusion_0_merge_2048(%x) -> … { %r = "stablehlo.sort"(%x) {hloom.merges = 2048} …; return %r }
    func.func private @fusion_0(%x) -> … { %r = "stablehlo.sort"(%x) {hloom.merges = 4096} …; return %r }

The merges go back and forth between the results and buffers behind the arena. Must hold: the linalg stage, the sort along the last
dimension. Declined: targets that are no GPUs; sorts of rows that a block has room for; groups without a sort.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import groups_of_kind, i64_array, i64_attr, ops_in, segments, symbol_name, update_signature, walk
from ..common.sorting.runs import MERGES, RUNS, run_length
from ..registry import register_pass
from .emission.behind_arena import Host, call, hosts_of

_OF_THE_WHOLE = ("hloom.cost_ps", "hloom.flops")


@register_pass("split-sorts", "makes sorts of long rows several groups: runs, and merges", ops=("stablehlo.sort",))
def split_sorts(module: ir.Operation) -> None:
    if target_of(module).kind != "cuda":
        return
    with module.context, ir.Location.unknown():
        sorts = [(function, sort) for function in groups_of_kind(module, "sort") for sort in walk(function, "stablehlo.sort")]
        long = [(function, sort) for function, sort in sorts if _is_long(sort)]
        hosts = hosts_of(module) if long else []
        for function, sort in long:
            _split(function, sort, hosts)
        for host in hosts:
            host.finish()


def _is_long(sort: ir.Operation) -> bool:
    return _length(sort) > run_length(sort)


def _length(sort: ir.Operation) -> int:
    return ir.RankedTensorType(sort.operands[0].type).shape[-1]


def _split(function: ir.Operation, sort: ir.Operation, hosts: list[Host]) -> None:
    width, name = run_length(sort), symbol_name(function)
    runs = _step(function, f"{name}_runs", RUNS, width)
    steps = [symbol_name(runs)]
    while 2 * width < _length(sort):
        merge = _step(function, f"{name}_merge_{width}", MERGES, width)
        _take_results(merge)
        steps.append(symbol_name(merge))
        width *= 2
    sort.attributes[MERGES] = i64_attr(width)
    _take_results(function)
    for host in hosts:
        _rewrite_calls(host, function, [*steps, name])


def _step(function: ir.Operation, name: str, attribute: str, width: int) -> ir.Operation:
    """A copy of the group that is one step of it."""
    copy = function.clone(ip=ir.InsertionPoint(function)).operation
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    walk(copy, "stablehlo.sort")[0].attributes[attribute] = i64_attr(width)
    return copy


def _take_results(function: ir.Operation) -> None:
    """Has a merge take what the group returns, in that order, and nothing else."""
    block = function.regions[0].blocks[0]
    sort = walk(function, "stablehlo.sort")[0]
    count = len(block.arguments)
    for result in ops_in(block)[-1].operands:
        sort.operands[ir.OpResult(result).result_number] = block.add_argument(result.type, sort.location)
    for number in reversed(range(count)):
        block.erase_argument(number)
    update_signature(function)
    for name in _OF_THE_WHOLE:
        if name in function.attributes:
            del function.attributes[name]


def _rewrite_calls(host: Host, function: ir.Operation, steps: list[str]) -> None:
    """Calls the steps wherever the group was called, the last of them into the results."""
    host.begin_group()
    kinds = [value.type for value in ops_in(function.regions[0].blocks[0])[-1].operands]
    calls = host.calls(symbol_name(function))
    scratch = [host.buffer(kind) for kind in kinds] if calls else []
    for op in calls:
        source, results = segments(op)
        with ir.InsertionPoint(op), op.location:
            for left, step in zip(reversed(range(len(steps))), steps):
                target = scratch if left % 2 else results
                call(op, step, source, target, i64_array([]))
                source = target
        op.erase()
