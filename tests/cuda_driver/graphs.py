"""Graphs: nodes and what comes before what; made executable, updated, launched."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from .calls import driver_call, get, get_all, put, put_int
from .conditional import ALLOWED, Condition, Conditional, make
from .devices import Context
from .errors import Code, Refused, require
from .machine import Machine
from .nodes import Empty, Fill, Kind, Launch, Node
from .schedule import Work
from .streams import find_stream

_PARAMETERS_AT = 16
_ERROR, _NOT_SUPPORTED, _HANDLE_UNUSED = 1, 3, 5
"""What instantiation says beside the code."""
_TOPOLOGY, _TYPE, _PARAMETERS, _CANNOT = 2, 3, 5, 6
"""What an update does."""


class Graph:
    def __init__(self, machine: Machine, inside: Graph | None = None):
        self.inside = inside
        """The graph of whose conditional node this is a body."""
        self.nodes: list[Node] = []
        self.handles: dict[Node, int] = {}
        self.conditions: list[Condition] = []
        self.users: list[UserObject] = []
        self.kept: list[object] = []
        self._machine = machine
        self.handle = machine.new_handle(self)

    def add(self, node: Node) -> int:
        wrong = self.inside is not None and node.kind not in ALLOWED
        require(not wrong, Code.NOT_SUPPORTED, f"the body of a conditional node cannot hold {node}")
        node.check(self._machine)
        self.nodes.append(node)
        self.handles[node] = self._machine.new_handle(node)
        return self.handles[node]

    def node(self, handle: int) -> Node:
        found = self._machine.object(handle, Node)
        require(found in self.handles, Code.INVALID_VALUE, "a node of another graph")
        return found

    def ends(self) -> list[Node]:
        before = {each for node in self.nodes for each in node.after}
        return [node for node in self.nodes if node not in before]

    def snapshot(self) -> list[Node]:
        """Its nodes as they are now."""
        copies = {node: node.copy() for node in self.nodes}
        for node, copied in copies.items():
            copied.after = [copies[before] for before in node.after]
        return list(copies.values())


class UserObject:
    """Something of the caller's that is destroyed when nobody refers to it."""

    def __init__(self, place: int, destroy: int, count: int):
        self._destroy, self._place, self.count = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(destroy), place, count

    def release(self, count: int = 1) -> None:
        self.count -= count
        if self.count == 0:
            self._destroy(self._place)


class Executable:
    """A graph as it was when it was instantiated, or updated last."""

    def __init__(self, graph: Graph):
        self.nodes, self.users, self.last = graph.snapshot(), list(graph.users), list[Work]()
        self.conditions = list(graph.conditions)
        for user in self.users:
            user.count += 1

    def launch(self, machine: Machine, stream: int) -> None:
        """Its nodes, in any order that the edges allow, after what is on the stream and after the last launch."""
        on = find_stream(machine, stream)
        require(on.capture is None, Code.NOT_SUPPORTED, "a graph within a captured one")
        on.tail = [*on.tail, *self.last]
        begin = on.enqueue(machine, "a graph begins", lambda: self._reset(machine))
        works: dict[Node, Work] = {}
        for node in _in_order(self.nodes):
            after = [works[before] for before in node.after]
            works[node] = machine.enqueue(str(node), _running(machine, node), [begin, *after])
            node.submitted(works[node])
        on.tail = [begin, *works.values()]
        self.last = [on.enqueue(machine, "a graph ends", lambda: None)]

    def _reset(self, machine: Machine) -> None:
        for condition in self.conditions:
            machine.conditions.pop(condition.handle, None)
            if condition.default is not None:
                machine.conditions[condition.handle] = condition.default


def _running(machine: Machine, node: Node) -> Callable[[], None]:
    return lambda: node.run(machine)


def _in_order(nodes: list[Node]) -> list[Node]:
    """Each after those before it: edges may have been added later than their ends."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in found:
            for before in node.after:
                visit(before)
            found[node] = None

    for node in nodes:
        visit(node)
    return list(found)


@driver_call("pu", context=False)
def cuGraphCreate(machine: Machine, graph: int, flags: int) -> None:
    put(graph, Graph(machine).handle)


@driver_call("p", context=False)
def cuGraphDestroy(machine: Machine, graph: int) -> None:
    found = machine.drop_handle(graph, Graph)
    for node, handle in found.handles.items():
        machine.drop_handle(handle, Node)
        for body in node.bodies if isinstance(node, Conditional) else ():
            cuGraphDestroy(machine, body.handle)
    for user in found.users:
        user.release()


@driver_call("pppupp", context=False)
def cuGraphAddNode(machine: Machine, node: int, graph: int, before: int, edges: int, count: int, parameters: int) -> None:
    found = machine.object(graph, Graph)
    kind = Kind(get(parameters, ctypes.c_uint32))
    require(kind in (Kind.EMPTY, Kind.CONDITIONAL), Code.NOT_SUPPORTED, f"nodes of kind {kind.name} are captured")
    made = Empty() if kind == Kind.EMPTY else make(machine, found, parameters + _PARAMETERS_AT)
    made.after = [found.node(handle) for handle in get_all(before, count)]
    put(node, found.add(made))


@driver_call("pppuu", context=False)
def cuGraphConditionalHandleCreate(machine: Machine, handle: int, graph: int, context: int, default: int, flags: int) -> None:
    machine.object(context, Context, Code.INVALID_CONTEXT) if context else None
    found = machine.object(graph, Graph)
    made = Condition(found, default if flags & 1 else None)
    made.handle = machine.new_handle(made)
    _whole(found).conditions.append(made)
    put(handle, made.handle)


def _whole(graph: Graph) -> Graph:
    return graph if graph.inside is None else _whole(graph.inside)


@driver_call("ppp")
def cuGraphInstantiateWithParams(machine: Machine, executable: int, graph: int, parameters: int) -> None:
    result = parameters + 24
    put_int(result, _ERROR)
    found = machine.object(graph, Graph)
    require(found.inside is None, Code.INVALID_VALUE, "the body of a conditional node on its own")
    if any(condition.node is None for condition in found.conditions):
        put_int(result, _HANDLE_UNUSED)
        raise Refused(Code.INVALID_VALUE, "a condition that no node goes by")
    put(executable, machine.new_handle(Executable(found)))
    put_int(result, 0)


@driver_call("ppp")
def cuGraphInstantiateWithFlags(machine: Machine, executable: int, graph: int, flags: int) -> None:
    require(flags == 0, Code.NOT_SUPPORTED, f"flags {flags}")
    found = machine.object(graph, Graph)
    require(not found.conditions and found.inside is None, Code.INVALID_VALUE, "conditions, which cuda.core makes")
    put(executable, machine.new_handle(Executable(found)))


@driver_call("p")
def cuGraphExecDestroy(machine: Machine, executable: int) -> None:
    """What its launches use goes when they have run."""
    found = machine.drop_handle(executable, Executable)
    machine.enqueue("a graph goes", lambda: [user.release() for user in found.users], found.last)


@driver_call("pp")
def cuGraphLaunch(machine: Machine, executable: int, stream: int) -> None:
    machine.object(executable, Executable).launch(machine, stream)


@driver_call("pp")
def cuGraphUpload(machine: Machine, executable: int, stream: int) -> None:
    machine.object(executable, Executable)


@driver_call("ppp")
def cuGraphExecUpdate(machine: Machine, executable: int, graph: int, info: int) -> None:
    old, new = machine.object(executable, Executable), machine.object(graph, Graph)
    result, why = _difference(old.nodes, new.nodes)
    put_int(info, result)
    require(result == 0, Code.GRAPH_EXEC_UPDATE_FAILURE, why)
    made = Executable(new)
    old.nodes, old.users, before = made.nodes, made.users, old.users
    machine.enqueue("what an update replaced goes", lambda: [user.release() for user in before], old.last)


def _difference(old: list[Node], new: list[Node]) -> tuple[int, str]:
    """What an update cannot change: 0 where there is nothing of it."""
    if _edges(old) != _edges(new):
        return _TOPOLOGY, "nodes or edges are others"
    for before, after in zip(old, new):
        if before.kind != after.kind:
            return _TYPE, f"{before} became {after}"
        if before.kind == Kind.CONDITIONAL:
            return _CANNOT, "conditions are others for each graph"
        if isinstance(before, Fill) and isinstance(after, Fill) and _has_changed(before, after):
            return _PARAMETERS, "fills of two dimensions cannot be changed"
        if isinstance(before, Launch) and isinstance(after, Launch) and before.cluster != after.cluster:
            return _PARAMETERS, "clusters cannot be changed"
    return 0, ""


def _has_changed(before: Fill, after: Fill) -> bool:
    return max(before.height, after.height) > 1 and vars(before) != vars(after) | {"after": before.after}


def _edges(nodes: list[Node]) -> list[list[int]]:
    numbers = {node: number for number, node in enumerate(nodes)}
    return [sorted(numbers[before] for before in node.after) for node in nodes]


@driver_call("pppuu", context=False)
def cuUserObjectCreate(machine: Machine, user: int, place: int, destroy: int, count: int, flags: int) -> None:
    put(user, machine.new_handle(UserObject(place, destroy, count)))


@driver_call("pu", context=False)
def cuUserObjectRelease(machine: Machine, user: int, count: int) -> None:
    machine.object(user, UserObject).release(count)


@driver_call("ppuu", context=False)
def cuGraphRetainUserObject(machine: Machine, graph: int, user: int, count: int, flags: int) -> None:
    found = machine.object(user, UserObject)
    machine.object(graph, Graph).users.extend([found] * count)
    found.count += 0 if flags & 1 else count


@driver_call("ppu", context=False)
def cuGraphReleaseUserObject(machine: Machine, graph: int, user: int, count: int) -> None:
    found, users = machine.object(user, UserObject), machine.object(graph, Graph).users
    require(users.count(found) >= count, Code.INVALID_VALUE, "the graph does not hold it so often")
    for _ in range(count):
        users.remove(found)
    found.release(count)
