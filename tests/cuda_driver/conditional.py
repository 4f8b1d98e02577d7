"""Conditional nodes: bodies that run as a value says which kernels set."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from .errors import Code, Fault, require
from .nodes import Kind, Node

if TYPE_CHECKING:
    from .graphs import Graph
    from .machine import Machine

ALLOWED = {Kind.KERNEL, Kind.EMPTY, Kind.MEMSET, Kind.MEMCPY, Kind.CONDITIONAL}
"""What a body may hold."""


class Choice(IntEnum):
    IF = 0
    WHILE = 1
    SWITCH = 2


@dataclass(eq=False)
class Condition:
    """What a handle stands for, in the graph for which it was made."""

    graph: Any
    default: int | None
    """The value at each launch; None for the one of before."""
    handle: int = 0
    node: Conditional | None = None


@dataclass(eq=False)
class Conditional(Node):
    choice: Choice
    condition: Condition
    bodies: list[Any]
    kind = Kind.CONDITIONAL

    def __str__(self) -> str:
        return f"Conditional {self.choice.name}"

    def copy(self) -> Conditional:
        made = Conditional(self.choice, self.condition, [])
        made.bodies = [body.snapshot() for body in self.bodies]
        return made

    def value(self, machine: Machine) -> int:
        found = machine.conditions.get(self.condition.handle)
        if found is None:
            raise Fault(f"{self}: nothing set its value", Code.LAUNCH_FAILED)
        return found

    def run(self, machine: Machine) -> None:
        if self.choice == Choice.WHILE:
            for _ in range(machine.most_rounds):
                if not self.value(machine):
                    return
                run_in_any_order(machine, self.bodies[0])
            raise Fault(f"a loop of more than {machine.most_rounds} rounds", Code.LAUNCH_FAILED)
        value = self.value(machine)
        number = value if self.choice == Choice.SWITCH else int(not value)
        if number < len(self.bodies):
            run_in_any_order(machine, self.bodies[number])


def run_in_any_order(machine: Machine, nodes: list[Node]) -> None:
    """One by one, any whose predecessors have run."""
    done: set[Node] = set()
    while len(done) < len(nodes):
        ready = [node for node in nodes if node not in done and done.issuperset(node.after)]
        node = ready[machine.schedule.draw(len(ready))]
        node.run(machine)
        done.add(node)


def make(machine: Machine, graph: Graph, parameters: int) -> Conditional:
    """The node that CUgraphNodeParams describe; writes its bodies there. Raises Refused."""
    handle = ctypes.c_uint64.from_address(parameters).value
    kind, size = (ctypes.c_uint32 * 2).from_address(parameters + 8)
    condition = machine.object(handle, Condition, Code.INVALID_VALUE)
    require(condition.graph is graph, Code.INVALID_VALUE, "the condition was made for another graph")
    require(condition.node is None, Code.INVALID_VALUE, "the condition is another node's")
    most = {Choice.IF: 2, Choice.WHILE: 1}.get(Choice(kind), size)
    require(1 <= size <= most, Code.INVALID_VALUE, f"{size} bodies of a node of kind {Choice(kind).name}")
    bodies = [type(graph)(machine, inside=graph) for _ in range(size)]
    condition.node = Conditional(Choice(kind), condition, bodies)
    handles = (ctypes.c_uint64 * size)(*(body.handle for body in bodies))
    graph.kept.append(handles)
    ctypes.c_uint64.from_address(parameters + 16).value = ctypes.addressof(handles)
    return condition.node
