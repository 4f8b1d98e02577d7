"""A producer moved into its consumer: decided by where values lie on the axes, never by op names.

    e = exp(x);  s = sum(e)        becomes        s = sum(exp(x))

Each signature at which the consumer reads the producer's result gives an *image* of the producer's axes. A plain loop may have any image,
and several. A reduction has one image only, onto whole axes in the same order: the consumer's axes that the reduced value lacks are unified
with the axes it was reduced over, and a row that is reduced and used again stays whole in the tile. Where a reshape parts the two, a
consumer that only loops takes the rows' axes. A contraction has an image in the same
linear order, and nothing reduces its result; a consumer that only loops and reads it transposed takes the contraction's axes, so that its
tile is stored transposed.

Declines, with the codes of docs/fusion.md: operands of a contraction, values of others that would not be whole, images of other forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import prod

from ....common.index_expression import Expr, dims_of, linearise, substitute
from ..axes import Axis, Signature, var
from ..codes import Code, DecisionCode
from ..group import Group, Image, Union, permuted, recut
from ..grouping import Grouping
from ..legality import Limits, Refusal, checked
from ..records import Value
from . import Proposal, Rule


class Vertical(Rule):
    name, tells_price, lasts = "vertical", True, True

    def proposals(self, grouping: Grouping, limits: Limits, node: int, upstream: bool) -> Iterator[Proposal]:
        dag = grouping.dag
        yield from self._around(grouping, limits, node, dag.predecessors[node] if upstream else set(), dag.successors[node])

    def among(self, grouping: Grouping, limits: Limits, node: int, others: Set[int]) -> Iterator[Proposal]:
        dag = grouping.dag
        yield from self._around(grouping, limits, node, dag.predecessors[node] & others, dag.successors[node] & others)

    def _around(self, grouping: Grouping, limits: Limits, node: int, before: Set[int], after: Set[int]) -> Iterator[Proposal]:
        pairs = [*((producer, node) for producer in sorted(before)), *((node, consumer) for consumer in sorted(after))]
        for u, v in pairs:
            p, c = grouping.groups[u], grouping.groups[v]
            if p and c:
                union = vertical(p, c, grouping.kept(u, v), grouping.program.values, limits)
                yield Proposal(u, (v,), union if isinstance(union, Refusal) else (union,))

    def told(self, u: Group, target: Group, unions: tuple[Union, ...]) -> tuple[DecisionCode, str]:
        (union,) = unions
        if u.contraction is not None:
            return Code.FUSED_EPILOGUE, "applied to the contraction's tile before it is written"
        reduced: set[int] = {i for i, axis in union.axes.items() if axis.reduced}
        persistent = any(expr.dims & reduced for signature in union.results.values() for expr in signature)
        if u.reductions and (union.phases > 1 or persistent):
            return Code.FUSED_MULTI_REDUCE, "the row stays in the tile between its reduction and its use"
        if any(value in union.results for value in u.results):
            return Code.FUSED_MULTI_OUTPUT, "the value is written once and used at once"
        if target.alone:
            return Code.FUSED_DEMAND, "evaluated where the scatter applies it"
        if any(expr.depends_on("opaque") for image in union.images for expr in image.values()):
            return Code.FUSED_DEMAND, "evaluated only where it is needed"
        return Code.FUSED_VERTICAL, "the value is never written"


def vertical(p: Group, c: Group, kept: Iterable[tuple[int, Signature]], values: Sequence[Value], limits: Limits) -> Union | Refusal:
    """The producer `p` moved into its consumer `c`. `kept`: the results of p that others read too, which stay results."""
    found = _moved(p, c, kept, values, limits)
    other = _in_axes_of(p, c) if isinstance(found, Refusal) and limits.reshaped_rows else None
    if other is None:
        return found
    again = _moved(p, other, kept, values, limits)
    return found if isinstance(again, Refusal) else replace(again, recut=other)


def _in_axes_of(p: Group, c: Group) -> Group | None:
    """The consumer over axes that follow its producer's, if it only loops."""
    if not c.iterates or c.reduced or p.iterates or p.window:
        return None
    return _along_rows(p, c) if p.contraction is None else _in_tile_order(p, c)


def _in_tile_order(p: Group, c: Group) -> Group | None:
    """A consumer of a contraction that reads its result transposed, over the contraction's axes in their order: what it writes is stored
    transposed. Not of a grouped convolution: its kernels have a loop of groups, which views between the two would hide."""
    if any(index.depends_on("opaque") for value in p.packed for signature in p.reads[value] for index in signature):
        return None
    images = _images(p, c, tuple(v for v in p.results if v in c.reads))
    image = _common_image(images)
    if image is None:
        return None
    order = [dim for axis in p.parallel if (dim := image[axis].dim) is not None]
    return permuted(c, order) if sorted(order) == c.parallel and order != c.parallel else None


def _along_rows(p: Group, c: Group) -> Group | None:
    """A consumer that loops over as many points as the producer reduces, over the producer's axes: a reshape stands between the two."""
    if not p.reductions or not p.row:
        return None
    extents = p.extents((*p.parallel, *p.reduced))
    theirs = c.extents(c.parallel)
    return recut(c, extents) if extents != theirs and prod(extents) == prod(theirs) else None


def _moved(p: Group, c: Group, kept: Iterable[tuple[int, Signature]], values: Sequence[Value], limits: Limits) -> Union | Refusal:
    edge = tuple(v for v in p.results if v in c.reads)
    if any(v in c.packed for v in edge):
        return Refusal(Code.NOT_TILEABLE, "a contraction reads its operands as whole packed buffers")
    images = _images(p, c, edge)
    if any(axis not in image for image in images for axis in p.parallel):
        return Refusal(Code.NOT_TILEABLE, "the value's dimensions are parts of axes")
    axes = c.axes
    if not p.iterates:
        axes = dict(axes)
        found = _single_image(p, c, images, axes, limits)
        if isinstance(found, Refusal):
            return found
        images = (found,)
    results = dict(c.results)
    last, where = None, None  # most results of a group lie alike
    for value, signature in kept:
        alike = signature, values[value].shape
        if alike != last:
            last = alike
            where = next((s for s in (substitute(signature, i) for i in images) if _whole(s, values[value], axes)), None)
        if where is None:
            return Refusal(Code.NOT_TILEABLE, "a value that others need is not produced whole over the group's axes")
        results[value] = where
    if c.contraction is not None and p.iterates and len(results) > len(c.results):
        return Refusal(Code.NOT_TILEABLE, "a contraction's epilogue does not write what it only reads")
    union = Union(images, axes, results, edge, p.phases + c.phases, c.instances + len(images) * p.instances)
    return checked(union, p, c, values, limits)


def _images(p: Group, c: Group, edge: Sequence[int]) -> tuple[Image, ...]:
    """One image of p's axes for each distinct index at which c reads a result of p."""
    images = [
        {mine.dim: to for mine, to in zip(p.results[value], signature, strict=True) if mine.dim is not None}
        for value in edge
        for signature in c.reads[value]
    ]
    return tuple(images if len(images) == 1 else {frozenset(image.items()): image for image in images}.values())


def _single_image(p: Group, c: Group, images: tuple[Image, ...], axes: dict[int, Axis], limits: Limits) -> Image | Refusal:
    """The one image of a producer that reduces or contracts; adds its reduced axes to `axes`, or unifies them with axes that are there."""
    image = _common_image(images)
    if image is None:
        return Refusal(Code.RECOMPUTE_TOO_HIGH, "a reduced value is needed at several indices", len(images))
    parallel = p.parallel
    targets = tuple(image[axis] for axis in parallel)
    taken = sorted(dims_of(targets))
    if any(c.axes[axis].reduced for axis in taken) and p.contraction is not None:
        return Refusal(Code.GLOBAL_DEP, "a reduction over a contraction's result spans its tiles")
    if any(c.axes[axis].reduced for axis in taken):
        return Refusal(Code.AXIS_CONFLICT, "the result of a reduction is reduced over another axis")
    missing = [axis for axis in c.parallel if axis not in taken]
    if not _in_order(targets, p.extents(parallel), taken, c):
        return Refusal(Code.NOT_TILEABLE, "the reduced value is read at an index that does not follow the tiles")
    if _cuts_groups(p, image):
        return Refusal(Code.NOT_TILEABLE, "a part of the features of several groups is read, each of which is computed whole")
    folded = sorted([*missing, *c.reduced])
    if not folded:
        return {**image, **_fresh(p, axes)}
    refusal = _cannot_fold(p, c, missing, folded, limits)
    if refusal:
        return refusal
    for mine, target in zip(p.reduced, folded, strict=True):
        whole = var(target, c.axes[target].extent)
        if image.setdefault(mine, whole) != whole:
            return Refusal(Code.AXIS_CONFLICT, "the reduced axes are used again in another order")
        axes[target] = Axis(c.axes[target].extent, True)
    return image


def _common_image(images: tuple[Image, ...]) -> dict[int, Expr] | None:
    """The image that all of them are part of; None if two place an axis differently."""
    image: dict[int, Expr] = {}
    agree = all(image.setdefault(axis, to) == to for other in images for axis, to in other.items())
    return image if agree else None


def _cannot_fold(p: Group, c: Group, missing: list[int], folded: list[int], limits: Limits) -> Refusal | None:
    """Why the consumer's axes that the reduced value lacks cannot be unified with the axes that it was reduced over."""
    if p.contraction is not None and c.contraction is not None:
        return Refusal(Code.AXIS_CONFLICT, "two contractions have no common tiles")
    if p.contraction is not None:
        return Refusal(Code.RECOMPUTE_TOO_HIGH, "the contraction would be repeated along an axis it lacks", prod(c.extents(missing)))
    if p.window or c.window or c.contraction is not None:
        return Refusal(Code.AXIS_CONFLICT, "a reduction has no common tiles with a window or a contraction")
    if p.extents(p.reduced) != c.extents(folded):
        if not p.parallel:
            return Refusal(Code.GLOBAL_DEP, "a full reduction is needed by every tile")
        return Refusal(Code.AXIS_CONFLICT, "the consumer's axes are not the ones that were reduced")
    if not p.row and not limits.column_bytes:
        return Refusal(Code.AXIS_CONFLICT, "a reduction over an outer axis has no row to keep in the tile")
    return None


def _fresh(p: Group, axes: dict[int, Axis]) -> Image:
    """New axes for what p reduces over, under their own numbers where these are free."""
    image = {}
    for axis in p.reduced:
        to = axis if axis not in axes else max(axes) + 1
        axes[to] = p.axes[axis]
        image[axis] = var(to, p.axes[axis].extent)
    return image


def _cuts_groups(p: Group, image: Image) -> bool:
    """Whether the image is several groups of a convolution's features, and of one of them a part: the kernels have a loop of groups, which
    starts and ends between two."""
    terms = [term for value in p.packed for signature in p.reads[value] for index in signature for term, _ in index.terms]
    for group in [part.atom for term in terms for part in term.parts]:
        if group is not None and group.kind == "div":
            features = group.parts[0].substitute(image)
            start, stop, size = features.low, features.high + 1, group.number
            if start // size != (stop - 1) // size and (start % size or stop % size):
                return True
    return False


def _in_order(targets: Sequence[Expr], extents: Sequence[int], taken: Sequence[int], c: Group) -> bool:
    """The image keeps the linear order (identity, dimensions split or merged), or is a window of it at unit stride."""
    if any(target.low < 0 or target.high >= extent for target, extent in zip(targets, extents, strict=True)):
        return False
    whole = [var(axis, c.axes[axis].extent) for axis in taken]
    if linearise(targets, extents) == linearise(whole, c.extents(taken)):
        return True
    window = [target for target in targets if target.dims]
    return len(window) == len(taken) and all((target - target.constant) == axis for target, axis in zip(window, whole))


def _whole(signature: Signature, value: Value, axes: Mapping[int, Axis]) -> bool:
    """Each element of the value is produced exactly once, at its own place."""
    used = [(expr.dim, extent) for expr, extent in zip(signature, value.shape, strict=True) if extent != 1]
    if any(axis is None or axes[axis].extent != extent for axis, extent in used):
        return False
    found = {axis for axis, _ in used}
    return len(found) == len(used) and all(axis.reduced or i in found for i, axis in axes.items())
