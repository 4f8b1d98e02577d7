"""A group that is a sort, or a step of one: its rows, and in its kernel the arrays and the order of two elements."""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from ...common.rewriting import element_of, i64_array, integer
from ...common.scalar_region import constants_outside
from ...common.scalars import Scalars
from ...common.sorting.comparator import Comparator, key_of
from ...common.sorting.rows import Elements, arrays_of
from ...common.sorting.runs import FIRST, RUNS, run_length
from ...errors import PassFailure
from ..support.launch import UPDATED, OpenKernel, open_kernel


class SortGroup:
    """`rows` rows of `length` elements, of which the `first` are read. Raises PassFailure where the sort is along another dimension than
    the last, or where a block is to sort more than it has room for."""

    def __init__(self, function: ir.Operation, sort: ir.Operation):
        self.function, self.sort = function, sort
        *outer, self.length = ir.RankedTensorType(sort.operands[0].type).shape
        self.rows, self.first = prod(outer), integer(sort, FIRST, self.length)
        self.elements = [element_of(value) for value in sort.operands]
        where = {"op": sort.name, "loc": str(sort.location), "stage": "gpu"}
        if integer(sort, "dimension", -1) % (len(outer) + 1) != len(outer):
            raise PassFailure("a sort along another dimension than the last", remedy="run sort-last-dimension first", **where)

    @property
    def run(self) -> int:
        """The elements that a block sorts. Raises PassFailure where it has no room for them."""
        run = integer(self.sort, RUNS, self.length)
        if run > run_length(self.sort):
            where = {"op": self.sort.name, "loc": str(self.sort.location), "stage": "gpu"}
            raise PassFailure(f"a sort of {run} elements, for which a block has no room", remedy="run split-sorts first", **where)
        return run

    def open(self, blocks: int, threads: int, **layout: str | int) -> SortKernel:
        """Its kernel, empty."""
        kernel = open_kernel(self.function, blocks, threads, layout)
        if self.first < self.length:
            results = len(kernel.buffers) - len(self.sort.results)
            kernel.op.attributes[UPDATED] = i64_array(range(results, len(kernel.buffers)))
        return SortKernel(self, kernel)


class SortKernel:
    """The arrays of a sort in its kernel, and which of two elements comes first."""

    def __init__(self, group: SortGroup, kernel: OpenKernel):
        self.kernel = kernel
        with kernel.body:
            self.scalars, known = Scalars(kernel.op), constants_outside(group.function)
        self.inputs, self.results = arrays_of(group.function, group.sort, kernel.buffers, known)
        self.comparator = Comparator(group.sort.regions[0].blocks[0], known)
        self.key = key_of(self.comparator)

    def less(self, left: Elements, right: Elements) -> ir.Value:
        """Whether one element comes before another: by the key that the comparator compares, if it does no more."""
        if self.key is None:
            return self.comparator.less(left, right)
        return self.scalars.cmpi("ult", self.key.of(self.scalars, left), self.key.of(self.scalars, right))
