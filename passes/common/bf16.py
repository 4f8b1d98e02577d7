"""Scalars and vectors of bf16, and the integers that hold their bits. Emits at the insertion point."""

from __future__ import annotations

from torch_mlir import ir

from .dense_constants import is_splat
from .rewriting import producer, value_of
from .vectors import splat


def is_of(type_: ir.Type, element: type[ir.Type]) -> bool:
    """Whether the type is `element`, or a vector of a fixed number of it."""
    if isinstance(type_, ir.VectorType):
        return isinstance(type_.element_type, element) and not type_.scalable
    return isinstance(type_, element)


def with_element(like: ir.Type, element: ir.Type) -> ir.Type:
    """`element`, or a vector of it where `like` is a vector."""
    return ir.VectorType.get(like.shape, element) if isinstance(like, ir.VectorType) else element


def integers(like: ir.Type, width: int) -> ir.Type:
    """The integer of `width` bits, or a vector of it where `like` is a vector."""
    return with_element(like, ir.IntegerType.get_signless(width))


def upper_half(single: ir.Value) -> ir.Value:
    """The upper 16 bits of f32 as bf16: exact where the lower ones are 0."""
    i16, i32 = integers(single.type, 16), integers(single.type, 32)
    bits = value_of("arith.shrui", i32, [value_of("arith.bitcast", i32, [single]), splat(i32, 16)])
    return value_of("arith.bitcast", with_element(single.type, ir.BF16Type.get()), [value_of("arith.trunci", i16, [bits])])


def even_first(count: int) -> list[int]:
    """The order of `count` lanes in which those with even numbers come before the others: a shift and a mask widen bf16 in it."""
    return [*range(0, count, 2), *range(1, count, 2)]


def in_turn_again(count: int) -> list[int]:
    """The order that undoes `even_first`."""
    return [lane // 2 + lane % 2 * (count // 2) for lane in range(count)]


def known_integer(value: ir.Value) -> int | None:
    """The constant integer that `value` is, in all its lanes; None where it is no such."""
    constant = producer(value, "arith.constant")
    number = None if constant is None else constant.attributes["value"]
    if is_splat(number):
        number = ir.DenseElementsAttr(number).get_splat_value()
    return number.value if isinstance(number, ir.IntegerAttr) else None
