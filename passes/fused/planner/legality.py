"""What holds of any group, whichever rule makes it: what the code generator cannot take as one kernel is refused here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ...common.axes import KEPT_COLUMNS
from ...common.index_expression import Atom, Expr, dims_of, linearise, substitute
from .axes import Signature, var
from .codes import Code, DecisionCode
from .group import Group, Image, Union
from .records import Value


@dataclass(frozen=True, slots=True)
class Limits:
    """What one kernel may hold. `row_bytes`: a row that stays in the cache while its tile is computed; `column_bytes`: so much of columns
    that do, 0 where no kernel has tiles of columns. `reshaped_rows`: whether what follows from rows may have another shape.
    `linear_epilogues`: whether the kernels of contractions (those of GPUs) read what their epilogue needs at indices that are linear in
    their rows and columns alone. `computed_updates`: whether the kernels of scatters compute their updates where they apply them.
    `chosen_in_lanes`: whether what is computed of values that are chosen by their place has to lie along the lanes. `column_sums`: so many
    results of columns a thread keeps at once, of several columns each; 0 is any number."""

    instances: int = 1024
    instances_per_op: int = 4
    row_bytes: int = 1 << 20
    column_bytes: int = 0
    reshaped_rows: bool = False
    linear_epilogues: bool = False
    computed_updates: bool = False
    chosen_in_lanes: bool = False
    column_sums: int = 0


_MOST_LEFT = 4
"""A value of which a part is read is computed whole, if it has at most so many elements for each that is read."""
MOST_IN_TURN = 8
"""So many elements in the innermost dimension are computed one after the other for many lanes (vector/nests/turns.py)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why two groups do not become one. `rho`: times each element of the producer would be evaluated; `edge`: the value that it is about,
    where that is none between the two; `again`: bytes that are read twice for it."""

    code: DecisionCode
    reason: str
    rho: float = 1.0
    edge: int | None = None
    again: int = 0


def _unshared(union: Union, p: Group, c: Group, limits: Limits) -> Refusal | None:
    """Why two groups share no kernel whatever their axes are."""
    if limits.computed_updates and c.updates and c.updates.issuperset(p.results):
        return _no_update(union, p, c)
    if p.alone or c.alone or p.grows or c.grows:
        what = "a sort, a scatter or a call of outside code" if p.alone or c.alone else "what grows a buffer in place"
        return Refusal(Code.ALONE, f"{what} shares its kernel with no other op")
    if c.padded & set(p.results):
        return Refusal(Code.RECOMPUTE_TOO_HIGH, "a window that leaves its padding out reads what is in memory")
    return None


def _no_update(union: Union, p: Group, c: Group) -> Refusal | None:
    """Why a scatter's kernel does not compute its updates, which `p` does: element by element, of what lies at an update's place, in
    buffers that the scatter does not write."""
    if not p.iterates or p.grows or p.chooses or p.overwrites or len(union.results) > len(c.results):
        return Refusal(Code.ALONE, "a scatter computes no updates that others read, or that are no loop")
    if any(expr.terms and expr.dim is None for signatures in p.reads.values() for signature in signatures for expr in signature):
        return Refusal(Code.NOT_TILEABLE, "a scatter computes updates of what lies at their place alone")
    if any(signature in c.results.values() for value in p.reads for signature in c.reads.get(value, ())):
        return Refusal(Code.INPLACE_HAZARD, "the scatter updates in place what its updates are computed of")
    if p.work() > c.computes * prod(axis.extent for axis in p.axes.values()):
        return Refusal(Code.RECOMPUTE_TOO_HIGH, "where an update is one element, no vectors compute it")
    return None


def checked(union: Union, p: Group, c: Group, values: Sequence[Value], limits: Limits) -> Union | Refusal:
    """What holds of any group: size, rows that fit, results that follow the tiles, no buffer both overwritten and read elsewhere."""
    refusal = _unshared(union, p, c, limits)
    refusal = refusal or (_no_epilogue(union, p, c, values) if limits.linear_epilogues else None)
    refusal = refusal or (_chosen_across(union, p, c) or _read_in_pieces(union, p, c, values) if limits.chosen_in_lanes else None)
    if refusal is not None:
        return refusal
    if union.instances > limits.instances or union.instances > 16 + limits.instances_per_op * (p.ops + c.ops):
        return Refusal(Code.INSTANCE_LIMIT, f"{union.instances} instances of {p.ops + c.ops} ops", union.instances / (p.ops + c.ops))
    reduced = {i for i, axis in union.axes.items() if axis.reduced}
    kept = [dims_of(signature) & reduced for signature in union.results.values()] if reduced else []
    persistent = any(kept)
    if persistent:
        if p.window or c.window or p.contraction is not None or c.contraction is not None or not (_in_rows(p, c) or limits.column_bytes):
            return Refusal(Code.AXIS_CONFLICT, "a result lies on an axis that has no row to keep in the tile")
        if any(used and used != reduced for used in kept):
            return Refusal(Code.AXIS_CONFLICT, "a result lies on some of the reduced axes only")
    if union.phases > 1 or persistent:
        row = prod(union.axes[i].extent for i in reduced) * max(1, max(values[v].bits for v in (*p.results, *c.results)) // 8)
        in_rows = _in_rows(p, c) and not any(_lies_across(signature, reduced) for signature in union.results.values())
        refusal = _too_large(row, persistent, union, in_rows, limits)
        if refusal is not None:
            return refusal
    for value in p.overwrites | c.overwrites:
        signatures = _reads_after(value, union, p, c)
        if len(signatures) > 1:
            return Refusal(Code.INPLACE_HAZARD, "the value would be overwritten in place and read at another index")
    return union


def _read_in_pieces(union: Union, p: Group, c: Group, values: Sequence[Value]) -> Refusal | None:
    """Why `c` would read element by element what it could read side by side: at quotients and remainders of several of its loops together,
    as behind a reshape whose dims have no factor in common. A plain loop that walks whole lines may: it is split into these. A scan may at
    none of its steps, which are taken in order."""
    if not p.iterates or not (c.reductions or c.scans or c.iterates):
        return None
    reduced = {i for i, axis in union.axes.items() if axis.reduced}
    bent = [image for image in union.images if not _is_straight(image.values())]
    read = ((s, values[v].shape, bent if _is_straight(s) else union.images) for v, signatures in p.reads.items() for s in signatures)
    divided = _divided(linearise(substitute(s, image), shape) for s, shape, images in read for image in images)
    if c.scans and any(not reduced.isdisjoint(atom.dims) for atom in divided):
        return Refusal(Code.NOT_TILEABLE, "a scan would read its row in pieces, element by element")
    mixed = [atom for atom in divided if len(atom.dims) > 1 and not atom.parts[0].depends_on("opaque")]
    if mixed and prod(p.extents(p.parallel)) > _MOST_LEFT * sum(_points(image, union) for image in union.images):
        return None  # most of what `p` computes is not read
    between = _divided(linearise(s, values[v].shape) for v in union.edge for s in c.reads[v]) if mixed else []
    if any(len(atom.dims) > 1 for atom in between):
        return None  # so they are without what `p` computes
    if mixed and not (c.iterates and p.chooses and _walks_lines(mixed, p, c, values)):
        return Refusal(Code.NOT_TILEABLE, "lines would be read in pieces, element by element")
    return None


def _points(image: Image, union: Union) -> int:
    return prod(union.axes[axis].extent for axis in dims_of(tuple(image.values())))


def _is_straight(point: Iterable[Expr]) -> bool:
    return all(index.is_linear for index in point)


def _divided(places: Iterable[Expr]) -> list[Atom]:
    return [atom for place in places for atom, _ in place.terms if not atom.is_plain]


def _walks_lines(divided: Sequence[Atom], p: Group, c: Group, values: Sequence[Value]) -> bool:
    """Whether all that a plain loop reads, beside what `p` makes, and writes lies as its axes do, and the quotients are of its place and
    count whole lines."""
    extents = c.extents(c.parallel)
    place = linearise([var(axis, extent) for axis, extent in zip(c.parallel, extents)], extents)
    steps = {atom.number: step for atom, step in place.terms}
    counts = all(
        not part.constant
        and all(term.kind == "dim" and steps.get(term.number) == step for term, step in part.terms)
        and (part.high + 1) % atom.number == 0
        for atom in divided
        for part in atom.parts
    )
    read = ((signature, value) for value, signatures in c.reads.items() if value not in p.results for signature in signatures)
    at = (*read, *((signature, value) for value, signature in c.results.items()))
    return counts and all(not dims_of(signature) or linearise(signature, values[value].shape) == place for signature, value in at)


def _chosen_across(union: Union, p: Group, c: Group) -> Refusal | None:
    """Why a loop does not compute what is chosen by its place where its lanes lie along another of its dims than p's: what all lanes read
    alike is turned in registers, what they choose would be gathered element by element. Of a few elements, each is chosen for many
    lanes at once, and where all lanes are at one place, as at each of the columns of indices that a gather reads, no lane chooses."""
    if not p.chooses or not p.iterates or not c.iterates or p.moves_only or not p.parallel or not c.parallel:
        return None
    lanes = c.parallel[-1]
    if c.axes[lanes].extent <= MOST_IN_TURN:
        return None
    choosing = [image for image in union.images if image[p.parallel[-1]].dims]
    moved = [{axis for axis, to in image.items() if lanes in to.dims} for image in choosing]
    if any(axes and p.parallel[-1] not in axes for axes in moved):
        return Refusal(Code.NOT_TILEABLE, "what is chosen by its place would be gathered across the lanes")
    return None


def _in_rows(p: Group, c: Group) -> bool:
    """Whether what the two reduce lies along the contiguous dimension."""
    return p.row and c.row


def _lies_across(signature: Signature, reduced: set[int]) -> bool:
    """Whether a result that is kept along what is reduced has other elements side by side, as the transpose of rows: of a tile of one row
    each would go to a cache line of its own."""
    inner = next((dims for index in reversed(signature) if (dims := dims_of((index,)))), frozenset[int]())
    return bool(dims_of(signature) & reduced) and not inner & reduced


def _too_large(row: int, persistent: bool, union: Union, in_rows: bool, limits: Limits) -> Refusal | None:
    """Why the cache keeps no tile of rows of so many bytes, or of columns, of which results lie in the tile too if they are persistent."""
    if row > limits.row_bytes:
        alone = all(axis.reduced for axis in union.axes.values())
        return Refusal(Code.GLOBAL_DEP if alone else Code.ROW_TOO_LARGE, f"a row of {row} bytes does not stay in the cache")
    columns = 0 if in_rows or not limits.column_bytes else row * KEPT_COLUMNS * (1 + persistent)
    if columns > limits.column_bytes:
        return Refusal(Code.ROW_TOO_LARGE, f"{KEPT_COLUMNS} columns of {columns} bytes do not stay in the cache")
    return None


def _no_epilogue(union: Union, p: Group, c: Group, values: Sequence[Value]) -> Refusal | None:
    """Why a kernel of a contraction does not compute what the union has around it."""
    if p.contraction is None and c.contraction is None:
        return None
    if p.chooses or c.chooses:
        return Refusal(Code.NOT_TILEABLE, "a contraction's epilogue does not choose among values by their place")
    if any(not _is_linear(signature, values[value]) for value, signature in _reads_of(union, p, c)):
        return Refusal(Code.NOT_TILEABLE, "a contraction's epilogue reads where indices are linear in its rows and columns")
    return None


def _reads_of(union: Union, p: Group, c: Group) -> Iterator[tuple[int, Signature]]:
    """What the union reads but as a contraction's operand, and where."""
    for value, signatures in c.reads.items():
        if value not in c.packed and value not in union.edge:
            yield from ((value, signature) for signature in signatures)
    for value, signatures in p.reads.items():
        if value not in p.packed:
            yield from ((value, substitute(signature, image)) for image in union.images for signature in signatures)


def _is_linear(signature: Signature, value: Value) -> bool:
    """Whether an element lies at a place that is linear in the axes, whatever reshapes lead there."""
    return all(atom.kind == "dim" for atom, _ in linearise(signature, value.shape).terms)


def _reads_after(value: int, union: Union, p: Group, c: Group) -> set[Signature]:
    found = set(c.reads.get(value, ()))
    for image in union.images:
        found.update(substitute(signature, image) for signature in p.reads.get(value, ()))
    return found
