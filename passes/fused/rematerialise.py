"""rematerialise: stage fused. Under a policy's memory limit, values that wait long for their readers are made again for them.

Before, where the limit is less than what is live at once:
    %h, %g = call @fusion_0(%x, %w)        // h = x · w, g = gelu(h)
    %y = call @fusion_1(%g, …)
    …                                      // h and g wait for the gradients
    %dw = call @fusion_7(%g, %d)
    %dh = call @fusion_8(%h, %d)
After:
    %h, %g = call @fusion_0(%x, %w)
    %y = call @fusion_1(%g, …)
    …                                      // h alone waits
    %again = call @fusion_9(%h)            // gelu
    %dw = call @fusion_7(%again, %d)
    %dh = call @fusion_8(%h, %d)

What is live is looked at op by op. Of the values that are there at the fullest place without being read, the one is given up whose recipe
(remat/recipe.py: the ops that make it, from what is there anyway) takes the least time for the bytes that it spares; and so on, until the
arena is within the limit. The recipe is a program of its own, which the planner fuses and prices like any. Each is a record
(REMATERIALISED) with the bytes and the price; what the arena took before is `hloom.planned_bytes` of the module.

Must hold: the fused stage, no launches shared yet. Without a limit, and within it, nothing changes. Declined: values of loops, branches,
sorts, scatters, attention loops and outside code, and what would take more groups than one does well. Where that is not enough, a
MemoryLimitError says what was reached.
"""

from __future__ import annotations

from dataclasses import replace

from torch_mlir import ir

from hloom.dialects.target import attach_target, target_of

from ..common.init_function import entry
from ..common.places import place
from ..common.rewriting import callee_of, clone_with, functions, holder, i64_attr, integer, ops_in, symbol_name
from ..lhlo.assignment.alternate import assigned, wishes_of
from ..lhlo.assignment.inplace import InPlace
from ..registry import register_pass
from .chains.bodies import named
from .chains.chain import groups_of
from .join_contractions import join_contractions
from .plan_fusion import plan_fusion
from .planner.codes import Code
from .planner.decisions import Notes
from .planner.observed import observed_plans
from .planner.policy import Policy, attach_policy, policy_of, within_limit
from .remat.lifetimes import Lifetimes
from .remat.recipe import Kitchen, Recipe, worth

PLANNED = "hloom.planned_bytes"
"""On the module: the arena that the plan takes with nothing made again."""
VAIN = 24
"""After so many values one after the other whose loss has not brought down what is live it is given up."""


@register_pass("rematerialise", "makes values again for late readers, within a policy's memory limit", ops=("func.call",))
def rematerialise(module: ir.Operation) -> None:
    main, policy = entry(module, "main"), policy_of(module)
    if main is None or policy.memory_limit is None:
        return
    with module.context:
        _Rematerialising(module, main, policy, policy.memory_limit).run()


class _Rematerialising:
    def __init__(self, module: ir.Operation, main: ir.Operation, policy: Policy, limit: int):
        self.module, self.main, self.limit, self.target = module, main, limit, target_of(module)
        kernel = tuple(replace(rule, require=False) for rule in policy.kernel)
        self.rules = replace(policy, memory_limit=None, kernel=kernel, fuse=(), tile=(), loop=())
        self.notes = Notes(module)
        self.made: dict[str, str] = {}
        self.groups = groups_of(module, libraries=True)

    def run(self) -> None:
        """Until the arena is within the limit, which is not the sum of what is live: results have memory of their own, in which some
        values can lie, and between buffers there are gaps. So what is live is brought down by what the arena is too large."""
        arena = self._arena()
        self.module.attributes[PLANNED] = i64_attr(arena)
        while arena > self.limit and self._shrink(arena - self.limit):
            arena = self._arena()
        self.notes.write()
        within_limit(self.module, self._arena(), "fused", self._largest())

    def _shrink(self, excess: int) -> bool:
        """Brings what is live down by so much; whether it could."""
        lifetimes = self._lifetimes()
        least, vain = lifetimes.peak, 0
        aim = least - excess
        while lifetimes.peak > aim:
            recipe = self._choose(lifetimes, aim)
            if recipe is None or vain == VAIN:
                return False
            self._make(recipe, lifetimes)
            lifetimes = self._lifetimes()
            vain = 0 if lifetimes.peak < least else vain + 1
            least = min(least, lifetimes.peak)
        return True

    def _lifetimes(self) -> Lifetimes:
        return Lifetimes(self.main.regions[0].blocks[0], self.groups, InPlace(self.groups))

    def _arena(self) -> int:
        return assigned(self.main, self.groups, wishes_of(self.module))[0].arena_bytes

    def _choose(self, lifetimes: Lifetimes, aim: int) -> Recipe | None:
        fullest = int(lifetimes.live.argmax())
        kitchen = Kitchen(lifetimes, self.groups, self.target)
        found = (kitchen.recipe(value, fullest, use) for value, use in lifetimes.across(fullest))
        recipes = [recipe for recipe in found if recipe is not None and lifetimes.size[recipe.value] > recipe.extended]
        return max(recipes, key=lambda recipe: worth(recipe, lifetimes, aim), default=None)

    def _make(self, recipe: Recipe, lifetimes: Lifetimes) -> None:
        """The calls of the recipe before the op that reads its value next, which reads theirs, as all later ones do."""
        value = lifetimes.values[recipe.value]
        program, user = recipe.program(value), lifetimes.known.ops[recipe.use]
        attach_target(program.operation, self.target)
        attach_policy(program.operation, self.rules)
        with observed_plans():
            plan_fusion(program.operation)
        join_contractions(program.operation)
        names = {symbol_name(group): self._adopt(group) for group in functions(program.operation) if "hloom.kind" in group.attributes}
        block = next(each for each in functions(program.operation) if symbol_name(each) == "main").regions[0].blocks[0]
        mapping = dict(zip(block.arguments, recipe.takes()))
        called = []
        with ir.InsertionPoint(user):
            for op in ops_in(block)[:-1]:
                copy = clone_with(op, mapping)
                if op.name == "func.call":
                    called.append(names[callee_of(op)])
                    copy.attributes["callee"] = ir.FlatSymbolRefAttr.get(called[-1])
        again = mapping[ops_in(block)[-1].operands[0]]
        late = {lifetimes.known.ops[use] for use in lifetimes.uses[recipe.value] if use >= recipe.use}
        for use in list(value.uses):
            owner = use.owner.operation
            if holder(owner, value) in late:
                owner.operands[use.operand_number] = again
        cost = sum(integer(self.groups[name], "hloom.cost_ps") for name in called)
        figures = {"bytes_saved": lifetimes.size[recipe.value], "t_before_ps": 0, "t_after_ps": cost, "gain_ps": -cost}
        home = place(str(recipe.slices[-1].call.location))
        reason = f"what {home} made is not kept for its reader at {place(str(user.location))}, but made again for it"
        self.notes.add(Code.REMATERIALISED, list(dict.fromkeys(called)), reason, str(value.type), figures, "memory_limit")

    def _adopt(self, group: ir.Operation) -> str:
        """The name of a group in this module, which an equal one of an earlier recipe shares."""
        copy = group.clone()
        self.module.regions[0].blocks[0].append(copy)
        copy.attributes["sym_name"] = ir.StringAttr.get("group")
        name = named(self.module, copy, self.made, "fusion")
        self.groups.setdefault(name, copy)
        return name

    def _largest(self) -> str:
        """The values that take most where most is live."""
        life = self._lifetimes()
        fullest = int(life.live.argmax())
        there = [v for v, start in enumerate(life.start) if life.size[v] and start <= fullest <= life.end[v]]
        largest = sorted(there, key=lambda value: -life.size[value])[:3]
        return ", ".join(f"{life.values[v].type} of {place(str(life.known.ops[life.start[v]].location))}" for v in largest)
