"""rescale-sums: exponentials of long rows are summed part by part, each part beside its own maximum and not that of its row.

Before (%M = stablehlo.broadcast_in_dim %m, dims = [0]):
    %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x1048576xf32>, …) -> tensor<8xf32>
    %0 = stablehlo.subtract %x, %M : tensor<8x1048576xf32>
    %1 = stablehlo.exponential %0 : tensor<8x1048576xf32>
    %s = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x1048576xf32>, …) -> tensor<8xf32>
After (%N = broadcast of %n, %M of %m):
    %p = stablehlo.reshape %x : (tensor<8x1048576xf32>) -> tensor<8x32x32768xf32>
    %n = stablehlo.reduce(%p init: %low) applies stablehlo.maximum across dimensions = [2] : … -> tensor<8x32xf32>
    %m = stablehlo.reduce(%n init: %low) applies stablehlo.maximum across dimensions = [1] : … -> tensor<8xf32>
    %t = stablehlo.reduce(exponential(%p - clamp(%N)) init: %zero) applies stablehlo.add across dimensions = [2] : … -> tensor<8x32xf32>
    %s = stablehlo.reduce(%t * exponential(%n - %M) init: %zero) applies stablehlo.add across dimensions = [1] : … -> tensor<8xf32>

The parts' maxima and sums are one pass over memory, where the sum had to wait for the maximum of all and read the row again: of softmax
over rows that no cache keeps, or of so few that they are parted for the threads, two kernels are left. Where a part's maximum is
infinite, the number next to it is subtracted: the sum of nothing but -inf is 0.

Must hold: nothing. Declined: reductions along other dimensions than the last, exponentials of other types than f32 and f64, or of what does
not depend on the maximum of the same rows, rows that a kernel keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import ceil, prod

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.ops import is_elementwise
from ..common.rewriting import defining_op, integers, producer
from ..registry import register_pass
from .split_reductions import parts_for_blocks, parts_for_threads, reduced_by
from .support import build
from .support.combining import combining_op
from .support.driver import rewrite

_MOST_STEPS = 16
"""Ops between a maximum and what is subtracted."""
_SHARE = 8
"""A part is so much of what a core keeps of rows, which it goes through twice."""


@register_pass("rescale-sums", "sums exponentials of long rows part by part, beside the parts' maxima", ops=("stablehlo.reduce",))
def rescale_sums(module: ir.Operation) -> bool:
    target = target_of(module)
    return rewrite(module, {"stablehlo.reduce": [partial(_parted_maximum, target=target), _rescaled]})


def _parted_maximum(op: ir.Operation, target: TargetView) -> list[ir.Value] | None:
    """A maximum of rows, where exponentials are summed that wait for it, by way of those of parts."""
    waiting = _sums_of_exponentials(op.operands[0]) if _is_along_rows(op, "maximum") else ()
    if not any((found := _maximum_behind(each)) is not None and found == op for each in waiting):
        return None
    operand, init = op.operands
    shape, element = build.shape_of(operand), build.element_of(operand)
    parts = _parts(shape, element_bytes(element), target)
    if parts == 1:
        return None
    split = build.reshape(operand, [*shape[:-1], parts, shape[-1] // parts])
    last = len(shape)
    maxima = reduced_by(op, split, build.splat(build.tensor([], element), build.scalar(element, -np.inf)), [last])
    return [reduced_by(op, maxima, init, [last - 1])]


def _rescaled(op: ir.Operation) -> list[ir.Value] | None:
    """A sum of exponentials whose rows have maxima by way of parts, by way of the same."""
    greatest = _maximum_behind(op) if _is_along_rows(op, "add") else None
    maxima = None if greatest is None else producer(greatest.operands[0], "stablehlo.reduce")
    split = producer(maxima.operands[0], "stablehlo.reshape") if maxima is not None and _is_along_rows(maxima, "maximum") else None
    if maxima is None or split is None:
        return None
    operand, subtracted = _exponents(op)
    last = len(build.shape_of(operand))
    *rows, parts, _ = build.shape_of(split.results[0])
    if split.operands[0] != operand or rows != build.shape_of(operand)[:-1]:
        return None
    element = build.element_of(operand)
    of_parts = maxima.results[0]
    wide = build.broadcast(of_parts, build.shape_of(split.results[0]), list(range(last)))
    most = np.finfo(np.float32 if isinstance(element, ir.F32Type) else np.float64).max
    lowest, greatest = (build.full(build.tensor([], element), number) for number in (-most, most))
    clamped = build.elementwise("clamp", lowest, wide, greatest, result=wide.type)
    exponentials = build.elementwise("exponential", build.subtract(split.results[0], clamped))
    sums = reduced_by(op, exponentials, build.splat(build.tensor([], element), build.scalar(element, 0.0)), [last])
    of_rows = build.broadcast(subtracted.operands[0], [*rows, parts], integers(subtracted, "broadcast_dimensions"))
    scaled = build.multiply(sums, build.elementwise("exponential", build.subtract(of_parts, of_rows)))
    return [reduced_by(op, scaled, op.operands[1], [last - 1])]


def _is_along_rows(op: ir.Operation, combining: str) -> bool:
    """Whether it reduces f32 or f64 along the last dimension alone, by this op."""
    if len(op.operands) != 2 or combining_op(op) != f"stablehlo.{combining}":
        return False
    floats = isinstance(build.element_of(op.operands[0]), (ir.F32Type, ir.F64Type))
    return floats and integers(op, "dimensions") == [len(build.shape_of(op.operands[0])) - 1]


def _sums_of_exponentials(value: ir.Value) -> Iterator[ir.Operation]:
    """The sums along rows of exponentials of the value less something."""
    for less in _users(value, "stablehlo.subtract"):
        for exponential in _users(less.results[0], "stablehlo.exponential"):
            yield from (op for op in _users(exponential.results[0], "stablehlo.reduce") if _is_along_rows(op, "add"))


def _users(value: ir.Value, name: str) -> list[ir.Operation]:
    return [use.owner.operation for use in value.uses if use.owner.operation.name == name]


def _exponents(op: ir.Operation) -> tuple[ir.Value, ir.Operation]:
    """Of a sum that has a maximum behind it: what the exponentials are of, and the broadcast that is subtracted."""
    exponential = producer(op.operands[0], "stablehlo.exponential")
    less = None if exponential is None else producer(exponential.operands[0], "stablehlo.subtract")
    subtracted = None if less is None else producer(less.operands[1], "stablehlo.broadcast_in_dim")
    assert less is not None and subtracted is not None
    return less.operands[0], subtracted


def _maximum_behind(op: ir.Operation) -> ir.Operation | None:
    """The maximum of rows of x, or of parts of them, that a sum of exp(x - c) waits for: c is one number a row, computed from it."""
    exponential = producer(op.operands[0], "stablehlo.exponential")
    less = None if exponential is None else producer(exponential.operands[0], "stablehlo.subtract")
    subtracted = None if less is None else producer(less.operands[1], "stablehlo.broadcast_in_dim")
    if less is None or subtracted is None:
        return None
    last, shape = len(build.shape_of(less.operands[0])) - 1, build.shape_of(subtracted.operands[0])
    if any(extent != 1 for extent, dim in zip(shape, integers(subtracted, "broadcast_dimensions")) if dim == last):
        return None
    todo, seen = [subtracted.operands[0]], 0
    while todo and seen < _MOST_STEPS:
        made, seen = defining_op(todo.pop(0)), seen + 1
        if made is None:
            continue
        if made.name == "stablehlo.reduce" and _is_along_rows(made, "maximum"):
            return made
        if is_elementwise(made) or made.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim"):
            todo += made.operands
    return None


def _parts(shape: list[int], element: int, target: TargetView) -> int:
    """Into how many parts rows are cut; 1 where a kernel keeps them, and there are enough of them."""
    if target.kind == "cuda":
        return parts_for_blocks(shape, [len(shape) - 1], len(shape) - 1, target)
    rows, length = prod(shape[:-1]), shape[-1]
    parts = parts_for_threads([rows, length], [1], 1)
    if length * element > target.l2_bytes:
        parts = max(parts, ceil(_SHARE * length * element / target.l2_bytes))
    return next((n for n in range(parts, min(2 * parts, length)) if length % n == 0), 1) if parts > 1 else 1
