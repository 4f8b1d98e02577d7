"""A row of several arrays that are sorted together, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from ..rewriting import defining_op, element_of, ops_in
from ..storage import loaded, stored

Elements = Sequence[ir.Value]
"""One element of each array."""


@dataclass(frozen=True)
class Array:
    """Elements of type `element` in a memref of one dimension; or the same `scalar` everywhere."""

    base: ir.Value
    element: ir.Type
    constant: bool = False


@dataclass(frozen=True)
class Row:
    """What lies in the arrays from `start` on."""

    arrays: Sequence[Array]
    start: ir.Value

    def load(self, index: ir.Value) -> list[ir.Value]:
        place = arith.addi(self.start, index)
        return [a.base if a.constant else loaded(memref.load(a.base, [place]), a.element) for a in self.arrays]

    def store(self, values: Elements, index: ir.Value) -> None:
        place = arith.addi(self.start, index)
        for array, value in zip(self.arrays, values):
            memref.store(stored(value, array.element), array.base, [place])


def arrays_of(
    function: ir.Operation, sort: ir.Operation, buffers: Sequence[ir.Value], known: dict[ir.Value, ir.Value]
) -> tuple[list[Array], list[Array]]:
    """The operands and the results of a group's sort. `buffers` are those of the group's arguments and results, `known` its constants."""
    block = function.regions[0].blocks[0]
    returned = list(ops_in(block)[-1].operands)
    elements = [element_of(value) for value in sort.operands]
    inputs = []
    for value, element in zip(sort.operands, elements):
        if defining_op(value) is not None:
            inputs.append(Array(known[value], element, constant=True))
        else:
            inputs.append(Array(buffers[ir.BlockArgument(value).arg_number], element))
    results = [Array(buffers[len(block.arguments) + returned.index(result)], element) for result, element in zip(sort.results, elements)]
    return inputs, results
