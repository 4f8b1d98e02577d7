"""A group: ops that become one kernel, over common axes.

Every value in a group has a *signature*, its index as expressions over the group's axes. A value needed at two signatures is evaluated
twice: two *instances*. The body is kept by signature, so that moving a producer into a consumer rewrites each distinct signature once,
however many ops share it, and moving it without change of axes costs only the smaller of the two groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from hloom.runtime.lazy import lazy

from ...common.index_expression import ZERO, Atom, Expr, dims_of, reshape_point, substitute
from ...common.ops import Kind
from .axes import Axis, Signature, var
from .records import Op, Program

Image = Mapping[int, Expr]
"""Where each axis of one group lies in another."""


@dataclass(slots=True)
class Bucket:
    """The ops evaluated at one signature, and their work for each point of it."""

    ops: set[int] = field(default_factory=set)
    work: int = 0


@dataclass
class Group:
    """What is lazy is asked for time and again while merges are priced: no group changes once it is one of a grouping.

    `reads`: the signatures at which each outside value is read. `results`: the values it writes. `packed`: values read as operands of
    its contraction. `padded`: values around which a window leaves padding out. `phases`: how many reductions feed one another at most.
    `row`: its reductions are over the contiguous dimension. `alone`, `grows`: its op shares a kernel with no other.
    `chooses`: it reads one value at some places and another at others (concatenations, pads). `scans`: it has a result at every step of
    what it sums. `updates`: what a scatter reads as updates alone, of which its kernel may compute an element itself if that takes no more
    than `computes`.
    """

    axes: dict[int, Axis]
    body: dict[Signature, Bucket]
    reads: dict[int, tuple[Signature, ...]]
    results: dict[int, Signature]
    ops: int = 1
    instances: int = 1
    reductions: int = 0
    phases: int = 0
    row: bool = True
    window: bool = False
    alone: bool = False
    contraction: int | None = None
    packed: frozenset[int] = frozenset()
    padded: frozenset[int] = frozenset()
    overwrites: frozenset[int] = frozenset()
    grows: bool = False
    chooses: bool = False
    scans: bool = False
    updates: frozenset[int] = frozenset()
    computes: int = 0

    @lazy
    def parallel(self) -> list[int]:
        """The axes that are tiled, in ascending order."""
        return sorted(i for i, axis in self.axes.items() if not axis.reduced)

    @lazy
    def reduced(self) -> list[int]:
        """The axes that some reduction or contraction sums over, in ascending order."""
        return sorted(i for i, axis in self.axes.items() if axis.reduced)

    @property
    def iterates(self) -> bool:
        """A plain loop: no reduction, window, contraction or sort."""
        return not self.reductions and self.contraction is None and not self.alone

    @lazy
    def moves_only(self) -> bool:
        """No arithmetic: a transpose, a copy."""
        return self.iterates and not any(bucket.work for bucket in self.body.values())

    @lazy
    def lane(self) -> int | None:
        """The axis along which the kernel's vectors lie."""
        axes = self.reduced if self.reductions and self.row and self.reduced else self.parallel
        return axes[-1] if axes else None

    @lazy
    def writes_across(self) -> bool:
        """Whether a result's contiguous dimension is not the one along the lanes."""
        return any(across(signature, self.lane) for signature in self.results.values())

    def extents(self, axes: Iterable[int]) -> list[int]:
        """The extents of the axes, in the order given."""
        return [self.axes[i].extent for i in axes]

    def points(self, signature: Signature) -> int:
        """How many times an instance is evaluated: in every tile, so an absent parallel axis counts, an absent reduced one does not. What a
        scatter's kernel computes of its updates is evaluated once for each of them."""
        if self.alone:
            return prod(index.high + 1 for index in signature)
        used = dims_of(signature)
        return prod(axis.extent for i, axis in self.axes.items() if not axis.reduced or i in used)

    def work(self) -> int:
        """The f32 operations of all instances, at every point where they are evaluated."""
        return sum(self.points(signature) * bucket.work for signature, bucket in self.body.items())

    @property
    def members(self) -> list[int]:
        """The group's ops, in program order."""
        return sorted({op for bucket in self.body.values() for op in bucket.ops})


def seed(op: Op, program: Program) -> Group:
    """The group of one op: an axis for each dimension of its result that is longer than 1, and one for each range. A call has no axes. A
    scanned dimension
        stays whole in a tile, as a reduced row does."""
    axes: dict[int, Axis] = {}

    def axis_of(extent: int, reduced: bool) -> Expr:
        if extent == 1:
            return var(0, 1)
        axes[len(axes)] = Axis(extent, reduced)
        return var(len(axes) - 1, extent)

    iterates = op.kind is not Kind.CALL
    shape = program.values[op.results[0]].shape
    result = tuple(axis_of(extent, d == op.scanned) for d, extent in enumerate(shape)) if iterates else ()
    ranges = tuple(axis_of(extent, True) for extent in op.ranges)
    point = result + ranges
    reads: dict[int, tuple[Signature, ...]] = {}
    for read in op.reads:
        reads[read.value] = with_signatures(reads.get(read.value, ()), (read.map.at(point),))
    reduces = op.kind.reduces
    return Group(
        axes,
        {point: Bucket({op.id}, work_of(op))},
        reads,
        {value: result for value in op.results}
        if iterates
        else {value: (ZERO,) * len(program.values[value].shape) for value in op.results},
        reductions=int(reduces),
        phases=int(reduces),
        row=op.row or not reduces,
        window=op.kind is Kind.WINDOW,
        alone=op.kind.alone,
        contraction=op.id if op.kind.contracts else None,
        packed=frozenset(read.value for read in op.reads if read.packed),
        padded=frozenset(read.value for read in op.reads if op.kind is Kind.WINDOW and read.map.masked),
        overwrites=frozenset() if op.overwrites is None else frozenset((op.overwrites,)),
        grows=op.grows,
        chooses=op.kind is Kind.INDEXING and any(read.map.masked for read in op.reads),
        scans=op.scanned is not None,
        updates=_updates(op),
        computes=op.computes,
    )


def _updates(op: Op) -> frozenset[int]:
    if not op.computes:
        return frozenset()
    count = len(op.results)
    return frozenset(op.operands[count + 1 :]) - frozenset(op.operands[: count + 1])


def across(signature: Signature, lane: int | None) -> bool:
    """A read whose contiguous dimension is not the one along the lanes."""
    if lane is None:
        return False
    moving = [expr for expr in signature if expr.dims]
    return bool(moving) and any(lane in expr.dims for expr in moving) and not _walks(moving[-1], lane)


def _walks(expr: Expr, lane: int) -> bool:
    """Whether lanes side by side are at places side by side, or a few of them at one. A remainder counts by its factor's step; where a
    divisor divides the lanes, they are split, and tiled."""
    return any(
        atom.is_plain
        or _splits(atom, lane)
        or ((atom.number < _FEW if atom.kind == "div" else abs(step) < _FEW) and _walks(atom.parts[0], lane))
        for atom, step in expr.terms
        if lane in atom.dims
    )


def _splits(atom: Atom, lane: int) -> bool:
    return any(term.kind == "dim" and term.number == lane and term.extent % atom.number == 0 for term, _ in atom.parts[0].terms)


_FEW = 16
"""Floats of a cache line."""


@dataclass(frozen=True, slots=True)
class Union:
    """How to make one group of two: the images of the other's axes, the axes and results afterwards, and the values between them. `recut`
    stands for the group that takes the other in, where its axes must be others."""

    images: tuple[Image, ...]
    axes: dict[int, Axis]
    results: dict[int, Signature]
    edge: tuple[int, ...]
    phases: int
    instances: int
    recut: Group | None = None

    @property
    def same_axes(self) -> bool:
        """The other group's axes keep their numbers."""
        return len(self.images) == 1 and all(image.dim == axis for axis, image in self.images[0].items())


def absorb(group: Group, other: Group, union: Union, ops: Sequence[Op]) -> Group:
    """The union of two groups, each image of `other` evaluated in `group`'s axes. Both are used up."""
    group = union.recut or group
    updates = _updates_of_both(group, other, union)
    same = union.same_axes
    small, large = other, group
    if same and len(other.body) + len(other.reads) > len(group.body) + len(group.reads):
        small, large = group, other
    for number, image in enumerate(union.images):
        for signature, bucket in small.body.items():
            moved = Bucket(set(bucket.ops), bucket.work) if number else bucket
            _place(large.body, signature if same else substitute(signature, image), moved, ops)
        for value, signatures in small.reads.items():
            at = signatures if same else tuple(substitute(signature, image) for signature in signatures)
            large.reads[value] = with_signatures(large.reads.get(value, ()), at)
    for value in (*group.results, *other.results):
        large.reads.pop(value, None)
    return Group(
        union.axes,
        large.body,
        large.reads,
        union.results,
        ops=group.ops + other.ops,
        instances=sum(len(bucket.ops) for bucket in large.body.values()),
        reductions=group.reductions + other.reductions,
        phases=union.phases,
        row=group.row and other.row,
        window=group.window or other.window,
        alone=group.alone or other.alone,
        contraction=group.contraction if group.contraction is not None else other.contraction,
        packed=group.packed | other.packed,
        padded=group.padded | other.padded,
        overwrites=group.overwrites | other.overwrites,
        chooses=group.chooses or other.chooses,
        scans=group.scans or other.scans,
        updates=updates,
        computes=group.computes,
    )


def _updates_of_both(group: Group, other: Group, union: Union) -> frozenset[int]:
    """What a scatter reads only as updates once it computes the updates that `other` makes: these are replaced by what they are made of,
    element by element."""
    if not group.updates.issuperset(union.edge):
        return group.updates
    whole = {value for value, signatures in other.reads.items() if all(dims_of(s) == other.axes.keys() for s in signatures)}
    return group.updates - frozenset(union.edge) | whole - group.reads.keys()


def _place(body: dict[Signature, Bucket], signature: Signature, bucket: Bucket, ops: Sequence[Op]) -> None:
    """Adds a bucket's ops at a signature; an op already there is the same instance."""
    mine = body.setdefault(signature, bucket)
    if mine is bucket:
        return
    small, large = (bucket, mine) if len(bucket.ops) <= len(mine.ops) else (mine, bucket)
    work = sum(work_of(ops[op]) for op in small.ops if op not in large.ops)
    large.ops |= small.ops
    body[signature] = Bucket(large.ops, large.work + work)


def work_of(op: Op) -> int:
    """An op's work for each point, in f32 operations; a contraction's is priced apart, at the rate of its kernel."""
    return 0 if op.kind.contracts else op.work


def with_signatures(old: tuple[Signature, ...], new: tuple[Signature, ...]) -> tuple[Signature, ...]:
    """The signatures of both, each once, in order."""
    return tuple(dict.fromkeys((*old, *new))) if len(old) + len(new) > 1 else old + new


def recut(group: Group, extents: Sequence[int]) -> Group:
    """A copy of a plain loop over axes of these extents, in the same linear order: a former dimension may be part of an axis. Signatures
    that
        differed only in form may become equal."""
    axes = {i: Axis(extent) for i, extent in enumerate(extents) if extent != 1}
    old = group.parallel
    places = reshape_point([var(i, extent) for i, extent in enumerate(extents)], extents, group.extents(old))
    return _over(group, axes, dict(zip(old, places, strict=True)))


def permuted(group: Group, order: Sequence[int]) -> Group:
    """A copy of a plain loop over its axes in another order."""
    axes = {i: group.axes[axis] for i, axis in enumerate(order)}
    return _over(group, axes, {axis: var(i, group.axes[axis].extent) for i, axis in enumerate(order)})


def _over(group: Group, axes: dict[int, Axis], image: Image) -> Group:
    """A copy of a plain loop over other axes."""
    body: dict[Signature, Bucket] = {}
    for signature, bucket in group.body.items():
        there = body.setdefault(substitute(signature, image), Bucket())
        there.ops |= bucket.ops
        there.work += bucket.work
    reads = {
        value: tuple(dict.fromkeys(substitute(signature, image) for signature in signatures)) for value, signatures in group.reads.items()
    }
    results = {value: substitute(signature, image) for value, signature in group.results.items()}
    instances = sum(len(bucket.ops) for bucket in body.values())
    return replace(group, axes=axes, body=body, reads=reads, results=results, instances=instances)


def copy(group: Group) -> Group:
    """A copy for duplication: the body's sets are not shared."""
    body = {signature: Bucket(set(bucket.ops), bucket.work) for signature, bucket in group.body.items()}
    return replace(group, axes=dict(group.axes), body=body, reads=dict(group.reads), results=dict(group.results))
