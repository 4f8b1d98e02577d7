"""Which ops of a tile share a nest, and what a nest prefetches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes

from ...common.axes import read_tile_op
from ...common.contraction import is_contraction
from ...common.linear_index import LinearIndex, linear_results
from ...common.nibbles import nibble_product
from ...common.rewriting import defining_op, walk
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .nests import vector_loop
from .rows import sums_along
from .scans import scans
from .streams import AHEAD_BYTES
from .windows import is_surrounded
from .work import Work, stride_along

_ROWS_AHEAD = 8
_PIECE_BYTES = 1024


def grouped(works: list[Work], inserted: set[ir.Value]) -> Iterator[list[Work]]:
    """The works in order, each with those after it that share its nest; `inserted` are the values that the tile inserts into results."""
    pending = [w for w in works if not _only_an_init(w, inserted)]
    while pending:
        group, others = [pending.pop(0)], []
        made: dict[ir.Value, Work] = dict.fromkeys(group[0].values, group[0])
        earlier: set[ir.Value] = set()
        for work in pending:
            if _joins(group, work, made, earlier):
                group.append(work)
                made.update(dict.fromkeys(work.values, work))
            else:
                others.append(work)
                earlier.update(work.values)
        pending = others
        _drop_unread(group, inserted)
        yield group


def look_ahead(group: list[Work], nests_reading: Counter[object], fastest: ir.Value | None, most_bytes: int) -> None:
    """Sets what the group's nest prefetches. `nests_reading` counts the tile's nests that read a slice; it gains this nest.

    The second nest that reads a slice finds it in the cache, so it prefetches the same slice of the next tile: the first nest would
    otherwise wait for it. `fastest` is the number that changes from a tile to the next, `most_bytes` how far ahead is too far. Of long
    lines that it reads short pieces of, as what follows a product in a tile of few columns, it prefetches the piece below. What a nest
    reads again along one of its loops, or by the next tap of a window, it does not prefetch.
    """
    here = set()
    for work in group:
        nibbles = None if work.block is None else nibble_product(work.block)
        for number, source in enumerate(work.inputs):
            parts = nibbles.loop if nibbles is not None and nibbles.word == number else None
            if not isinstance(source, Storage) or source.writable or number in work.forward:
                continue
            place = (source.base, source.offset.constant, frozenset(source.offset.terms.items()))
            ahead = source.offset.terms.get(fastest, 0)
            loops = [dim for dim, extent in enumerate(work.extents) if extent != 1 and dim != parts]
            again = any(stride_along(work.maps[number], source, dim) == 0 for dim in loops)
            if place in here or again or _overlaps(work, number):
                ahead = 0
            elif nests_reading[place] != 1 or not 0 < ahead * element_bytes(source.element) <= most_bytes:
                ahead = _next_piece(work, number, most_bytes) or (_next_rows(work, number) if source.ahead else 0)
            work.inputs[number] = replace(source, ahead=ahead)
            here.add(place)
    nests_reading.update(here)


def _overlaps(work: Work, number: int) -> bool:
    """Whether an input is read through windows that share elements."""
    for index in linear_results(work.maps[number], [LinearIndex({dim: 1}) for dim in range(work.maps[number].n_dims)]) or ():
        steps = [step for loop, step in index.terms.items() if work.parallel[loop]]
        reach = sum(step * (size_bound(work.extents[loop]) - 1) for loop, step in index.terms.items() if not work.parallel[loop])
        if steps and 0 < min(steps) <= reach:
            return True
    return False


def _next_piece(work: Work, number: int, least_bytes: int) -> int:
    """The distance in elements to the next piece, where a nest reads short ones on different pages, one after the other: the processor's
    own prefetching learns nothing from them. 0 elsewhere, and in less memory than `least_bytes`, which a near cache may hold."""
    source, m, last = work.inputs[number], work.maps[number], len(work.extents) - 1
    assert isinstance(source, Storage)
    size = element_bytes(source.element)
    if last < 1 or not all(work.parallel) or prod(ir.MemRefType(source.base.type).shape) * size <= least_bytes:
        return 0
    down, along = (stride_along(m, source, dim) for dim in (last - 1, last))
    is_short = along == 1 and size_bound(work.extents[last]) * size <= _PIECE_BYTES
    return down if is_short and down is not None and down * size >= 2 * _PIECE_BYTES else 0


def _next_rows(work: Work, number: int) -> int:
    """The distance in elements to what a nest reads soon: further in the line, or rows below where it sums columns."""
    source = work.inputs[number]
    assert isinstance(source, Storage)
    summed = [d for d, parallel in enumerate(work.parallel) if not parallel]
    down = stride_along(work.maps[number], source, summed[-1]) if summed else None
    return max(_ROWS_AHEAD * down, AHEAD_BYTES // element_bytes(source.element)) if down is not None and down > 1 else source.ahead


def _only_an_init(work: Work, inserted: set[ir.Value]) -> bool:
    """A fill that nothing reads from memory: whoever starts from it knows the scalar."""
    if work.op.name != "linalg.fill" or work.values[0] in inserted:
        return False
    for use in work.values[0].uses:
        user = use.owner.operation
        if user.name == "linalg.fill":
            continue
        if user.name != "linalg.generic" or use.operand_number < len(user.operands) - len(user.results):
            return False
    return True


def _joins(group: list[Work], work: Work, made: dict[ir.Value, Work], earlier: set[ir.Value]) -> bool:
    """Whether `work` can run in the group's nest: equal loops, and it reads the group's values, which are `made`, only at its own point.
    `earlier` are the values of works before it that have not joined. What costs most to ask is asked last."""
    first = group[0]
    if scans(first) or scans(work):
        return False
    if not _same_extents(first.extents, work.extents):
        return False
    forward = {}
    for number, value in enumerate(work.op.operands):
        parts = _parts(value)
        if not earlier.isdisjoint(parts) or (value not in made and not made.keys().isdisjoint(parts)):
            return False
        if value not in made:
            continue
        source = made[value]
        result = source.values.index(value)
        same = number < len(work.inputs) and not source.reduces and work.maps[number] == source.output_maps[result]
        if not same:
            return False
        forward[number] = value
    looked_up = {part for op in walk(work.op, "tensor.extract") for part in _parts(op.operands[0])}
    if not made.keys().isdisjoint(looked_up) or not earlier.isdisjoint(looked_up):
        return False
    if not all(w.reduces or _identity(w.output_maps[i]) for w in group for i in range(len(w.values))):
        return False
    if any(w.reduces for w in [*group, work]) and not _row_nest([*group, work]):
        return False
    work.forward = forward
    return True


def _parts(value: ir.Value) -> list[ir.Value]:
    """A value and those that it shares memory with by slices: what it is cut from, or what was inserted into it."""
    parts, op = [value], defining_op(value)
    if op is not None and op.name in ("tensor.extract_slice", "tensor.insert_slice"):
        for operand in list(op.operands)[: 1 if op.name == "tensor.extract_slice" else 2]:
            parts += _parts(operand)
    return parts


def computed_after(
    first: Work, group: list[Work], inserted: set[ir.Value], fits: Callable[[list[Work]], bool] = lambda group: True
) -> list[Work]:
    """The works of a group where each can be computed at every result of `first`, a reduction, once that is known, and its kernel says that
    the group `fits`; else none.

    What only they read of `first` is not stored.
    """
    loops = [d for d, parallel in enumerate(first.parallel) if parallel]
    made = set(first.values)
    if any(list(m.results) != [ir.AffineExpr.get_dim(d) for d in loops] for m in first.output_maps):
        return []
    for work in group:
        read = [m for m, value in zip(work.maps, work.op.operands) if value in made]
        read_through_views = {part for value in work.op.operands for part in _parts(value)[1:]}
        looked_up = {part for op in walk(work.op, "tensor.extract") for part in _parts(op.operands[0])}
        if work.reduces or work.block is None or made & (read_through_views | looked_up) or not all(map(_identity, read)):
            return []
        if not _same_extents(work.extents, [first.extents[d] for d in loops]):
            return []
    if not any(value in made for work in group for value in work.op.operands) or not fits(group):
        return []
    for work in group:
        inputs = list(work.op.operands)[: len(work.inputs)]
        work.forward = {**work.forward, **{number: value for number, value in enumerate(inputs) if value in made}}
    users = {work.op for work in group}
    for number, value in enumerate(first.values):
        if value not in inserted and all(use.owner.operation in users for use in value.uses):
            first.outputs[number] = None
    return group


def _row_nest(works: list[Work]) -> bool:
    """Whether the works are one nest of row sums: along the same vector loop, and over the same loops (a sum of all is no sum of rows)."""
    if len({tuple(w.parallel) for w in works if w.reduces}) > 1:
        return False
    if sum(w.reduces and is_contraction(read_tile_op(w.op)) for w in works) > 1:
        return False  # each has its own blocks of registers
    if any(map(is_surrounded, works)):
        return False  # rows of a window that lie in padding are nowhere in memory: it is reduced alone
    vector = vector_loop(works)
    return sums_along(works, vector) and all(vector_loop([w]) == vector for w in works)


def _drop_unread(group: list[Work], inserted: set[ir.Value]) -> None:
    """A value that only its own nest reads needs no memory."""
    members = {w.op for w in group}
    for work in group:
        for number, value in enumerate(work.values):
            users = {use.owner.operation for use in value.uses}
            inside = all(_linalg_owner(user) in members for user in users)
            output = work.outputs[number]
            if value not in inserted and inside and not work.reduces and output is not None and output.root is None:
                work.outputs[number] = None


def _linalg_owner(op: ir.Operation) -> ir.Operation:
    """The linalg op that `op` is, or lies in; itself where there is none."""
    owner: ir.Operation | None = op
    while owner is not None and owner.name not in ("linalg.generic", "linalg.fill"):
        owner = owner.parent.operation if owner.parent is not None else None
    return owner or op


def _same_extents(a: list[int | ir.Value], b: list[int | ir.Value]) -> bool:
    return len(a) == len(b) and all(x == y if isinstance(x, int) == isinstance(y, int) else False for x, y in zip(a, b))


def _identity(m: ir.AffineMap) -> bool:
    return m == ir.AffineMap.get_identity(m.n_dims)
