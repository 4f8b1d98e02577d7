"""Packing: an operand of a contraction, or of a transposition, copied to a buffer on the stack where the vector loop is contiguous.

A panel of the right operand that is read once for every block of rows is worth copying when its rows lie far apart in memory (each on a
page and a cache set of its own), and must be transposed when the vector loop is not its innermost dimension, of however few steps:

    B[k, n…] → P[k, n]            rows copied
    B[n, k…] → P[k, n]            squares of lanes × lanes transposed in registers
    B[n * s + k] → P[k, n]        the same, of windows that share few elements
    A[k, m…] → P[k, m]            the rows of the left operand, where these lie in one piece and steps k on pages of their own
    B[n, K - k] → P[K - k, n]     what a transposition reads backwards: copied as it lies, the rows of the copy are read from the last on

What is read may lie within a wider dimension, as the columns h * 64 + k of one head of many do. A kernel packs a panel of its inputs once
for all tiles in a row that read the same one. Of a sum that is too long for the cache it packs the panel of some steps after the other;
over images and pixels that of some images, or of some pixels of one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, memref
from torch_mlir.dialects import vector as vectors

from hloom.dialects.storage import element_bytes, is_i1
from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.contraction import PANEL_STEPS, SHALLOW
from ...common.control_flow import LoopBound, for_each, if_then, nest_each
from ...common.linear_index import LinearIndex, least, total
from ...common.lines import LEAST_ROWS, MOST_COPIES
from ...common.storage import Panels, Storage
from ...common.tiled_function import size_bound
from ...common.vectors import vector_of
from .body import LanesBody
from .deep_sums import loop_outside, moves_window, steps_inside
from .lanes import Lanes
from .nests import chunks, masked_chunks
from .work import Work, stride_along

FAR_BYTES = 1024
"""Rows so far apart share a few sets of the first cache."""
_PAGE_BYTES = 4096
_LEAST_COLUMNS = 64
"""Of fewer, a copy of the rows costs a tenth of their products."""
_NOWHERE = -(1 << 62)
"""An address that no panel begins at: zeros around an operand let one begin a little before it."""

Scratch = Callable[[tuple[int, ...], ir.Type], Storage]
Part = Mapping[int, tuple[LinearIndex, int]]
"""Of some loops, where their steps begin, and how many there are."""


def packable(work: Work, number: int, vector: int, jam: int | None, target: TargetView) -> bool:
    """Whether input `number` is worth packing (or must be, to be read along the vector loop at all), and its panel fits the cache, if only
    that of a part of the sum."""
    return panel_steps(work, number, vector, jam, target) is not None


def rows_packable(work: Work, number: int, vector: int, jam: int, target: TargetView) -> bool:
    """The same of an operand that the jammed rows move through, where these lie in one piece and the steps far apart: each block of columns
    would read every step from a page and a cache set of its own. A longer sum goes outside the blocks instead (deep_sums.py). The panels
    of all operands have room together."""
    storage, m = work.inputs[number], work.maps[number]
    if not isinstance(storage, Storage) or stride_along(m, storage, jam) != 1 or steps_inside(work, jam, target) is not None:
        return False
    apart = max((stride_along(m, storage, d) or 0 for d, parallel in enumerate(work.parallel) if not parallel), default=0)
    if apart * element_bytes(storage.element) < _PAGE_BYTES // 2 or size_bound(work.extents[vector]) < _LEAST_COLUMNS:
        return False
    panels = [(n, vector) for n in range(len(work.inputs)) if n != number and packable(work, n, vector, jam, target)] + [(number, jam)]
    return packable(work, number, jam, vector, target) and sum(_panel_bytes(work, *each, target) for each in panels) <= target.tile_bytes


def _panel_bytes(work: Work, number: int, vector: int, target: TargetView) -> int:
    """Bytes of a panel: whole registers of columns; of one that is transposed, as many steps."""
    storage = work.inputs[number]
    assert isinstance(storage, Storage)
    *outer, steps, width = (size_bound(whole_extent(work, number, d)) for d in (*summed(work, number), vector))
    lanes = max(1, target.vector_bits // (8 * element_bytes(storage.element)))
    unit = 1 if stride_along(work.maps[number], storage, vector) == 1 else lanes
    return prod(outer) * -(-steps // unit) * unit * -(-width // lanes) * lanes * element_bytes(storage.element)


def panel_steps(work: Work, number: int, vector: int, jam: int | None, target: TargetView) -> dict[int, int] | None:
    """How many steps of the first summed loop a panel of input `number` has, or of each of the first ones, if the cache does not hold all
    that one step of the first has; None where it is not packed."""
    storage, m = work.inputs[number], work.maps[number]
    if not isinstance(storage, Storage) or jam is None or size_bound(work.extents[jam]) < LEAST_ROWS:
        return None
    steps = _steps(m, storage)
    if steps is None or jam in steps or vector not in steps:
        return None
    reduced = [d for d in steps if not work.parallel[d]]
    extents = [extent for extent in (whole_extent(work, number, d) for d in reduced) if isinstance(extent, int)]
    if not reduced or len(extents) != len(reduced) or (prod(extents) <= SHALLOW and steps[vector] == 1):
        return None
    far = steps[reduced[-1]] * element_bytes(storage.element) >= FAR_BYTES
    loops = [(steps[d], n) for d, n in zip([*reduced, vector], [*extents, size_bound(whole_extent(work, number, vector))])]
    known = _apart(loops) or (steps[vector] > 1 and not any(storage.bounds) and _few_copies(loops))
    size, room = _panel_bytes(work, number, vector, target), target.tile_bytes // 2
    if not known or (steps[vector] == 1 and size <= room and not far):
        return None
    if size <= room:
        return {reduced[0]: extents[0]}
    long = loop_outside(work) == reduced[0] and extents[0] == work.extents[reduced[0]]
    if not long or (steps[vector] == 1 and steps_inside(work, jam, target) is not None):
        return None
    found = _steps_in(room, size, list(zip(reduced, extents)), work.lanes(target))
    return None if any(moves_window(work, loop) for loop in found) else found


def _steps_in(room: int, size: int, loops: list[tuple[int, int]], lanes: int) -> dict[int, int]:
    """Steps of which the panel has room, of `size` bytes for all steps of these loops (dim, extent); of the last loop whole squares."""
    (first, extent), *others = loops
    together = room // max(1, size // extent)
    if not others:
        return {first: min(PANEL_STEPS, extent, max(lanes, together // lanes * lanes))}
    return {first: together} if together else {first: 1, **_steps_in(room, size // extent, others, lanes)}


def transposed(work: Work, number: int, vector: int, least: int) -> int | None:
    """The loop along which input `number` of an elementwise work lies in one piece, where that is not the vector loop and both loops
    fill most of a square of `least` lanes: read through a copy, whole lines are used."""
    storage, m = work.inputs[number], work.maps[number]
    if not isinstance(storage, Storage) or number in work.forward or is_i1(storage.element):
        return None
    steps = _steps(m, storage)
    if steps is None or abs(steps.get(vector, 0)) <= 1:
        return None
    along = next((d for d, step in steps.items() if abs(step) == 1), None)
    wide = along is not None and all(2 * size_bound(work.extents[d]) > least for d in (along, vector))
    return along if wide else None


def _steps(m: ir.AffineMap, storage: Storage) -> dict[int, int] | None:
    """How far each loop that moves through `storage` steps in memory, or None where some loop's step is not constant."""
    steps = {d: stride_along(m, storage, d) for d in range(m.n_dims)}
    return None if None in steps.values() else {d: step for d, step in steps.items() if step}


def whole_extent(work: Work, number: int, dim: int) -> int | ir.Value:
    """The extent that a panel of input `number` has of a loop: all that lies there, though a tile may read part of it. The next one may
    read more of the same panel."""
    storage = work.inputs[number]
    assert isinstance(storage, Storage)
    return next((n for e, n in zip(work.maps[number].results, storage.sizes) if dim_position(e) == dim), work.extents[dim])


def _apart(loops: list[tuple[int, int]]) -> bool:
    """Whether loops of these (step, extent) never come to an element twice. The windows of a convolution do: a copy would be larger."""
    ordered = sorted((loop for loop in loops if loop[1] > 1), reverse=True)
    return all(step >= inner * extent for (step, _), (inner, extent) in itertools.pairwise(ordered))


def _few_copies(loops: list[tuple[int, int]]) -> bool:
    """Whether they come to an element a few times: windows that are nearly as far apart as they are long."""
    span = 1 + sum(step * (extent - 1) for step, extent in loops)
    return prod(extent for _, extent in loops) <= MOST_COPIES * span


def summed(work: Work, number: int) -> list[int]:
    """The loops that a contraction sums and that move through input `number`: its panel has them, and the vector loop."""
    storage = work.inputs[number]
    assert isinstance(storage, Storage)
    return [d for d in _steps(work.maps[number], storage) or () if not work.parallel[d]]


def pack(
    work: Work,
    number: int,
    along: list[int],
    vector: int,
    fixed: dict[int, LinearIndex],
    lanes: int,
    scratch: Scratch,
    target: TargetView,
    part: Part | None = None,
    chunk: int | None = None,
) -> Work:
    """Emits the copy of input `number`, of the loops `along` and `vector`, for the indices `fixed` of the others; the work that reads the
    copy. The extents of all but the last two loops are known. `part`: these steps alone. `chunk`: of so many columns at once it is read
    from front to back; wider copies are panels of these, one behind the other."""
    storage, m = work.inputs[number], work.maps[number]
    assert isinstance(storage, Storage)
    steps = _steps(m, storage)
    assert steps is not None
    taken = {d: some for d, some in (part or {}).items() if d in along}
    fixed = {**fixed, **{d: start for d, (start, _) in taken.items()}}
    extents = [taken[d][1] if d in taken else whole_extent(work, number, d) for d in along]
    columns = whole_extent(work, number, vector)
    outer_extents = list(map(size_bound, extents[:-1]))
    width = -(-size_bound(columns) // lanes) * lanes
    square = lanes if steps[vector] != 1 else 1
    depth = -(-size_bound(extents[-1]) // square) * square
    panel = _panel_width(columns, width, chunk, storage)
    backwards = steps[along[-1]] == -1
    whole = scratch((*outer_extents, -(-width // panel), depth, panel), storage.element)
    panels = Panels(panel, depth * panel) if panel < width else None
    packed = replace(whole, strides=(*whole.strides[: len(outer_extents)], panel, 1), panels=panels)
    base = storage.address(LanesBody(Lanes(1), [fixed.get(d, LinearIndex()) for d in range(m.n_dims)], {}.__getitem__).at(m))
    if backwards:  # it is copied as it lies, and read backwards
        base, steps = base - (LinearIndex.of(extents[-1]) - 1), {**steps, along[-1]: 1}
    copy = _copier(storage, steps[vector], target)

    def at(outer: list[LinearIndex]) -> None:
        start, place = base, packed.offset
        for d, index, stride in zip(along, outer, packed.strides):
            start, place = start + index * steps[d], place + index * stride

        def copied(count: LoopBound, first: LinearIndex) -> None:
            """The columns from `first` on, the first of a panel."""
            offset, sizes = start + first * steps[vector], (extents[-1], count)
            source = replace(storage, offset=offset, strides=(steps[along[-1]], steps[vector]), sizes=sizes)
            copy(source, replace(whole, offset=place + first * depth, strides=(panel, 1), sizes=(depth, panel)), lanes)

        each_panel(columns, None if panels is None else panel, copied)

    if isinstance(storage.base.owner, ir.Block) and not storage.writable:
        unless_repeated(base, scratch, lambda: nest_each(outer_extents, at))
    else:
        nest_each(outer_extents, at)
    inputs, maps = list(work.inputs), list(work.maps)
    packed = _from_the_last_row(packed, extents[-1]) if backwards else packed
    before = total(LinearIndex(), ((start, packed.strides[along.index(d)]) for d, (start, _) in taken.items()))
    inputs[number] = replace(packed, offset=packed.offset - before, sizes=(*extents, columns))
    maps[number] = ir.AffineMap.get(m.n_dims, 0, [ir.AffineDimExpr.get(d) for d in (*along, vector)])
    return replace(work, inputs=inputs, maps=maps)


def _panel_width(columns: LoopBound, width: int, chunk: int | None, storage: Storage) -> int:
    """Columns of a panel of a copy that has so many: all where its rows are near each other."""
    near = width * element_bytes(storage.element) < FAR_BYTES
    return width if chunk is None or near or not isinstance(columns, int) else min(chunk, width)


def _copier(storage: Storage, step: int, target: TargetView) -> Callable[[Storage, Storage, int], None]:
    """What copies a panel of an operand whose columns are `step` apart."""
    if step == 1:
        return partial(_copy_rows, within=_count(storage))
    every = masked_chunks if target.masks(8) else chunks  # what masks all widths has registers for masks: they cost nothing
    return partial(_transpose, over=every)


def _from_the_last_row(packed: Storage, rows: LoopBound) -> Storage:
    """A copy whose rows, so many, are read from the last one on."""
    *outer, step, one = packed.strides
    return replace(packed, offset=packed.offset + (LinearIndex.of(rows) - 1) * step, strides=(*outer, -step, one))


def each_panel(columns: LoopBound, width: int | None, body: Callable[[LoopBound, LinearIndex], None]) -> None:
    """`body(columns of a panel, its first)` for all panels of so many columns, the last of what is left; `width` None: all are one. The
    code is there once: where panels are not all whole, it is not known of any how many columns it has."""
    if width is None or not isinstance(columns, int):
        body(columns, LinearIndex())
    elif columns % width == 0:
        for_each(0, columns, width, partial(body, width))
    else:
        for_each(
            0, columns, width, lambda first: body(least(LinearIndex(constant=columns) - first, LinearIndex(constant=width)).value(), first)
        )


def unless_repeated(address: LinearIndex, scratch: Scratch, body: Callable[[], object], others: Sequence[LinearIndex] = ()) -> None:
    """Emits `body` under a test that it did not run last for the same address, and the same `others`: two tiles may begin at one address
    and see different parts of what lies there. What it reads must not change while the kernel runs."""
    last = scratch((1 + len(others),), ir.IndexType.get()).base
    with ir.InsertionPoint.after(last.owner):
        for place in range(1 + len(others)):
            memref.store(LinearIndex(constant=_NOWHERE).value(), last, [LinearIndex(constant=place).value()])
    known = [(index.value(), LinearIndex(constant=place).value()) for place, index in enumerate((address, *others))]
    differs = None
    for now, place in known:
        unlike = arith.cmpi(arith.CmpIPredicate.ne, memref.load(last, [place]), now)
        differs = unlike if differs is None else arith.ori(differs, unlike)
    with if_then(differs):
        for now, place in known:
            memref.store(now, last, [place])
        body()


def _copy_rows(source: Storage, target: Storage, lanes: int, within: int | None = None) -> None:
    """`within`: rows that would lie outside of so many elements are others instead."""

    def row(k: LinearIndex) -> None:
        first = source.address([k, LinearIndex()])
        if within is not None:
            last = LinearIndex(constant=within) - source.sizes[1]
            first = LinearIndex.of(arith.maxsi(least(first, last).value(), LinearIndex().value()))

        def chunk(start: LinearIndex, wide: Lanes) -> None:
            value = wide.load(source, first + start.along_lanes() * source.strides[1])
            plain = Lanes(wide.count)
            plain.store(value, target, target.address([k, start.along_lanes()]))

        chunks(source.sizes[1], lanes, lanes, chunk)

    for_each(0, source.sizes[0], 1, row)


def _count(storage: Storage) -> int | None:
    """The elements of an operand with zeros around it, rows of which, that nobody reads, would lie before it and behind it."""
    return prod(ir.MemRefType(storage.base.type).shape) if any(storage.bounds) else None


def _transpose(source: Storage, target: Storage, lanes: int, over: Callable[..., None]) -> None:
    """Squares of lanes × lanes: rows along k are loaded (the last ones again where the edge is passed), transposed, stored along n.
    `over` makes the chunks of rows."""
    depth, width = source.sizes
    last = LinearIndex.of(width) - 1

    def column(n: LinearIndex) -> None:
        rows = []
        for i in range(lanes):
            row = n + i
            if not (row.is_constant and last.is_constant):
                row = LinearIndex.of(arith.minui(row.value(), last.value()))
            elif row.constant > last.constant:
                row = last
            rows.append(row)

        def chunk(k: LinearIndex, wide: Lanes) -> None:
            ks = k.along_lanes()
            square = [wide.load(source, source.offset + ks * source.strides[0] + row * source.strides[1]) for row in rows]
            for i, value in enumerate(transpose_square(square)):
                Lanes(lanes).store(value, target, target.address([k + i, n.along_lanes()]))

        over(depth, lanes, lanes, chunk)

    for_each(0, width, lanes, column)


def transpose_square(rows: list[ir.Value]) -> list[ir.Value]:
    """The transpose of L vectors of L lanes, by log2(L) rounds of shuffles of pairs, of rows 1, 2, 4 … apart: what stands in the halves of
    blocks of 128 bits side by side, then even and odd blocks, each one instruction. Once 64 bits stand together they are a lane: of fewer
    lanes LLVM finds the instruction sooner.
    """
    kind, count = ir.VectorType(rows[0].type), len(rows)
    width = 8 * element_bytes(kind.element_type)
    rows, columns = list(rows), [list(range(count))] * count
    distance, group = 1, 1
    while distance < count:
        if width < 64 <= width * distance:
            wide = vector_of(count * width // 64, ir.IntegerType.get_signless(64))
            rows, columns = [vectors.bitcast(wide, row) for row in rows], [column[:: 64 // width] for column in columns]
            width, group = 64, 1
        lanes = len(columns[0])
        block = min(lanes, 128 // width)
        masks = _halves(lanes, block, group) if group < block else _every_other(lanes, block)
        for i in (i for i in range(count) if not i & distance):
            pair, of_pair = rows[i : i + distance + 1 : distance], columns[i] + columns[i + distance]
            for place, mask in zip((i, i + distance), masks):
                rows[place], columns[place] = vectors.shuffle(*pair, mask), [of_pair[lane] for lane in mask]
        distance, group = 2 * distance, 2 * group
    turned = dict(zip((column for column, *_ in columns), rows))
    return [turned[column] if turned[column].type == kind else vectors.bitcast(kind, turned[column]) for column in range(count)]


def _halves(count: int, block: int, size: int) -> list[list[int]]:
    """The lanes of the blocks' first halves, groups of one vector and of the other in turn; and of their second halves."""
    groups = [[*range(lane, lane + size), *range(count + lane, count + lane + size)] for lane in range(0, count, size)]
    return [[lane for group in groups if (group[0] % block < block // 2) == side for lane in group] for side in (True, False)]


def _every_other(count: int, block: int) -> list[list[int]]:
    """The lanes of the even blocks of two vectors, and of the odd ones."""
    return [[lane for lane in range(2 * count) if lane // block % 2 == odd] for odd in (0, 1)]
