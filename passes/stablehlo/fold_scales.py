"""fold-scales: what scales each output channel of a convolution with bound weights goes into the weights, what shifts it is added once.

Before (a batch norm; %w, %m, %s, %b: made of bound arguments and constants):
    %0 = stablehlo.convolution(%x, %w) … -> tensor<1x56x56x64xf32>
    %1 = stablehlo.subtract %0, %M                          // %M = stablehlo.broadcast_in_dim %m, dims = [3], and likewise %S, %B
    %2 = stablehlo.multiply %1, %S
    %3 = stablehlo.add %2, %B
After:
    %v = stablehlo.multiply %w, %S'                         // %S' = stablehlo.broadcast_in_dim %s, dims = [3]
    %t = -%m * %s + %b                                      // split-init moves both to @init
    %0 = stablehlo.convolution(%x, %v) … -> tensor<1x56x56x64xf32>
    %3 = stablehlo.add %0, %T                               // %T = stablehlo.broadcast_in_dim %t, dims = [3]

On CPUs a half's sum that a chain reads in f32 alone keeps its f32, and its weights stay as they are, for they would be rounded again:

    %0 = stablehlo.convolution(%x, %w) … -> tensor<1x56x56x64xbf16>
    %f = stablehlo.convert %0 : (tensor<1x56x56x64xbf16>) -> tensor<1x56x56x64xf32>
    …                                                       // as above, in f32
becomes
    %0 = stablehlo.convolution(%x, %w) … -> tensor<1x56x56x64xf32>
    %3 = stablehlo.add (stablehlo.multiply %0, %S), %T

Results change by a rounding or two, as those of any order of sums do; halves lose one of halves. Must hold: channels-last has run, so that
nothing stands between. Declined: weights that are given at each call, integers, convolutions with other readers, chains that neither scale
nor shift twice; of halves chains of one step, and other targets than CPUs, whose libraries give sums of halves as halves.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.init_function import entry, known_values
from ..common.rewriting import has_one_use, integers, producer, replace, value_of, walk
from ..registry import register_pass
from .support import build, constants
from .support.dimensions import ConvDims
from .support.driver import drop_dead

_STEPS = ("stablehlo.add", "stablehlo.subtract", "stablehlo.multiply", "stablehlo.divide")


@register_pass(
    "fold-scales", "folds what scales and shifts the channels of a convolution into its bound weights", ops=("stablehlo.convolution",)
)
def fold_scales(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None:
        return
    body = main.regions[0].blocks[0]
    known = known_values(main)
    is_cpu = target_of(module).kind == "cpu"
    for op in walk(main, "stablehlo.convolution"):
        if op.operands[1] not in known or op.block != body:
            continue
        if isinstance(build.element_of(op.results[0]), ir.F32Type | ir.F64Type):
            _fold(op, op.results[0], known)
        elif is_cpu and (wide := _in_f32(op)) is not None:
            _fold(op, wide, known)
    drop_dead(main)


def _in_f32(convolution: ir.Operation) -> ir.Value | None:
    """The f32 of a half's sums, which all that reads them reads."""
    (result,) = convolution.results
    if not isinstance(build.element_of(result), ir.BF16Type | ir.F16Type) or not has_one_use(result):
        return None
    user = next(iter(result.uses)).owner.operation
    if user.name != "stablehlo.convert" or not isinstance(build.element_of(user.results[0]), ir.F32Type):
        return None
    return user.results[0]


def _fold(convolution: ir.Operation, value: ir.Value, known: set[ir.Value]) -> None:
    """Folds what follows `value`, the convolution's result or the f32 of it."""
    is_half = value != convolution.results[0]
    feature = ConvDims.of(convolution).second[2]
    chain: list[tuple[ir.Operation, ir.Value]] = []
    while has_one_use(value):
        user = next(iter(value.uses)).owner.operation
        vector = _vector(user, value, feature, known)
        if vector is None or user.block != convolution.block:
            break
        chain.append((user, vector))
        value = user.results[0]
    scales = [user for user, _ in chain if user.name in _STEPS[2:]]
    if len(chain) < 2 and (is_half or not scales):
        return
    last = chain[-1][0]
    with last.location, ir.InsertionPoint(last):
        replace(last, [_scaled(convolution, chain, feature, is_half)])


def _vector(user: ir.Operation, value: ir.Value, feature: int, known: set[ir.Value]) -> ir.Value | None:
    """The other operand of a step on `value`, one element a channel or one for all; None for what is no such step."""
    if user.name not in _STEPS or user.operands[0] == user.operands[1]:
        return None
    swapped = user.operands[1] == value
    if swapped and user.name in ("stablehlo.subtract", "stablehlo.divide"):
        return None
    other = user.operands[0 if swapped else 1]
    if constants.splat_attribute(other) is not None:
        return other
    broadcast = producer(other, "stablehlo.broadcast_in_dim")
    if broadcast is None or broadcast.operands[0] not in known:
        return None
    return broadcast.operands[0] if integers(broadcast, "broadcast_dimensions") in ([feature], []) else None


def _scaled(convolution: ir.Operation, chain: list[tuple[ir.Operation, ir.Value]], feature: int, is_half: bool) -> ir.Value:
    """The last result of `chain`, from a convolution with scaled weights, or of a half with sums scaled in f32."""
    x, weights = convolution.operands
    kind, dims = ir.RankedTensorType(chain[-1][0].results[0].type), ConvDims.of(convolution)
    per_channel = build.tensor([kind.shape[feature]], kind.element_type)
    scale: ir.Value | None = None
    shift: ir.Value | None = None
    for step, vector in chain:
        operand = _per_channel(vector, per_channel)
        if step.name in _STEPS[2:]:
            scale = operand if scale is None and step.name == _STEPS[2] else _step(step, _or_one(scale, per_channel), operand)
            shift = shift and _step(step, shift, operand)
        else:
            shift = _step(step, _or_zero(shift, per_channel), operand)
    if scale is not None and not is_half:
        weights = value_of("stablehlo.multiply", weights.type, [weights, build.broadcast(scale, build.shape_of(weights), [dims.second[1]])])
    result = dims.emit(convolution, x, weights, kind)
    if scale is not None and is_half:
        result = build.multiply(result, build.broadcast(scale, list(kind.shape), [feature]))
    return result if shift is None else build.add(result, build.broadcast(shift, list(kind.shape), [feature]))


def _step(step: ir.Operation, left: ir.Value, right: ir.Value) -> ir.Value:
    return value_of(step.name, left.type, [left, right])


def _or_one(value: ir.Value | None, kind: ir.Type) -> ir.Value:
    return value or build.splat(kind, ir.FloatAttr.get(kind.element_type, 1.0))


def _or_zero(value: ir.Value | None, kind: ir.Type) -> ir.Value:
    return value or build.splat(kind, ir.FloatAttr.get(kind.element_type, 0.0))


def _per_channel(vector: ir.Value, kind: ir.Type) -> ir.Value:
    attribute = constants.splat_attribute(vector)
    if attribute is not None:
        return build.splat(kind, attribute)
    return vector if build.shape_of(vector) else build.broadcast(vector, list(kind.shape), [])
