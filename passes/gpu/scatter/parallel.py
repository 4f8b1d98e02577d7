"""Updates that may be applied in any order: a thread an element of the updates, neighbouring threads at neighbouring elements.

Where two may meet, the element of the table is combined by an atomic: one of the hardware's, where the body is such and the element has 32
or 64 bits, else by compare and swap.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import memref

from ...common.control_flow import if_then
from ...common.linear_index import LinearIndex
from ...common.rewriting import create, element_of
from ...common.scatter_order import Order
from ...common.storage import loaded, stored
from ..support.emit import block_id, less_than, thread_id
from .group import ScatterGroup, ScatterKernel, count

THREADS = 256


def emit_parallel(group: ScatterGroup) -> None:
    """The kernel of a scatter whose updates may be applied in any order."""
    updates = count(group.windows.updates)
    kernel = group.open(-(-updates // THREADS), THREADS, updates=updates)
    with kernel.kernel.body:
        number = LinearIndex.of(block_id()) * THREADS + thread_id()
        with if_then(less_than(number, updates) if updates % THREADS else None):
            at = kernel.point(number.value())
            starts, inside = kernel.starts(at)
            with if_then(inside):
                place, new = kernel.place(starts, at), kernel.read_updates(at)
                kernel.apply(place, new) if group.order is Order.UNIQUE else _combine(kernel, place, new)


def _combine(kernel: ScatterKernel, place: ir.Value, new: list[ir.Value]) -> None:
    """Combines each element of the tables by itself: none depends on another."""
    results = kernel.group.op.results
    for number, (table, result) in enumerate(zip(kernel.tables, results)):
        element = element_of(result)
        answer, kind = kernel.region.answers[number], kernel.group.atomic(number)
        if kind is not None:
            memref.atomic_rmw(kind, new[number], table, [place])
            continue
        loop = create("memref.generic_atomic_rmw", [ir.MemRefType(table.type).element_type], [table, place], regions=1)
        body = loop.regions[0].blocks.append(ir.MemRefType(table.type).element_type)
        with ir.InsertionPoint(body):
            old = [*new]  # of which the answer needs this one alone
            old[number] = loaded(body.arguments[0], element)
            (value,) = kernel.region.evaluate([*old, *new], [answer])
            create("memref.atomic_yield", [], [stored(value, element)])
