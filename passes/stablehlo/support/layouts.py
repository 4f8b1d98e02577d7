"""Which convolutions on a CPU keep the channels before the spatial dimensions: lone ones for which that is faster.

An island is what elementwise ops, pads, slices, concatenations, windowed reductions and reshapes of the spatial dimensions join. With the
channels last it pays two conversions, of what comes in and what goes out; with the channels first the lanes of its kernels are pixels of a
line, some of which are idle at its end. So a lone depthwise convolution, a first layer of few channels or a 1 × 1 that writes more than it
multiplies stay as they are. Of several convolutions the kernels with the channels last are faster, but a policy may ask for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.ops import Kind, named
from ...common.rewriting import defining_op, walk
from ...common.spare_columns import registers_a_step
from ...fused.planner.kernels import CHOSEN
from ...fused.planner.policy import FIRST, LAST, policy_of
from ...library_calls.conv import Conv
from . import build
from .direct_convolution import direct_convolution, suits_winograd, winograd_block, winograd_share
from .line_convolution import line_convolution, line_length, packs_pixels

_JOINING = frozenset([*named(Kind.ELEMENTWISE), "stablehlo.pad", "stablehlo.slice", "stablehlo.concatenate", "stablehlo.reduce_window"])
_FLOAT_BITS = 32
_FLOAT = 4
_LAST, _LAST_EACH = 0.95, 0.6
"""Shares of the peak with the channels last, of dense convolutions and of those whose groups have less than two registers of channels."""
_FIRST, _FIRST_APART = 0.9, 0.72
"""Shares of the peak with the channels first, of pixels side by side and of those two apart."""
_WINOGRAD = 2
"""What Winograd's algorithm is taken to save at the most; its last tiles of a line are not whole."""
_WINOGRAD_FAR = 1.3
"""The same, of groups whose pixels L2 does not hold: they and what is converted come from the last cache."""
_COLUMNS = 64
"""Output channels of a tile."""
_PS = 10**12


def decide_layouts(module: ir.Operation, target: TargetView) -> None:
    """Tells each convolution that keeps its layout why, in the attribute `CHOSEN`. Those without a direct kernel are not asked."""
    policy = policy_of(module)
    for island in list(_islands(module, target)):  # an op is found again in a set as long as nothing of it changes
        convolutions = list(filter(_is_conv, island))
        convs = [conv for op in convolutions if (conv := line_convolution(op, target)) is not None]
        uses = {policy.kernel_for(op).use for op in convolutions}
        joined = len(convs) < len(convolutions) or any(op.name == "stablehlo.transpose" for op in island)
        if joined or LAST in uses or (len(convs) > 1 and FIRST not in uses):
            continue
        first = sum(_first_ps(conv, target) for conv in convs)
        last = sum(_last_ps(op, conv, target) for op, conv in zip(convolutions, convs)) + _conversions_ps(convs, target)
        if first > last and FIRST not in uses:
            continue
        for op in convolutions:
            reason = f"channels first: vectors of pixels {first} ps, channels last with conversions {last} ps"
            op.attributes[CHOSEN] = ir.StringAttr.get(reason, module.context)


def _islands(module: ir.Operation, target: TargetView) -> Iterator[list[ir.Operation]]:
    """The ops of each island that holds a convolution with a direct kernel: what joins, convolutions, and the transposes at its edge."""
    seen: set[ir.Operation] = set()
    convolutions = walk(module, "stablehlo.convolution")
    direct = {op for op in convolutions if direct_convolution(op, target) is not None}
    for start in convolutions:
        if start in seen or start not in direct:
            continue
        island, open_ = [], [start]
        while open_:
            op = open_.pop()
            if op in seen:
                continue
            seen.add(op)
            island.append(op)
            if op.name == "stablehlo.transpose":
                continue
            open_ += _neighbours(op, direct)
        yield island


def _neighbours(op: ir.Operation, direct: Set[ir.Operation]) -> Iterator[ir.Operation]:
    """What shares a layout with `op`: who makes its operands (of a convolution, its pixels), and who reads its results so."""
    read = list(op.operands)[:1] if _is_conv(op) else list(op.operands)
    makers = [maker for value in read if (maker := defining_op(value)) is not None]
    readers = [
        use.owner.operation for result in op.results for use in result.uses if not (_is_conv(use.owner.operation) and use.operand_number)
    ]
    for other in (*makers, *readers):
        joins = other.name in _JOINING or other.name == "stablehlo.transpose" or keeps_channels(other)
        if len(other.results) == 1 and (joins or other in direct):
            yield other


def keeps_channels(op: ir.Operation) -> bool:
    """Whether it is a reshape that keeps the batch and the channels, as those that put the phases of a convolution in turn."""
    if op.name != "stablehlo.reshape":
        return False
    before, after = (build.shape_of(value) for value in (op.operands[0], op.results[0]))
    return min(len(before), len(after)) > 2 and before[:2] == after[:2]


def _is_conv(op: ir.Operation) -> bool:
    return op.name == "stablehlo.convolution"


def _flops_ps(conv: Conv, target: TargetView) -> int:
    flops = 2 * prod(conv.output) * prod(conv.filter[1:])
    return flops * _PS // target.peak_flops("f32")


def _first_ps(conv: Conv, target: TargetView) -> int:
    lanes, line = target.vector_bits // _FLOAT_BITS, line_length(conv)
    used = line / (ceil(line / lanes) * lanes)
    if packs_pixels(conv, target):
        return int(_flops_ps(conv, target) / used / _FIRST) + _packing_ps(conv, target)
    return int(_flops_ps(conv, target) / used / (_FIRST if conv.window_strides[-1] == 1 else _FIRST_APART))


def _packing_ps(conv: Conv, target: TargetView) -> int:
    """Of the pixels of all taps, copied for each tile of output channels by squares of lanes."""
    lanes, taps = target.vector_bits // _FLOAT_BITS, conv.filter[-1]
    squares = prod(conv.filter[1:-1]) * ceil(taps / lanes) * lanes
    copied = squares * conv.output[0] * prod(conv.output[2:]) * ceil(conv.output[1] / _COLUMNS)
    return 2 * _FLOAT * copied * _PS // target.llc_bytes_per_second


def _last_ps(op: ir.Operation, conv: Conv, target: TargetView) -> int:
    far = conv.groups > 1 and _FLOAT * prod(conv.input) > target.l2_bytes
    saved = min(_WINOGRAD_FAR if far else _WINOGRAD, max(1, 1 / winograd_share(conv, 4))) if suits_winograd(op, conv) else 1
    wide, lanes = conv.output[1] // conv.groups, target.vector_bits // _FLOAT_BITS
    if saved > 1 and conv.groups > 1:
        block = winograd_block(conv)
        return int(_flops_ps(conv, target) / (saved * wide / (ceil(wide / block) * block) * _LAST))
    dense = conv.groups == 1 or wide > lanes
    used = wide / lanes / registers_a_step(wide, (*conv.filter[2:], conv.filter[1]), lanes, target) if dense else 1
    return int(_flops_ps(conv, target) / (saved * used * _LAST if dense else _LAST_EACH))


def _conversions_ps(convs: list[Conv], target: TargetView) -> int:
    """Of what comes into an island and what goes out, each read and written; of several convolutions about the ends of one."""
    moved = 2 * _FLOAT * (max(prod(conv.input) for conv in convs) + max(prod(conv.output) for conv in convs))
    return moved * _PS // target.llc_bytes_per_second
