"""Drops what no result depends on: calls, carries that only feed themselves (a loop counter once the trip count is known), whole loops."""

from __future__ import annotations

from collections import defaultdict

from .program import Call, Case, Entry, Loop, Move, Node, Value, walk


def prune(program: Entry) -> None:
    """Removes dead nodes, moves and carries. Groups have no effects, so whatever does not reach a result is dead."""
    needs = _needs(program.body)
    needed: set[Value] = set()
    work = list(program.results)
    while work:
        value = work.pop()
        if value in needed:
            continue
        needed.add(value)
        work.extend(needs[value])
    program.body = _sweep(program.body, needed)


def _needs(nodes: list[Node]) -> dict[Value, list[Value]]:
    """What each value is computed from."""
    needs: dict[Value, list[Value]] = defaultdict(list)
    for node in walk(nodes):
        if isinstance(node, Call):
            for output in node.outputs:
                needs[output].extend(node.inputs)
        elif isinstance(node, Move):
            for source, target in zip(node.sources, node.targets):
                needs[target].append(source)
        elif isinstance(node, Loop):
            for carry, result in zip(node.carries, node.results):
                needs[result].append(carry)
                needs[carry].extend([node.pred] if node.pred else [])
        else:
            for result in node.results:
                needs[result].append(node.index)
    return needs


def _sweep(nodes: list[Node], needed: set[Value]) -> list[Node]:
    kept = []
    for node in nodes:
        if isinstance(node, Call):
            if needed.isdisjoint(node.outputs):
                continue
        elif isinstance(node, Move):
            pairs = [(s, t) for s, t in zip(node.sources, node.targets) if t in needed]
            node.sources, node.targets = [s for s, _ in pairs], [t for _, t in pairs]
        elif isinstance(node, Loop):
            pairs = [(c, r) for c, r in zip(node.carries, node.results) if c in needed]
            if not pairs:
                continue
            node.carries, node.results = [c for c, _ in pairs], [r for _, r in pairs]
            node.cond, node.body = _sweep(node.cond, needed), _sweep(node.body, needed)
        elif isinstance(node, Case):
            if needed.isdisjoint(node.results):
                continue
            node.results = [r for r in node.results if r in needed]
            node.branches = [_sweep(branch, needed) for branch in node.branches]
        kept.append(node)
    return kept
