"""What StableHLO ops compute, on NumPy arrays: for folding constants, so anything in doubt is declined (None).

Declined: division by zero and overflow, conversions out of range, extrema of zeros of different sign, double rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
from torch_mlir import ir

from .constants import dtype_of

Arrays = list[np.ndarray]
Evaluator = Callable[[ir.Operation, Arrays], "np.ndarray | None"]

_HALF = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def _arithmetic(function: Callable, on_bool: Callable | None = None) -> Evaluator:
    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        if args[0].dtype == np.bool_:
            return on_bool(*args) if on_bool else None
        return function(*args)

    return evaluate


def _quotient(function: Callable) -> Evaluator:
    """Truncating division of integers: NumPy's floors, so magnitudes are divided."""

    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        x, y = args
        if is_float(x.dtype):
            return function(x, y)
        if x.dtype == np.bool_ or np.any(y == 0) or (x.dtype.kind == "i" and np.any(x == np.iinfo(x.dtype).min)):
            return None
        if function is np.fmod:
            return np.fmod(x, y)
        quotient = np.abs(x) // np.abs(y)
        return np.where((x < 0) != (y < 0), -quotient, quotient).astype(x.dtype) if x.dtype.kind == "i" else quotient

    return evaluate


def _extremum(function: Callable, on_bool: Callable) -> Evaluator:
    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        x, y = args
        if x.dtype == np.bool_:
            return on_bool(x, y)
        if is_float(x.dtype) and np.any((x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))):
            return None
        return function(x, y)

    return evaluate


def _bitwise(function: Callable) -> Evaluator:
    return lambda op, args: None if is_float(args[0].dtype) else function(*args)


def _shift(function: Callable, signed: bool = False) -> Evaluator:
    """Shifts by the width or more move every bit out; an arithmetic one leaves the topmost bit everywhere, of unsigned types too."""

    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        x, amount = args
        if x.dtype.kind not in "iu":
            return None
        size = x.dtype.itemsize
        computed = np.dtype(f"{'i' if signed else 'u'}{size}")
        inside = amount.astype(f"u{size}") < size * 8
        shifted = function(x.astype(computed), np.where(inside, amount, size * 8 - 1).astype(computed))
        return (shifted if signed else np.where(inside, shifted, 0)).astype(x.dtype)

    return evaluate


def _real(function: Callable) -> Evaluator:
    """A function of floats, computed in f64 and rounded once."""

    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        if not is_float(args[0].dtype):
            return None
        return function(*[a.astype(np.float64) for a in args]).astype(args[0].dtype)

    return evaluate


def _sign(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    (x,) = args
    return None if x.dtype == np.bool_ else np.where(x == 0, x, np.sign(x)).astype(x.dtype)


def _compare(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    if "compare_type" in op.attributes and "TOTALORDER" in str(op.attributes["compare_type"]):
        return None
    direction = str(op.attributes["comparison_direction"]).rstrip(">").split()[-1]
    names = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal}
    return names[direction](*args)


def _clamp(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    low, x, high = args
    if is_float(x.dtype) and any(np.any(a == 0) or np.any(np.isnan(a.astype(np.float64))) for a in args):
        return None
    return np.minimum(np.maximum(x, low), high)


def _convert(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    (x,) = args
    to = dtype_of(ir.RankedTensorType(op.results[0].type).element_type)
    if to is None:
        return None
    if to == np.bool_:
        return x != 0
    if is_float(x.dtype) and not is_float(to):
        limits = np.iinfo(to)
        wide = np.trunc(x.astype(np.float64))
        inside = np.isfinite(wide) & (wide >= float(limits.min)) & (wide < float(limits.max) + (to.itemsize < 8))
        return wide.astype(to) if np.all(inside) else None
    if to in _HALF and x.dtype.itemsize >= 4:  # NumPy goes through f32, so that must be exact
        single = x.astype(np.float32)
        same = (single.astype(x.dtype) == x) | (x != x)
        return single.astype(to) if np.all(same) else None
    return x.astype(to)


def _bitcast(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    (x,) = args
    to = dtype_of(ir.RankedTensorType(op.results[0].type).element_type)
    if to is None or to.itemsize != x.dtype.itemsize or np.bool_ in (to, x.dtype):
        return None
    return np.ascontiguousarray(x).view(to).reshape(x.shape)


EVALUATORS: dict[str, Evaluator] = {
    "abs": lambda op, args: np.abs(args[0]),
    "add": _arithmetic(np.add, np.logical_or),
    "and": _bitwise(np.bitwise_and),
    "bitcast_convert": _bitcast,
    "ceil": _arithmetic(np.ceil),
    "clamp": _clamp,
    "compare": _compare,
    "convert": _convert,
    "cosine": _real(np.cos),
    "divide": _quotient(np.divide),
    "exponential": _real(np.exp),
    "exponential_minus_one": _real(np.expm1),
    "floor": _arithmetic(np.floor),
    "is_finite": lambda op, args: np.isfinite(args[0]),
    "log": _real(np.log),
    "log_plus_one": _real(np.log1p),
    "maximum": _extremum(np.maximum, np.logical_or),
    "minimum": _extremum(np.minimum, np.logical_and),
    "multiply": _arithmetic(np.multiply, np.logical_and),
    "negate": _arithmetic(np.negative),
    "not": _bitwise(np.invert),
    "or": _bitwise(np.bitwise_or),
    "power": _real(np.power),
    "remainder": _quotient(np.fmod),
    "round_nearest_even": _arithmetic(np.rint),
    "rsqrt": _real(lambda x: 1 / np.sqrt(x)),
    "select": lambda op, args: np.where(*args).astype(args[1].dtype),
    "shift_left": _shift(np.left_shift),
    "shift_right_arithmetic": _shift(np.right_shift, signed=True),
    "shift_right_logical": _shift(np.right_shift),
    "sign": _sign,
    "sine": _real(np.sin),
    "sqrt": _arithmetic(np.sqrt),
    "subtract": _arithmetic(np.subtract),
    "tanh": _real(np.tanh),
    "xor": _bitwise(np.bitwise_xor),
}


def evaluate(name: str, op: ir.Operation, args: Arrays) -> np.ndarray | None:
    """The result of the elementwise op on those arrays (all of one shape, or scalars that broadcast), or None."""
    evaluator = EVALUATORS.get(name)
    if evaluator is None:
        return None
    with np.errstate(all="ignore"):
        return evaluator(op, args)
