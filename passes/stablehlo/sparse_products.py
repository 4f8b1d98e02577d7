"""sparse-products: a product with a constant matrix of few numbers a column is a sum of the elements that these multiply.

Before, in a resize of an image by JAX, where %w is computed of indices alone and has two numbers other than 0 in each of its columns:
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x56x9x64xf32>, tensor<56x112xf32>) -> tensor<8x9x64x112xf32>
After, where %i and %j are the rows of these numbers and %a and %b the numbers, repeated along the other dimensions:
    %p = gather %x, %i along 1;  %q = gather %x, %j along 1
    %y = transpose (%p * %a + %q * %b) : (tensor<8x112x9x64xf32>) -> tensor<8x9x64x112xf32>

So are differences (`d @ u` of a matrix with three diagonals), permutations and interpolations. What is multiplied by 0 is not read: a NaN
or an infinity there stays out of the sum (docs/numerics.md).

Must hold: nothing. Declined: matrices that are not known here (arguments; more than `max-elements`); columns of more than `MOST_TERMS`
numbers, or of so many that the product is as fast (along the last dimension a vector reads its elements by shuffles); integers; batch
dimensions; several summed dimensions; dots that name their algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.rewriting import integers, producer, replace, walk
from ..registry import register_pass
from .support import build
from .support.dimensions import DotDims
from .support.evaluation import evaluated
from .support.weighted_places import Places, along_dimension

MOST_TERMS = 16
"""A sum of more is a loop; so it is a product."""
_LEAST_SHARE, _LEAST_SHARE_OF_COLUMNS = 4, 16
"""Of a column's elements one in so many counts, at most: where whole rows are read, and where single elements are. On CPUs as many times
more as they multiply the elements faster than f32; GPUs wait for memory."""


@register_pass("sparse-products", "sums the few elements that a constant matrix multiplies", ops=("stablehlo.dot_general",))
def sparse_products(module: ir.Operation, *, max_elements: int = 1 << 22) -> None:
    target = target_of(module)
    for dot in walk(module, "stablehlo.dot_general"):
        found = next((found for side in (1, 0) if (found := _sum(dot, side, max_elements, target)) is not None), None)
        if found is not None:
            with ir.InsertionPoint(dot), dot.location:
                replace(dot, [found.emit(dot)])


@dataclass(frozen=True)
class _Sum:
    """What a dot sums along the dimension `along` of `x`, and where the result has the dimensions of that."""

    x: ir.Value
    along: int
    places: Places
    order: Sequence[int]

    def emit(self, dot: ir.Operation) -> ir.Value:
        summed = along_dimension(self.x, self.along, self.places)
        return build.transpose(build.convert(summed, build.element_of(dot.results[0])), self.order)


def _sum(dot: ir.Operation, side: int, limit: int, target: TargetView) -> _Sum | None:
    """Where the matrix on a side is known and has few numbers a column."""
    dims, (kind, other) = DotDims.of(dot), (ir.RankedTensorType(dot.operands[s].type) for s in (side, 1 - side))
    floats = all(isinstance(each.element_type, ir.FloatType) and each.has_static_shape for each in (kind, other))
    if not floats or len(kind.shape) != 2 or len(dims.contracting[0]) != 1 or dims.batch[0] or "algorithm" in dot.attributes:
        return None
    matrix = evaluated(dot.operands[side], limit)
    if matrix is None:
        return None
    x, order = dot.operands[1 - side], list(range(len(other.shape)))
    if (transpose := producer(x, "stablehlo.transpose")) is not None:  # of the sum before, whose dimensions stay where they lie
        x, order = transpose.operands[0], integers(transpose, "permutation")
    along = dims.contracting[1 - side][0]
    is_wide = isinstance(other.element_type, ir.F64Type)
    matrix = np.moveaxis(matrix, dims.contracting[side][0], 0).astype(np.float64 if is_wide else np.float32)
    speed = max(target.peak_flops(str(other.element_type)) / target.f32_flops, 1) if target.kind == "cpu" else 1
    places = _few_places(matrix, round(speed * _share(build.shape_of(x), order[along])))
    rest = [order[d] for d in dims.free(1 - side)]
    return None if places is None else _Sum(x, order[along], places, [order[along], *rest] if side == 0 else [*rest, order[along]])


def _share(shape: Sequence[int], along: int) -> int:
    is_last = all(n == 1 for n in shape[along + 1 :]) and any(n != 1 for n in shape[:along])
    return _LEAST_SHARE_OF_COLUMNS if is_last else _LEAST_SHARE


def _few_places(matrix: np.ndarray, share: int) -> Places | None:
    extent, count = matrix.shape
    most = min(MOST_TERMS, extent // share)
    if not 0 < np.count_nonzero(matrix) <= most * count or not np.isfinite(matrix).all():
        return None
    read, sums = np.nonzero(matrix)
    if np.bincount(sums).max() > most:
        return None
    return Places.of(sums, read, matrix[read, sums], count, extent)
