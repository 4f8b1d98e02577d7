"""Many updates of few elements, in any order: each block has a copy of the tables in shared memory, and combines all of its updates there.

At its end it combines each element of the copy with the table's. Atomics on one address of global memory are done one after the other for
the whole GPU; in shared memory only those of one block wait for each other. (Histogram privatization, as Gómez-Luna et al. measure it in
"An optimized approach to histogram computation on GPU", 2013.)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import memref

from hloom.dialects.target import target_of

from ...common.control_flow import for_each, if_then
from ...common.linear_index import LinearIndex
from ...common.reductions import neutral_element
from ...common.rewriting import element_of
from ...common.scatter_order import Order
from ..support.emit import barrier, block_id, thread_id
from ..support.launch import shared_bytes, shared_view
from .group import ScatterGroup, ScatterKernel, count

THREADS = 512
_SHARED_BYTES = 32 << 10
"""Of all copies: less leaves a multiprocessor room for all of its threads."""
_ALIGNED = 8
"""Bytes of the widest element."""
_LEAST_UPDATES = 1 << 13
"""Of a block."""
_FEWER = 4
"""Copies are combined by at most this part as many atomics as there are updates."""


def is_private(group: ScatterGroup) -> bool:
    """Whether blocks with copies of the tables take less time than an atomic of the table for each update."""
    if group.order is not Order.ANY or any(group.atomic(number) is None for number in range(len(group.op.results))):
        return False
    places, updates = prod(group.windows.shape), count(group.windows.updates)
    small = sum(shared_bytes([places], element_of(result)) for result in group.op.results) <= _SHARED_BYTES
    return small and updates >= 2 * _LEAST_UPDATES and _FEWER * _blocks(group) * places <= updates


def emit_private(group: ScatterGroup) -> None:
    """The kernel of a scatter for which `is_private` holds."""
    updates, places, blocks = count(group.windows.updates), prod(group.windows.shape), _blocks(group)
    kernel = group.open(blocks, THREADS, updates=updates, copies=blocks)
    with kernel.kernel.body:
        copies = _copies(kernel, places)
        barrier()
        first = LinearIndex.of(block_id()) * THREADS + thread_id()
        for_each(first, updates, blocks * THREADS, lambda number: _combine(kernel, number, copies))
        barrier()

        def give(place: LinearIndex) -> None:
            for number, (table, copy) in enumerate(zip(kernel.tables, copies)):
                memref.atomic_rmw(group.atomic(number), memref.load(copy, [place.value()]), table, [place.value()])

        for_each(LinearIndex.of(thread_id()), places, THREADS, give)


def _blocks(group: ScatterGroup) -> int:
    fill = 2 * target_of(group.function.parent).multiprocessors
    return max(1, min(fill, count(group.windows.updates) // _LEAST_UPDATES))


def _copies(kernel: ScatterKernel, places: int) -> list[ir.Value]:
    """The block's tables, of elements that change nothing."""
    sizes = [-(-shared_bytes([places], element) // _ALIGNED) * _ALIGNED for element in kernel.elements]
    arena = kernel.kernel.arena(sum(sizes))
    copies = [shared_view(arena, sum(sizes[:n]), [places], element) for n, element in enumerate(kernel.elements)]
    neutral = [_neutral(kernel, number) for number in range(len(copies))]

    def clear(place: LinearIndex) -> None:
        for value, copy in zip(neutral, copies):
            memref.store(value, copy, [place.value()])

    for_each(LinearIndex.of(thread_id()), places, THREADS, clear)
    return copies


def _neutral(kernel: ScatterKernel, number: int) -> ir.Value:
    made, element = kernel.group.combining(number), kernel.elements[number]
    value = neutral_element(made.name, element) if made is not None else None
    assert value is not None, "atomics are of ops with a neutral element"
    return kernel.scalars.attribute(element, value)


def _combine(kernel: ScatterKernel, number: LinearIndex, copies: Sequence[ir.Value]) -> None:
    at = kernel.point(number.value())
    starts, inside = kernel.starts(at)
    with if_then(inside):
        place, new = kernel.place(starts, at), kernel.read_updates(at)
        for table, copy in enumerate(copies):
            memref.atomic_rmw(kernel.group.atomic(table), new[table], copy, [place])
