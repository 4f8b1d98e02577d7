"""Follows one element of a loop's result back through the body to where it comes from.

`Tracer.at(value, point)` is the node of an element. A carry needed at an index needs its next value at the same index, so the slots of a
loop grow until nothing new is needed. If they end there, a tile computes all turns for itself. They do not where an element depends on
its neighbours (`u[i - 1]` needs `u[i - 2]`, …), or on all of a row: then there is an Obstacle.

The rules (rules.py) are generators: they yield (value, point) and are sent the node. A chain of a thousand ops is no recursion of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from torch_mlir import ir

from ...common.index_expression import Point, run_time_numbers
from ...common.ops import FREE
from ...common.rewriting import around, defining_op, is_block_argument, ops_in
from ...stablehlo.rules import loops as counted
from ..planner.codes import Code
from .nodes import Carry, Element, Loop, Node, Result, Scope

MOST_SLOTS, MOST_NODES = 48, 6000
"""More scalars are no kernel: registers, and time to compile."""

Need = tuple[ir.Value, Point]
Rule = Generator[Need, Node, Node]
T = TypeVar("T", bound=Node)


class Obstacle(Exception):
    """Why a loop stays in the host program. `value`: the one that it is about."""

    def __init__(self, code: Code, reason: str, value: ir.Value | None = None):
        super().__init__(reason)
        self.code, self.reason, self.value = code, reason, value


class Tracer:
    """Nodes of the elements that `loop` makes of a tile; `rule` follows the ops of its body."""

    def __init__(self, loop: ir.Operation, rule: Callable[[Tracer, ir.Operation, Point], Rule]):
        self.loop, self.rule = loop, rule
        self.nodes: list[Node] = []
        self.outside = Scope()
        self.loops: dict[ir.Operation, Loop] = {}
        self.regions: dict[ir.Block, tuple[Loop, Scope]] = {}
        self._known: dict[Need, Node] = {}
        self._pending: list[tuple[Loop, int, Point] | Loop] = []

    def root(self, number: int, point: Point) -> Node:
        """The node of an element of the loop's result `number`, and all that it needs. Raises Obstacle."""
        return self._all_of(self.at(self.loop.results[number], point))

    def written(self, value: ir.Value, point: Point) -> Node:
        """The node of an element of a value in the body, and all that it needs. Raises Obstacle."""
        self._loop(self.loop)
        return self._all_of(self.at(value, point))

    @property
    def outer(self) -> Loop:
        return self._loop(self.loop)

    def _all_of(self, node: Node) -> Node:
        while self._pending:
            todo = self._pending.pop(0)
            if isinstance(todo, Loop):
                todo.goes_on = self._condition(todo.op)
                continue
            loop, carry, at = todo
            loop.starts.append(self.at(loop.op.operands[carry], at))
            loop.nexts.append(self.at(counted.yielded(loop.op)[carry], at))
        return node

    def _condition(self, op: ir.Operation) -> Node:
        """Whether a loop goes on: the same for all elements."""
        try:
            return self.at(counted.terminator(counted.condition_block(op)).operands[0], ())
        except Obstacle as obstacle:
            raise Obstacle(Code.LOOP_COND, f"whether it goes on: {obstacle.reason}", obstacle.value) from None

    def at(self, value: ir.Value, point: Point) -> Node:
        """The node of the element of `value` at `point`."""
        stack: list[tuple[Need, Rule]] = []
        need: Need | None = (value, point)
        node: Node | None = None
        while need is not None:
            node = self._known.get(need)
            if node is None:
                stack.append((need, self._follow(*need)))
            need = None
            while stack and need is None:
                try:
                    need = stack[-1][1].send(node) if node is not None else next(stack[-1][1])
                    node = None
                except StopIteration as end:
                    node = end.value
                    self._known[stack.pop()[0]] = node
        assert node is not None
        return node

    def _follow(self, value: ir.Value, point: Point) -> Rule:
        if is_block_argument(value) and value.owner in self.regions:
            loop, scope = self.regions[value.owner]
            number = ir.BlockArgument(value).arg_number
            return self.add(Carry, (), scope, loop=loop, slot=self._slot(loop, number, point), varies=_moves(point))
        op = defining_op(value)
        if op is None or (op.name not in FREE and not self._is_inside(op)):
            return self.element(value, point)
        if op.name == "stablehlo.while":
            loop = self._loop(op)
            number = ir.OpResult(value).result_number
            return self.add(Result, (), loop.scope, loop=loop, slot=self._slot(loop, number, point), varies=_moves(point))
        return (yield from self.rule(self, op, point))

    def _is_inside(self, op: ir.Operation) -> bool:
        """Whether an op is the loop or in it."""
        return op == self.loop or self.loop in around(op)

    def _loop(self, op: ir.Operation) -> Loop:
        if op not in self.loops:
            counter = counted.find_counter(op)
            block = op.operation.block
            scope = self.regions[block][1] if block in self.regions else self.outside
            made = self.loops[op] = Loop(op, scope, None if counter is None else counter.trips)
            self.regions[counted.body_block(op)] = made, made.body
            self.regions[counted.condition_block(op)] = made, made.condition
            if counter is None:
                self._pending.append(made)
        return self.loops[op]

    def _slot(self, loop: Loop, carry: int, point: Point) -> int:
        """The number of a slot, which is new if nothing needed it before."""
        value = loop.op.results[carry]
        for index in point:
            if not index.is_constant and index.dim is None:
                raise Obstacle(Code.LOOP_CROSS_TILE, f"carry {carry} is read at another index than it is written", value)
        if (carry, point) not in loop.slots:
            if sum(len(each.slots) for each in self.loops.values()) >= MOST_SLOTS:
                raise Obstacle(Code.LOOP_CROSS_TILE, f"carry {carry} is needed at more than {MOST_SLOTS} indices", value)
            loop.slots[carry, point] = len(loop.slots)
            self._pending.append((loop, carry, point))
        return loop.slots[carry, point]

    def element(self, value: ir.Value, point: Point) -> Node:
        """An element of a tensor from outside."""
        return self.add(Element, self.starts(point), value=value, point=point, varies=_moves(point))

    def starts(self, point: Point) -> list[Node]:
        """The nodes of the run-time indices in a point."""
        return [self.nodes[number] for number in run_time_numbers(point)]

    def add(self, kind: type[T], operands: Sequence[Node] = (), scope: Scope | None = None, varies: bool = False, **more: object) -> T:
        """A new node, in the innermost scope that its operands lie in, or in `scope`."""
        if len(self.nodes) >= MOST_NODES:
            raise Obstacle(Code.LOOP_BODY, f"one element takes more than {MOST_NODES} operations")
        within = scope or max((each.scope for each in operands), key=lambda each: each.depth, default=self.outside)
        differs = varies or any(each.varies for each in operands)
        node = kind(len(self.nodes), within, tuple(operands), differs, **more)  # type: ignore[arg-type]
        self.nodes.append(node)
        return node


def _moves(point: Point) -> bool:
    return any(index.dims for index in point)


def used_results(loop: ir.Operation) -> list[int]:
    """The numbers of the results that something uses."""
    return [n for n, result in enumerate(loop.results) if any(True for _ in result.uses)]


def inside(loop: ir.Operation) -> list[ir.Operation]:
    """The ops of the body."""
    return ops_in(counted.body_block(loop))
