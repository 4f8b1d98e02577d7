"""sort-last-dimension: every sort is along the last dimension, where its rows lie in one piece.

Before:
    %0 = "stablehlo.sort"(%x) <{dimension = 0}> ({ comparator }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
After:
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %s = "stablehlo.sort"(%t) <{dimension = 1}> ({ comparator }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %0 = stablehlo.transpose %s, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>

What reads a part of a result reads it before the second transpose, so that `partial-sorts` sees how few elements are asked for (top_k). A
sort of rows of one element is its operands. Must hold: nothing. Declined: sorts along the last dimension already.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import i64_attr, integer, integers, producer
from ..registry import register_pass
from .support import build
from .support.driver import rewrite, with_region


@register_pass("sort-last-dimension", "makes every sort one along the last dimension", ops=("stablehlo.sort",))
def sort_last_dimension(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.sort": [_sort], "stablehlo.slice": [_slice]})


def _sort(op: ir.Operation) -> list[ir.Value] | None:
    rank = len(build.shape_of(op.operands[0]))
    dimension = integer(op, "dimension", -1) % max(rank, 1)
    if not rank or build.shape_of(op.operands[0])[dimension] <= 1:
        return list(op.operands)
    if dimension == rank - 1:
        return None
    swapped = list(range(rank))
    swapped[dimension], swapped[-1] = rank - 1, dimension
    operands = [build.transpose(value, swapped) for value in op.operands]
    new = with_region(op, operands, [value.type for value in operands], dimension=i64_attr(rank - 1))
    return [build.transpose(result, swapped) for result in new.results]


def _slice(op: ir.Operation) -> list[ir.Value] | None:
    turned = producer(op.operands[0], "stablehlo.transpose")
    if turned is None or producer(turned.operands[0], "stablehlo.sort") is None:
        return None
    permutation = integers(turned, "permutation")
    cut = [[part for _, part in sorted(zip(permutation, integers(op, name)))] for name in ("start_indices", "limit_indices", "strides")]
    return [build.transpose(build.slice_(turned.operands[0], *cut), permutation)]
