"""Two groups that read the same element of one value, and not each other, beside each other: all their axes are unified.

    m = max(x, rows);  n = sum(x, rows)        becomes        m, n = one pass over x

Declines: windows and contractions, other extents, and groups without a common read. One number that all points read, as the step size of
an optimiser's updates, is none: it is read once a kernel, and a kernel of hundreds of updates would go through as many arrays at once, more
than a processor follows. Scalar groups need no common read up to so much arithmetic: what hundreds of them would be in one kernel is code
that nothing else shares, where kernels that are equal are compiled once. Told of these: one value that is reduced along different axes,
which is read once for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....common.index_expression import substitute
from ..alike import saves
from ..axes import Axis, var
from ..codes import Code, DecisionCode
from ..group import Group, Image, Union
from ..grouping import Grouping
from ..legality import Limits, Refusal, checked
from ..records import Value
from . import Proposal, Rule

MOST = 8
"""A group is tried beside so many users of the same value, on either side in topological order."""
SCALAR_WORK = 1 << 10
"""Scalar groups that read nothing in common are one kernel of so many f32 operations at most."""


class Sibling(Rule):
    name, late, into_first = "sibling", True, True

    def proposals(self, grouping: Grouping, limits: Limits, node: int, upstream: bool) -> Iterator[Proposal]:
        group, order = grouping.groups[node], grouping.dag.order
        if not group or group.contraction is not None or group.window:
            return
        for near in list(grouping.alike().nearest(node, 2 * MOST)):
            first, second = (node, near) if order[node] < order[near] else (near, node)
            if second in grouping.dag.successors[first]:
                continue
            union = sibling(grouping.at(first), grouping.at(second), grouping.program.values, limits)
            if isinstance(union, Union):
                yield Proposal(first, (second,), (union,))
            elif union.code != Code.AXIS_CONFLICT:
                yield Proposal(first, (second,), union)
        yield from _crossing(grouping, node, group)

    def told(self, u: Group, target: Group, unions: tuple[Union, ...]) -> tuple[DecisionCode, str]:
        return Code.FUSED_SIBLING, "both read the same value, which is read once"


def _crossing(grouping: Grouping, node: int, group: Group) -> Iterator[Proposal]:
    """The groups behind a reduction that reduce all of the same value, which few read, along other axes."""
    order = grouping.dag.order
    for value in sorted(group.reads) if group.reduced else ():
        users = grouping.users[value]
        for near in sorted(users, key=lambda v: (order[v], v)) if len(users) <= MOST else ():
            other = grouping.groups[near]
            if other and order[near] > order[node] and near not in grouping.dag.successors[node] and _turned(group, other, value):
                size = grouping.program.values[value].bytes
                yield Proposal(node, (near,), Refusal(Code.AXIS_CONFLICT, "both reduce one value, along different axes", 1.0, value, size))


def _turned(a: Group, b: Group, value: int) -> bool:
    """Whether two reductions over the same extents read a value once each, and reduce other dimensions of it."""
    if not all(g.parallel and g.reduced and len(g.reads[value]) == 1 for g in (a, b)):
        return False
    if sorted(a.extents((*a.parallel, *a.reduced))) != sorted(b.extents((*b.parallel, *b.reduced))):
        return False
    mine, theirs = ([index.dim in group.reduced for index in group.reads[value][0]] for group in (a, b))
    return mine != theirs


def sibling(a: Group, b: Group, values: Sequence[Value], limits: Limits) -> Union | Refusal:
    """`b` moved beside `a`: same axes, a common read, no dependence."""
    if any(g.window or g.contraction is not None for g in (a, b)):
        return Refusal(Code.AXIS_CONFLICT, "windows and contractions have no common tiles")
    mine, theirs = [*a.parallel, *a.reduced], [*b.parallel, *b.reduced]
    if a.extents(mine) != b.extents(theirs):
        return Refusal(Code.AXIS_CONFLICT, "the groups iterate over different extents")
    sums = len(a.results) + len(b.results)
    if limits.column_sums and a.reduced and b.reduced and not (a.row or b.row) and sums > limits.column_sums:
        return Refusal(Code.ROW_TOO_LARGE, f"{sums} results of columns do not stay in registers")
    image = {axis: var(to, a.axes[to].extent) for axis, to in zip(theirs, mine, strict=True)}
    small, large = sorted((b.reads, a.reads), key=len)
    common = tuple(v for v in small if v in large and _same_read(a, b, v, image))
    if not common and (mine or a.work() + b.work() > SCALAR_WORK):
        return Refusal(Code.AXIS_CONFLICT, "no value is read at the same index")
    reduced = {to for axis, to in zip(theirs, mine, strict=True) if b.axes[axis].reduced or a.axes[to].reduced}
    axes = {to: Axis(a.axes[to].extent, to in reduced) for to in mine}
    results = {**a.results, **{value: substitute(signature, image) for value, signature in b.results.items()}}
    union = Union((image,), axes, results, common, max(a.phases, b.phases), a.instances + b.instances)
    return checked(union, b, a, values, limits)


def _same_read(a: Group, b: Group, value: int, image: Image) -> bool:
    mine = [signature for signature in a.reads[value] if saves(signature, a)]
    return any(substitute(signature, image) in mine for signature in b.reads[value])
