"""Reads of a reduction's result by the digits of one loop, as reads through the reshape that they come from.

Before:
    %r = generic (d0) ins(%c (d0 floordiv 10, d0 mod 10)) outs(tensor<160xf32>)
After:
    %v = tensor.collapse_shape %c [[0, 1]] : tensor<16x10xf32> into tensor<160xf32>
    %r = generic (d0) ins(%v (d0)) outs(tensor<160xf32>)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

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
    stop = len(results)
    while stop:
        start, whole = _run(results, shape, stop)
        groups.insert(0, list(range(start, stop)))
        wholes.insert(0, whole)
        stop = start
    return groups, wholes


def _run(results: list[ir.AffineExpr], shape: list[int], stop: int) -> tuple[int, ir.AffineExpr]:
    """Where the longest run of digits of one expression before `stop` begins, and that expression."""
    start = found = stop - 1
    digits = whole = results[start]
    while start and isinstance(digits, ir.AffineModExpr):
        inner, place = prod(shape[start:stop]), ir.AffineModExpr(digits)
        quotient = ir.AffineExpr.get_floor_div(place.lhs, inner)
        start -= 1
        if place.rhs != ir.AffineConstantExpr.get(inner):
            break
        if results[start] == quotient:
            found, whole = start, place.lhs
            break
        if results[start] != ir.AffineExpr.get_mod(quotient, shape[start]):
            break
        digits = ir.AffineExpr.get_mod(place.lhs, shape[start] * inner)
    return found, whole
