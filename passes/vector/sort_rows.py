"""sort-rows: turns each group that is a sort into a kernel over memrefs, whose tiles are the rows.

Before:
    func.func private @fusion_0(%x: tensor<4x100xf32>) -> (tensor<4x100xf32>, tensor<4x100xf32>) {
      %r = "stablehlo.sort"(%x) <{dimension = 1}> ({ scalar ops }) ; %e = tensor.empty() ; return %r, %e
    }
After:
    func.func private @fusion_0(%lo: index, %hi: index, %x: memref<400xf32>, %r: memref<400xf32>, %e: memref<400xf32>)
        attributes {hloom.tiles = 4 : i64} {
      scf.for %row = %lo to %hi { sorts a row of %x into %r, by way of %e }
    }

A comparator that compares one integer or float of each element (common/sorting/comparator.py) sorts short rows by ranks
(sorting/ranks.py), or several rows of one array together (sorting/network.py), long ones by radix (sorting/radix.py), by way of words where
there are several arrays (sorting/words.py); rows of one array with as many bits as their keys, 32 or 64, by quicksort
(sorting/keys_alone.py). Any other merges (sorting/merge.py). Of a sort that says that few elements are read (partial-sorts) those are
selected (sorting/selection.py). All are stable, and stay inside the row whatever the comparator says.

Must hold: the tiled stage; the sort is along the last dimension, and sort-scratch has run. Declined: groups without a sort. A group that is
not so is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView, target_of

from ..common.control_flow import each_value
from ..common.rewriting import create, functions, i64_attr, index_constant, integer, ops_in, walk
from ..common.scalar_region import constants_outside
from ..common.scalars import Scalars
from ..common.sorting.comparator import Comparator, Key, key_of
from ..common.sorting.rows import Array, Row, arrays_of
from ..common.sorting.runs import FIRST
from ..common.sorting.scratch import LONG, SHORT, is_of_words, scratch_of
from ..errors import PassFailure
from ..registry import register_pass
from .sorting.bits import KeyBits
from .sorting.keys_alone import KeySort
from .sorting.merge import merge_sort
from .sorting.network import NetworkSort
from .sorting.quick import QuickSort
from .sorting.radix import RadixSort
from .sorting.ranks import RankSort
from .sorting.selection import Selection, Sort, capacity, selects
from .sorting.words import WordSort
from .support.open_kernel import open_kernel

RowSort = Callable[[Row, Row, Row], None]
"""Emits the sort of one row into another, by way of a third."""


@register_pass("sort-rows", "turns each sort into a kernel over memrefs", ops=("stablehlo.sort",))
def sort_rows(module: ir.Operation) -> None:
    target = target_of(module)
    for function in functions(module):
        if "hloom.kind" in function.attributes and walk(function, "stablehlo.sort"):
            with module.context, function.location:
                _build(function, target)
                function.erase()


def _build(function: ir.Operation, target: TargetView) -> None:
    """Emits the kernel of `function` right before it, under its name."""
    op = _sort_of(function)
    *outer, length = ir.RankedTensorType(op.operands[0].type).shape
    kernel, entry = open_kernel(function, prod(outer))
    with ir.InsertionPoint(entry), op.location:
        known = constants_outside(function)
        buffers = list(entry.arguments)[2:]
        inputs, results = arrays_of(function, op, buffers, known)
        room = scratch_of(op)
        scratch = [Array(buffer, kind.element_type) for buffer, kind in zip(buffers[len(buffers) - len(room) :], room)]
        first = integer(op, FIRST, length)
        kernel.attributes["hloom.effort"] = ir.StringAttr.get("full")  # its walks over a row are for LLVM to vectorise
        comparator, s = Comparator(op.regions[0].blocks[0], known), Scalars(kernel)
        key = key_of(comparator)
        if key is not None and is_of_words(op):
            sort: RowSort = WordSort(s, key, length, inputs, scratch).emit
        else:
            sort = _algorithm(comparator, key, s, length, first, target)
        alone = key if first == length else None
        together = alone is not None and NetworkSort.fits(alone, inputs, length, prod(outer), target.vector_bits)
        if alone is not None and KeySort.fits(alone, inputs, length, target.vector_bits):
            quick = QuickSort(s, function, alone.bits, length, target)
            together, sort = False, KeySort(KeyBits(s, alone), quick, length, sort).emit

        def sort_row(row: ir.Value) -> None:
            start = arith.muli(row, index_constant(length))
            sort(*(Row(arrays, start) for arrays in (inputs, results, scratch)))

        (lower, upper, *_), rows = entry.arguments, prod(outer)
        if alone is not None and together:
            network = NetworkSort(s, alone, length, target.vector_bits)
            kernel.attributes["hloom.tiles"] = i64_attr(-(-rows // network.lanes))
            network.emit(lower, upper, rows, [*inputs, *results], sort_row)
        else:
            each_value(lower, upper, sort_row)
        create("func.return")


def _sort_of(function: ir.Operation) -> ir.Operation:
    """The group's sort. Raises PassFailure where the group is not what the stage tiled has."""
    sort, *more = walk(function, "stablehlo.sort")
    rank = len(ir.RankedTensorType(sort.operands[0].type).shape)
    where = {"op": sort.name, "loc": str(sort.location), "stage": "vector"}
    if more:
        raise PassFailure("a group of several sorts", remedy="a sort is alone in its group", **where)
    if integer(sort, "dimension", -1) % rank != rank - 1:
        raise PassFailure("a sort along another dimension than the last", remedy="run sort-last-dimension first", **where)
    returned = ops_in(function.regions[0].blocks[0])[-1]
    if len(returned.operands) < len(sort.operands) + len(scratch_of(sort)):
        raise PassFailure("a sort without a second buffer for each operand", remedy="run sort-scratch first", **where)
    return sort


def _algorithm(comparator: Comparator, key: Key | None, s: Scalars, length: int, first: int, target: TargetView) -> RowSort:
    """The sort of rows of which so many elements are read."""
    if selects(length, first):
        sort = _in_place(comparator, key, s, first, target)
        return Selection(s, comparator, key, length, first, sort).emit
    if key is None or length >= LONG:
        return partial(merge_sort, comparator, length)
    if length > SHORT:
        return RadixSort(s, key, length).emit
    return RankSort(s, key, length, target.vector_bits).emit


def _in_place(comparator: Comparator, key: Key | None, s: Scalars, first: int, target: TargetView) -> Sort:
    """What emits the sort of what a selection keeps, of which the first elements are wanted."""
    most = capacity(first)
    if key is not None and most <= SHORT:
        ranks = RankSort(s, key, most, target.vector_bits)

        def by_ranks(row: Row, other: Row, count: ir.Value) -> None:
            ranks.emit(row, other, other, count)
            each_value(index_constant(0), arith.minsi(count, index_constant(first)), lambda i: row.store(other.load(i), i))

        return by_ranks
    if key is not None and (radix := RadixSort(s, key, most)).in_place:
        return lambda row, other, count: radix.emit(row, row, other, count)
    return lambda row, other, count: merge_sort(comparator, count, row, row, other)
