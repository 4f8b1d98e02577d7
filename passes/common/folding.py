"""What StableHLO ops compute, on NumPy arrays: for folding constants, so anything in doubt is declined (None).

Declined: division by zero and overflow, conversions out of range, extrema of zeros of different sign, double rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import ml_dtypes
import numpy as np
from torch_mlir import ir

from hloom.runtime.dtypes import COMPUTED, numpy_dtype

from .rewriting import element_of, integer, integers, keyword

Arrays = list[np.ndarray]
Evaluator = Callable[[ir.Operation, Arrays], "np.ndarray | None"]

_HALF = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def dtype_of(element: ir.Type) -> np.dtype | None:
    """NumPy's type of an element type, or None where there is none."""
    name = str(element)
    return numpy_dtype(name) if name in COMPUTED else None


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def plain(function: Callable) -> Evaluator:
    """NumPy's function is the op, whatever the element."""
    return lambda op, args: function(*args)


def arithmetic(function: Callable, on_bool: Callable) -> Evaluator:
    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        return (on_bool if args[0].dtype == np.bool_ else function)(*args)

    return evaluate


def quotient(function: Callable) -> Evaluator:
    """Truncating division of integers: NumPy's floors, so magnitudes are divided."""

    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        x, y = args
        if is_float(x.dtype):
            return function(x, y)
        if np.any(y == 0) or (x.dtype.kind == "i" and np.any(x == np.iinfo(x.dtype).min)):
            return None
        if function is np.fmod:
            return np.fmod(x, y)
        quotient = np.abs(x) // np.abs(y)
        return np.where((x < 0) != (y < 0), -quotient, quotient).astype(x.dtype) if x.dtype.kind == "i" else quotient

    return evaluate


def extremum(function: Callable, on_bool: Callable) -> Evaluator:
    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        x, y = args
        if x.dtype == np.bool_:
            return on_bool(x, y)
        if is_float(x.dtype) and np.any((x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))):
            return None
        return function(x, y)

    return evaluate


def shift(function: Callable, signed: bool = False) -> Evaluator:
    """Shifts by the width or more move every bit out; an arithmetic one leaves the topmost bit everywhere, of unsigned types too."""

    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        x, amount = args
        size = x.dtype.itemsize
        computed = np.dtype(f"{'i' if signed else 'u'}{size}")
        inside = amount.astype(f"u{size}") < size * 8
        shifted = function(x.astype(computed), np.where(inside, amount, size * 8 - 1).astype(computed))
        return (shifted if signed else np.where(inside, shifted, 0)).astype(x.dtype)

    return evaluate


def real(function: Callable) -> Evaluator:
    """A function of floats, computed in f64 and rounded once."""

    def evaluate(op: ir.Operation, args: Arrays) -> np.ndarray | None:
        if not is_float(args[0].dtype):
            return None
        return function(*[a.astype(np.float64) for a in args]).astype(args[0].dtype)

    return evaluate


def sign(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    (x,) = args
    return np.where(x == 0, x, np.sign(x)).astype(x.dtype)


def compare(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    if "compare_type" in op.attributes and "TOTALORDER" in str(op.attributes["compare_type"]):
        return None
    direction = keyword(op, "comparison_direction")
    names = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal}
    return names[direction](*args)


def clamp(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    low, x, high = args
    if is_float(x.dtype) and (any(np.isnan(a.astype(np.float64)).any() for a in args) or _has_both_zeros(args)):
        return None
    return np.minimum(np.maximum(x, low), high)


def _has_both_zeros(args: Arrays) -> bool:
    """Whether somewhere one is 0 and another -0: which of them is the greater the processor decides."""
    signs = [np.signbit(a.astype(np.float64)) for a in args]
    both = (np.any((a == 0) & (b == 0) & (s != t)) for (a, s), (b, t) in combinations(zip(args, signs), 2))
    return any(both)


def convert(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    (x,) = args
    to = dtype_of(element_of(op.results[0]))
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


def bitcast(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    (x,) = args
    to = dtype_of(element_of(op.results[0]))
    if to is None or to.itemsize != x.dtype.itemsize or np.bool_ in (to, x.dtype):
        return None
    return np.ascontiguousarray(x).view(to).reshape(x.shape)


def select(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    return np.where(*args).astype(args[1].dtype)


# -- data movement ----------------------------------------------------------------------------------------------------------------------


def splats(op: ir.Operation, args: Arrays) -> np.ndarray | None:
    """Declines all but what is folded without computing: operands that are one splat."""
    return None


def broadcast(op: ir.Operation, args: Arrays) -> np.ndarray:
    dimensions = integers(op, "broadcast_dimensions")
    shape = ir.RankedTensorType(op.results[0].type).shape
    turned = args[0].transpose(sorted(range(len(dimensions)), key=dimensions.__getitem__))
    sizes = dict(zip(sorted(dimensions), turned.shape))
    return np.broadcast_to(turned.reshape([sizes.get(d, 1) for d in range(len(shape))]), shape)


def concatenate(op: ir.Operation, args: Arrays) -> np.ndarray:
    return np.concatenate(args, axis=integer(op, "dimension"))


def reshape(op: ir.Operation, args: Arrays) -> np.ndarray:
    return args[0].reshape(ir.RankedTensorType(op.results[0].type).shape)


def reverse(op: ir.Operation, args: Arrays) -> np.ndarray:
    return np.flip(args[0], tuple(integers(op, "dimensions")))


def slice_(op: ir.Operation, args: Arrays) -> np.ndarray:
    bounds = zip(*(integers(op, name) for name in ("start_indices", "limit_indices", "strides")))
    return args[0][tuple(slice(*bound) for bound in bounds)]


def transpose(op: ir.Operation, args: Arrays) -> np.ndarray:
    return args[0].transpose(integers(op, "permutation"))
