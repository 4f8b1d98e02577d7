"""Padding that is nowhere in memory, for kernels that read elements at computed indices: a tensor.pad becomes a generic.

Before:
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] { zero } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
    %v = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<1x10x10x4xf32> into tensor<10x10x4xf32>
After:
    %v = generic (h, w, c) outs(tensor<10x10x4xf32>) { index, clamp, extract %x[0, …], select }
"""

from __future__ import annotations

from collections.abc import Iterator

from torch_mlir import ir

from ...common.edge import RESHAPES, reassociation
from ...common.rewriting import erase_unused, integers, linalg_index, walk
from ...common.scalars import Scalars
from ...common.storage import row_major
from ...linalg.lowering import generic


def spell_out_padding(function: ir.Operation) -> None:
    """What reads a tensor.pad of the function, or a reshaped one, reads a generic instead, which takes its source where it has one."""
    pads = walk(function, "tensor.pad")
    for op in pads:
        scalars = Scalars(function.operation)
        for value, views in list(_shown(op.results[0], [])):
            readers = [use for use in value.uses if use.owner.operation.name not in RESHAPES]
            if not readers:
                continue
            with op.location, ir.InsertionPoint(value.owner.operation):
                new = _padded(scalars, op, value, views)
            for use in readers:
                use.owner.operation.operands[use.operand_number] = new
    erase_unused(walk(function, lambda each: each.name in ("tensor.pad", *RESHAPES)))


def _shown(value: ir.Value, views: list[ir.Operation]) -> Iterator[tuple[ir.Value, list[ir.Operation]]]:
    """`value` and all reshapes of it, each with the views that lead to it."""
    yield value, views
    for use in value.uses:
        view = use.owner.operation
        if view.name in RESHAPES:
            yield from _shown(view.results[0], [*views, view])


def _padded(scalars: Scalars, op: ir.Operation, value: ir.Value, views: list[ir.Operation]) -> ir.Value:
    source, padded = op.operands[0], generic.shape_of(op.results[0])
    outside = list(op.regions[0].blocks[0].operations)[-1].operation.operands[0]
    shape, low = generic.shape_of(value), integers(op, "static_low")

    def body(_: ir.Value) -> list[ir.Value]:
        at = [linalg_index(dim) for dim in range(len(shape))]
        for view in reversed(views):
            at = _before(scalars, view, at)
        inside, point = None, []
        for index, extent, before, whole in zip(at, generic.shape_of(source), low, padded):
            if extent < whole:
                shifted = scalars.op("arith.subi", index, scalars.index(before))
                index = scalars.clamp_index(shifted, 0, extent - 1)
                hit = scalars.cmpi("eq", shifted, index)
                inside = hit if inside is None else scalars.op("arith.andi", inside, hit)
            point.append(index)
        element = scalars.extract(source, point)
        return [element if inside is None else scalars.select(inside, element, outside)]

    out = generic.empty(shape, generic.element_of(value))
    return generic.build_generic([], [out], [generic.identity(len(shape))], [generic.PARALLEL] * len(shape), body).results[0]


def _before(scalars: Scalars, view: ir.Operation, point: list[ir.Value]) -> list[ir.Value]:
    """Where the element of the view at `point` lies in what it reshapes."""
    fine = generic.shape_of(view.operands[0] if view.name == "tensor.collapse_shape" else view.results[0])
    found = []
    for number, dims in enumerate(reassociation(view)):
        strides = row_major(tuple(fine[d] for d in dims))
        if view.name == "tensor.expand_shape":
            terms = [scalars.op("arith.muli", point[d], scalars.index(stride)) for d, stride in zip(dims, strides)]
            total = terms[0]
            for term in terms[1:]:
                total = scalars.op("arith.addi", total, term)
            found.append(total)
            continue
        for dim, stride in zip(dims, strides):
            digit = scalars.op("arith.divui", point[number], scalars.index(stride))
            found.append(scalars.op("arith.remui", digit, scalars.index(fine[dim])))
    return found
