"""split-contractions: a contraction of long sums and too few results to fill a GPU becomes a batch of parts, and the sum of them.

Before:
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x65536xf16>, tensor<32x65536xf16>) -> tensor<16x32xf16>
After:
    %p = stablehlo.reshape %x : tensor<16x128x512xf16>
    %q = stablehlo.reshape %w : tensor<32x128x512xf16>
    %1 = stablehlo.dot_general %p, %q, batching_dims = [1] x [1], contracting_dims = [2] x [2] : … -> tensor<128x16x32xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : … -> tensor<16x32xf32>
    %0 = stablehlo.convert %2 : tensor<16x32xf16>

The longest contracting dimension is split, into a divisor of its extent. Parts are kept in the type in which they are summed: f32 for half
floats. What follows the contraction goes with the sum.

Must hold: canonical StableHLO; the reshapes are views. Declined: targets that are no GPUs, contractions that have blocks enough or sums too
short to pay for a second kernel, integers, and products that name an algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.target import TargetView, target_of

from ..common.rewriting import attributes_of, value_of
from ..registry import register_pass
from ..stablehlo.support import build
from ..stablehlo.support.driver import rewrite
from .schedules.gpu_contraction import SKINNY

Values = list[ir.Value] | None

LEAST_SUM = 4096
"""Elements a sum must have to be worth a second kernel."""
LEAST_PART = 512
"""Elements that a part of it must have."""
TILE = 64
"""Rows and columns of a block's tile, about."""
SKINNY_LINES = 32
"""Lines of the large operand that a block of a skinny contraction computes, where they lie side by side."""


@register_pass("split-contractions", "splits contractions with too few results to fill a GPU")
def split_contractions(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind == "cuda":
        rewrite(module, {"stablehlo.dot_general": [lambda op: _split(op, target)]})


@dataclass(frozen=True)
class _Side:
    """One operand: its value and its batching and contracting dimensions, paired in order with the other operand's."""

    value: ir.Value
    batching: list[int]
    contracting: list[int]

    @property
    def free(self) -> int:
        """The product of the other dimensions' extents."""
        bound = {*self.batching, *self.contracting}
        return prod(n for d, n in enumerate(build.shape_of(self.value)) if d not in bound)

    @property
    def runs_along_sum(self) -> bool:
        return len(build.shape_of(self.value)) - 1 in self.contracting

    def split(self, number: int, parts: int) -> _Side:
        """This operand with its contracting dimension `number` split into `parts`, which are a batching dimension."""
        at, shape = self.contracting[number], build.shape_of(self.value)
        value = build.reshape(self.value, [*shape[:at], parts, shape[at] // parts, *shape[at + 1 :]])

        def moved(dims: list[int]) -> list[int]:
            return [d + 1 if d >= at else d for d in dims]

        return _Side(value, [*moved(self.batching), at], moved(self.contracting))


def _split(op: ir.Operation, target: TargetView) -> Values:
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    left = _Side(op.operands[0], list(numbers.lhs_batching_dimensions), list(numbers.lhs_contracting_dimensions))
    right = _Side(op.operands[1], list(numbers.rhs_batching_dimensions), list(numbers.rhs_contracting_dimensions))
    result, shape = build.element_of(op.results[0]), build.shape_of(left.value)
    if not left.contracting or not isinstance(result, ir.FloatType) or "algorithm" in op.attributes:
        return None
    number = max(range(len(left.contracting)), key=lambda i: shape[left.contracting[i]])
    parts = _parts(left, right, shape[left.contracting[number]], target)
    if parts == 1:
        return None
    halves = left.split(number, parts), right.split(number, parts)
    element = ir.F32Type.get() if result.width < 32 else result
    batch = len(left.batching)
    kept = build.shape_of(op.results[0])
    attributes = attributes_of(op)
    attributes["dot_dimension_numbers"] = build.dot_dimensions(
        halves[0].batching, halves[1].batching, halves[0].contracting, halves[1].contracting
    )
    kind = build.tensor([*kept[:batch], parts, *kept[batch:]], element)
    partial = value_of("stablehlo.dot_general", kind, [side.value for side in halves], **attributes)
    return [build.convert(build.sum_along(partial, [batch]), result)]


def _parts(left: _Side, right: _Side, extent: int, target: TargetView) -> int:
    """The largest divisor of the dimension's extent that gives no more blocks than run at once; 1 leaves it whole."""
    shape = build.shape_of(left.value)
    summed = prod(shape[d] for d in left.contracting)
    blocks = prod(shape[d] for d in left.batching) * _blocks(left, right)
    if summed < LEAST_SUM or not blocks or 4 * blocks > target.multiprocessors:
        return 1
    most = min(2 * target.multiprocessors // blocks, summed // LEAST_PART, extent)
    return next((n for n in range(most, 1, -1) if extent % n == 0), 1)


def _blocks(left: _Side, right: _Side) -> int:
    """About how many blocks one matrix of the batch keeps busy."""
    small, large = sorted((left, right), key=lambda side: side.free)
    if small.free > SKINNY:
        return -(-left.free // TILE) * -(-right.free // TILE)
    return large.free if large.runs_along_sum else -(-large.free // SKINNY_LINES)
