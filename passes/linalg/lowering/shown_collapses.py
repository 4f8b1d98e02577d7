"""Reads of a reduction's result by the digits of one loop, as reads through the reshape that they come from.

Before:
    %r = generic (d0) ins(%c (d0 floordiv 10, d0 mod 10)) outs(tensor<160xf32>)
After:
    %v = tensor.collapse_shape %c [[0, 1]] : tensor<16x10xf32> into tensor<160xf32>
    %r = generic (d0) ins(%v (d0)) outs(tensor<160xf32>)
"""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from ...common.affine import maps_attr, read_maps
from ...common.rewriting import defining_op, shape_of
from .views import collapse


def show_collapses(reader: ir.Operation, wanted: Callable[[ir.Operation], bool] = lambda _: True) -> None:
    """A reduction's result that is read by `d floordiv c` and `d mod c` is read by `d` through a collapse. `wanted`: of which generics."""
    maps = read_maps(reader)
    for number, value in enumerate(list(reader.operands)[: len(reader.operands) - len(reader.results)]):
        producer = defining_op(value)
        if producer is None or producer.name != "linalg.generic" or "reduction" not in str(producer.attributes["iterator_types"]):
            continue
        if not wanted(producer):
            continue
        groups, results = _digits(list(maps[number].results), shape_of(value))
        if len(groups) == len(maps[number].results):
            continue
        with ir.InsertionPoint(reader), reader.location:
            reader.operands[number] = collapse(value, groups)
        maps[number] = ir.AffineMap.get(maps[number].n_dims, 0, results)
    reader.attributes["indexing_maps"] = maps_attr(maps)


def _digits(results: list[ir.AffineExpr], shape: list[int]) -> tuple[list[list[int]], list[ir.AffineExpr]]:
    """Adjacent results that are the digits of one loop, grouped, and what each group is the digits of."""
    groups: list[list[int]] = []
    wholes: list[ir.AffineExpr] = []
    for position, expr in enumerate(results):
        before = results[position - 1] if position and groups[-1] == [position - 1] else None
        if isinstance(expr, ir.AffineModExpr) and isinstance(before, ir.AffineFloorDivExpr):
            place, number = ir.AffineModExpr(expr), ir.AffineFloorDivExpr(before)
            if place.lhs == number.lhs and place.rhs == number.rhs == ir.AffineConstantExpr.get(shape[position]):
                groups[-1].append(position)
                wholes[-1] = place.lhs
                continue
        groups.append([position])
        wholes.append(expr)
    return groups, wholes
