"""split-phases: a convolution of an input with zeros between its elements is one convolution for each phase, none of which sees a zero.

Before (transposed, of stride 2; taps 4):
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[2, 2]], lhs_dilate = [2]} … -> 1x16x8
After:                                                          // %x : 1x8x4: result 2 j + a reads input j + t - 1 + a by the tap 2 t + a
    %p = stablehlo.slice %w [0:4:2, …]
    %q = stablehlo.slice %w [1:4:2, …]
    %a = stablehlo.convolution(%x, %p) …, window = {pad = [[1, 0]]} … -> 1x8x8
    %b = stablehlo.convolution(%x, %q) …, window = {pad = [[0, 1]]} … -> 1x8x8
    %0 = %a and %b in turn                                      // a reshape of their concatenation along a new dimension

Of d dimensions dilated by s there are s^d phases. Phases that have no tap are zeros. Of windows that are dilated by r, a phase has every
(s / gcd(r, s))th tap, r / gcd(r, s) elements apart: where s and r are 2 the even results have all taps and the odd ones none. Reversed
dimensions reverse the weights first. Where all phases read the same elements, as where windows lie side by side, a GPU has one convolution
to the features of all, and a transpose.

Must hold: transposes are folded into dimension numbers. Declined: convolutions with batch groups, with strides in a dimension that is
dilated; more than `most` phases; on GPUs those whose zeros take less time than the launches, and gradients by the input
that a library takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from math import ceil, gcd, prod

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.rewriting import i64_array, integer, integers, padding_pairs
from ..library_calls.contraction import gradient_epilogue
from ..library_calls.conv import gradient_of
from ..registry import register_pass
from .support import build
from .support.dimensions import ConvDims
from .support.driver import rewrite

Values = list[ir.Value] | None
Chosen = Sequence[tuple["_Phases", int]]
"""Of each dilated dimension a phase."""

_SECOND = 10**12
"""In picoseconds."""


@register_pass("split-phases", "splits convolutions of dilated inputs into phases", ops=("stablehlo.convolution",))
def split_phases(module: ir.Operation, *, most: int = 64) -> bool:
    return rewrite(module, {"stablehlo.convolution": [partial(_convolution, most, target_of(module))]})


def _convolution(most: int, target: TargetView, op: ir.Operation) -> Values:
    dims = ConvDims.of(op)
    rank = len(dims.spatial[0])
    ones = [1] * rank
    steps, strides, dilations = (integers(op, name, ones) for name in ("lhs_dilation", "window_strides", "rhs_dilation"))
    plain = all(step == 1 or stride == 1 for step, stride in zip(steps, strides))
    if not 1 < prod(steps) <= most or not plain or integer(op, "batch_group_count") != 1 or not build.count_of(op.results[0]):
        return None
    phases = sorted((_Phases(op, dims, d, steps[d], dilations[d]) for d in range(rank) if steps[d] > 1), key=lambda phase: phase.place)
    joined = target.kind == "cuda" and integer(op, "feature_group_count") == 1 and all(phase.reads_alike for phase in phases)
    kernels = 2 if joined else 2 * prod(steps)
    if target.kind == "cuda" and (_library_takes(op) or not _pays(op, dims, prod(steps), kernels, target)):
        return None
    weights = dims.unreversed(op)
    chosen = [list(zip(phases, which)) for which in product(*(range(p.step) for p in phases))]
    shape = build.shape_of(op.results[0])
    for phase in phases:
        shape[phase.place] = phase.count
    if joined:
        in_turn = _joined(op, dims, weights, chosen, shape)
    else:
        values = [_phase(op, dims, weights, each) or build.zero(shape, build.element_of(op.results[0])) for each in chosen]
        for phase in reversed(phases):  # the last one varies fastest, and moves no place before its own
            values = [_side_by_side(values[n : n + phase.step], phase.place) for n in range(0, len(values), phase.step)]
        in_turn = values[0]
    taken = {phase.place: phase.step for phase in phases}
    turned = build.reshape(in_turn, [extent * taken.get(place, 1) for place, extent in enumerate(shape)])
    return [build.slice_(turned, [0] * (rank + 2), build.shape_of(op.results[0]))]


def _library_takes(op: ir.Operation) -> bool:
    """Whether a library takes the gradient by the input, and writes it in a type that it has."""
    found = gradient_of(op)
    return found is not None and gradient_epilogue(op, found, lambda _: True, lambda _: True) is not None


def _pays(op: ir.Operation, dims: ConvDims, phases: int, kernels: int, target: TargetView) -> bool:
    """Whether the products with zeros take longer than `kernels` (for each convolution its padding and itself) and the results' turns."""
    result, weights = build.shape_of(op.results[0]), build.shape_of(op.operands[1])
    size = prod(result)
    products = size * prod(weights) // weights[dims.second[1]]
    saved = 2 * products * (phases - 1) // phases * _SECOND // target.peak_flops(str(build.element_of(op.operands[0])))
    moved = 2 * size * element_bytes(build.element_of(op.results[0]))
    return saved > kernels * target.launch_ps + moved * _SECOND // target.dram_bytes_per_second


class _Phases:
    """Of one dilated dimension: result `step * j + a` is the sum over t of input `j + apart * t + start` and weight `first + turn * t`."""

    def __init__(self, op: ir.Operation, dims: ConvDims, dimension: int, step: int, dilation: int):
        inside, tap, self.place = (dims.spatial[side][dimension] for side in range(3))
        self.inside, self.tap, self.step, self.dimension = inside, tap, step, dimension
        self.dilation, self.turn, self.apart = dilation, step // gcd(step, dilation), dilation // gcd(step, dilation)
        self.extent, self.taps = build.shape_of(op.operands[0])[inside], build.shape_of(op.operands[1])[tap]
        self.low = padding_pairs(op, len(dims.spatial[0]))[dimension][0]
        self.count = ceil(build.shape_of(op.results[0])[self.place] / step)

    @property
    def reads_alike(self) -> bool:
        """Whether all phases have as many taps as each other, and read the same elements."""
        return self.dilation == 1 and self.taps % self.step == 0 and len({self.padding(phase) for phase in range(self.step)}) == 1

    def first(self, phase: int) -> int:
        """The first tap of the phase; behind the last one where it has none."""
        return next((tap for tap in range(self.turn) if (self.low - phase - tap * self.dilation) % self.step == 0), self.taps)

    def padding(self, phase: int) -> tuple[int, int]:
        """Elements before and after the input that the phase reads; less than 0 where it leaves some of the input out."""
        first = self.first(phase)
        start, taps = (phase + first * self.dilation - self.low) // self.step, len(range(first, self.taps, self.turn))
        return -start, self.count + (taps - 1) * self.apart + start - self.extent


def _phase(op: ir.Operation, dims: ConvDims, weights: ir.Value, phases: Chosen) -> ir.Value | None:
    """The results of one phase of each dimension; None where it has no tap."""
    for phase, which in phases:
        low, high = phase.padding(which)
        if phase.first(which) >= phase.taps or max(0, -low) >= phase.extent - max(0, -high):
            return None
    return _convolved(op, dims, _taps(weights, phases), phases)


def _taps(weights: ir.Value, phases: Chosen) -> ir.Value:
    """The weights of one phase of each dimension."""
    first, strides = [0] * len(build.shape_of(weights)), [1] * len(build.shape_of(weights))
    for phase, which in phases:
        first[phase.tap], strides[phase.tap] = phase.first(which), phase.turn
    return build.slice_(weights, first, build.shape_of(weights), strides)


def _convolved(op: ir.Operation, dims: ConvDims, weights: ir.Value, phases: Chosen) -> ir.Value:
    """The convolution of what the phases read by `weights`, which may have more features than those of `op`."""
    x, rank = op.operands[0], len(dims.spatial[0])
    pairs, shape = padding_pairs(op, rank), build.shape_of(op.results[0])
    dilations = integers(op, "rhs_dilation", [1] * rank)
    starts, limits = [0] * (rank + 2), build.shape_of(x)
    for phase, which in phases:
        low, high = phase.padding(which)
        starts[phase.inside], limits[phase.inside] = max(0, -low), phase.extent - max(0, -high)
        pairs[phase.dimension] = (max(0, low), max(0, high))
        dilations[phase.dimension], shape[phase.place] = phase.apart, phase.count
    shape[dims.second[2]] = build.shape_of(weights)[dims.second[1]]
    changed = {
        "lhs_dilation": i64_array([1] * rank),
        "rhs_dilation": i64_array(dilations),
        "window_reversal": ir.DenseBoolArrayAttr.get([False] * rank),
        "padding": ir.DenseElementsAttr.get(np.array(pairs, np.int64)),
    }
    kind = build.tensor(shape, build.element_of(op.results[0]))
    return dims.emit(op, build.slice_(x, starts, limits), weights, kind, **changed)


def _joined(op: ir.Operation, dims: ConvDims, weights: ir.Value, chosen: Sequence[Chosen], shape: Sequence[int]) -> ir.Value:
    """The results of all phases by one convolution, each phase's dimension behind that of its place."""
    features, phases = dims.second[2], [phase for phase, _ in chosen[0]]
    every = build.concatenate([_taps(weights, each) for each in chosen], dims.second[1])
    apart = [*shape[:features], *(phase.step for phase in phases), *shape[features:]]
    values = build.reshape(_convolved(op, dims, every, chosen[0]), apart)
    numbers = {phase.place: features + n for n, phase in enumerate(phases)}
    behind = [[d + len(phases) * (d >= features), *([numbers[d]] if d in numbers else [])] for d in range(len(shape))]
    return build.transpose(values, [number for pair in behind for number in pair])


def _side_by_side(values: Sequence[ir.Value], dimension: int) -> ir.Value:
    """The values side by side along a new dimension behind that one: with it they lie in turn."""
    shape = build.shape_of(values[0])
    apart = [build.reshape(value, [*shape[: dimension + 1], 1, *shape[dimension + 1 :]]) for value in values]
    return build.concatenate(apart, dimension + 1)
