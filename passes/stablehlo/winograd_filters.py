"""winograd-filters: (d ×) 3 × 3 convolutions of stride 1 by Winograd's algorithm; bound weights are transformed once.

Before:
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] … : (…, tensor<3x3x64x64xf32>) -> …
After:                                                                  // %w: made of bound arguments and constants; block = 32
    %t = G %w Gᵀ …                                                      // in f64, then f32, in blocks of output channels
    %b = stablehlo.optimization_barrier %t : tensor<2x6x6x64x32xf32>
    %f = stablehlo.custom_call @hloom.winograd_filter(%b) : … -> tensor<3x3x64x64xf32>
    %0 = stablehlo.convolution(%x, %f) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] …

The call says that the kernel has the transform alone (passes/common/winograd.py); nothing computes the filter. split-init moves what stands
before the barrier into @init. Blocks are as wide as the kernel's row of accumulators, at most 32. Of a window of three dimensions the last
two are transformed, and the taps of the first lie among the channels: [blocks, m + 2, m + 2, depth × channels, block]. Groups are
convolutions of their own, each of whole blocks, which are half as wide where that leaves fewer lanes idle; the call then shows them:

    %t : tensor<8x1x6x6x16x16xf32>                                      // 8 groups of 16 channels and features
    %c = stablehlo.custom_call @hloom.winograd_filter(%t) : … -> tensor<3x3x16x8x16xf32>
    %f = stablehlo.reshape %c : … -> tensor<3x3x16x128xf32>

A tile of 4 × 4
outputs costs 36 products instead of 144, one of 2 × 2 outputs 16 instead of 36. Where taps are d apart, a tile is one of lines and pixels
in steps of d. Tiles are 4 × 4 from `tiles` such tiles in the batch on, unless their weights, which are four times as large, take longer to
read than their products save: from the last cache, or from memory where it does not hold the filters of all convolutions. Weights that
are given at each call are transformed at each call, without the barrier, where the products saved are priced higher than the transform's
bytes. In a step of training, where a gradient by weights reads the convolution's input too, or the input is returned for one, tiles are of
2 × 2: their error is no more than a direct sum's, that of the others half as much again, through all layers and back.

Where neither the weights nor the transformed inputs fit L2, several convolutions and their sum stand in place of the one above, each of so
many channels that their inputs do, and reads its weights once.

Halves are transformed in f32. Must hold: channels-last has run; bound arguments carry `hloom.bound`. Declined: targets other than CPUs;
other windows, strides, dilations along the depth; other elements; fewer than 8 channels or 16 features of a group; where the products saved
are priced lower than the transforms of inputs and results (few channels or features), tiles that are not whole (taps far apart), the larger
weights (bf16 that the target multiplies in pairs, of many channels) and, of weights of each call, their transform; lines whose transform no
tile can hold; a precision_config that asks for HIGHEST; a policy that asks for `direct`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, prod

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import byte_size, element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.contraction import block_columns
from ..common.init_function import entry, known_values
from ..common.rewriting import clone_with, holder, replace, value_of, walk
from ..common.winograd import TAPS, TARGET, filter_matrix, room_beside, tiles_along, tiles_together
from ..fused.planner.kernels import CHOSEN
from ..fused.planner.policy import DIRECT, policy_of
from ..library_calls.conv import Conv
from ..registry import register_pass
from .support import build
from .support.build import element_of
from .support.dimensions import ConvDims
from .support.direct_convolution import (
    WINOGRAD_BLOCK,
    direct_convolution,
    images_summed_dims,
    is_channels_last,
    suits_winograd,
    taps_inside,
    winograd_block,
    winograd_share,
    winograd_tiles,
)

_LEAST_TILES = 4
_FLOAT, _DOUBLE = 4, 8
_WAITS = 2
"""Times as long as Winograd's products a direct sum waits for weights: its panels have all taps, too much to be asked for ahead."""
_LEAST_PART, _LINE = 64, 16
"""Channels of a part of a convolution, at least, and what they are a multiple of."""
_MOVES = ("stablehlo.transpose", "stablehlo.reshape")


@register_pass(
    "winograd-filters", "gives 3x3 convolutions Winograd's algorithm, and transforms their weights for it", ops=("stablehlo.convolution",)
)
def winograd_filters(module: ir.Operation, *, block: int = WINOGRAD_BLOCK, tiles: int = 16) -> None:
    main, target = entry(module, "main"), target_of(module)
    if main is None or target.kind != "cpu":
        return
    known = known_values(main)
    bandwidth = _bandwidth(known.intersection(op.operands[1] for op in walk(main, "stablehlo.convolution")), target)
    policy = policy_of(module)
    panel = min(block, block_columns(target, ir.F32Type.get(module.context)))
    transformed: dict[tuple[ir.Value, int, int], ir.Value] = {}
    for whole in list(walk(main, "stablehlo.convolution")):
        conv, weights = direct_convolution(whole, target), whole.operands[1]
        if conv is None or not is_channels_last(ConvDims.of(whole)) or not suits_winograd(whole, conv):
            continue
        once = weights in known
        wide = winograd_block(conv, panel)
        price = _Price(whole, conv.of_one_group, conv.groups, wide, once, bandwidth)
        least = {2: _LEAST_TILES} if not once and _is_for_gradients(whole.operands[0]) else {4: tiles, 2: _LEAST_TILES}
        fitting = [m for m in least if winograd_tiles(conv, m) >= least[m] and price.scratch_bytes(m, block) <= target.tile_bytes]
        outputs = min(fitting, key=price.transformed, default=0)
        if not outputs or price.transformed(outputs) >= price.direct() or policy.kernel_for(whole).use == DIRECT:
            continue
        for op in _in_parts(whole, price.channels(outputs)):
            weights = op.operands[1]
            if (weights, outputs, conv.groups) not in transformed:
                with op.location, ir.InsertionPoint(holder(op, weights)):
                    transformed[weights, outputs, conv.groups] = _transformed(weights, outputs, wide, once, conv.groups)
            with op.location, ir.InsertionPoint(op):
                op.operands[1] = _filter(transformed[weights, outputs, conv.groups], weights.type, conv.groups)
            reason = f"Winograd F({outputs} x {outputs}, 3 x 3), whose error is near a direct sum's (docs/numerics.md)"
            op.attributes[CHOSEN] = ir.StringAttr.get(reason, module.context)


def _in_parts(op: ir.Operation, channels: int) -> list[ir.Operation]:
    """Convolutions of so many channels each, the sums of which are the convolution's."""
    x, weights = op.operands
    rank, count = len(build.shape_of(x)), build.shape_of(weights)[-2]
    if channels == count:
        return [op]
    parts: list[ir.Operation] = []
    total: ir.Value | None = None
    for start in range(0, count, channels):
        with op.location, ir.InsertionPoint(holder(op, weights)):
            some = build.slice_dim(weights, rank - 2, start, start + channels)
        with op.location, ir.InsertionPoint(op):
            parts.append(clone_with(op, {x: build.slice_dim(x, rank - 1, start, start + channels), weights: some}))
            total = parts[-1].results[0] if total is None else build.add(total, parts[-1].results[0])
    assert total is not None
    replace(op, [total])
    return parts


def _is_for_gradients(value: ir.Value) -> bool:
    """Whether a gradient by weights reads the value, or the program returns it, as a forward pass does for its gradients."""
    for use in value.uses:
        user = use.owner
        if user.name == "stablehlo.convolution" and _is_gradient_by_weights(user):
            return True
        if user.name == "func.return" or (user.name in _MOVES and _is_for_gradients(user.results[0])):
            return True
    return False


def _is_gradient_by_weights(op: ir.Operation) -> bool:
    dims = ConvDims.of(op)
    return dims == images_summed_dims(len(dims.spatial[0]))


@dataclass(frozen=True)
class _Price:
    """Seconds of a convolution, or of one of its groups, whose weights, where L2 does not hold those of all, come from the last cache or
    from memory."""

    op: ir.Operation
    conv: Conv
    groups: int
    block: int
    once: bool
    """Whether weights are transformed once, not at each call."""
    bandwidth: int

    def direct(self) -> float:
        element = element_of(self.op.operands[1])
        products = self._flops() / self._target.peak_flops(str(element))
        return products + _WAITS * self._read(self._pairs * TAPS**2 * element_bytes(element))

    def transformed(self, outputs: int) -> float:
        """By tiles of outputs × outputs: the weights are read for some tiles after the other, and their transform, unless that is made
        once, is four steps, each of which reads what the last wrote."""
        target, side = self._target, outputs + TAPS - 1
        steps = _FLOAT * TAPS**2, _FLOAT * TAPS**2, _DOUBLE * side * TAPS, _FLOAT * side**2, _FLOAT * side**2
        moved = 0 if self.once else self._pairs * (2 * sum(steps) - steps[0] - steps[-1])
        products = self._flops() * winograd_share(self.conv, outputs, self.block) / target.f32_flops
        read = self._read(self._pairs * side**2 * _FLOAT) * self._readings(outputs)
        sums = 2 * _FLOAT * prod(self.conv.output) * (self.conv.input[1] // self.channels(outputs) - 1)
        return products + read + (moved + sums) / target.llc_bytes_per_second

    def channels(self, outputs: int) -> int:
        """That are summed by a convolution alone. Where L2 does not hold the weights, the transformed inputs of all tiles stay in half of
        it, if that is enough for some channels: the weights of these are read once then, and the inputs again from L2."""
        target, (_, count, *_) = self._target, self.conv.input
        each = _FLOAT * (outputs + TAPS - 1) ** 2 * winograd_tiles(self.conv, outputs)
        alike = all(str(element_of(value)) == "f32" for value in (*self.op.operands, *self.op.results))
        parts = self.once and alike and len(self.conv.filter) == 4 and self.groups == 1
        if not parts or room_beside(outputs, count, self.conv.output[1], target) > 0:
            return count
        fitting = [n for n in range(_LEAST_PART, count, _LINE) if count % n == 0 and n * each <= target.l2_bytes // 2]
        return max(fitting, default=count) if count * each > target.l2_bytes // 2 else count

    def scratch_bytes(self, outputs: int, block: int) -> int:
        """What the kernel keeps of one line of tiles: their transformed inputs, of as many planes as it sums, and products."""
        row, depth = tiles_along(self.conv.output[-1], self.conv.dilations[-1], outputs), prod(self.conv.filter[2:-2])
        return _FLOAT * (outputs + TAPS - 1) ** 2 * max(row, _LEAST_TILES) * (self.channels(outputs) * depth + block)

    def _readings(self, outputs: int) -> int:
        """How often a kernel reads the weights of two dimensions; of three once for all planes, about."""
        if len(self.conv.filter) > 4 or self.channels(outputs) < self.conv.input[1]:
            return 1
        together = tiles_together(outputs, self.conv.input[1], self.conv.output[1], self._target)
        return ceil(winograd_tiles(self.conv, outputs) / together)

    @property
    def _target(self) -> TargetView:
        return target_of(self.op)

    @property
    def _pairs(self) -> int:
        """Of an input's channel and a feature."""
        return self.conv.output[1] * prod(self.conv.filter[1:-2])

    def _flops(self) -> float:
        return 2 * prod(self.conv.output[:1] + self.conv.output[2:]) * self._pairs * taps_inside(self.conv)

    def _read(self, size: int) -> float:
        return size / self.bandwidth if size * self.groups > self._target.l2_bytes else 0


def _bandwidth(filters: Iterable[ir.Value], target: TargetView) -> int:
    """At which weights are read: each call reads the filters of all convolutions. Half of what it takes from the last cache is hidden
    behind products, which ask for them ahead; memory answers too late for that."""
    size = sum(byte_size(weights.type) for weights in filters)
    return target.dram_bytes_per_second if size > target.llc_bytes else 2 * target.llc_bytes_per_second


def _filter(transformed: ir.Value, kind: ir.Type, groups: int) -> ir.Value:
    """The filter of that type whose transform this is."""
    call, name = "stablehlo.custom_call", ir.StringAttr.get(TARGET)
    if groups == 1:
        return value_of(call, kind, [transformed], call_target_name=name)
    *inside, features = ir.RankedTensorType(kind).shape
    split = build.tensor([*inside, groups, features // groups], ir.RankedTensorType(kind).element_type)
    return build.reshape(value_of(call, split, [transformed], call_target_name=name), [*inside, features])


def _transformed(weights: ir.Value, outputs: int, block: int, once: bool, groups: int) -> ir.Value:
    """[blocks, m + 2, m + 2, depth × channels, block] of [depth…, 3, 3, channels, features]: G w Gᵀ, with zeros for features that fill the
    last block; of several groups with their number before it. `once`: at the program's start alone, which ends at a barrier."""
    *deep, _, _, channels, features = build.shape_of(weights)
    several, each = [groups] if groups > 1 else [], features // groups
    side, blocks = outputs + TAPS - 1, ceil(each / block)
    f64 = ir.F64Type.get()
    if deep:
        inside = list(range(len(deep)))
        last = build.transpose(weights, [len(deep), len(deep) + 1, *inside, len(deep) + 2, len(deep) + 3])
        channels *= prod(deep)
        weights = build.reshape(last, [TAPS, TAPS, channels, features])
    split = build.reshape(weights, [TAPS, TAPS, channels, *several, each])
    rank = len(build.shape_of(split))
    padded = build.pad_with_zeros(split, [0] * rank, [*[0] * (rank - 1), blocks * block - each])
    wide = build.convert(build.reshape(padded, [TAPS, TAPS, channels, groups * blocks * block]), f64)
    matrix = build.constant(ir.DenseElementsAttr.get(np.ascontiguousarray(filter_matrix(outputs))))
    for left in ([TAPS, channels], [side, channels]):  # G w, then (G w) Gᵀ: [side, 3, channels, features], [side, side, channels, features]
        shape = [side, *left, groups * blocks * block]
        wide = _product(matrix, wide, build.tensor(shape, f64))
    narrow = build.reshape(build.convert(wide, ir.F32Type.get()), [side, side, channels, *several, blocks, block])
    turned = build.transpose(narrow, [*range(3, rank), 1, 0, 2, rank])
    return value_of("stablehlo.optimization_barrier", turned.type, [turned]) if once else turned


def _product(matrix: ir.Value, value: ir.Value, kind: ir.Type) -> ir.Value:
    """The matrix times the last but two dimension that is not transformed yet; the new one comes first."""
    dimension = 0 if build.shape_of(value)[0] == TAPS else 1
    numbers = build.dot_dimensions([], [], [1], [dimension])
    return value_of("stablehlo.dot_general", kind, [matrix, value], dot_dimension_numbers=numbers)
