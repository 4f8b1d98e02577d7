"""Loops whose carries would be copied at the end of each turn: two turns become one, so that the carries alternate between two buffers.

    for 100 turns { f(a) -> b; copy b -> a }          for 50 turns { f(a) -> b; f(b) -> a }

A stencil reads its neighbours while it writes, so it cannot work in place; the next turn can write where this one read. A carry that hands
another one on (u, v <- f(u, v), u) needs no copy either. An odd number of turns has its first one before the loop. Only calls are written
twice, the kernels are the same ones. Declined: turns that are not counted; bodies of more than `MOST_NODES` nodes; carries of a few bytes;
a policy's `[[loop]]` rule with `unroll = false`; programs that would need more memory for it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from itertools import count

from torch_mlir import ir

from ...fused.planner.loop_wishes import LoopWishes
from ...fused.planner.policy import policy_of
from .assignment import Assignment
from .program import Call, Case, Entry, Loop, Move, Node, Value, loops_in, read_entry, walk

MOST_NODES = 64
LEAST_BYTES = 256


def assigned(
    host: ir.Operation, groups: dict[str, ir.Operation], wishes: LoopWishes, reshapes: bool = True
) -> tuple[Assignment, list[tuple[Loop, int]]]:
    """The assignment of a host function, and the loops that turn two turns at a time, with the bytes that this saves in each call.

    `reshapes`: one buffer may have several shapes.
    """
    named = groups if reshapes else {}
    plain = Assignment(read_entry(host, named), groups)
    before = plain.carried_bytes()
    chosen = [n for n, loop in enumerate(loops_in(plain.program)) if _may_alternate(loop, before[n], wishes)]
    while chosen:
        other = Assignment(read_entry(host, named), groups, partial(_double, chosen=chosen))
        after = other.carried_bytes()
        saved = {n: before[n] - after[n] for n in chosen if after[n] < before[n]}
        if other.arena_bytes > plain.arena_bytes:
            break
        if len(saved) == len(chosen):
            loops = loops_in(plain.program)
            return other, [(loops[n], each) for n, each in saved.items()]
        chosen = list(saved)
    return plain, []


def wishes_of(module: ir.Operation) -> LoopWishes:
    return LoopWishes(policy_of(module).loop, lambda rule: rule.unroll is not None)


def _may_alternate(loop: Loop, copied: int, wishes: LoopWishes) -> bool:
    if (
        loop.trip_count is None
        or loop.trip_count < 2
        or copied < LEAST_BYTES * loop.trip_count
        or sum(1 for _ in walk(loop.body)) > MOST_NODES
    ):
        return False
    assert loop.op is not None
    number = wishes.rule_for(loop.op, loop.trip_count)
    return number is None or wishes.rules[number].unroll is not False


def _double(program: Entry, chosen: Collection[int]) -> None:
    """Two turns of each of the chosen loops become one, inner loops before those around them."""
    launches = count(1 + max((n.launch for n in walk(program.body) if isinstance(n, Call) and n.launch is not None), default=0))
    loops = loops_in(program)
    program.body = _in(program.body, {loops[n] for n in chosen}, launches)


def _in(nodes: list[Node], chosen: Collection[Loop], launches: count[int]) -> list[Node]:
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop):
            node.cond, node.body = _in(node.cond, chosen, launches), _in(node.body, chosen, launches)
        elif isinstance(node, Case):
            node.branches = [_in(branch, chosen, launches) for branch in node.branches]
        if isinstance(node, Loop) and node in chosen:
            _double_loop(node, result, launches)
        result.append(node)
    return result


def _double_loop(loop: Loop, before: list[Node], launches: count[int]) -> None:
    """`before` ends with the move that sets the carries; the first turn of an odd number of them comes before that."""
    entry, back = before[-1], loop.body[-1]
    assert isinstance(entry, Move) and isinstance(back, Move) and loop.trip_count is not None
    body, turns = loop.body[:-1], loop.trip_count // 2
    if loop.trip_count % 2:
        turn = _Turn(dict(zip(entry.targets, entry.sources)), launches)
        before[-1:] = [*turn.nodes(body), Move(turn.read(back.sources), back.targets, entry.loc)]
    first = _Turn({}, launches)
    nodes = first.nodes(body)
    second = _Turn(dict(zip(back.targets, first.read(back.sources))), launches)
    loop.body = [*nodes, *second.nodes(body), Move(second.read(back.sources), back.targets, back.loc)]
    loop.trip_count = turns


class _Turn:
    """The nodes of a turn once more, on other values: `values` says which, and gets those that the turn defines."""

    def __init__(self, values: dict[Value, Value], launches: count[int]):
        self.values, self._launches = values, launches
        self._numbers: dict[int, int] = {}

    def read(self, given: list[Value]) -> list[Value]:
        return [self.values.get(value, value) for value in given]

    def nodes(self, nodes: list[Node]) -> list[Node]:
        return [self._node(node) for node in nodes]

    def _defined(self, made: list[Value]) -> list[Value]:
        for value in made:
            self.values.setdefault(value, Value(value.type, value.bytes))
        return self.read(made)

    def _node(self, node: Node) -> Node:
        if isinstance(node, Call):
            inputs = self.read(node.inputs)
            return Call(node.callee, inputs, self._defined(node.outputs), node.loc, launch=self._launch(node.launch))
        if isinstance(node, Move):
            sources = self.read(node.sources)
            return Move(sources, self._defined(node.targets), node.loc)
        if isinstance(node, Loop):
            cond, pred = self.nodes(node.cond), None if node.pred is None else self.values.get(node.pred, node.pred)
            body, carries = self.nodes(node.body), self.read(node.carries)
            return Loop(carries, self._defined(node.results), cond, pred, body, node.loc, node.trip_count, node.op)
        branches = [self.nodes(branch) for branch in node.branches]
        index = self.values.get(node.index, node.index)
        return Case(index, self._defined(node.results), branches, node.loc)

    def _launch(self, number: int | None) -> int | None:
        """A launch of its own for each that there was."""
        if number is not None and number not in self._numbers:
            self._numbers[number] = next(self._launches)
        return None if number is None else self._numbers[number]
