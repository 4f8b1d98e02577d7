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
from typing import TypeVar

from torch_mlir import ir

from ..common.fourier_plan import TARGET, FourierPlan
from ..common.ops import name_in_table
from ..common.rewriting import create, integer, integers, producer, walk
from ..common.rewriting import replace as replace_op
from ..registry import register_pass
from .support import build

Whole = TypeVar("Whole", ir.Value, ir.Operation)


@register_pass("join-fourier-parts", "lets Fourier transforms read and write complex numbers as they lie", ops=("stablehlo.custom_call",))
def join_fourier_parts(module: ir.Operation) -> None:
    for op in walk(module, lambda op: name_in_table(op) == f"stablehlo.custom_call @{TARGET}"):
        _write_joined(_read_joined(op))


def _read_joined(op: ir.Operation) -> ir.Operation:
    """The op, or one in its place that reads one array."""
    plan = FourierPlan.of(op)
    pair = None if plan.taken else _pair(*(_part(value) for value in list(op.operands)[:2]))
    if pair is None:
        return op
    array, places = pair
    with op.location, ir.InsertionPoint(op):
        operands = [build.reshape(array, [*build.shape_of(op.operands[0]), 2]), *list(op.operands)[2:]]
        types = [result.type for result in op.results]
        new = create(op.name, types, operands, **replace(plan, taken=places).attributes())
    replace_op(op, list(new.results))
    return new


def _pair(first: tuple[Whole, int] | None, second: tuple[Whole, int] | None) -> tuple[Whole, tuple[int, int]] | None:
    """What both are part of, and their places there."""
    if first is None or second is None or first[0] != second[0] or first[1] == second[1]:
        return None
    return first[0], (first[1], second[1])


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
    pair = None if plan.given else _pair(*map(_join, op.results))
    if pair is None:
        return
    concatenate, places = pair
    kind = build.tensor([*build.shape_of(op.results[0]), 2], build.element_of(op.results[0]))
    with op.location, ir.InsertionPoint(op):
        new = create(op.name, [kind], list(op.operands), **replace(plan, given=places).attributes())
    with concatenate.location, ir.InsertionPoint(concatenate):
        joined = build.reshape(new.results[0], build.shape_of(concatenate.results[0]))
    reshapes = [use.owner.operation for result in op.results for use in result.uses]
    replace_op(concatenate, [joined])
    for each in (*reshapes, op):
        each.erase()


def _join(result: ir.Value) -> tuple[ir.Operation, int] | None:
    """The op that puts `result`, used by nothing else, side by side with another array of its kind, and at which place."""
    reshape = _only_user(result, "stablehlo.reshape")
    concatenate = _only_user(reshape.results[0], "stablehlo.concatenate") if reshape else None
    if reshape is None or concatenate is None or len(concatenate.operands) != 2:
        return None
    shape = build.shape_of(concatenate.results[0])
    if integer(concatenate, "dimension") != len(shape) - 1 or shape[-1] != 2:
        return None
    return concatenate, list(concatenate.operands).index(reshape.results[0])


def _only_user(value: ir.Value, name: str) -> ir.Operation | None:
    users = [use.owner.operation for use in value.uses]
    return users[0] if len(users) == 1 and users[0].name == name else None
