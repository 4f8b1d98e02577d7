"""sink-reshapes: in groups that reduce rows, elementwise ops stand before a reshape, on the axes that the rows have; so they do behind the
product of one row with weights in panels, on the axes of these.

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

A tile has rows then, and all that is computed of them: over other axes, tile-and-fuse would find none that all ops have in common. A tile
of one row's product has a panel, where it would have the whole row, and one thread all of the work.

Must hold: plan-fusion has run. Declined: reshapes of what no rows were reduced for (arguments, which are views, slices of these, what is
computed of one element each); products of several rows; groups of other kinds.
Unchanged: GPUs, whose rows keep their shape.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.ops import Kind, named
from ..common.rewriting import attributes_of, defining_op, is_block_argument, kind_of, producer, value_of
from ..registry import register_pass
from ..stablehlo.support import build, constants
from ..stablehlo.support.driver import rewrite

_PRODUCT = "matmul"
_KINDS = ("multi_reduce", _PRODUCT)
_REDUCTIONS = frozenset(named(Kind.REDUCE))


@register_pass("sink-reshapes", "puts elementwise ops of groups that reduce rows before reshapes", ops=("stablehlo.reshape",))
def sink_reshapes(module: ir.Operation) -> None:
    if target_of(module).kind == "cpu":
        rewrite(module, dict.fromkeys(named(Kind.ELEMENTWISE), (_elementwise,)))


def _elementwise(op: ir.Operation) -> list[ir.Value] | None:
    function = op.parent
    kind = kind_of(function) if function.name == "func.func" and "hloom.kind" in function.attributes else ""
    if kind not in _KINDS:
        return None
    computed = [
        x for value in op.operands if build.shape_of(value) == build.shape_of(op.results[0]) and (x := _reshaped(value)) is not None
    ]
    if kind == _PRODUCT:
        computed = [value for value in computed if _is_row_of_panels(value, op.results[0])]
    else:
        computed = [value for value in computed if _follows_a_reduction(value)]
    if not computed:
        return None
    shape, theirs = build.shape_of(computed[0]), build.shape_of(op.results[0])
    if len(shape) >= len(theirs) and any(_is_computed(value, kind) for value in op.operands if build.shape_of(value) == theirs):
        return None  # of operands in both shapes one stays behind a reshape: that of more dimensions
    result = build.tensor(shape, build.element_of(op.results[0]))
    operands = [
        _seen_as(value, shape) if build.shape_of(value) == theirs else value for value in op.operands
    ]  # one condition may be for all
    return [build.reshape(value_of(op.name, result, operands, **attributes_of(op)), theirs)]


def _is_row_of_panels(value: ir.Value, joined: ir.Value) -> bool:
    """Whether the sums of one row lie as the panels of the weights do, and are one dimension when they are joined."""
    *outer, panels, columns = build.shape_of(value) if len(build.shape_of(value)) > 1 else (0, 0)
    return panels > 1 and columns > 1 and all(extent == 1 for extent in outer) and build.shape_of(joined)[-1] == panels * columns


def _follows_a_reduction(value: ir.Value) -> bool:
    seen, pending = set[ir.Value](), [value]
    while pending:
        each = pending.pop()
        if each in seen or (op := defining_op(each)) is None:
            continue
        if op.name in _REDUCTIONS:
            return True
        seen.add(each)
        pending += op.operands
    return False


def _reshaped(value: ir.Value) -> ir.Value | None:
    """What a reshape of something that the group computes makes the value of."""
    view = producer(value, "stablehlo.reshape")
    return view.operands[0] if view is not None and not isinstance(view.operands[0], ir.BlockArgument) else None


def _is_computed(value: ir.Value, kind: str) -> bool:
    """Whether the group computes a value, by no reshape and as no constant; of rows, after a reduction."""
    if is_block_argument(value) or producer(value, "stablehlo.reshape") or constants.splat_attribute(value) is not None:
        return False
    return kind == _PRODUCT or _follows_a_reduction(value)


def _seen_as(value: ir.Value, shape: list[int]) -> ir.Value:
    before, splat = _reshaped(value), constants.splat_attribute(value)
    if before is not None and build.shape_of(before) == shape:
        return before
    if splat is not None:
        return build.splat(build.tensor(shape, build.element_of(value)), splat)
    return build.reshape(value, shape)
