"""Gathers whose windows begin at known places, evenly apart, as those of Tensor.unfold: what one reads is affine in its loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from .rewriting import defining_op, integers


@dataclass(frozen=True)
class EvenWindows:
    """Window n begins at `first + n * step` along `dimension` of the operand, and is moved by no bound."""

    dimension: int
    first: int
    step: int


def even_windows(gather: ir.Operation) -> EvenWindows | None:
    """How the windows lie if they do along one dimension, by one number of the indices, which are a constant of one dimension."""
    numbers = _stablehlo.GatherDimensionNumbers(gather.attributes["dimension_numbers"])
    source, indices = gather.operands
    moved = list(numbers.start_index_map)
    if len(moved) != 1 or list(numbers.operand_batching_dims):
        return None
    starts = _known(indices)
    if starts is None or not starts.size:
        return None
    room = source.type.shape[moved[0]] - integers(gather, "slice_sizes")[moved[0]]
    first, step = int(starts[0]), int(starts[1]) - int(starts[0]) if starts.size > 1 else 0
    last = first + step * (starts.size - 1)
    if min(first, last) < 0 or max(first, last) > room or (np.diff(starts) != step).any():
        return None
    return EvenWindows(moved[0], first, step)


def _known(indices: ir.Value) -> np.ndarray | None:
    """The elements of a constant of integers that has one dimension of more than one element."""
    op = defining_op(indices)
    if op is None or op.name != "stablehlo.constant":
        return None
    attribute, shape = op.attributes["value"], list(indices.type.shape)
    if not isinstance(attribute, ir.DenseIntElementsAttr) or not shape or max(shape) != np.prod(shape):
        return None
    return np.array(attribute).reshape(-1).astype(np.int64)
