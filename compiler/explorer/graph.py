"""The graph of a report: the ops of a plan, the values between them, and the calls of groups that hold them.

    {"ops":       [{"op", "type", "at", "reads", "makes", "free"}],       by the plan's numbers; "at": a number of "places"
     "places":    [[short, location]],
     "values":    [bytes],
     "calls":     [{"group", "ops", "reads", "makes", "gone"}],           "group": the function at stage fused; gone: evaluated already
     "hosts":     [op],                                                   while, case, if: no group holds them
     "decisions": [[op, …]],                                              of each of the report's decisions, in their order
     "lost":      [ps]}                                                   of each: what a declined merge would have gained, at most

Later passes of the stage join calls that the plan made (join-contractions). A call that is gone belongs to the call at whose location one
of its readers stood, or to whatever that one belongs to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from hloom.dialects.target import target_of
from hloom.passes.common.ops import Kind
from hloom.passes.common.places import place
from hloom.passes.common.rewriting import callee_of, functions, location_texts, walk
from hloom.passes.fused.planner.cost import CostModel
from hloom.passes.fused.planner.observed import Call, Plan
from hloom.passes.fused.planner.records import Decision, Program


def graph_of(plan: Plan, module: ir.Operation, decisions: int) -> dict[str, Any]:
    """The graph of a plan whose module is at stage fused now; the report has so many decisions."""
    places: dict[str, int] = {}
    program = plan.program
    ops = [
        {
            "op": op.name.partition(".")[2] or op.name,
            "type": program.values[op.results[0]].type.removeprefix("tensor<").removesuffix(">") if op.results else "",
            "at": places.setdefault(op.loc, len(places)),
            "reads": list(op.operands),
            "makes": list(op.results),
            **({"free": True} if op.free and not op.node else {}),
        }
        for op in program.ops
    ]
    told = [list(record.ops) for record in plan.records]
    cost = CostModel(target_of(module), program)
    lost = [_lost(record, cost) for record in plan.records]
    return {
        "ops": ops,
        "places": [[str(place(loc)), loc.removeprefix("loc(").removesuffix(")")] for loc in places],
        "values": [value.bytes for value in program.values],
        "calls": _calls(plan.calls, _called(module), program),
        "hosts": [op.id for op in program.ops if op.kind is Kind.CONTROL],
        "decisions": ([[]] * plan.first + told + [[]] * decisions)[:decisions],
        "lost": ([0] * plan.first + lost + [0] * decisions)[:decisions],
    }


def _lost(record: Decision, cost: CostModel) -> int:
    """Where no price was asked for, as the merge was not legal: a launch, and to write and to read the value between the two."""
    if record.code.verdict != "declined":
        return 0
    if record.before:
        return max(0, record.before - record.after)
    return 0 if record.edge is None else cost.target.launch_ps + 2 * cost.whole(record.edge)


def _called(module: ir.Operation) -> list[tuple[str, str]]:
    """The functions that the module calls, each with the call's location, in order."""
    host = [function for function in functions(module) if "hloom.kind" not in function.attributes]
    calls = [call for function in host for call in walk(function, "func.call")]
    location = location_texts()
    return [(callee_of(call), location(call)) for call in calls]


def _calls(planned: Sequence[Call], final: list[tuple[str, str]], program: Program) -> list[dict[str, Any]]:
    """A row for each call that is left, and for those that went without a trace."""
    left = Counter(final)
    stays = [_take(left, (call.function, call.location)) for call in planned]
    joined = {location: function for (function, location), count in left.items() if count}
    readers = defaultdict(list)
    for number, call in enumerate(planned):
        for value in call.reads:
            readers[value].append(number)
    leader = list(range(len(planned)))
    names = [call.function for call in planned]
    for number in reversed(range(len(planned))):
        if stays[number]:
            continue
        call = planned[number]
        if call.location in joined:
            names[number] = joined[call.location]
            continue
        heir = next((reader for value in call.makes for reader in readers[value] if reader > number and not stays[reader]), number)
        leader[number] = leader[heir]
    members = defaultdict(list)
    for number in range(len(planned)):
        members[leader[number]].append(planned[number])
    there = {function for function, _ in final}
    return [_row(names[number], calls, names[number] in there) for number, calls in sorted(members.items())]


def _take(left: Counter[tuple[str, str]], call: tuple[str, str]) -> bool:
    if not left[call]:
        return False
    left[call] -= 1
    return True


def _row(name: str, calls: Sequence[Call], is_called: bool) -> dict[str, Any]:
    made = {value for call in calls for value in call.makes}
    return {
        "group": name,
        **({} if is_called else {"gone": True}),
        "ops": sorted({op for call in calls for op in call.ops}),
        "reads": sorted({value for call in calls for value in call.reads} - made),
        "makes": list(calls[-1].makes),
    }
