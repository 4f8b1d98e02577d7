"""Conversions between narrow and other types, each rounded once.

Floats become integers of the nearest value towards zero, the ends of the range where they are outside, 0 for NaN; integers become narrower
ones by their lowest bits.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import element_of
from ..support import build
from .floats import decode, encode
from .types import NarrowType, narrow_type, wrap

_BEYOND = 1 << 20
"""Of a magnitude that is beyond every signed format, and exact in f32."""


def to_compute(value: ir.Value, narrow: NarrowType | None) -> ir.Value:
    """Stored elements as those that are computed with; others as they are."""
    return decode(value, narrow.form) if narrow is not None and narrow.form else value


def from_compute(value: ir.Value, narrow: NarrowType | None, closed: bool = False) -> ir.Value:
    """What was computed as it is stored; `closed`: it is within the range of integers."""
    if narrow is None:
        return value
    if narrow.form:
        return encode(value, narrow.form)
    return value if closed else wrap(value, narrow)


def convert(value: ir.Value, source: ir.Type, target: ir.Type) -> ir.Value:
    """A value of type `source` as one of type `target`, each stored."""
    before, after = narrow_type(source), narrow_type(target)
    if source == target:
        return value
    if before is not None and before.form:
        return convert(decode(value, before.form), ir.F32Type.get(), target)
    if after is None:
        return build.convert(value, target)
    if isinstance(element_of(value), ir.FloatType):
        return _from_float(value, after)
    return _float_of_integer(value, after) if after.form else wrap(build.convert(value, after.storage), after)


def _from_float(value: ir.Value, after: NarrowType) -> ir.Value:
    if element_of(value).width < 32:
        value = build.convert(value, ir.F32Type.get())
    if after.form:
        return encode(value, after.form)
    return build.convert(_clamp(value, *after.limits), after.storage)


def _float_of_integer(value: ir.Value, after: NarrowType) -> ir.Value:
    assert after.form is not None
    element = element_of(value)
    if element.width <= 16:
        return encode(build.convert(value, ir.F32Type.get()), after.form)
    if after.form.signed:
        within = _clamp(value, 0 if element.is_unsigned else -_BEYOND, _BEYOND)
        return encode(build.convert(within, ir.F32Type.get()), after.form)
    if element.width == 64:
        value = _sticky(value)
    return encode(build.convert(value, ir.F64Type.get()), after.form)


def _clamp(value: ir.Value, least: int, largest: int) -> ir.Value:
    low, high = (build.full(build.tensor([], element_of(value)), v) for v in (least, largest))
    return build.elementwise("clamp", low, value, high, result=value.type)


def _sticky(value: ir.Value) -> ir.Value:
    """An integer of 64 bits as one that is exact in f64, and on the same side of each tie of powers of two: its lowest 12 bits as one."""
    low = build.full_like(value, (1 << 12) - 1)
    odd = build.full_like(value, 1 << 12)
    none = build.full_like(value, 0)
    cut = build.elementwise("and", value, build.elementwise("not", low))
    inexact = build.compare("NE", build.elementwise("and", value, low), none)
    large = build.compare("GE", value, build.full_like(value, 1 << 53))
    rounded = build.select(inexact, build.elementwise("or", cut, odd), cut)
    return build.select(large, rounded, value)
