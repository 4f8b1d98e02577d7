"""repeat-reductions: a small reduction is computed by each tile of those that read it, in place of a kernel of its own.

Before:
    %p = call @fusion_0(%x)            // sums of 2,048 parts         : tensor<2048xf32>
    %m = call @fusion_1(%p)            // their sum, over the number  : tensor<f32>
    %r = call @fusion_2(%x, %m)        // x - m                       : tensor<4096x4096xf32>
After:
    %p = call @fusion_0(%x)
    %r = call @fusion_3(%x, %p)
    func.func private @fusion_3(%x, %p) { the sum of p, over the number; x - m }

The last stage of a reduction that was split for the threads (split-reductions) is such a one: each block of a GPU, and each thread of a
CPU, adds up the parts for itself, and nothing waits for a kernel of one block. It goes into all kernels that read it, or into none. The
price: what its own kernel takes, against its work and what it reads from the last cache, once a block, or once, and the loop that each of
its ops is. So a chain of small reductions, each read twice, does not double with every link.

Must hold: the fused stage, groups of constants hoisted. Declined, with a record: what costs more (NO_GAIN), what a policy's `forbid` or
`once` keeps apart. Declined without: reductions of more than `CHEAP_POINTS` elements, which no tile repeats (common/axes.py); results that
others than loops and reductions of the same block read; @init, which runs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import target_of

from ..common.axes import CHEAP_POINTS
from ..common.init_function import entry
from ..common.rewriting import attributes_of, body_ops, callee_of, i64_attr, integer, kind_of, ops_in, walk
from ..registry import register_pass
from .chains.bodies import call_in_place, function_of, named
from .chains.chain import Groups, groups_of
from .launches.wishes import LaunchWishes
from .planner.codes import Code
from .planner.cost import SECOND
from .planner.decisions import Notes
from .planner.policy import policy_of
from .planner.policy_rules import FORBID, ONCE

_READERS = ("loop", "reduce", "multi_reduce", "transpose")
_LOOP_PS = 5_000
"""What a loop over few points costs beside its arithmetic."""
TILE_POINTS = 1 << 12
"""Of a GPU's tile of those (tiled/schedules/gpu_tile_sizes.py), about."""


@register_pass("repeat-reductions", "computes small reductions in the kernels that read them", ops=("func.call",))
def repeat_reductions(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None:
        return
    groups = groups_of(module)
    repeating = _Repeating(module, groups, walk(main, "func.call"))
    with module.context:
        while repeating.calls:
            repeating.visit(repeating.calls.pop(0))
        called = {callee_of(call) for call in walk(module, "func.call")}
        for name in sorted(repeating.left - called):
            groups[name].erase()
        repeating.notes.write()


@dataclass(frozen=True)
class _Price:
    before: int
    after: int

    @property
    def gain(self) -> int:
        return self.before - self.after


class _Repeating:
    def __init__(self, module: ir.Operation, groups: dict[str, ir.Operation], calls: list[ir.Operation]):
        self.module, self.groups, self.calls, self.target = module, groups, calls, target_of(module)
        self.policy, self.notes = policy_of(module), Notes(module)
        self.left: set[str] = set()
        """Groups that are called no more, or less often."""
        self.made: dict[str, str] = {}
        """The names of those that were made, by their text."""

    def visit(self, call: ir.Operation) -> None:
        """Moves what is called into its readers, where that may be and pays."""
        readers = _readers(call, self.groups)
        if readers is None or not _is_small(self.groups[callee_of(call)]):
            return
        names = [callee_of(each) for each in (call, *readers)]
        edge = str(call.results[0].type)
        wishes = LaunchWishes(self.policy, self.groups.values(), (FORBID, ONCE))
        wish = next((found for name in names[1:] if (found := wishes.of(names[0], name))), None)
        if wish is not None:
            self.notes.add(Code.POLICY_FORBIDDEN, names, "the policy keeps them apart", edge, rule=wish.rule)
            return
        price = self._price(call, readers)
        figures = {"t_before_ps": price.before, "t_after_ps": price.after, "gain_ps": price.gain}
        if price.gain <= self.target.min_gain_ps:
            self.notes.add(Code.NO_GAIN, names, "each block of its readers would compute it anew", edge, figures)
            return
        moved = []
        for reader in readers:
            place = self.calls.index(reader)
            self.calls[place] = self._move(call, reader)
            moved.append(callee_of(self.calls[place]))
        call.erase()
        self.left.update(names)
        reason = "so few elements are reduced by every tile of those that read the result"
        self.notes.add(Code.FUSED_REPEATED, list(dict.fromkeys(moved)), reason, edge, figures)

    def _price(self, call: ir.Operation, readers: Sequence[ir.Operation]) -> _Price:
        costs = [integer(self.groups[callee_of(each)], "hloom.cost_ps") for each in (call, *readers)]
        return _Price(sum(costs), sum(costs[1:]) + sum(self._again(call, reader) for reader in readers))

    def _again(self, call: ir.Operation, reader: ir.Operation) -> int:
        """Picoseconds of the reduction in all tiles of a reader."""
        group = self.groups[callee_of(call)]
        read = sum(byte_size(value.type) for value in call.operands) * SECOND // self.target.llc_bytes_per_second
        work = self._times(reader) * (read + integer(group, "hloom.flops") * SECOND // self.target.f32_flops)
        return work + _loops(group) * _LOOP_PS

    def _times(self, reader: ir.Operation) -> int:
        """How often a reader's kernel computes it, one after the other: a CPU's threads do so once, side by side."""
        if self.target.kind != "cuda":
            return 1
        return ceil(max(map(_elements, (*reader.operands, *reader.results))) / TILE_POINTS)

    def _move(self, call: ir.Operation, reader: ir.Operation) -> ir.Operation:
        """The call of a group that has both bodies, in the reader's place."""
        first, second = self.groups[callee_of(call)], self.groups[callee_of(reader)]
        operands = list(dict.fromkeys([*(v for v in reader.operands if v not in call.results), *call.operands]))
        function, _ = function_of((call, reader), self.groups, operands)
        moved = sum(byte_size(v.type) for v in operands) - sum(byte_size(v.type) for v in dict.fromkeys(reader.operands))
        figures = (self._again(call, reader), moved, self._times(reader) * integer(first, "hloom.flops"))
        for name, attribute in attributes_of(second).items():
            if name.startswith("hloom."):
                function.attributes[name] = attribute
        for key, figure in zip(("hloom.cost_ps", "hloom.bytes", "hloom.flops"), figures):
            function.attributes[key] = i64_attr(integer(second, key) + figure)
        name = named(self.module, function, self.made, "fusion")
        if name not in self.groups:
            self.groups[name] = function
        return call_in_place(reader, name, operands)


def _readers(call: ir.Operation, groups: Groups) -> list[ir.Operation] | None:
    """The calls that read what a reduction makes, in their order; None where others do, or where it is none."""
    group = groups.get(callee_of(call))
    if group is None or kind_of(group) not in ("reduce", "multi_reduce") or not call.operands:
        return None
    users = {use.owner.operation for value in call.results for use in value.uses}
    if not users or any(user.name != "func.call" or user.block != call.block or callee_of(user) not in groups for user in users):
        return None
    if any(kind_of(groups[callee_of(user)]) not in _READERS for user in users):
        return None
    return [op for op in ops_in(call.block) if op in users]


def _is_small(group: ir.Operation) -> bool:
    """Whether every op of the group has so few points that tiles may repeat it, and none of its ops goes on in the order of its turns."""
    ops = body_ops(group)
    return all(_elements(value) <= CHEAP_POINTS for op in ops for value in (*op.results, *(op.operands if op.regions else ())))


def _loops(group: ir.Operation) -> int:
    """How many ops of the group compute something."""
    return sum(op.name not in ("stablehlo.constant", "stablehlo.reshape") for op in body_ops(group))


def _elements(value: ir.Value) -> int:
    return prod(ir.RankedTensorType(value.type).shape)
