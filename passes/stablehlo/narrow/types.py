"""Narrow types as they are stored: one byte an element, integers extended to it, floats as their codes."""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.runtime.dtypes import NARROW

from ...common.rewriting import any_element, element_of
from ..support import build
from .floats import FORMATS, Format


@dataclass(frozen=True)
class NarrowType:
    """`form`: of a float; None for an integer."""

    bits: int
    signed: bool = False
    form: Format | None = None

    @property
    def storage(self) -> ir.Type:
        """The byte that holds an element: i8 of signed integers, else ui8."""
        return ir.IntegerType.get_signless(8) if self.signed else ir.IntegerType.get_unsigned(8)

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest integer."""
        return (-(1 << self.bits - 1), (1 << self.bits - 1) - 1) if self.signed else (0, (1 << self.bits) - 1)

    @property
    def compute(self) -> ir.Type:
        """The type in which arithmetic is done: f32 of floats, which is exact for them."""
        return ir.F32Type.get() if self.form else self.storage


def narrow_type(element: ir.Type) -> NarrowType | None:
    """What is narrow of an element type, None for any other."""
    name = str(element)
    if name not in NARROW:
        return None
    if isinstance(element, ir.IntegerType):
        return NarrowType(element.width, signed=element.is_signless)
    return NarrowType(element.width, form=FORMATS[name])


def narrow_element(value: ir.Value) -> NarrowType | None:
    """What is narrow of a tensor's elements, None for any other."""
    return narrow_type(element_of(value)) if isinstance(value.type, ir.RankedTensorType) else None


def has_narrow_types(module: ir.Operation) -> bool:
    """Whether a value under `module` has narrow elements."""
    return any_element(module, lambda element: narrow_type(element) is not None)


def wrap(value: ir.Value, narrow: NarrowType) -> ir.Value:
    """Bytes with their lowest bits as an integer of the narrow type."""
    if not narrow.signed:
        return lowest_bits(value, narrow.bits)
    shift = build.full_like(value, 8 - narrow.bits)
    return build.elementwise("shift_right_arithmetic", build.elementwise("shift_left", value, shift), shift)


def lowest_bits(value: ir.Value, bits: int) -> ir.Value:
    """The value with all bits but the lowest ones zero."""
    if bits == element_of(value).width:
        return value
    return build.elementwise("and", value, build.full_like(value, (1 << bits) - 1))


def bytes_of(value: ir.Value) -> ir.Value:
    """Bytes of either sign as ui8."""
    unsigned = build.tensor(build.shape_of(value), ir.IntegerType.get_unsigned(8))
    return build.bitcast(value, unsigned)


def from_bytes(value: ir.Value, narrow: NarrowType) -> ir.Value:
    """Bytes of ui8, of which the lowest bits count, as elements are stored."""
    if not narrow.signed:
        return lowest_bits(value, narrow.bits)
    kind = build.tensor(build.shape_of(value), narrow.storage)
    return wrap(build.elementwise("bitcast_convert", value, result=kind), narrow)
