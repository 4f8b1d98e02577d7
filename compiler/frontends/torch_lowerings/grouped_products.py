"""Products of rows with the matrix of their group, as mixtures of experts have them: the rows lie group by group.

The groups' sizes are data. Of few rows each takes its own matrix by number, or all are multiplied by all matrices, and each keeps its
own. Many rows are multiplied by blocks, in two loops: over the groups, and over the blocks of rows that a group has. A block that
reaches into the next group leaves the rows there alone. So n rows cost what n rows and half a block for each group cost.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.common.rewriting import element_of, producer, value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering
from .indexing import segments_of

_GATHERED = 1
"""Up to so many rows for each group, their matrices are gathered."""
_BLOCK = (32, 128)
"""The fewest and the most rows of a block."""
_COPIED = 32
"""Multiplying so many rows takes as long as a group's matrix, which its loop copies."""


def _few(rows: int, groups: int) -> bool:
    """Whether all rows times all matrices cost no more than blocks."""
    return rows * groups <= rows + groups * (_block(rows, groups) // 2 + _COPIED)


def _block(rows: int, groups: int, blocks: int = 4) -> int:
    """So many blocks for a group of the usual size."""
    least, most = _BLOCK
    return min(rows, max(least, min(most, rows // (blocks * groups) // 16 * 16)))


@torch_decomposition("transformers.grouped_mm_fallback", before_lowering=True)
def few_by_group(x: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    """`x`: rows x depth; `weights`: groups x depth x columns; `ends`: where each group of rows ends. Rows behind the last are zeros."""
    if not _few(len(x), len(weights)):
        return NotImplemented
    group, groups = segments_of(len(x), ends), len(weights)
    if len(x) <= _GATHERED * groups:
        own = torch.where(group < groups, group, 0)
        return torch.where(group[:, None] < groups, (x[:, None] @ weights[own])[:, 0], 0)
    result = torch.zeros(len(x), weights.shape[2], dtype=x.dtype)
    for number in range(groups):
        result = torch.where(group[:, None] == number, x @ weights[number], result)
    return result


@torch_decomposition("transformers.grouped_mm_fallback_backward", before_lowering=True)
def few_by_group_backward(x: Tensor, weights: Tensor, ends: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    if not _few(len(x), len(weights)):
        return NotImplemented
    return few_by_group(gradient, weights.transpose(1, 2), ends), _few_sums(x.t(), gradient, ends)


@torch_decomposition("aten._grouped_mm", before_lowering=True)
def few_by_group_of_torch(
    x: Tensor, weights: Tensor, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: torch.dtype | None = None
) -> Tensor:
    """Groups are rows of the one, columns of the other, or parts of the sums; without offsets they are matrices of both."""
    if offs is None:
        result = x @ weights
    elif not _few(_rows_in_groups(x.shape, weights.shape), len(offs)):
        return NotImplemented
    elif weights.dim() == 3:
        result = few_by_group(x, weights, offs)
    elif x.dim() == 3:
        result = few_by_group(weights.t(), x.transpose(1, 2), offs).t()
    else:
        result = _few_sums(x, weights, offs)
    return (result if bias is None else result + bias).to(out_dtype or x.dtype)


def _rows_in_groups(x: torch.Size, weights: torch.Size) -> int:
    return weights[-1] if len(x) == 3 else x[0] if len(weights) == 3 else weights[0]


def _few_sums(x: Tensor, y: Tensor, ends: Tensor) -> Tensor:
    group = segments_of(len(y), ends)
    return torch.stack([x @ torch.where(group[:, None] == number, y, 0) for number in range(len(ends))])


@torch_lowering("transformers.grouped_mm_fallback")
def by_group(op: TorchOp, x: ir.Value, weights: ir.Value, ends: ir.Value) -> ir.Value:
    return _products(x, weights, ends)


@torch_lowering("transformers.grouped_mm_fallback_backward")
def by_group_backward(op: TorchOp, x: ir.Value, weights: ir.Value, ends: ir.Value, gradient: ir.Value) -> list[ir.Value]:
    if _is_permuted(weights):  # their gradient will be, too
        sums = build.transpose(_sums(gradient, x, ends), [0, 2, 1])
    else:
        sums = _sums(x, gradient, ends)
    return [_products(gradient, build.transpose(weights, [0, 2, 1]), ends), build.convert(sums, op.results[1].element_type)]


@torch_lowering("aten._grouped_mm")
def by_group_of_torch(
    op: TorchOp,
    x: ir.Value,
    weights: ir.Value,
    offs: ir.Value,
    bias: ir.Value | None = None,
    out_dtype: torch.dtype | None = None,
) -> ir.Value:
    if len(build.shape_of(weights)) == 3:
        result = _products(x, weights, offs)
    elif len(build.shape_of(x)) == 3:
        result = build.transpose(_products(build.transpose(weights, [1, 0]), build.transpose(x, [0, 2, 1]), offs), [1, 0])
    else:
        result = _sums(build.transpose(x, [1, 0]), weights, offs)
    result = build.convert(result, op.element)
    return result if bias is None else build.add(result, op.operand(bias))


def _products(x: ir.Value, weights: ir.Value, ends: ir.Value) -> ir.Value:
    """`x`: rows x depth; `weights`: groups x depth x columns."""
    (rows, depth), (groups, _, columns) = build.shape_of(x), build.shape_of(weights)
    size = _block(rows, groups)

    def of_group(number: ir.Value, result: ir.Value) -> list[ir.Value]:
        none = build.full_like(number, 0)
        own = build.reshape(build.dynamic_slice(weights, [number, none, none], [1, depth, columns]), [depth, columns])

        def of_block(at: ir.Value, mine: ir.Value, result: ir.Value) -> ir.Value:
            found = _dot(build.dynamic_slice(x, [at, none], [size, depth]), own, 1, element_of(x))
            before = build.dynamic_slice(result, [at, none], [size, columns])
            chosen = build.select(build.broadcast(mine, [size, columns], [0]), found, before)
            return build.dynamic_update_slice(result, chosen, [at, none])

        return [_over_blocks(number, ends, rows, size, result, of_block)]

    return build.count_loop(groups, [build.zero([rows, columns], element_of(x))], of_group, ir.IntegerType.get_signless(32))[0]


def _sums(x: ir.Value, y: ir.Value, ends: ir.Value) -> ir.Value:
    """Of each group's rows: the transpose of those of `x` times those of `y`, summed in f32 at least."""
    (rows, height), (_, width), (groups,) = build.shape_of(x), build.shape_of(y), build.shape_of(ends)
    size, kind = _block(rows, groups, 2), element_of(x)  # each block adds to the whole sum
    wide = kind if ir.FloatType(kind).width >= 32 else ir.F32Type.get()

    def of_group(number: ir.Value, result: ir.Value) -> list[ir.Value]:
        none = build.full_like(number, 0)

        def of_block(at: ir.Value, mine: ir.Value, total: ir.Value) -> ir.Value:
            def part(value: ir.Value, length: int) -> ir.Value:
                found = build.dynamic_slice(value, [at, none], [size, length])
                return build.select(build.broadcast(mine, [size, length], [0]), found, build.full_like(found, 0))

            return build.add(total, _dot(part(x, height), part(y, width), 0, wide))

        total = _over_blocks(number, ends, rows, size, build.zero([height, width], wide), of_block)
        return [build.dynamic_update_slice(result, build.reshape(total, [1, height, width]), [number, none, none])]

    return build.count_loop(groups, [build.zero([groups, height, width], wide)], of_group, ir.IntegerType.get_signless(32))[0]


def _is_permuted(value: ir.Value) -> bool:
    """Whether the program transposed it."""
    made = producer(value, "torch_c.to_builtin_tensor")
    return made is not None and producer(made.operands[0], "torch.aten.permute") is not None


def _over_blocks(
    number: ir.Value, ends: ir.Value, rows: int, size: int, value: ir.Value, step: Callable[[ir.Value, ir.Value, ir.Value], ir.Value]
) -> ir.Value:
    """The value after a step for each block of the group. A step gets the block's first row and which of its rows are the group's."""
    index = element_of(number)
    ends = build.convert(ends, index)
    begins = build.pad(build.slice_dim(ends, 0, 0, build.shape_of(ends)[0] - 1), build.zero([], index), [1], [0])
    begin, end = (build.reshape(build.dynamic_slice(each, [number], [1]), []) for each in (begins, ends))
    block = build.full_like(number, size)
    more = build.add(build.subtract(end, begin), build.full_like(number, size - 1))

    def of_block(count: ir.Value, value: ir.Value) -> list[ir.Value]:
        first = build.add(begin, build.multiply(count, block))
        at = build.elementwise("minimum", first, build.full_like(first, rows - size))
        row = build.add(build.iota([size], index, 0), build.broadcast(at, [size], []))
        low = build.compare("GE", row, build.broadcast(first, [size], []))
        mine = build.elementwise("and", low, build.compare("LT", row, build.broadcast(end, [size], [])))
        return [step(at, mine, value)]

    return build.count_loop(build.divide(more, block), [value], of_block, index)[0]


def _dot(x: ir.Value, y: ir.Value, summed: int, element: ir.Type) -> ir.Value:
    """The sum of products along a dimension of `x` and the first one of `y`."""
    kind = build.tensor([build.shape_of(x)[1 - summed], build.shape_of(y)[1]], element)
    return value_of("stablehlo.dot_general", kind, [x, y], dot_dimension_numbers=build.dot_dimensions([], [], [summed], [0]))
