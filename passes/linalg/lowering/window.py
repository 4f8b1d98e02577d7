"""reduce_window and convolution: window dims are reduction loops and inputs are read at d * stride + s * dilation.

Padding and base dilation, where a program still has them here, become a generic of their own before (see `indexing.padded`).
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.target import target_of

from ...common.rewriting import integer, integers, padding_pairs, producer, reversal
from ...common.scalars import signless
from ...common.scans import scan_dim
from ...stablehlo.support.dimensions import ConvDims
from ...stablehlo.support.direct_convolution import direct_convolution, direct_dims, pads_in_kernel
from ...stablehlo.support.gpu_windows import depthwise_convolution
from ...stablehlo.support.line_convolution import line_convolution
from ...stablehlo.support.neutral_padding import pads_with_neutral
from . import generic
from .computed_reads import padded
from .contraction import contract
from .lowering import Lowering
from .reduction import accumulator, narrowed, reducer
from .scan import lower_scan
from .views import at_edge, surround


def _grown(low: Lowering, old: ir.Value, padding: ir.Value | None, pairs: Sequence[tuple[int, int]], dilation: Sequence[int]) -> ir.Value:
    """The new tensor of `old`, padded and dilated."""
    if not any(map(any, pairs)) and set(dilation) <= {1}:
        return low.tensor(old)
    spans = [(extent - 1) * step + 1 if extent else 0 for extent, step in zip(old.type.shape, dilation)]
    shape = [max(0, before + span + after) for span, (before, after) in zip(spans, pairs)]
    kind = ir.RankedTensorType.get(shape, old.type.element_type)
    return padded(low, kind, old, padding, [before for before, _ in pairs], [step - 1 for step in dilation])


def _reduce_window(low: Lowering, op: ir.Operation) -> None:
    dim = scan_dim(op)
    if dim is not None:
        lower_scan(low, op, dim)
        return
    count = len(op.operands) // 2
    operands, inits = list(op.operands)[:count], list(op.operands)[count:]
    rank = len(operands[0].type.shape)
    window = integers(op, "window_dimensions")
    ones = [1] * rank
    strides, dilations, base = (integers(op, n, ones) for n in ("window_strides", "window_dilations", "base_dilations"))
    pairs = padding_pairs(op, rank)
    shape = list(op.results[0].type.shape)
    block = op.regions[0].blocks[0]
    accumulators = [accumulator(block, signless(r.type.element_type)) for r in op.results]
    outs = [low.filled(init, shape, element) for init, element in zip(inits, accumulators)]

    loops = generic.dims(range(2 * rank))
    reads = [d * stride + s * step for d, s, stride, step in zip(loops[:rank], loops[rank:], strides, dilations)]
    narrow = _narrow(low, operands[0]) if pads_with_neutral(op) else None
    if narrow is not None:
        element = generic.signless_element(narrow)
        neutral = ir.FloatAttr.get(element, ir.FloatAttr(low.splat(inits[0])).value)
        inputs = [surround(narrow, pairs, low.scalars.attribute(element, neutral))]
    elif pads_with_neutral(op) and at_edge(low.tensor(operands[0])):
        inputs = [surround(low.tensor(operands[0]), pairs, low.scalar_constant(inits[0]))]
    else:
        inputs = [_grown(low, v, init, pairs, base) for v, init in zip(operands, inits)]
    # no map of an input holds a window loop alone: an operand lending only its shape gives the loops extents, as in linalg's poolings
    inputs.append(generic.empty(window, ir.F32Type.get()))
    maps = [generic.affine_map(2 * rank, reads)] * count
    maps += [generic.affine_map(2 * rank, loops[rank:])] + [generic.affine_map(2 * rank, loops[:rank])] * count
    body = reducer(low, block, accumulators)

    def combined(*given: ir.Value) -> Sequence[ir.Value]:
        elements = list(given[:count])
        if narrow is not None:
            elements = [low.scalars.cast("arith.extf", operands[0].type.element_type, elements[0])]
        return body(elements, list(given[count + 1 :]))

    iterators = [generic.PARALLEL] * rank + [generic.REDUCTION] * rank
    results = generic.build_generic(inputs, outs, maps, iterators, combined).results
    for result, value in zip(op.results, results):
        low.set(result, narrowed(low, result.type, value))


def _narrow(low: Lowering, old: ir.Value) -> ir.Value | None:
    """What the group reads in half the width, if `old` is that widened and read here alone. It is padded, and widened as it is read: padded
    after that, it would lie in memory at its full width."""
    made = producer(old, "stablehlo.convert")
    if made is None or len(list(old.uses)) != 1 or not at_edge(source := low.tensor(made.operands[0])):
        return None
    before, after = generic.signless_element(source), old.type.element_type
    floats = isinstance(before, (ir.BF16Type, ir.F16Type)) and isinstance(after, ir.F32Type)
    return source if floats else None


def _convolution(low: Lowering, op: ir.Operation) -> None:
    """Loops: the result's dims in order, then the window's, then the input channels of a group (before, where they lie outside)."""
    lhs, rhs = op.operands
    kind = op.results[0].type
    numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    spatial = len(numbers.input_spatial_dimensions)
    ones = [1] * spatial
    strides, dilations, base = (integers(op, n, ones) for n in ("window_strides", "rhs_dilation", "lhs_dilation"))
    turned = reversal(op, spatial)
    groups, batch_groups = integer(op, "feature_group_count"), integer(op, "batch_group_count")
    rank, window = spatial + 2, [rhs.type.shape[d] for d in numbers.kernel_spatial_dimensions]

    pairs, steps = [(0, 0)] * rank, [1] * rank
    for d, pair, step in zip(numbers.input_spatial_dimensions, padding_pairs(op, spatial), base):
        pairs[d], steps[d] = pair, step
    elements = [lhs.type.element_type, rhs.type.element_type]
    grown = _surrounded(low, lhs, pairs) if _pads_in_kernel(op) and at_edge(low.tensor(lhs)) else _grown(low, lhs, None, pairs, steps)
    low.set(grown, grown)

    loops = generic.dims(range(rank + spatial + 1))
    batch, feature = loops[numbers.output_batch_dimension], loops[numbers.output_feature_dimension]
    taps, channel = loops[rank : rank + spatial], loops[-1]
    if numbers.input_feature_dimension == numbers.kernel_input_feature_dimension == 0:
        channel, *taps = loops[rank:]  # images, as in the gradient by the weights: they are summed one after the other
    features = kind.shape[numbers.output_feature_dimension]
    channels = rhs.type.shape[numbers.kernel_input_feature_dimension]
    lhs_at: dict[int, ir.AffineExpr] = {numbers.input_feature_dimension: channel, numbers.input_batch_dimension: batch}
    if groups > 1:
        lhs_at[numbers.input_feature_dimension] = _floordiv(feature, features // groups) * channels + channel
    if batch_groups > 1:
        group = _floordiv(feature, features // batch_groups)
        lhs_at[numbers.input_batch_dimension] = group * kind.shape[numbers.output_batch_dimension] + batch
    rhs_at = {numbers.kernel_input_feature_dimension: channel, numbers.kernel_output_feature_dimension: feature}
    for i in range(spatial):
        tap = taps[i] * -1 + (window[i] - 1) if turned[i] else taps[i]
        lhs_at[numbers.input_spatial_dimensions[i]] = loops[numbers.output_spatial_dimensions[i]] * strides[i] + tap * dilations[i]
        rhs_at[numbers.kernel_spatial_dimensions[i]] = taps[i]

    maps = [generic.affine_map(len(loops), [at[d] for d in range(rank)]) for at in (lhs_at, rhs_at)]
    iterators = [generic.PARALLEL] * rank + [generic.REDUCTION] * (spatial + 1)
    out_map = generic.affine_map(len(loops), loops[:rank])
    low.set(op.results[0], contract(low, [(grown, maps[0]), (rhs, maps[1])], elements, kind, out_map, iterators))


def _pads_in_kernel(op: ir.Operation) -> bool:
    """Whether the kernel leaves the padding out of what it sums: one of a CPU's, or a GPU's of windows."""
    target, dims = target_of(op), ConvDims.of(op)
    if target.kind == "cuda":
        return depthwise_convolution(op, target) is not None
    conv = direct_convolution(op, target)
    if conv is None or dims != direct_dims(op, conv):
        conv = line_convolution(op, target)
    return conv is not None and pads_in_kernel(conv)


def _surrounded(low: Lowering, old: ir.Value, pairs: Sequence[tuple[int, int]]) -> ir.Value:
    """The new tensor of `old`, an argument of the group, with zeros around it that are nowhere in memory: a tensor.pad."""
    source = low.tensor(old)
    return surround(source, pairs, low.scalars.constant(generic.signless_element(source), 0)) if any(map(any, pairs)) else source


def _floordiv(x: ir.AffineExpr, divisor: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_floor_div(x, ir.AffineExpr.get_constant(divisor))


LOWERINGS = {"stablehlo.reduce_window": _reduce_window, "stablehlo.convolution": _convolution}
