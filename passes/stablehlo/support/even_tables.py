"""Elements at known places that follow one another evenly, as slices of what they are taken from.

    x[[3, 2, 1, 0, 1, 2, …, 7]]            →  concatenate(reverse(x[0:4]), x[1:8])                       runs
    x[[0, 4, 8, …], [1, 5, 9, …]]          →  x[0:n:4], x[1:n:4] side by side                            columns
    x[[0, …, 399], [160, …, 559], …]       →  x[0:], x[160:], x[320:] as rows of 160, side by side       frames

Rows of a slice are read by vectors; of a table each element is a load of its place, and one of what lies there.
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from . import build

_MOST_PIECES = 8
"""Slices that one gather becomes: a kernel has a loop, or a comparison, for each."""
_LEAST_RUN = 4
"""Elements of a slice, in the mean."""


def taken(x: ir.Value, dimension: int, table: np.ndarray) -> ir.Value | None:
    """`x` at the places of the table along one dimension, which becomes the table's dimensions; None where they follow no even order."""
    places = np.clip(table.astype(np.int64), 0, build.shape_of(x)[dimension] - 1)  # as a gather does
    made = _runs(x, dimension, places.reshape(-1))
    if made is None and places.ndim > 1:
        rows = places.reshape(-1, places.shape[-1])
        made = _columns(x, dimension, rows) if rows.shape[1] <= _MOST_PIECES else _frames(x, dimension, rows)
    if made is None:
        return None
    shape = build.shape_of(x)
    return build.reshape(made, [*shape[:dimension], *table.shape, *shape[dimension + 1 :]])


def _runs(x: ir.Value, dimension: int, places: np.ndarray) -> ir.Value | None:
    """The places one after the other, as few runs of even steps."""
    pieces: list[np.ndarray] = []
    start, steps = 0, np.diff(places)
    while start < len(places):
        if len(pieces) == _MOST_PIECES:
            return None
        others = np.flatnonzero(steps[start:] != steps[start]) if start < len(steps) else steps[:0]
        end = start + 1 + int(others[0]) if len(others) else len(places)
        pieces.append(places[start:end])
        start = end
    if len(pieces) > 1 and len(places) < _LEAST_RUN * len(pieces):
        return None
    return build.concatenate([_run(x, dimension, piece) for piece in pieces], dimension)


def _columns(x: ir.Value, dimension: int, rows: np.ndarray) -> ir.Value | None:
    """A few places in each row, those of each column evenly apart."""
    steps = np.diff(rows, axis=0)
    if len(rows) < _LEAST_RUN or (steps != steps[0]).any():
        return None
    return build.interleave([_run(x, dimension, column) for column in rows.T], dimension)


def _frames(x: ir.Value, dimension: int, rows: np.ndarray) -> ir.Value | None:
    """Rows of places one after the other, which begin `hop` apart: so many blocks of `hop` as a row has."""
    starts, length = rows[:, 0], rows.shape[1]
    hops = np.diff(starts)
    if len(rows) < _LEAST_RUN or (np.diff(rows, axis=1) != 1).any() or (hops != hops[0]).any():
        return None
    hop, first, total = int(hops[0]), int(starts[0]), build.shape_of(x)[dimension]
    if hop <= 0 or -(-length // hop) > _MOST_PIECES:
        return None
    blocks = []
    for offset in range(0, length, hop):
        begin = first + offset
        end = begin + len(rows) * hop
        block = build.slice_dim(x, dimension, begin, min(end, total))
        if end > total:  # what the last row of blocks has behind its frame is not read
            behind = [end - total if d == dimension else 0 for d in range(len(build.shape_of(x)))]
            block = build.pad_with_zeros(block, [0] * len(behind), behind)
        shape = build.shape_of(block)
        block = build.reshape(block, [*shape[:dimension], len(rows), hop, *shape[dimension + 1 :]])
        blocks.append(build.slice_dim(block, dimension + 1, 0, min(hop, length - offset)))
    return build.concatenate(blocks, dimension + 1)


def _run(x: ir.Value, dimension: int, places: np.ndarray) -> ir.Value:
    """The elements at places an even step apart."""
    first, last = int(places[0]), int(places[-1])
    step = int(places[1]) - first if len(places) > 1 else 1
    low, high = min(first, last), max(first, last) + 1
    shape = build.shape_of(x)
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[dimension], limits[dimension], strides[dimension] = low, high, max(1, abs(step))
    part = build.slice_(x, starts, limits, strides)
    if step == 0:
        return build.broadcast(part, [len(places) if d == dimension else n for d, n in enumerate(shape)], range(len(shape)))
    return build.reverse(part, [dimension]) if step < 0 else part
