"""What the oracles get wrong of narrow floats, said in other ops.

- f8E8M0FNU has powers of two and NaN. The interpreter takes its NaN for infinity, and makes the least number of 0, of what is negative and
  of NaN; XLA flushes that number. Here conversions are integer arithmetic on f64's bits, and agree with ml_dtypes'. (Above 2^-127, up to
  1.5 times that, ml_dtypes takes the larger neighbour: here it is the nearer.)
- f6 and f4 have finite numbers alone, and XLA no f6. The interpreter makes some number of infinity and of NaN. Here infinity is the largest
  number, and NaN -0, as ml_dtypes has them.
- chlo.next_after is expanded by both into steps of codes, which are wrong where there is no -0 or no sign. Here it is the least of all the
  numbers above, or the largest of those below.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from values import codes

from .elements import is_integer, largest
from .program import Type, Value

SCALE, FINITE = "f8E8M0FNU", ("f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
_DIRECTION = "comparison_direction = #stablehlo<comparison_direction"
Emit = Callable[..., Value]
"""(name, operands, type, attributes) → the op's result."""


def from_scale(emit: Emit, value: Value, element: str) -> Value:
    """A value of f8E8M0FNU as one of another type of floats."""
    code = emit("bitcast_convert", [value], Type(value.shape, "ui8"))
    is_nan = emit("compare", [code, full(emit, code.type, 255)], Type(value.shape, "i1"), f"{_DIRECTION} EQ>")
    number = emit("convert", [value], Type(value.shape, "f64"))
    nan = emit("constant", [], number.type, f"value = dense<0x7FF8000000000000> : {number.type}")
    chosen = emit("select", [is_nan, nan, number], number.type)
    return chosen if element == "f64" else emit("convert", [chosen], Type(value.shape, element))


def to_scale(emit: Emit, value: Value) -> Value:
    """Numbers as powers of two: the nearest, the larger of two; NaN what is not positive or is too large."""
    shape, flag = value.shape, Type(value.shape, "i1")
    wide = value if value.element == "f64" else emit("convert", [value], Type(shape, "f64"))
    word = Type(shape, "i64")
    bits = emit("bitcast_convert", [wide], word)
    rounded = emit("add", [bits, full(emit, word, 1 << 51)], word)
    power = emit("shift_right_logical", [rounded, full(emit, word, 52)], word)
    code = emit("maximum", [emit("subtract", [power, full(emit, word, 1023 - 127)], word), full(emit, word, 0)], word)
    positive = emit("compare", [wide, full(emit, wide.type, 0)], flag, f"{_DIRECTION} GT>")
    small = emit("compare", [code, full(emit, word, 255)], flag, f"{_DIRECTION} LT>")
    code = emit("select", [emit("and", [positive, small], flag), code, full(emit, word, 255)], word)
    return emit("bitcast_convert", [emit("convert", [code], Type(shape, "ui8"))], Type(shape, SCALE))


def to_finite(emit: Emit, value: Value, element: str) -> Value:
    """Numbers as those of f6 or f4."""
    kind, end = value.type, largest(element)
    within = emit("clamp", [full(emit, kind, -end), value, full(emit, kind, end)], kind)
    is_nan = emit("compare", [value, value], Type(kind.shape, "i1"), f"{_DIRECTION} NE>")
    return emit("convert", [emit("select", [is_nan, full(emit, kind, -0.0), within], kind)], Type(kind.shape, element))


def next_after(emit: Emit, reduce: Callable[[str, Value, Value], Value], x: Value, y: Value, element: str) -> Value:
    """In f32, of numbers of a narrow type; `reduce` (name, operand, init) along the last dimension."""
    shape, flag = x.shape, Type(x.shape, "i1")
    numbers = codes(element).astype(np.float32)
    numbers = np.unique(numbers[~np.isnan(numbers)])
    each, many = Type((*shape, len(numbers)), "f32"), Type((*shape, len(numbers)), "i1")
    listed = ", ".join(f"0x{bits:08X}" for bits in numbers.view(np.uint32).tolist())
    table = emit("constant", [], Type((len(numbers),), "f32"), f"value = dense<[{listed}]> : tensor<{len(numbers)}xf32>")
    table = _spread(emit, table, each, [len(shape)])
    wide = _spread(emit, x, each, list(range(len(shape))))
    found = []
    for direction, name, end in (("GT", "minimum", "0x7F800000"), ("LT", "maximum", "0xFF800000")):
        init = emit("constant", [], Type((), "f32"), f"value = dense<{end}> : tensor<f32>")
        beyond = emit("compare", [table, wide], many, f"{_DIRECTION} {direction}>")
        found.append(reduce(name, emit("select", [beyond, table, _spread(emit, init, each, [])], each), init))
    rises = emit("compare", [x, y], flag, f"{_DIRECTION} LT>")
    moved = emit("select", [rises, *found], x.type)
    zero = full(emit, x.type, 0)
    signed = zero if element.endswith("UZ") else emit("multiply", [x, zero], x.type)
    moved = emit("select", [emit("compare", [moved, zero], flag, f"{_DIRECTION} EQ>"), signed, moved], x.type)
    for value, direction in ((y, "EQ"), (x, "NE"), (y, "NE")):
        other = x if direction == "EQ" else value
        moved = emit("select", [emit("compare", [value, other], flag, f"{_DIRECTION} {direction}>"), value, moved], x.type)
    return moved


def spread_to(emit: Emit, value: Value, shape: tuple[int, ...]) -> Value:
    """As CHLO broadcasts: the last dimensions are the value's."""
    return _spread(emit, value, Type(shape, value.element), list(range(len(shape) - value.rank, len(shape))))


def _spread(emit: Emit, value: Value, kind: Type, dims: list[int]) -> Value:
    if value.type == kind:
        return value
    return emit("broadcast_in_dim", [value], kind, f"broadcast_dimensions = array<i64{': ' if dims else ''}{', '.join(map(str, dims))}>")


def full(emit: Emit, kind: Type, number: float) -> Value:
    """A splat."""
    text = str(number) if is_integer(kind.element) else f"{number:e}"
    return emit("constant", [], kind, f"value = dense<{text}> : {kind}")
