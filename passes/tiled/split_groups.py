"""split-groups: a value of a group that no tile can hold gets a buffer in the arena, between two groups.

Before, where a window over %v keeps its rows and columns whole in every tile:
    "lhlo.fusion"(%x, %out) {callee = @fusion_0, …}
    func.func private @fusion_0(%x) -> … { %v = generic ins(%x); %r = generic (windows) ins(%v); return %r }
After:
    %v = memref.view %arena[…]
    "lhlo.fusion"(%x, %v) {callee = @fusion_0_part_0, …}
    "lhlo.fusion"(%v, %out) {callee = @fusion_0, …}
    func.func private @fusion_0_part_0(%x) -> … { %v = generic ins(%x); return %v }
    func.func private @fusion_0(%v) -> … { %r = generic (windows) ins(%v); return %r }

The planner prices a group as if each tile had what it needs of every value; here is known what its tiles are. As long as the values that
a tile keeps are more than its share of the cache (TargetView.tile_bytes), the largest is cut out: what it depends on becomes a group of
its own, which returns it and whatever else the rest needs. Such buffers live from one call to the next, so that those of different groups
share one place behind the arena. Each cut is a record in `hloom.decisions`.

Must hold: the linalg stage. Declined: library groups, and groups whose largest value depends on everything in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView, target_of

from ..common.axes import Axes, read_tile_op
from ..common.edge import before_edge
from ..common.rewriting import (
    around,
    create,
    defining_op,
    erase_unused,
    generated_groups,
    i64_array,
    i64_attr,
    is_used,
    ops_in,
    segments,
    symbol_name,
    update_signature,
    walk,
)
from ..fused.planner.codes import Code
from ..fused.planner.decisions import append_note
from ..registry import register_pass
from .emission.behind_arena import Host, call, hosts_of
from .emission.temporaries import temporaries
from .schedules.row_loop import row_loop
from .schedules.tile_sizes import choose_tile_sizes

_LINALG = ("linalg.generic", "linalg.fill")
_SHARING = ("hloom.inplace", "hloom.window_update")
_OF_THE_WHOLE = ("hloom.cost_ps", "hloom.flops")


@register_pass("split-groups", "gives values that no tile can hold a buffer between two groups")
def split_groups(module: ir.Operation) -> None:
    target = target_of(module)
    with module.context, ir.Location.unknown():
        hosts = hosts_of(module)
        for group in generated_groups(module):
            if not walk(group, "scf.forall"):
                _split(module, group, target, hosts)
        for host in hosts:
            host.finish()


def _split(module: ir.Operation, group: ir.Operation, target: TargetView, hosts: list[Host]) -> None:
    """Cuts `group`, and the parts cut off, until every tile has room."""
    for host in hosts:
        host.begin_group()
    pending, parts = [group], 0
    while pending:
        function = pending.pop()
        while (found := _too_large(function, target)) is not None:
            value, size = found
            kind = str(value.type)
            cut = cut_out(function, value, f"{symbol_name(group)}_part_{parts}")
            if cut is None:
                break
            parts += 1
            for host in hosts:
                rewrite_calls(host, function, cut)
            pending.append(cut.first)
            names = [symbol_name(cut.first), symbol_name(function)]
            append_note(module, Code.SPLIT, names, f"a value of which every tile would hold {size} bytes has a buffer", kind)


def _too_large(function: ir.Operation, target: TargetView) -> tuple[ir.Value, int] | None:
    """The largest value that a tile keeps, if all of them are more than its share."""
    ops = ops_in(function.regions[0].blocks[0])
    tiled = [read_tile_op(op) for op in ops if op.name in _LINALG]
    if len(tiled) < 2:
        return None
    axes = Axes(tiled, [before_edge(v) for v in ops[-1].operands])
    sizes, loop = choose_tile_sizes(axes, target), row_loop(function, axes, target)
    kept = temporaries(axes, sizes if loop is None else {**sizes, **loop.block})
    if sum(kept.values()) <= target.tile_bytes:
        return None
    computed = [item for item in kept.items() if (op := defining_op(item[0])) is not None and op.name == "linalg.generic"]
    return max(computed, key=lambda item: item[1], default=None)


@dataclass
class Cut:
    """The first part; which arguments of the group each part takes; and the types of the values between the two."""

    first: ir.Operation
    first_takes: list[int]
    second_takes: list[int]
    types: list[ir.Type]


def cut_out(function: ir.Operation, value: ir.Value, name: str) -> Cut | None:
    """Leaves in `function` what does not make `value`; the new function of that name makes it. None where nothing would be left."""
    block = function.regions[0].blocks[0]
    ops = ops_in(block)
    above = _above(ops, value)
    between = [
        (i, r)
        for i in above
        if ops[i].name == "linalg.generic"
        for r, v in enumerate(ops[i].results)
        if _read_outside(v, {ops[j] for j in above})
    ]
    if all(i in above for i, op in enumerate(ops) if op.name == "linalg.generic"):
        return None
    values = [ops[i].results[r] for i, r in between]
    types = [v.type for v in values]
    first = _copy(function, between)
    first.attributes["sym_name"] = ir.StringAttr.get(name)
    arguments = len(block.arguments)
    for v in values:
        v.replace_all_uses_with(block.add_argument(v.type, v.owner.location))
    cut = Cut(first, _prune(first), _prune(function), types)
    cut.second_takes = [i for i in cut.second_takes if i < arguments]
    _set_sharing(first, [])
    _set_sharing(function, cut.second_takes)
    return cut


def making(function: ir.Operation, value: ir.Value) -> ir.Operation:
    """A copy of the group that returns `value`, a result of one of its ops, and does nothing else."""
    ops = ops_in(function.regions[0].blocks[0])
    copy = _copy(function, [(number, list(op.results).index(value)) for number, op in enumerate(ops) if value in list(op.results)])
    _prune(copy)
    return copy


def _copy(function: ir.Operation, returned: list[tuple[int, int]]) -> ir.Operation:
    """A copy that returns others of its values: pairs of an op's number and a result's."""
    copy = function.clone(ip=ir.InsertionPoint(function)).operation
    copies = ops_in(copy.regions[0].blocks[0])
    with ir.InsertionPoint(copies[-1]):
        create("func.return", [], [copies[i].results[r] for i, r in returned])
    copies[-1].erase()
    return copy


def _above(ops: list[ir.Operation], value: ir.Value) -> list[int]:
    """The numbers of the ops that `value` depends on, the one that makes it included."""
    number = {op: i for i, op in enumerate(ops)}
    found: set[int] = set()
    pending = [value]
    while pending:
        op = defining_op(pending.pop())
        if op is None or op not in number or number[op] in found:
            continue
        found.add(number[op])
        pending.extend(operand for inner in walk(op) for operand in inner.operands)
    return sorted(found)


def _read_outside(value: ir.Value, above: set[ir.Operation]) -> bool:
    users = [use.owner.operation for use in value.uses]
    return any(above.isdisjoint((user, *around(user))) for user in users)


def _prune(function: ir.Operation) -> list[int]:
    """Erases the ops and arguments that nothing needs, and says which arguments are left."""
    block = function.regions[0].blocks[0]
    *ops, returned = ops_in(block)
    erase_unused(ops)
    kept = [i for i, argument in enumerate(block.arguments) if is_used(argument)]
    for i in reversed(range(len(block.arguments))):
        if i not in kept:
            block.erase_argument(i)
    update_signature(function)
    moved = sum(byte_size(v.type) for v in (*block.arguments, *returned.operands))
    function.attributes["hloom.bytes"] = i64_attr(moved)
    if "hloom.kind" in function.attributes and all(
        "reduction" not in str(op.attributes["iterator_types"]) for op in walk(function, "linalg.generic")
    ):
        function.attributes["hloom.kind"] = ir.StringAttr.get("loop")
    for name in _OF_THE_WHOLE:
        if name in function.attributes:
            del function.attributes[name]
    return kept


def _set_sharing(function: ir.Operation, taken: list[int]) -> None:
    """Keeps the pairs of an argument and a result that share a buffer, under the arguments' new numbers."""
    for name in _SHARING:
        if name in function.attributes:
            function.attributes[name] = _renumbered(function.attributes[name], taken)


def _renumbered(pairs: ir.Attribute, taken: list[int]) -> ir.Attribute:
    flat = list(ir.DenseI64ArrayAttr(pairs))
    return i64_array(n for a, r in zip(flat[::2], flat[1::2]) if a in taken for n in (taken.index(a), r))


def rewrite_calls(host: Host, second: ir.Operation, cut: Cut) -> None:
    """Calls both parts wherever the group was called."""
    name = symbol_name(second)
    calls = host.calls(name)
    buffers = [host.buffer(t) for t in cut.types] if calls else []
    for op in calls:
        inputs, outputs = segments(op)
        inplace = _renumbered(op.attributes["inplace"], cut.second_takes)
        with ir.InsertionPoint(op), op.location:
            call(op, symbol_name(cut.first), [inputs[i] for i in cut.first_takes], buffers, i64_array([]))
            call(op, name, [*(inputs[i] for i in cut.second_takes), *buffers], outputs, inplace)
        op.erase()
