"""Updates whose indices are sorted: those of one index lie side by side, and stand in their order.

A thread an element of the updates; the one at the first of its index applies all of that index, in a register, and stores what comes of
them. The others have nothing to do.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.control_flow import if_then, while_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ..support.emit import all_of, block_id, less_than, thread_id
from .group import Point, ScatterGroup, ScatterKernel, count

THREADS = 256


def emit_runs(group: ScatterGroup) -> None:
    """The kernel of a scatter whose indices are sorted; they lie along the first dim of its updates."""
    updates = count(group.windows.updates)
    kernel = group.open(-(-updates // THREADS), THREADS, updates=updates)
    with kernel.kernel.body:
        number = LinearIndex.of(block_id()) * THREADS + thread_id()
        with if_then(less_than(number, updates) if updates % THREADS else None):
            at = kernel.point(number.value())
            starts, inside = kernel.starts(at)
            with if_then(inside), if_then(_is_first(kernel, at)):
                _apply_all(kernel, starts, at)


def _is_first(kernel: ScatterKernel, at: Point) -> ir.Value:
    """Whether no update before has the same index."""
    number = at[0].value()
    before = arith.subi(arith.maxui(number, index_constant(1)), index_constant(1))
    differs = _differs(kernel, kernel.index_at(at), before)
    return arith.ori(arith.cmpi(CmpIPredicate.eq, number, index_constant(0)), differs)


def _differs(kernel: ScatterKernel, index: list[ir.Value], number: ir.Value) -> ir.Value:
    """Whether the index of the update of that number is another one."""
    other = kernel.index_at({0: LinearIndex.of(number)})
    same = all_of([arith.cmpi(CmpIPredicate.eq, a, b) for a, b in zip(index, other)])
    true = kernel.scalars.constant(ir.IntegerType.get_signless(1), 1)
    return kernel.scalars.op("arith.xori", true, true if same is None else same)


def _apply_all(kernel: ScatterKernel, starts: list[LinearIndex], at: Point) -> None:
    place, index = kernel.place(starts, at), kernel.index_at(at)
    updates, one = kernel.windows.updates[0], index_constant(1)

    def goes_on(number: ir.Value, *_: ir.Value) -> ir.Value:
        last = arith.minui(number, index_constant(updates - 1))
        true = kernel.scalars.constant(ir.IntegerType.get_signless(1), 1)
        same = kernel.scalars.op("arith.xori", true, _differs(kernel, index, last))
        return arith.andi(arith.cmpi(CmpIPredicate.ult, number, index_constant(updates)), same)

    def combine(number: ir.Value, *old: ir.Value) -> list[ir.Value]:
        new = kernel.read_updates({**at, 0: LinearIndex.of(number)})
        return [arith.addi(number, one), *kernel.combined(old, new)]

    _, *made = while_loop([at[0].value(), *kernel.read_tables(place)], goes_on, combine)
    kernel.store(made, place)
