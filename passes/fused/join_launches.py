"""join-launches: small kernels that do not need each other's results share a launch (horizontal fusion).

Before:
    %0 = call @fusion_0(%p, %dp) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
    %1 = call @fusion_1(%q, %dq) : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
After:
    %0 = call @fusion_0(%p, %dp) {hloom.launch = 0 : i64} : …
    %1 = call @fusion_1(%q, %dq) {hloom.launch = 0 : i64} : …

The updates of an optimiser, tables side by side, branches. The calls of a launch stand together; assign-buffers gives them buffers that
are live at once, and join-kernels (stages vector and gpu) makes one kernel of theirs: each block, or tile, belongs to one of them. In
between nothing knows of it. A step that is launched together (launches/schedule.py) is what could go next: those kernels wait for all
other ops, and for each other. The record (FUSED_HORIZONTAL) has both times.

Must hold: the fused stage, all passes that make groups done. Declined, with a record: what does not pay (on CPUs kernels that together
are not worth a parallel region, or that take one each and long), what would have more bytes live at once than the order that it finds
(PEAK_MEMORY), kernels that the policy keeps apart. Declined without: kernels that take longer than two launches; sorts, scatters,
libraries' and outside calls; @init, which runs once.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.init_function import entry
from ..common.launches import ALONE, LAUNCH
from ..common.rewriting import callee_of, i64_attr, integer, kind_of, ops_in, walk
from ..registry import register_pass
from .chains.chain import groups_of
from .launches.host_block import HOLDERS, HostBlock, peak_of
from .launches.packing import Launch, Member, Packing
from .launches.price import is_small
from .launches.schedule import Schedule, Step
from .launches.wishes import LaunchWishes
from .planner.codes import Code
from .planner.decisions import Notes
from .planner.policy import policy_of

SPARE_BYTES = 1 << 20
"""A launch is worth as much memory, in a program that takes less."""
_KINDS = ("loop", "reduce", "multi_reduce", "transpose", "matmul", "conv")


@register_pass("join-launches", "has small independent kernels share a launch", ops=("func.call",))
def join_launches(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None:
        return
    groups = {name: group for name, group in groups_of(module).items() if kind_of(group) in _KINDS}
    target, wishes = target_of(module), LaunchWishes(policy_of(module), groups.values())
    shared: list[Launch] = []
    notes = Notes(module)
    with module.context:
        for name in filter(wishes.alone, groups):
            groups[name].attributes[ALONE] = ir.UnitAttr.get()
        for holder in walk(main, lambda op: op.name in ("func.func", *HOLDERS)):
            for block in (block for region in holder.regions for block in region.blocks):
                packing = Packing(target, wishes)
                for launch in _arrange(block, groups, packing, len(shared)):
                    _tell(launch, notes)
                    shared += [launch] if launch.shared else []
        for rule, kernels, reason in wishes.unmet([[member.kernel for member in launch.members] for launch in shared]):
            notes.add(Code.POLICY_UNMET, kernels, reason, "", rule=rule)
        notes.write()


def _arrange(block: ir.Block, groups: dict[str, ir.Operation], packing: Packing, number: int) -> list[Launch]:
    """Puts the calls of a launch together and numbers them, from `number` on; says what shares a launch and what does not."""
    members = {}
    for place, op in enumerate(ops_in(block)):
        if op.name != "func.call" or callee_of(op) not in groups:
            continue
        name, cost = callee_of(op), integer(groups[callee_of(op)], "hloom.cost_ps")
        if is_small(cost, packing.target) or packing.wishes.wanted(name):
            members[place] = Member(place, op, name, cost)
    if len(members) < 2:
        return []
    known = HostBlock.of(block)
    most = max(SPARE_BYTES, peak_of(known, [[op] for op in range(len(known.ops))]))

    def packed(waiting: list[int]) -> list[Step]:
        return [[member.place for member in step] for step in packing.pack([members[place] for place in waiting])]

    steps = Schedule(known, members, packed, most).steps
    peak, made = peak_of(known, steps), {tuple(step) for step in steps}
    launches = {launch.places: launch for launch in packing.launches}
    for places, launch in launches.items():
        if launch.shared and (peak > most or places not in made):
            launch.code, launch.reason = Code.PEAK_MEMORY, f"more than {most} bytes, what the program's order takes, would be live at once"
    if any(launch.shared for launch in launches.values()):
        _write(known, steps, number)
    return list(launches.values())


def _write(known: HostBlock, steps: list[Step], number: int) -> None:
    """The ops of the block in the order of the steps; the calls of a launch get its number."""
    terminator = known.ops[-1]
    for step in steps:
        for place in step:
            if known.ops[place] != terminator:
                known.ops[place].move_before(terminator)
            if len(step) > 1:
                known.ops[place].attributes[LAUNCH] = i64_attr(number)
        number += len(step) > 1


def _tell(launch: Launch, notes: Notes) -> None:
    names = list(dict.fromkeys(member.kernel for member in launch.members))
    figures = {"t_before_ps": launch.before, "t_after_ps": launch.after, "gain_ps": launch.before - launch.after}
    notes.add(launch.code, names, launch.reason, "", figures, launch.rule)
