"""Updates that must be applied in their order: each element of what is updated belongs to one thread, which applies them one by one.

Dims of the updates that stay at their own index (batching dims, window dims that no index moves) are dealt out: such a *column* of what is
updated never meets another. Where an index moves windows of several elements, the threads of a block share the window of one column, and
wait for each other after each.

    columns = 64, windows of a row:     thread = column             for each update { if inside { apply } }
    windows of 3 x 3 elements:          block = column, thread = element        for each update { if inside { apply }; barrier }
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.control_flow import for_each, if_then, nest_each
from ...common.linear_index import LinearIndex
from ...common.scatter_windows import Windows
from ..support.emit import WARP, barrier, block_id, digits, less_than, thread_id
from ..support.layout import power_above
from .group import Point, ScatterGroup, ScatterKernel, count

COLUMNS = 64
"""Columns of a block, at most."""
MOST_THREADS = 1024


def emit_ordered(group: ScatterGroup) -> None:
    """The kernel of a scatter whose updates are applied in their order."""
    dims = _Dims(group.windows)
    if count(dims.extents(dims.moving)) > 1:
        _windows(group, dims)
    else:
        _columns(group, dims)


class _Dims:
    """The dims of the updates: of columns, of windows that move, and of the order in which they are applied."""

    def __init__(self, windows: Windows):
        self.windows = windows
        self.columns = [*windows.batch.values(), *(u for d, u in windows.at.items() if d not in windows.moved)]
        self.columns.sort()
        self.moving = [u for d, u in windows.at.items() if d in windows.moved]
        self.order = [u for u in windows.over if u not in windows.batch.values()]

    def extents(self, dims: list[int]) -> list[int]:
        return [self.windows.updates[u] for u in dims]

    def point(self, dims: list[int], number: ir.Value) -> Point:
        """Where along `dims` the point of that number lies."""
        return dict(zip(dims, map(LinearIndex.of, digits(number, self.extents(dims) or [1]))))


def _columns(group: ScatterGroup, dims: _Dims) -> None:
    columns = count(dims.extents(dims.columns))
    threads = max(WARP, min(COLUMNS, power_above(columns)))
    kernel = group.open(-(-columns // threads), threads, columns=columns)
    with kernel.kernel.body:
        number = LinearIndex.of(block_id()) * threads + thread_id()
        with if_then(less_than(number, columns) if columns % threads else None):
            column = {**dims.point(dims.columns, number.value()), **dict.fromkeys(dims.moving, LinearIndex())}

            def update(order: list[LinearIndex]) -> None:
                at = {**column, **dict(zip(dims.order, order))}
                starts, inside = kernel.starts(at)
                with if_then(inside):
                    kernel.apply(kernel.place(starts, at), kernel.read_updates(at))

            nest_each(dims.extents(dims.order), update)


def _windows(group: ScatterGroup, dims: _Dims) -> None:
    size = count(dims.extents(dims.moving))
    threads = max(WARP, min(MOST_THREADS, power_above(size)))
    columns = count(dims.extents(dims.columns))
    kernel = group.open(columns, threads, columns=columns, window=size)
    with kernel.kernel.body:
        column, thread = dims.point(dims.columns, block_id()), thread_id()

        def update(order: list[LinearIndex]) -> None:
            at = {**column, **dict(zip(dims.order, order))}
            starts, inside = kernel.starts(at)
            with if_then(inside):
                for_each(0, size, threads, lambda first: _element(kernel, dims, starts, at, first + thread, size))
            barrier()

        nest_each(dims.extents(dims.order), update)


def _element(kernel: ScatterKernel, dims: _Dims, starts: list[LinearIndex], at: Point, number: LinearIndex, size: int) -> None:
    """One element of a window, unless there is none of that number."""
    with if_then(less_than(number, size)):
        whole = {**at, **dims.point(dims.moving, number.value())}
        kernel.apply(kernel.place(starts, whole), kernel.read_updates(whole))
