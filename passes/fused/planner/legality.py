"""Which groups may become one: decided by where values lie on the axes, never by op names.

`vertical` moves a producer into a consumer: each signature at which the consumer reads the producer's result gives an *image* of the
producer's axes. A plain loop may have any image, and several. A reduction has one image only, onto whole axes in the same order: the
consumer's axes that the reduced value lacks are unified with the axes it was reduced over, and a row that is reduced and used again stays
whole in the tile. A contraction has an image in the same linear order, and nothing reduces its result. `sibling` unifies all axes of two
groups that read the same element of one value.

Both return a `Union`, or a `Refusal` with a code of docs/fusion.md. What the code generator cannot take as one kernel is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...common.index_expression import Expr, dims_of, linearise, substitute
from .axes import Axis, Signature, var
from .group import Group, Image, Union
from .records import Value


@dataclass(frozen=True, slots=True)
class Limits:
    """What one kernel may hold. `row_bytes`: a row that stays in the cache while its tile is computed."""

    instances: int = 1024
    instances_per_op: int = 4
    row_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Refusal:
    code: str
    reason: str
    rho: float = 1.0


def vertical(p: Group, c: Group, kept: Callable[[int], bool], values: Sequence[Value], limits: Limits) -> Union | Refusal:
    """The producer `p` moved into its consumer `c`. `kept(v)`: p's result v is needed by others too, and must stay a result."""
    edge = tuple(v for v in p.results if v in c.reads)
    if any(v in c.packed for v in edge):
        return Refusal("NOT_TILEABLE", "a contraction reads its operands as whole packed buffers")
    images = _images(p, c, edge)
    axes = dict(c.axes)
    if not p.iterates:
        found = _single_image(p, c, images, axes)
        if isinstance(found, Refusal):
            return found
        images = (found,)
    results = dict(c.results)
    for value in p.results:
        if kept(value):
            where = next((s for s in (substitute(p.results[value], i) for i in images) if _whole(s, values[value], axes)), None)
            if where is None:
                return Refusal("NOT_TILEABLE", "a value that others need is not produced whole over the group's axes")
            results[value] = where
    if c.contraction is not None and p.iterates and len(results) > len(c.results):
        return Refusal("NOT_TILEABLE", "a contraction's epilogue does not write what it only reads")
    union = Union(images, axes, results, edge, p.phases + c.phases, c.instances + len(images) * p.instances)
    return _check(union, p, c, values, limits)


def sibling(a: Group, b: Group, values: Sequence[Value], limits: Limits) -> Union | Refusal:
    """`b` moved beside `a`: same axes, a common read, no dependence."""
    if any(g.window or g.contraction is not None for g in (a, b)):
        return Refusal("AXIS_CONFLICT", "windows and contractions have no common tiles")
    mine, theirs = [*a.parallel, *a.reduced], [*b.parallel, *b.reduced]
    if a.extents(mine) != b.extents(theirs):
        return Refusal("AXIS_CONFLICT", "the groups iterate over different extents")
    image = {axis: var(to, a.axes[to].extent) for axis, to in zip(theirs, mine, strict=True)}
    small, large = sorted((b.reads, a.reads), key=len)
    common = tuple(v for v in small if v in large and _same_read(a.reads[v], b.reads[v], image))
    if mine and not common:
        return Refusal("AXIS_CONFLICT", "no value is read at the same index")
    reduced = {to for axis, to in zip(theirs, mine, strict=True) if b.axes[axis].reduced or a.axes[to].reduced}
    axes = {to: Axis(a.axes[to].extent, to in reduced) for to in mine}
    results = {**a.results, **{value: substitute(signature, image) for value, signature in b.results.items()}}
    union = Union((image,), axes, results, common, max(a.phases, b.phases), a.instances + b.instances)
    return _check(union, b, a, values, limits)


def _same_read(mine: tuple[Signature, ...], theirs: tuple[Signature, ...], image: Image) -> bool:
    return any(substitute(signature, image) in mine for signature in theirs)


def _images(p: Group, c: Group, edge: Sequence[int]) -> tuple[Image, ...]:
    """One image of p's axes for each distinct index at which c reads a result of p."""
    found: dict[frozenset[tuple[int, Expr]], Image] = {}
    for value in edge:
        for signature in c.reads[value]:
            image = {mine.dim: to for mine, to in zip(p.results[value], signature, strict=True) if mine.dim is not None}
            found.setdefault(frozenset(image.items()), image)
    return tuple(found.values())


def _single_image(p: Group, c: Group, images: tuple[Image, ...], axes: dict[int, Axis]) -> Image | Refusal:
    """The one image of a producer that reduces or contracts; adds its reduced axes to `axes`, or unifies them with axes that are there."""
    image: dict[int, Expr] = {}
    for other in images:
        for axis, to in other.items():
            if image.setdefault(axis, to) != to:
                return Refusal("RECOMPUTE_TOO_HIGH", "a reduced value is needed at several indices", len(images))
    parallel = p.parallel
    targets = tuple(image[axis] for axis in parallel)
    taken = sorted(dims_of(targets))
    if any(c.axes[axis].reduced for axis in taken) and p.contraction is not None:
        return Refusal("GLOBAL_DEP", "a reduction over a contraction's result spans its tiles")
    if any(c.axes[axis].reduced for axis in taken):
        return Refusal("AXIS_CONFLICT", "the result of a reduction is reduced over another axis")
    missing = [axis for axis in c.parallel if axis not in taken]
    if not _in_order(targets, p.extents(parallel), taken, c):
        return Refusal("NOT_TILEABLE", "the reduced value is read at an index that does not follow the tiles")
    folded = sorted([*missing, *c.reduced])
    if not folded:
        return {**image, **_fresh(p, axes)}
    refusal = _cannot_fold(p, c, missing, folded)
    if refusal:
        return refusal
    for mine, target in zip(p.reduced, folded, strict=True):
        whole = var(target, c.axes[target].extent)
        if image.setdefault(mine, whole) != whole:
            return Refusal("AXIS_CONFLICT", "the reduced axes are used again in another order")
        axes[target] = Axis(c.axes[target].extent, True)
    return image


def _cannot_fold(p: Group, c: Group, missing: list[int], folded: list[int]) -> Refusal | None:
    """Why axes that the consumer has beyond a reduced value cannot be the axes it was reduced over."""
    if p.contraction is not None and c.contraction is not None:
        return Refusal("AXIS_CONFLICT", "two contractions have no common tiles")
    if p.contraction is not None:
        return Refusal("RECOMPUTE_TOO_HIGH", "the contraction would be repeated along an axis it lacks", prod(c.extents(missing)))
    if p.window or c.window or c.contraction is not None:
        return Refusal("AXIS_CONFLICT", "a reduction has no common tiles with a window or a contraction")
    if p.extents(p.reduced) != c.extents(folded):
        if not p.parallel:
            return Refusal("GLOBAL_DEP", "a full reduction is needed by every tile")
        return Refusal("AXIS_CONFLICT", "the consumer's axes are not the ones that were reduced")
    if not p.row:
        return Refusal("AXIS_CONFLICT", "a reduction over an outer axis has no row to keep in the tile")
    return None


def _fresh(p: Group, axes: dict[int, Axis]) -> Image:
    """New axes for what p reduces over, under their own numbers where these are free."""
    image = {}
    for axis in p.reduced:
        to = axis if axis not in axes else max(axes) + 1
        axes[to] = p.axes[axis]
        image[axis] = var(to, p.axes[axis].extent)
    return image


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


def _check(union: Union, p: Group, c: Group, values: Sequence[Value], limits: Limits) -> Union | Refusal:
    """What holds of any group: size, rows that fit, results that follow the tiles, no buffer both overwritten and read elsewhere."""
    if union.instances > limits.instances or union.instances > 16 + limits.instances_per_op * (p.ops + c.ops):
        return Refusal("INSTANCE_LIMIT", f"{union.instances} instances of {p.ops + c.ops} ops", union.instances / (p.ops + c.ops))
    reduced = {i for i, axis in union.axes.items() if axis.reduced}
    kept = [dims_of(signature) & reduced for signature in union.results.values()]
    persistent = any(kept)
    if persistent:
        if p.window or c.window or p.contraction is not None or c.contraction is not None or not (p.row and c.row):
            return Refusal("AXIS_CONFLICT", "a result lies on an axis that has no row to keep in the tile")
        if any(used and used != reduced for used in kept):
            return Refusal("AXIS_CONFLICT", "a result lies on some of the reduced axes only")
    if union.phases > 1 or persistent:
        row = prod(union.axes[i].extent for i in reduced) * max(1, max(values[v].bits for v in (*p.results, *c.results)) // 8)
        if row > limits.row_bytes:
            alone = all(axis.reduced for axis in union.axes.values())
            return Refusal("GLOBAL_DEP" if alone else "ROW_TOO_LARGE", f"a row of {row} bytes does not stay in the cache")
    for value in p.overwrites | c.overwrites:
        signatures = _reads_after(value, union, p, c)
        if len(signatures) > 1:
            return Refusal("INPLACE_HAZARD", "the value would be overwritten in place and read at another index")
    return union


def _reads_after(value: int, union: Union, p: Group, c: Group) -> set[Signature]:
    found = set(c.reads.get(value, ()))
    for image in union.images:
        found.update(substitute(signature, image) for signature in p.reads.get(value, ()))
    return found
