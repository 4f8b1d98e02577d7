"""join-fourier-parts: a Fourier transform reads and writes complex numbers as they lie, real and imaginary parts side by side.

Before:
    %re = reshape (slice %x [0:64, 0:1024, 0:1]) : tensor<64x1024xf32>
    %im = reshape (slice %x [0:64, 0:1024, 1:2]) : tensor<64x1024xf32>
    %0:2 = stablehlo.custom_call @hloom.dft(%re, %im, %table) {hloom.dft = {…}}
    %y = concatenate (reshape %0#0 : tensor<64x1024x1xf32>), (reshape %0#1), dim = 2
After:
    %y = stablehlo.custom_call @hloom.dft(%x, %table) {hloom.dft = {…, given = array<i64: 0, 1>, taken = array<i64: 0, 1>}}
        : (tensor<64x1024x2xf32>, tensor<2160xf32>) -> tensor<64x1024x2xf32>

So are the halves of a signal of reals, of which the even elements are the real parts. Either side may be as it was. What is read is joined
wherever it is one array; what is written where nothing else uses a part. Must hold: simplified StableHLO. Declined: other calls.
"""

from __future__ import annotations

from dataclasses import replace

from torch_mlir import ir

from ..common.fourier_plan import TARGET, FourierPlan
from ..common.ops import name_in_table
from ..common.rewriting import create, integer, integers, producer, walk
from ..registry import register_pass
from .support import build


@register_pass("join-fourier-parts", "lets Fourier transforms read and write complex numbers as they lie")
def join_fourier_parts(module: ir.Operation) -> None:
    for op in walk(module, lambda op: name_in_table(op) == f"stablehlo.custom_call @{TARGET}"):
        with op.location, ir.InsertionPoint(op):
            _write_joined(_read_joined(op))


def _read_joined(op: ir.Operation) -> ir.Operation:
    plan, found = FourierPlan.of(op), [_part(value) for value in list(op.operands)[:2]]
    if plan.taken or None in found or found[0][0] != found[1][0] or {place for _, place in found} != {0, 1}:
        return op
    shape = [*build.shape_of(op.operands[0]), 2]
    plan = replace(plan, taken=tuple(place for _, place in found))
    operands = [build.reshape(found[0][0], shape), *list(op.operands)[2:]]
    new = create(op.name, [result.type for result in op.results], operands, **plan.attributes())
    for old, result in zip(op.results, new.results):
        old.replace_all_uses_with(result)
    op.erase()
    return new


def _part(value: ir.Value) -> tuple[ir.Value, int] | None:
    """The array of pairs of which `value` is the first or the second of each, and which."""
    reshape = producer(value, "stablehlo.reshape")
    slice_ = producer(reshape.operands[0], "stablehlo.slice") if reshape else None
    if slice_ is None or producer(slice_.operands[0], "stablehlo.constant"):
        return None
    *shape, last = build.shape_of(slice_.operands[0])
    starts, limits = integers(slice_, "start_indices"), integers(slice_, "limit_indices")
    whole = last == 2 and starts[:-1] == [0] * len(shape) and limits[:-1] == shape and limits[-1] == starts[-1] + 1
    return (slice_.operands[0], starts[-1]) if whole and set(integers(slice_, "strides")) == {1} else None


def _write_joined(op: ir.Operation) -> None:
    plan = FourierPlan.of(op)
    joins = [_join(result) for result in op.results] if not plan.given else [None]
    if None in joins or joins[0][0] != joins[1][0] or {place for _, place in joins} != {0, 1}:
        return
    concatenate = joins[0][0]
    kind = build.tensor([*build.shape_of(op.results[0]), 2], build.element_of(op.results[0]))
    plan = replace(plan, given=tuple(place for _, place in joins))
    new = create(op.name, [kind], list(op.operands), **plan.attributes())
    reshapes = [use.owner.operation for result in op.results for use in result.uses]
    with ir.InsertionPoint(concatenate):
        joined = build.reshape(new.results[0], build.shape_of(concatenate.results[0]))
    concatenate.results[0].replace_all_uses_with(joined)
    for each in (concatenate, *reshapes, op):
        each.erase()


def _join(result: ir.Value) -> tuple[ir.Operation, int] | None:
    """The op that puts `result`, used by nothing else, side by side with another array of its kind, and at which place."""
    reshape = _only_user(result, "stablehlo.reshape")
    concatenate = _only_user(reshape.results[0], "stablehlo.concatenate") if reshape else None
    if concatenate is None or len(concatenate.operands) != 2:
        return None
    shape = build.shape_of(concatenate.results[0])
    if integer(concatenate, "dimension") != len(shape) - 1 or shape[-1] != 2:
        return None
    return concatenate, list(concatenate.operands).index(reshape.results[0])


def _only_user(value: ir.Value, name: str) -> ir.Operation | None:
    users = [use.owner.operation for use in value.uses]
    return users[0] if len(users) == 1 and users[0].name == name else None
