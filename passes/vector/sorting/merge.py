"""A stable merge sort from the bottom up, for any comparator: runs by insertion, merged two and two between the row and its scratch.

Every index stays between the bounds of its run, whatever the comparator says.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.control_flow import each_value, while_loop
from ...common.rewriting import index_constant, value_of
from ...common.sorting.comparator import Comparator
from ...common.sorting.rows import Row

RUN = 12
"""Elements of a run that is sorted by insertion."""


def merge_sort(comparator: Comparator, length: int | ir.Value, source: Row, target: Row, scratch: Row) -> None:
    """Sorts the `length` elements of `source` into `target`, which may be the same."""
    end = index_constant(length) if isinstance(length, int) else length
    _runs(comparator, source, target, end)
    if isinstance(length, int) and length <= RUN:
        return

    def two_levels(width: ir.Value) -> list[ir.Value]:
        twice = arith.addi(width, width)
        _merge_runs(comparator, target, scratch, width, end)
        _merge_runs(comparator, scratch, target, twice, end)
        return [arith.addi(twice, twice)]

    while_loop([index_constant(RUN)], lambda width: arith.cmpi(_ult, width, end), two_levels)


_ult = arith.CmpIPredicate.ult


def _runs(comparator: Comparator, source: Row, target: Row, end: ir.Value) -> None:
    zero, one, run = (index_constant(n) for n in (0, 1, RUN))

    def insert(start: ir.Value, index: ir.Value) -> None:
        new = source.load(index)

        def before(place: ir.Value) -> ir.Value:
            return arith.maxsi(arith.subi(place, one), start)

        def moves(place: ir.Value) -> ir.Value:
            inside = arith.cmpi(arith.CmpIPredicate.ugt, place, start)
            return arith.andi(inside, comparator.less(new, target.load(before(place))))

        def move(place: ir.Value) -> list[ir.Value]:
            target.store(target.load(before(place)), place)
            return [before(place)]

        (place,) = while_loop([index], moves, move)
        target.store(new, place)

    def sort_run(start: ir.Value) -> None:
        target.store(source.load(start), start)
        each_value(arith.addi(start, one), arith.minsi(arith.addi(start, run), end), lambda index: insert(start, index))

    each_value(zero, end, sort_run, run)


def _merge_runs(comparator: Comparator, source: Row, target: Row, width: ir.Value, end: ir.Value) -> None:
    """Merges each two neighbouring runs of `width` elements of `source` into one of `target`."""
    index, one = ir.IndexType.get(), index_constant(1)

    def merge(start: ir.Value) -> None:
        middle = arith.minsi(arith.addi(start, width), end)
        last = arith.minsi(arith.addi(middle, width), end)

        def goes_on(left: ir.Value, right: ir.Value) -> ir.Value:
            return arith.andi(arith.cmpi(_ult, left, middle), arith.cmpi(_ult, right, last))

        def take(left: ir.Value, right: ir.Value) -> list[ir.Value]:
            a, b = source.load(left), source.load(right)
            right_first = comparator.less(b, a)
            chosen = [arith.select(right_first, y, x) for x, y in zip(a, b)]
            target.store(chosen, arith.subi(arith.addi(left, right), middle))
            step = value_of("arith.index_castui", index, [right_first])
            return [arith.addi(left, arith.subi(one, step)), arith.addi(right, step)]

        left, right = while_loop([start, middle], goes_on, take)
        behind = arith.subi(right, middle)  # what is left of the first run moves on by what was taken of the second
        each_value(left, middle, lambda i: target.store(source.load(i), arith.addi(i, behind)))
        each_value(right, last, lambda i: target.store(source.load(i), i))

    each_value(index_constant(0), end, merge, arith.addi(width, width))
