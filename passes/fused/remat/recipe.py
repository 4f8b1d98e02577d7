"""How a value could be made again: what of the bodies of the groups that made it, from values that are there anyway.

    h, g = call @dense(x, w)       // h = x · w, g = gelu(h)
    …                              // both are alive until here
    … = call @grad(h, …);  … = call @other(g, …)

g is gelu(h), and h is there: only gelu is evaluated again. What is not there, is made again as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView

from ...common.ops import CONTRACTIONS, FREE
from ...common.rewriting import body_ops, callee_of, captured_values, clone_with, create, defining_op, integer, kind_of, ops_in
from ..chains.chain import Groups, returned
from ..planner.cost import SECOND
from .lifetimes import Lifetimes

DEEPEST = 6
"""So many groups are evaluated again for one value, at most."""
SMALL = 8
"""What is kept for it has no more than one byte for so many of the value's."""
_KINDS = ("loop", "reduce", "multi_reduce", "transpose", "matmul", "conv", "library")


class Slice:
    """Of one call, the ops that make the results `wanted` of its group again: from its operands and, where results are in memory (`there`),
    from those. `takes`: by values of the body, those of the host in their place."""

    def __init__(self, call: ir.Operation, group: ir.Operation, wanted: set[int], there: set[int]):
        block, results = group.regions[0].blocks[0], list(returned(group).operands)
        self.call, self.group, self.wanted = call, group, wanted
        self.makes = {call.results[i]: results[i] for i in sorted(wanted)}
        inner = set(self.makes.values())
        stands = {results[i]: call.results[i] for i in sorted(there) if results[i] not in inner}
        stands.update(zip(block.arguments, call.operands))
        self.takes: dict[ir.Value, ir.Value] = {}
        needed: set[ir.Operation] = set()
        todo = list(inner)
        while todo:
            value = todo.pop()
            op = defining_op(value)
            if value in stands:
                self.takes[value] = stands[value]
            elif op is not None and op not in needed:
                needed.add(op)
                todo.extend([*op.operands, *captured_values(op)])
        self.ops = [op for op in ops_in(block) if op in needed]

    def price(self, target: TargetView) -> int:
        """Of a whole group, or its contraction, what the group takes; of elementwise ops behind others, what they move."""
        whole, part = (sum(map(_works, ops)) for ops in (body_ops(self.group), self.ops))
        if part == whole or any(op.name in CONTRACTIONS for op in self.ops):
            return integer(self.group, "hloom.cost_ps")
        moved = sum(byte_size(value.type) for value in {*self.takes.values(), *self.makes})
        return target.launch_ps + moved * SECOND // target.dram_bytes_per_second


@dataclass(frozen=True)
class Recipe:
    """The slices, in order, that make a value again for the op at `use`, and their price in picoseconds. `extended`: the bytes of what is
    kept for it while it is gone."""

    value: int
    use: int
    slices: list[Slice]
    cost: int
    extended: int

    def takes(self) -> list[ir.Value]:
        """The host's values that they start from."""
        made = {value for each in self.slices for value in each.makes}
        return list(dict.fromkeys(value for each in self.slices for value in each.takes.values() if value not in made))

    def program(self, wanted: ir.Value) -> ir.Module:
        """A program of these slices alone: from what they take to the value."""
        takes, location = self.takes(), self.slices[-1].call.location
        with location:
            module = ir.Module.create()
            kind = ir.FunctionType.get([value.type for value in takes], [wanted.type])
            with ir.InsertionPoint(module.body):
                main = create("func.func", regions=1, sym_name=ir.StringAttr.get("main"), function_type=ir.TypeAttr.get(kind))
            block = main.regions[0].blocks.append(*kind.inputs, arg_locs=[location] * len(takes))
            made = dict(zip(takes, block.arguments))
            with ir.InsertionPoint(block):
                for each in self.slices:
                    mapping = {inner: made[value] for inner, value in each.takes.items()}
                    for op in each.ops:
                        clone_with(op, mapping)
                    made.update((value, mapping[inner]) for value, inner in each.makes.items())
                create("func.return", [], [made[wanted]])
        return module


class Kitchen:
    """Finds recipes in a block of known lifetimes."""

    def __init__(self, lifetimes: Lifetimes, groups: Groups, target: TargetView):
        self.lifetimes, self.groups, self.target = lifetimes, groups, target

    def recipe(self, value: int, place: int, use: int) -> Recipe | None:
        """How a value that is not read at `place`, where it is to be gone, is there again for `use`; None if it cannot be."""
        life = self.lifetimes
        slices: dict[int, Slice] = {}
        kept: set[int] = set()
        again, todo = {value}, [value]
        while todo:
            start = life.start[todo.pop()]
            made = self._slice(start, again, place, use)
            if made is None or len(slices) == DEEPEST:
                return None
            slices[start] = made
            for taken in {number for value in made.takes.values() if (number := life.numbers.get(value)) is not None} - again:
                if self._is_there(taken, place, use) or life.size[taken] * SMALL <= life.size[value]:
                    kept.add(taken)
                else:
                    again.add(taken)
                    todo.append(taken)
        ordered = [slices[start] for start in sorted(slices)]
        extended = sum(life.size[each] for each in kept if life.end[each] < place)
        return Recipe(value, use, ordered, sum(each.price(self.target) for each in ordered), extended)

    def _slice(self, start: int, again: set[int], place: int, use: int) -> Slice | None:
        """What makes the results that are wanted again of the call at `start`."""
        life, call = self.lifetimes, self.lifetimes.known.ops[start]
        group = self.groups.get(callee_of(call)) if call.name == "func.call" else None
        if group is None or kind_of(group) not in _KINDS:
            return None
        results = [life.numbers[result] for result in call.results]
        there = {i for i, number in enumerate(results) if number not in again and self._is_there(number, place, use)}
        return Slice(call, group, {i for i, number in enumerate(results) if number in again}, there)

    def _is_there(self, value: int, place: int, use: int) -> bool:
        """Whether a value is in memory at `use` anyway, or can stay from the peak at `place` on without making another one."""
        life, end = self.lifetimes, self.lifetimes.end[value]
        if life.known.ops[life.start[value]].name == "stablehlo.constant" or max([end, *life.uses[value]]) >= use:
            return True
        return end >= place and int(life.live[end + 1 : use + 1].max(initial=0)) + life.size[value] < life.peak


def worth(recipe: Recipe, lifetimes: Lifetimes, most: int) -> float:
    """The bytes that it spares over the ops at which more than `most` are live, for each picosecond."""
    before = max(place for place in (lifetimes.start[recipe.value], *lifetimes.uses[recipe.value]) if place < recipe.use)
    over = int((lifetimes.live[before + 1 : recipe.use] > most).sum())
    return (lifetimes.size[recipe.value] - recipe.extended) * over / max(1, recipe.cost)


def _works(op: ir.Operation) -> bool:
    return op.name not in FREE and op.name != "stablehlo.constant"
