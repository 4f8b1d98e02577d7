"""scale-sums: a dot of weights that are dequantised, a scale a channel, reads the narrow weights, and its sums are scaled.

Before (%S = stablehlo.broadcast_in_dim %s, dims = [1]):
    %0 = stablehlo.convert %q : (tensor<1024x4096xi8>) -> tensor<1024x4096xf32>
    %1 = stablehlo.multiply %0, %S : tensor<1024x4096xf32>
    %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<1x1024xf32>, tensor<1024x4096xf32>) -> tensor<1x4096xf32>
After:
    %0 = stablehlo.convert %q : (tensor<1024x4096xi8>) -> tensor<1024x4096xf32>     // the dot's kernel reads %q through it
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<1x1024xf32>, tensor<1024x4096xf32>) -> tensor<1x4096xf32>
    %2 = stablehlo.multiply %1, %S' : tensor<1x4096xf32>                            // %S' = stablehlo.broadcast_in_dim %s, dims = [1]

Bound weights stay as narrow as they are bound, where @init would have made f32 of them: a decoder that multiplies one row moves a quarter
of the bytes. So are the sums of values of f32 scaled that are given at each call and times one number, as keys that attention of one query
scales: no array of scaled ones is written and read again. Where both operands are times one number, as torch scales queries and keys, the
smaller one is times the product, on every target. Results change by a rounding.

Must hold: fold-transposes has run. Declined: factors that change along what is summed, more elements in the result than in the operand (to
scale the weights is less work), of values of f32 more than a quarter of them, known ones and those that something else reads scaled;
numbers whose product is very small or large; the sums' scales on targets other than CPUs, whose kernels read no integers as floats.
"""

from __future__ import annotations

from functools import partial

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.init_function import entry, known_values
from ..common.rewriting import attributes_of, has_one_use, producer, value_of
from ..registry import register_pass
from .support import build
from .support.constants import splat_value
from .support.driver import rewrite
from .support.scales import kept_dims, on_result, scale_of

_NARROW = ("i8", "ui8", "f16", "bf16")
_LEAST = 2.0**-12
"""Products of two numbers that are less, or larger than one by it, may leave the normal numbers of a half with what they multiply."""
_FEWER = 4
"""Times as many elements as sums: then no f32 are scaled for them."""


@register_pass("scale-sums", "scales the sums of a dot in the place of its narrow operands", ops=("stablehlo.dot_general",))
def scale_sums(module: ir.Operation) -> bool:
    main = entry(module, "main")
    known = set() if main is None else known_values(main)
    on_cpu = (_dot, partial(_dot_of_many, known)) if target_of(module).kind == "cpu" else ()
    return rewrite(module, {"stablehlo.dot_general": (*on_cpu, partial(_scaled_once, known))})


def _dot(op: ir.Operation) -> list[ir.Value] | None:
    """The dot with one of its operands as it was before it was scaled, its sums scaled."""
    if "algorithm" in op.attributes or not isinstance(build.element_of(op.results[0]), ir.F32Type):
        return None
    for side in (1, 0):
        found = _scaled(op, side)
        if found is not None:
            narrow, scale, axis = found
            operands = list(op.operands)
            operands[side] = narrow
            sums = value_of(op.name, op.results[0].type, operands, **attributes_of(op))
            return [_times(sums, on_result(op, side, scale, axis))]
    return None


def _times(sums: ir.Value, scale: ir.Value) -> ir.Value:
    """The scale may be of halves, which the sums of a dot of halves need not be."""
    return build.multiply(sums, build.convert(scale, build.element_of(sums)))


def _scaled(op: ir.Operation, side: int) -> tuple[ir.Value, ir.Value, int | None] | None:
    """(values, scale, its dimension) of an operand that is narrow values times a scale."""
    multiplied = producer(op.operands[side], "stablehlo.multiply")
    if multiplied is None or build.count_of(op.results[0]) > build.count_of(op.operands[side]):
        return None
    for values, factor in (multiplied.operands, list(multiplied.operands)[::-1]):
        converted, scale = producer(values, "stablehlo.convert"), scale_of(factor)
        if converted is None or scale is None or str(build.element_of(converted.operands[0])) not in _NARROW:
            continue
        if scale[1] is None or scale[1] in kept_dims(op, side):
            return values, *scale
    return None


def _dot_of_many(known: set[ir.Value], op: ir.Operation) -> list[ir.Value] | None:
    """The dot with its larger operand as it was before it was multiplied by one number, its sums multiplied."""
    if "algorithm" in op.attributes or not isinstance(build.element_of(op.results[0]), ir.F32Type):
        return None
    for side in (0, 1):
        operand = op.operands[side]
        if _FEWER * build.count_of(op.results[0]) > build.count_of(operand):
            continue
        for values, factor in _multiplied(operand, known):
            scale = scale_of(factor)
            if scale is not None and scale[1] is None:
                operands = list(op.operands)
                operands[side] = build.reshape(values, build.shape_of(operand))
                sums = value_of(op.name, op.results[0].type, operands, **attributes_of(op))
                return [_times(sums, on_result(op, side, scale[0], None))]
    return None


def _scaled_once(known: set[ir.Value], op: ir.Operation) -> list[ir.Value] | None:
    """The dot of which the smaller operand is multiplied by the number that both were, one by one."""
    found = [_times_number(operand, known) for operand in op.operands]
    left, right = found
    if left is None or right is None or "algorithm" in op.attributes or len({build.element_of(v) for v in op.operands}) > 1:
        return None
    element = build.element_of(op.operands[0])
    product = ir.FloatAttr(build.scalar(element, left[1] * right[1])).value
    if not _LEAST < abs(product) < 1 / _LEAST:
        return None
    side = 0 if build.count_of(op.operands[0]) <= build.count_of(op.operands[1]) else 1
    operands = [build.reshape(values, build.shape_of(operand)) for (values, _), operand in zip((left, right), op.operands)]
    values = (left, right)[side][0]
    scaled = build.multiply(values, build.full(values.type, product))
    operands[side] = build.reshape(scaled, build.shape_of(op.operands[side]))
    return [value_of(op.name, op.results[0].type, operands, **attributes_of(op))]


def _times_number(operand: ir.Value, known: set[ir.Value]) -> tuple[ir.Value, float] | None:
    """What an operand of floats is, times one number that is known."""
    for values, factor in _multiplied(operand, known) if isinstance(build.element_of(operand), ir.FloatType) else ():
        number = splat_value(factor)
        if number is not None:
            return values, float(number)
    return None


def _multiplied(operand: ir.Value, known: set[ir.Value]) -> list[tuple[ir.Value, ir.Value]]:
    """The two factors of an operand that is computed at each call, and for the dot alone, in either order; none of others."""
    reshaped = producer(operand, "stablehlo.reshape")
    multiplied = producer(operand if reshaped is None else reshaped.operands[0], "stablehlo.multiply")
    if multiplied is None or multiplied.results[0] in known or not (has_one_use(operand) and has_one_use(multiplied.results[0])):
        return []
    a, b = multiplied.operands
    return [(a, b), (b, a)]
