"""Floats of 4, 6 and 8 bits as codes, one a byte: to f32 exactly, and from f32 or f64 rounded once, in StableHLO ops on integers.

A format is told by its numbers of exponent and mantissa bits, its bias, and what its topmost codes mean (`FORMATS`, which agree with
ml_dtypes code by code). Zeros and subnormals are powers of two times the code, so that no f32 that is computed is itself subnormal: what
flushes those to zero changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from ..support import build

F32_BITS, F64_BITS = (23, 127), (52, 1023)
"""Mantissa bits and bias."""


@dataclass(frozen=True)
class Format:
    """A float of `exponent + mantissa` bits, and a sign bit where it is `signed`. Codes are without the sign.

    `largest`: of the largest finite number; `infinity`: of infinity, or None; `nan`: what a NaN becomes; `beyond`: what is too large;
    `negative_zero`: whether it has one (where it has none, that code is the NaN).
    """

    exponent: int
    mantissa: int
    bias: int
    largest: int
    nan: int
    beyond: int
    infinity: int | None = None
    negative_zero: bool = True
    signed: bool = True

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.exponent + self.mantissa)


def _ieee(exponent: int, mantissa: int) -> Format:
    """The topmost exponent is that of infinity and NaN."""
    infinity = ((1 << exponent) - 1) << mantissa
    return Format(exponent, mantissa, (1 << (exponent - 1)) - 1, infinity - 1, infinity | 1 << (mantissa - 1), infinity, infinity)


def _without_negative_zero(exponent: int, mantissa: int, bias: int) -> Format:
    """All codes are finite but that of -0, the NaN."""
    nan = 1 << (exponent + mantissa)
    return Format(exponent, mantissa, bias, nan - 1, nan, nan, negative_zero=False)


def _finite(exponent: int, mantissa: int, bias: int) -> Format:
    """All codes are finite: what is too large becomes the largest, and NaN -0."""
    sign = 1 << (exponent + mantissa)
    return Format(exponent, mantissa, bias, sign - 1, sign, sign - 1)


FORMATS = {
    "f8E5M2": _ieee(5, 2),
    "f8E4M3": _ieee(4, 3),
    "f8E3M4": _ieee(3, 4),
    "f8E4M3FN": Format(4, 3, 7, 0x7E, 0x7F, 0x7F),
    "f8E5M2FNUZ": _without_negative_zero(5, 2, 16),
    "f8E4M3FNUZ": _without_negative_zero(4, 3, 8),
    "f8E4M3B11FNUZ": _without_negative_zero(4, 3, 11),
    "f8E8M0FNU": Format(8, 0, 127, 0xFE, 0xFF, 0xFF, signed=False),
    "f6E2M3FN": _finite(2, 3, 1),
    "f6E3M2FN": _finite(3, 2, 3),
    "f4E2M1FN": _finite(2, 1, 1),
}
"""By MLIR's name of the type."""


class _Bits:
    """Ops on tensors of signless integers of one width and shape."""

    def __init__(self, shape: list[int], width: int):
        self.shape = shape
        self.element = ir.IntegerType.get_signless(width)
        self.float = ir.F32Type.get() if width == 32 else ir.F64Type.get()
        self.kind = build.tensor(shape, self.element)

    def number(self, value: int) -> ir.Value:
        return build.full(self.kind, value)

    def real(self, value: float) -> ir.Value:
        return build.full(build.tensor(self.shape, self.float), value)

    def of(self, value: ir.Value) -> ir.Value:
        """The bits of floats."""
        return build.elementwise("bitcast_convert", value, result=self.kind)

    def as_float(self, bits: ir.Value) -> ir.Value:
        return build.elementwise("bitcast_convert", bits, result=build.tensor(self.shape, self.float))

    def op(self, name: str, x: ir.Value, y: ir.Value | int) -> ir.Value:
        return build.elementwise(name, x, self.number(y) if isinstance(y, int) else y)

    def select(self, x: ir.Value, direction: str, limit: int, then: ir.Value | int, otherwise: ir.Value | int) -> ir.Value:
        """`then` where x compares so with the limit."""
        chosen = build.compare(direction, x, self.number(limit))
        then, otherwise = (self.number(v) if isinstance(v, int) else v for v in (then, otherwise))
        return build.select(chosen, then, otherwise)


def decode(codes: ir.Value, form: Format) -> ir.Value:
    """The f32s that the codes, of ui8, stand for."""
    b = _Bits(build.shape_of(codes), 32)
    code = build.convert(codes, b.element)
    if not form.signed:
        bits = b.select(code, "EQ", 0, 1 << 22, b.op("shift_left", code, F32_BITS[0]))
        return b.as_float(b.select(code, "EQ", form.nan, 0x7FC00000, bits))
    magnitude = b.op("and", code, form.sign - 1)
    shifted = b.op("shift_left", magnitude, F32_BITS[0] - form.mantissa)
    bits = b.op("add", shifted, (F32_BITS[1] - form.bias) << F32_BITS[0])
    unit = b.real(2.0 ** (1 - form.bias - form.mantissa))
    small = build.multiply(build.convert(magnitude, b.float), unit)
    bits = b.select(magnitude, "LT", 1 << form.mantissa, b.of(small), bits)
    if form.infinity is not None:
        bits = b.select(magnitude, "GE", form.infinity, b.op("or", shifted, 0x7F800000), bits)
    elif form.nan < form.sign:
        bits = b.select(magnitude, "EQ", form.nan, 0x7FC00000, bits)
    sign = b.op("shift_left", b.op("and", code, form.sign), 31 - form.exponent - form.mantissa)
    bits = b.op("or", bits, sign)
    if not form.negative_zero:
        bits = b.select(code, "EQ", form.nan, 0xFFC00000, bits)
    return b.as_float(bits)


def encode(values: ir.Value, form: Format) -> ir.Value:
    """The codes, of ui8, nearest to values of f32 or f64; ties to even codes."""
    wide = build.element_of(values) == ir.F64Type.get()
    b = _Bits(build.shape_of(values), 64 if wide else 32)
    mantissa, bias = F64_BITS if wide else F32_BITS
    infinity = (2 * bias + 1) << mantissa
    bits = b.of(values)
    magnitude = b.op("and", bits, (1 << b.element.width - 1) - 1)
    code = _nearest(b, magnitude, form, mantissa, bias) if form.signed else _nearest_power(b, magnitude, mantissa, bias)
    code = b.select(code, "GT", form.largest, form.beyond, code)
    code = b.select(magnitude, "GT", infinity, form.nan, code)
    if not form.signed:
        return _byte(b.select(bits, "LE", 0, form.nan, code))
    sign = b.op("and", b.op("shift_right_logical", bits, b.element.width - 1 - form.exponent - form.mantissa), form.sign)
    signed = b.op("or", code, sign)
    return _byte(signed if form.negative_zero else b.select(code, "EQ", 0, 0, signed))


def _nearest(b: _Bits, magnitude: ir.Value, form: Format, mantissa: int, bias: int) -> ir.Value:
    """The code of a magnitude, as if the format had no largest number."""
    dropped = mantissa - form.mantissa
    last = b.op("and", b.op("shift_right_logical", magnitude, dropped), 1)
    rounded = b.op("add", b.op("add", magnitude, (1 << (dropped - 1)) - 1), last)
    normal = b.op("subtract", b.op("shift_right_logical", rounded, dropped), (bias - form.bias) << form.mantissa)
    # adding a number whose last place is the format's smallest rounds to that
    place = mantissa + 1 - form.bias - form.mantissa
    moved = build.add(b.as_float(magnitude), b.real(2.0**place))
    small = b.op("subtract", b.of(moved), (bias + place) << mantissa)
    return b.select(magnitude, "LT", (bias + 1 - form.bias) << mantissa, small, normal)


def _nearest_power(b: _Bits, magnitude: ir.Value, mantissa: int, bias: int) -> ir.Value:
    """The exponent of the nearest power of two from 2^-127 on, the larger of two."""
    half = 1 << (mantissa - 1)
    power = b.op("subtract", b.op("shift_right_logical", b.op("add", magnitude, half), mantissa), bias - F32_BITS[1])
    least = ((bias - F32_BITS[1]) << mantissa) + (half if bias > F32_BITS[1] else half + half // 2)
    return b.select(magnitude, "LT", least, 0, power)


def _byte(code: ir.Value) -> ir.Value:
    return build.convert(code, ir.IntegerType.get_unsigned(8))


def next_after(codes: ir.Value, targets: ir.Value, form: Format) -> ir.Value:
    """The neighbours of the codes' numbers in the direction of the targets', which they become where both are alike; NaN beside NaN."""
    b = _Bits(build.shape_of(codes), 32)
    x, y = decode(codes, form), decode(targets, form)
    code = build.convert(codes, b.element)
    magnitude = b.op("and", code, form.sign - 1) if form.signed else code
    sign = b.op("subtract", code, magnitude)
    zero = build.zero(b.shape, b.float)
    is_zero, rises = build.compare("EQ", x, zero), build.compare("LT", x, y)
    one, minus_one = b.number(1), b.number(-1)
    away = build.compare("EQ", build.convert(rises, b.element), build.convert(build.compare("LT", zero, x), b.element))
    moved = b.op("add", magnitude, build.select(away, one, minus_one))
    if form.signed:
        moved = build.select(is_zero, one, moved)
        sign = build.select(is_zero, build.select(rises, b.number(0), b.number(form.sign)), sign)
    moved = b.select(moved, "GT", form.largest if form.infinity is None else form.infinity, form.nan, moved)
    signed = b.op("or", moved, sign)
    moved = signed if form.negative_zero else b.select(moved, "EQ", 0, 0, signed)
    moved = build.select(build.compare("EQ", x, y), build.convert(targets, b.element), moved)
    if form.nan < form.sign or not form.signed or not form.negative_zero:
        for value in (x, y):
            moved = build.select(build.compare("NE", value, value), b.number(form.nan), moved)
    return _byte(moved)


def reduce_precision(codes: ir.Value, form: Format, exponent: int, mantissa: int) -> ir.Value:
    """The codes rounded to so many mantissa bits, ties to even; what has no exponent of so many bits becomes infinity or 0. NaNs stay."""
    b = _Bits(build.shape_of(codes), 32)
    code = build.convert(codes, b.element)
    magnitude = rounded = b.op("and", code, form.sign - 1) if form.signed else code
    if mantissa < form.mantissa:
        dropped = form.mantissa - mantissa
        last = b.op("and", b.op("shift_right_logical", magnitude, dropped), 1)
        rounded = b.op("add", b.op("add", magnitude, (1 << (dropped - 1)) - 1), last)
        rounded = b.op("and", rounded, -1 << dropped)
    if exponent < form.exponent:
        bias, step = (1 << (exponent - 1)) - 1, 1 << form.mantissa
        rounded = b.select(rounded, "LT", (form.bias - bias + 1) * step, 0, rounded)
        rounded = b.select(rounded, "GE", (form.bias + bias + 1) * step, form.beyond, rounded)
    rounded = b.select(rounded, "GT", form.largest, form.beyond, rounded)
    if form.signed:
        signed = b.op("or", rounded, b.op("and", code, form.sign))
        rounded = signed if form.negative_zero else b.select(rounded, "EQ", 0, 0, signed)
    if form.nan < form.sign or not form.signed:
        infinity = form.largest if form.infinity is None else form.infinity
        return _byte(b.select(magnitude, "GT", infinity, code, rounded))
    return _byte(rounded if form.negative_zero else b.select(code, "EQ", form.nan, code, rounded))
