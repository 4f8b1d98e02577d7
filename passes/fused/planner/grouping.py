"""The groups of one block as they stand while it is planned: which group each op is in, what they read of one another, and their order."""

from __future__ import annotations

from ...common.ops import Kind
from .alike import Alike
from .axes import Signature
from .codes import DecisionCode
from .graph import Dag
from .group import Group, Union, absorb, copy, seed
from .records import Block, Program


class Grouping:
    """Nodes are the block's planned ops and its control ops, numbered in program order; a control op has no group.

    `users[value]`: the nodes that read a value as a buffer; `dag`: the dependences between nodes;
    `growth`: ops in all groups, copies included.
    """

    def __init__(self, program: Program, block: Block):
        self.program, self.block, self.pinned = program, block, block.pinned
        self.nodes = [op for op in block.ops if program.ops[op].node or program.ops[op].kind is Kind.CONTROL]
        self.groups: list[Group | None] = [seed(program.ops[op], program) if program.ops[op].node else None for op in self.nodes]
        self.growth = len(self.nodes)
        self.users: dict[int, set[int]] = {}
        self._owner = list(range(len(self.nodes)))
        self._place = {op: node for node, op in enumerate(self.nodes)}
        self._readers: dict[int, dict[int, None]] = {}
        edges = []
        for node, op in enumerate(self.nodes):
            for value in dict.fromkeys(read.value for read in program.ops[op].reads):
                self.users.setdefault(value, set()).add(node)
                self._readers.setdefault(value, {})[op] = None
                producer = program.values[value].producer
                if producer in self._place:
                    edges.append((self._place[producer], node))
        self.dag = Dag(len(self.nodes), edges)
        self._alike: Alike | None = None

    def alive(self) -> list[int]:
        """The nodes that have a group."""
        return [node for node, group in enumerate(self.groups) if group]

    def at(self, node: int) -> Group:
        """The group of a node that has one."""
        group = self.groups[node]
        assert group is not None
        return group

    def in_order(self) -> list[Group | int]:
        """The groups and the control ops, in a topological order."""
        nodes = sorted(range(len(self.nodes)), key=self.dag.order.__getitem__)
        return [self.groups[n] or self.nodes[n] for n in nodes if self.groups[n] or self.program.ops[self.nodes[n]].kind is Kind.CONTROL]

    def kept(self, node: int, consumer: int) -> list[tuple[int, Signature]]:
        """The results of a node's group that others than one consumer need as buffers."""
        users, pinned = self.users, self.pinned
        results = self.at(node).results.items()
        return [item for item in results if item[0] in pinned or len(by := users.get(item[0], ())) > (consumer in by)]

    def merge(self, base: int, other: int, union: Union) -> int | DecisionCode:
        """Makes one group of two, in `base`'s axes; the node that holds it now, or why the graph forbids that."""
        kept = self.dag.merge(base, other)
        if isinstance(kept, DecisionCode):
            return kept
        gone = other if kept == base else base
        for value in self.at(gone).reads:
            self.users[value].discard(gone)
            self.users[value].add(kept)
        merged = absorb(self.at(base), self.at(other), union, self.program.ops)
        for value in union.edge:
            if value not in merged.reads:
                self.users[value].discard(kept)
        self.groups[kept], self.groups[gone] = merged, None
        self._owner[gone] = kept
        self._changed(kept, gone)
        return kept

    def duplicate(self, node: int, targets: tuple[int, ...], unions: tuple[Union, ...]) -> None:
        """Copies a group into each of its consumers, after which it is gone."""
        group = self.at(node)
        self.growth += (len(targets) - 1) * group.ops
        for value in group.reads:
            self.users[value].discard(node)
            self.users[value].update(targets)
        for target, union in zip(targets, unions):
            self.groups[target] = absorb(self.at(target), copy(group), union, self.program.ops)
        self.dag.dissolve(node)
        self.groups[node] = None
        self._owner[node] = targets[0]
        self._changed(node, *targets)

    def alike(self) -> Alike:
        """Which groups read the same over the same extents, from now on kept as groups change."""
        if self._alike is None:
            self._alike = Alike(self.dag, self.groups)
        return self._alike

    def _changed(self, *nodes: int) -> None:
        if self._alike is not None:
            self._alike.changed(nodes)

    def ends(self, value: int | None, u: int, v: int) -> tuple[int, ...]:
        """The op that produces the value between two groups and the first of v's that reads it; the groups' first ops if there is none."""
        producer = None if value is None else self.program.values[value].producer
        if value is None or producer is None or producer not in self._place:
            return self.nodes[u], self.nodes[v]
        readers, group = self._readers.get(value, {}), self.groups[v]
        if group and group.instances < len(readers):
            readers = dict.fromkeys(op for op in group.members if op in readers)
        return producer, next((op for op in readers if self._find(self._place[op]) == v), self.nodes[v])

    def _find(self, node: int) -> int:
        while self._owner[node] != node:
            self._owner[node] = self._owner[self._owner[node]]
            node = self._owner[node]
        return node
