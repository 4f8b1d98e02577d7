"""sink-reshapes: in groups that reduce rows, elementwise ops stand before a reshape, on the axes that the rows have.

Before, in the group of a group norm with what follows it:
    %0 = stablehlo.multiply %centred, %rstd : tensor<32x10x4096xf32>
    %1 = stablehlo.reshape %0 : (tensor<32x10x4096xf32>) -> tensor<1x320x64x64xf32>
    %2 = stablehlo.add %1, %residual : tensor<1x320x64x64xf32>
    return %2
After:
    %0 = stablehlo.multiply %centred, %rstd : tensor<32x10x4096xf32>
    %1 = stablehlo.reshape %residual : (tensor<1x320x64x64xf32>) -> tensor<32x10x4096xf32>
    %2 = stablehlo.add %0, %1 : tensor<32x10x4096xf32>
    %3 = stablehlo.reshape %2 : (tensor<32x10x4096xf32>) -> tensor<1x320x64x64xf32>
    return %3

A tile has rows then, and all that is computed of them: over other axes, tile-and-fuse would find none that all ops have in common.

Must hold: plan-fusion has run. Declined: reshapes of arguments, which are views; groups of other kinds. Unchanged: GPUs, whose rows keep
their shape.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.ops import Kind, named
from ..common.rewriting import attributes_of, kind_of, producer, value_of
from ..registry import register_pass
from ..stablehlo.support import build, constants
from ..stablehlo.support.driver import rewrite

_KIND = "multi_reduce"


@register_pass("sink-reshapes", "puts elementwise ops of groups that reduce rows before reshapes", ops=("stablehlo.reshape",))
def sink_reshapes(module: ir.Operation) -> None:
    if target_of(module).kind == "cpu":
        rewrite(module, dict.fromkeys(named(Kind.ELEMENTWISE), (_elementwise,)))


def _elementwise(op: ir.Operation) -> list[ir.Value] | None:
    function = op.parent
    if function.name != "func.func" or "hloom.kind" not in function.attributes or kind_of(function) != _KIND:
        return None
    computed = [
        x for value in op.operands if build.shape_of(value) == build.shape_of(op.results[0]) and (x := _reshaped(value)) is not None
    ]
    if not computed:
        return None
    shape, theirs = build.shape_of(computed[0]), build.shape_of(op.results[0])
    kind = build.tensor(shape, build.element_of(op.results[0]))
    operands = [
        _seen_as(value, shape) if build.shape_of(value) == theirs else value for value in op.operands
    ]  # one condition may be for all
    return [build.reshape(value_of(op.name, kind, operands, **attributes_of(op)), theirs)]


def _reshaped(value: ir.Value) -> ir.Value | None:
    """What a reshape of something that the group computes makes the value of."""
    view = producer(value, "stablehlo.reshape")
    return view.operands[0] if view is not None and not isinstance(view.operands[0], ir.BlockArgument) else None


def _seen_as(value: ir.Value, shape: list[int]) -> ir.Value:
    before, splat = _reshaped(value), constants.splat_attribute(value)
    if before is not None and build.shape_of(before) == shape:
        return before
    if splat is not None:
        return build.splat(build.tensor(shape, build.element_of(value)), splat)
    return build.reshape(value, shape)
