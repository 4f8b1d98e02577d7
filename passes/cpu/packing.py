"""Packing: an operand of a contraction copied to a buffer on the stack where the vector loop is contiguous.

A panel of the right operand that is read once for every block of rows is worth copying when its rows lie far apart in memory (each on a
page and a cache set of its own), and must be transposed when the vector loop is not its innermost dimension:

    B[k, n…] → P[k, n]            rows copied
    B[n, k…] → P[k, n]            squares of lanes × lanes transposed in registers
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from torch_mlir import ir

from ..rewriting import value_of
from ..schedules.axes import dim_position, loop_of
from .index import Lin
from .lanes import Lanes
from .loops import for_loop, nest
from .storage import Storage, bit_width
from .work import Work, stride_along

_FAR_BYTES = 1024
_LEAST_ROWS = 16
_LEAST_DEPTH = 16
_MOST_BYTES = 2 << 20

Scratch = Callable[[tuple[int, ...], ir.Type], Storage]


def packable(work: Work, number: int, vector: int, jam: int | None, bound: Callable[[int | ir.Value], int]) -> bool:
    """Whether input `number` is worth packing (or must be, to be read along the vector loop at all)."""
    storage, m = work.inputs[number], work.maps[number]
    if not isinstance(storage, Storage) or jam is None or bound(work.extents[jam]) < _LEAST_ROWS:
        return False
    dims = [d for d in map(dim_position, m.results) if d is not None]
    if len(dims) != len(m.results) or len(set(dims)) != len(dims) or jam in dims or vector not in dims:
        return False
    reduced = [d for d in dims if not work.parallel[d]]
    extents = [extent for extent in (work.extents[d] for d in reduced) if isinstance(extent, int)]
    if not reduced or len(extents) != len(reduced):
        return False
    depth = prod(extents)
    size = depth * bound(work.extents[vector]) * bit_width(storage.element) // 8
    if depth < _LEAST_DEPTH or size > _MOST_BYTES:
        return False
    along = stride_along(m, storage, vector)
    far = (stride_along(m, storage, reduced[-1]) or 0) * bit_width(storage.element) // 8 >= _FAR_BYTES
    return along != 1 or far


def pack(work: Work, number: int, vector: int, fixed: dict[int, Lin], lanes: int, bound, scratch: Scratch) -> Work:
    """Emits the copy of input `number` for the outer loops' indices `fixed`; the work that reads the copy."""
    storage, m = work.inputs[number], work.maps[number]
    assert isinstance(storage, Storage)
    dims = [loop_of(e) for e in m.results]
    reduced = [d for d in dims if not work.parallel[d]]
    extents = [work.extents[d] for d in reduced]
    width = -(-bound(work.extents[vector]) // lanes) * lanes
    depth = -(-extents[-1] // lanes) * lanes
    shape = (*extents[:-1], depth, width)
    packed = scratch(shape, storage.element)
    base = storage.offset
    for d, stride in zip(dims, storage.strides):
        if d in fixed:
            base = base + fixed[d] * stride
    strides = {d: s for d, s in zip(dims, storage.strides)}
    copy = _copy_rows if strides[vector] == 1 else _transpose

    def at(outer: list[Lin], carried):
        start, target = base, packed.offset
        for d, index, stride in zip(reduced, outer, packed.strides):
            start, target = start + index * strides[d], target + index * stride
        source = replace(storage, offset=start, strides=(strides[reduced[-1]], strides[vector]), sizes=(extents[-1], work.extents[vector]))
        copy(source, replace(packed, offset=target, strides=(width, 1), sizes=(depth, width)), lanes)
        return carried

    nest(extents[:-1], [], at)
    new_map = ir.AffineMap.get(m.n_dims, 0, [ir.AffineDimExpr.get(d) for d in (*reduced, vector)])
    inputs, maps = list(work.inputs), list(work.maps)
    inputs[number] = replace(packed, sizes=(*extents, work.extents[vector]))
    maps[number] = new_map
    return replace(work, inputs=inputs, maps=maps)


def _copy_rows(source: Storage, target: Storage, lanes: int) -> None:
    from .nests import chunks

    def row(k: Lin, carried):
        def chunk(start: Lin, wide: Lanes) -> None:
            value = wide.load(source, source.address([k, Lin(start.terms, start.constant, 1)]))
            plain = Lanes(wide.count)
            plain.store(value, target, target.address([k, Lin(start.terms, start.constant, 1)]))

        chunks(source.sizes[1], lanes, lanes, chunk)
        return carried

    for_loop(0, source.sizes[0], 1, [], row)


def _transpose(source: Storage, target: Storage, lanes: int) -> None:
    """Squares of lanes × lanes: rows along k are loaded (the last ones again where the edge is passed), transposed, stored along n."""
    depth, width = source.sizes
    last = Lin.of(width) - 1

    def column(n: Lin, carried):
        from .nests import chunks

        rows = []
        for i in range(lanes):
            row = n + i
            if not (row.is_constant and last.is_constant):
                row = Lin.of(value_of("arith.minui", ir.IndexType.get(), [row.value(), last.value()]))
            elif row.constant > last.constant:
                row = last
            rows.append(row)

        def chunk(k: Lin, wide: Lanes) -> None:
            ks = Lin(k.terms, k.constant, 1)
            square = [wide.load(source, source.offset + ks * source.strides[0] + row * source.strides[1]) for row in rows]
            for i, value in enumerate(transpose_square(square)):
                Lanes(lanes).store(value, target, target.address([k + i, Lin(n.terms, n.constant, 1)]))

        chunks(depth, lanes, lanes, chunk)
        return carried

    for_loop(0, width, lanes, [], column)


def transpose_square(rows: list[ir.Value]) -> list[ir.Value]:
    """The transpose of L vectors of L lanes, by log2(L) rounds of shuffles of pairs: round s swaps blocks of s lanes across rows s
    apart.
    """
    count = len(rows)
    vector = rows[0].type
    distance = 1
    while distance < count:
        low = [i if (i // distance) % 2 == 0 else count + i - distance for i in range(count)]
        high = [i + distance if (i // distance) % 2 == 0 else count + i for i in range(count)]
        rows = list(rows)
        for i in range(count):
            if (i // distance) % 2:
                continue
            pair = [rows[i], rows[i + distance]]
            rows[i] = value_of("vector.shuffle", vector, pair, mask=ir.DenseI64ArrayAttr.get(low))
            rows[i + distance] = value_of("vector.shuffle", vector, pair, mask=ir.DenseI64ArrayAttr.get(high))
        distance *= 2
    return rows
