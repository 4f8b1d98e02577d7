"""Values that are elements of another in another order: what transposes, reshapes, slices and broadcasts lead through, as strides.

    %1 = reshape %0 : (tensor<8x6xf32>) -> tensor<8x2x3xf32>;  %2 = transpose %1, dims = [1, 0, 2]      is (2: 3), (8: 6), (3: 1)

A dimension is runs of (extent: stride), outermost first: one run, or several where a reshape has joined what does not lie together. The
stride of what is broadcast is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from ...common.rewriting import defining_op, integers
from ...common.storage import row_major
from ...stablehlo.support import build

MOVES = ("stablehlo.reshape", "stablehlo.slice", "stablehlo.transpose")
Runs = tuple[tuple[int, int], ...]
"""Extents and strides, outermost first."""


@dataclass(frozen=True)
class View:
    """`source` from its element `offset` on, by its dimensions' runs."""

    source: ir.Value
    dims: tuple[Runs, ...]
    offset: int = 0

    @property
    def repeats(self) -> bool:
        """Whether elements of the source are there several times."""
        return any(stride == 0 for runs in self.dims for _, stride in runs)


def view_of(value: ir.Value) -> View:
    """The value as a view of what moves lead back to; of itself, where there are none."""
    op = defining_op(value)
    found = None
    if op is not None and op.name in (*MOVES, "stablehlo.broadcast_in_dim"):
        view = view_of(op.operands[0])
        found = _reshaped(view, build.shape_of(value)) if op.name == "stablehlo.reshape" else _moved(view, op)
    return found or itself(value)


def itself(value: ir.Value) -> View:
    shape = build.shape_of(value)
    return View(value, tuple(_plain(extent, stride) for extent, stride in zip(shape, row_major(tuple(shape)))))


def _plain(extent: int, stride: int) -> Runs:
    return ((extent, stride),) if extent > 1 else ()


def _moved(view: View, op: ir.Operation) -> View | None:
    if op.name == "stablehlo.transpose":
        return View(view.source, tuple(view.dims[d] for d in integers(op, "permutation")), view.offset)
    if op.name == "stablehlo.broadcast_in_dim":
        places, own = integers(op, "broadcast_dimensions"), build.shape_of(op.operands[0])
        shape = build.shape_of(op.results[0])
        kept = {d: view.dims[n] for n, d in enumerate(places) if own[n] == shape[d]}
        return View(view.source, tuple(kept.get(d, _plain(extent, 0)) for d, extent in enumerate(shape)), view.offset)
    starts, limits, steps = (integers(op, name) for name in ("start_indices", "limit_indices", "strides"))
    dims, offset = list(view.dims), view.offset
    for d, (start, limit, step) in enumerate(zip(starts, limits, steps)):
        if step != 1:
            return None
        if limit - start == prod(extent for extent, _ in dims[d]):
            continue
        if len(dims[d]) != 1:
            return None
        ((_, stride),) = dims[d]
        dims[d], offset = _plain(limit - start, stride), offset + start * stride
    return View(view.source, tuple(dims), offset)


def _reshaped(view: View, shape: Sequence[int]) -> View | None:
    """None where a dimension has a part of a run that is no divisor of it."""
    rest = [run for runs in view.dims for run in runs]
    dims: list[Runs] = []
    for extent in reversed(shape):
        runs: list[tuple[int, int]] = []
        while extent > 1:
            if not rest:
                return None
            size, stride = rest.pop()
            taken = size if extent % size == 0 else extent
            if size % taken:
                return None
            if taken < size:
                rest.append((size // taken, stride * taken))
            runs.insert(0, (taken, stride))
            extent //= taken
        dims.insert(0, tuple(_joined(runs)))
    return None if rest else View(view.source, tuple(dims), view.offset)


def _joined(runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Neighbours that lie together as one."""
    found: list[tuple[int, int]] = []
    for extent, stride in runs:
        if found and found[-1][1] == extent * stride:
            extent *= found.pop()[0]
        found.append((extent, stride))
    return found


def refined(x: Runs, y: Runs) -> tuple[Runs, Runs] | None:
    """The same dimensions by runs of the same extents."""
    left, right = list(x), list(y)
    found: list[tuple[tuple[int, int], tuple[int, int]]] = []
    while left and right:
        (a, s), (b, t) = left.pop(), right.pop()
        taken = min(a, b)
        if a % taken or b % taken:
            return None
        left += [(a // taken, s * taken)] if a > taken else []
        right += [(b // taken, t * taken)] if b > taken else []
        found.insert(0, ((taken, s), (taken, t)))
    return (tuple(one for one, _ in found), tuple(other for _, other in found)) if not left and not right else None


def emit(view: View, runs: Sequence[tuple[int, int]]) -> tuple[ir.Value, list[int]] | None:
    """The source with a dimension for each of `runs`, by a reshape and a slice; and the runs' dimensions. None where they are nested in
    no order."""
    order = sorted(range(len(runs)), key=lambda n: -runs[n][1])
    shape: list[int] = []
    starts: list[int] = []
    limits: list[int] = []
    outer, offset = build.count_of(view.source), view.offset
    for number in order:
        extent, stride = runs[number]
        if outer % stride or extent > outer // stride:
            return None
        size = outer // stride
        start, offset = divmod(offset, stride)
        if start + extent > size:
            return None
        shape, starts, limits = [*shape, size], [*starts, start], [*limits, start + extent]
        outer = stride
    if outer > 1:
        return None
    return build.slice_(build.reshape(view.source, shape), starts, limits), [order.index(n) for n in range(len(runs))]
