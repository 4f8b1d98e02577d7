"""What becomes of each op on complex numbers, by name; what is not here moves elements, or has regions (support/type_conversion.py)."""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from ..support.type_conversion import Conversion, Edge, Parts, Rule
from . import arithmetic, calls, circular, constants, contractions, edges, exponentials, roots
from .numbers import Real

_FUNCTIONS: dict[str, Callable] = {
    "abs": arithmetic.absolute,
    "add": arithmetic.add,
    "atan2": circular.atan2,
    "cbrt": roots.cbrt,
    "clamp": arithmetic.clamp,
    "cosine": circular.cosine,
    "divide": arithmetic.divide,
    "exponential": exponentials.exponential,
    "exponential_minus_one": exponentials.exponential_minus_one,
    "imag": lambda z: z[1],
    "log": exponentials.log,
    "log_plus_one": exponentials.log_plus_one,
    "logistic": exponentials.logistic,
    "maximum": arithmetic.maximum,
    "minimum": arithmetic.minimum,
    "multiply": arithmetic.multiply,
    "negate": arithmetic.negate,
    "power": exponentials.power,
    "real": lambda z: z[0],
    "rsqrt": roots.rsqrt,
    "sign": arithmetic.sign,
    "sine": circular.sine,
    "sqrt": roots.sqrt,
    "subtract": arithmetic.subtract,
    "tan": circular.tan,
    "tanh": circular.tanh,
}
"""From complex numbers to a complex or a real one."""


def _rule(function: Callable) -> Rule:
    def rule(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
        made = function(*(tuple(map(Real, parts)) for parts in operands))
        return [[part.value for part in (made if isinstance(made, tuple) else (made,))]]

    return rule


_RULES: dict[str, Rule] = {
    **{f"stablehlo.{name}": _rule(function) for name, function in _FUNCTIONS.items()},
    "stablehlo.bitcast_convert": lambda op, operands: operands,
    "stablehlo.compare": arithmetic.compare,
    "stablehlo.complex": lambda op, operands: [[parts[0] for parts in operands]],
    "stablehlo.constant": constants.constant,
    "stablehlo.convert": arithmetic.convert,
    "stablehlo.convolution": contractions.contraction,
    "stablehlo.custom_call": calls.custom_call,
    "stablehlo.dynamic_conv": contractions.contraction,
    "stablehlo.dynamic_iota": constants.iota,
    "stablehlo.dot_general": contractions.contraction,
    "stablehlo.fft": calls.fft,
    "stablehlo.iota": constants.iota,
}
CONVERSION = Conversion(
    edges.parts_of,
    _RULES,
    Edge(edges.stored, edges.split, edges.join),
    remedy="write the function on real and imaginary parts",
)
