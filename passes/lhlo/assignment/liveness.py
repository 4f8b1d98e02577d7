"""Positions in the linearised program, and when each value is live.

Every call, move, loop entry, test, loop end, case and case end has a position; the calls of one launch, which run at once, have one. An
interval [start, end) covers the positions at which the value must be in memory; what a node reads and what it writes are both live at its
position. A value from outside a loop that the loop reads stays live to the loop's end. A carry is live from the loop's entry to its last
use in the loop (past the condition at least, after which the loop may end), and again where the body's last move sets it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .program import Call, Case, Entry, Loop, Move, Node, Value


@dataclass
class Lifetime:
    start: int
    end: int
    home: tuple[Loop, ...]
    again: list[tuple[int, int]] = field(default_factory=list)

    def intervals(self) -> list[tuple[int, int]]:
        return sorted([(self.start, self.end), *self.again])


class Liveness:
    """Numbers the nodes of a program and computes the lifetime of its values (arguments and constants too)."""

    def __init__(self, program: Entry):
        self.at: dict[int, list[Call | Move]] = {}
        self.depth: dict[int, int] = {}
        self.values: dict[Value, Lifetime] = {}
        self.count = 0
        self._number(program.body)
        for value in program.arguments:
            self._define(value, 0, ())
        self._visit(program.body, ())

    def _tick(self) -> int:
        self.count += 1
        return self.count - 1

    def _number(self, nodes: list[Node]) -> None:
        launch: int | None = None
        for node in nodes:
            if isinstance(node, Call | Move):
                joins = isinstance(node, Call) and launch is not None and node.launch == launch
                node.position = self.count - 1 if joins else self._tick()
                self.at.setdefault(node.position, []).append(node)
                launch = node.launch if isinstance(node, Call) else None
                continue
            launch = None
            node.start = self._tick()
            if isinstance(node, Loop):
                self._number(node.cond)
                node.test = self._tick()
                self._number(node.body)
            else:
                for branch in node.branches:
                    self._number(branch)
            node.end = self._tick()

    def _define(self, value: Value, position: int, home: tuple[Loop, ...]) -> None:
        self.values[value] = Lifetime(position, position + 1, home)

    def _use(self, value: Value, position: int, loops: tuple[Loop, ...]) -> None:
        if value not in self.values:
            if value.constant is None:
                raise AssertionError("a value is used before it is defined")
            self._define(value, 0, ())
        life = self.values[value]
        if len(loops) > len(life.home):
            position = loops[len(life.home)].end - 1
        life.end = max(life.end, position + 1)

    def _visit(self, nodes: list[Node], loops: tuple[Loop, ...]) -> None:
        for i, node in enumerate(nodes):
            if isinstance(node, Call):
                self._visit_call(node, loops)
            elif isinstance(node, Loop):
                self._visit_loop(node, loops)
            elif isinstance(node, Case):
                self._visit_case(node, loops)
            else:
                following = nodes[i + 1] if i + 1 < len(nodes) else None
                self._visit_move(node, loops, following)

    def _visit_call(self, call: Call, loops: tuple[Loop, ...]) -> None:
        self.depth[call.position] = len(loops)
        for value in call.inputs:
            self._use(value, call.position, loops)
        for value in call.outputs:
            self._define(value, call.position, loops)

    def _visit_move(self, move: Move, loops: tuple[Loop, ...], following: Node | None) -> None:
        self.depth[move.position] = len(loops)
        for value in move.sources:
            self._use(value, move.position, loops)
        for value in move.targets:
            if isinstance(following, Loop) and value in following.carries:
                self._define(value, move.position, (*loops, following))
            elif value in self.values:
                self.values[value].again.append((move.position, move.position + 1))
            else:
                self._define(value, move.position, loops)

    def _visit_loop(self, loop: Loop, loops: tuple[Loop, ...]) -> None:
        inside = (*loops, loop)
        self._visit(loop.cond, inside)
        if loop.pred is not None:
            self._use(loop.pred, loop.test, inside)
        for carry in loop.carries:
            self._use(carry, loop.test, inside)
        self._visit(loop.body, inside)
        for result in loop.results:
            self._define(result, loop.end, loops)

    def _visit_case(self, case: Case, loops: tuple[Loop, ...]) -> None:
        self._use(case.index, case.start, loops)
        # Defined before the branches' moves are seen: those are the places where it is set, its uses come after the case.
        for result in case.results:
            self._define(result, case.end, loops)
        for branch in case.branches:
            self._visit(branch, loops)
