"""Recognises the activation functions that libraries apply to a matrix product or a convolution before they write it.

relu is known by its form: max(x, 0), clamp(0, x, ∞), or a select between x and 0 by a comparison of the two. They differ in what they make
of NaN only, about which the libraries promise nothing. gelu is known by its values: a function made of sums, products, powers and tanh
alone is analytic, so one that agrees with 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) all along [-6, 6], as closely as its types
can hold the constants, is that function, however it is written. gelu by erf is another function and is declined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from ..stablehlo.support import build, constants

_RELU = frozenset(("maximum", "clamp", "compare", "select"))
_ANALYTIC: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "negate": np.negative,
    "power": np.power,
    "tanh": np.tanh,
    "convert": lambda x: x,
}
_EPSILON = {"bf16": 2.0**-8, "f16": 2.0**-10}
_OPS = 16
"""An activation has no more ops than this."""


@dataclass(frozen=True)
class Activation:
    """`result` is the function `name` of a value; `ops` compute it and are of no use to anyone else."""

    name: str
    ops: tuple[ir.Operation, ...]
    result: ir.Value


def read_activation(value: ir.Value) -> Activation | None:
    """The activation that is all that is made of `value`, or None."""
    made: dict[ir.Value, ir.Operation | None] = {value: None}
    ops: list[ir.Operation] = []
    while len(ops) < _OPS:
        users = [use.owner.operation for known in made for use in known.uses]
        following = next((op for op in users if op not in ops and _is_next(op, made)), None)
        if following is None:
            return None
        ops.append(following)
        result = following.results[0]
        made[result] = following
        if all(use.owner.operation in ops for known in made if known != result for use in known.uses):
            name = _name(value, ops, result)
            if name:
                return Activation(name, tuple(ops), result)
    return None


def _is_next(op: ir.Operation, made: dict[ir.Value, ir.Operation | None]) -> bool:
    name = op.name.removeprefix("stablehlo.")
    if name not in _RELU and name not in _ANALYTIC:
        return False
    return all(operand in made or constants.splat_value(operand) is not None for operand in op.operands)


def _name(value: ir.Value, ops: list[ir.Operation], result: ir.Value) -> str | None:
    names = {op.name.removeprefix("stablehlo.") for op in ops}
    if names <= _RELU and _is_relu(value, ops):
        return "relu"
    if "tanh" in names and names <= _ANALYTIC.keys() and _is_gelu(value, ops, result):
        return "gelu"
    return None


def _is_relu(value: ir.Value, ops: list[ir.Operation]) -> bool:
    last = ops[-1]
    operands = list(last.operands)
    if len(ops) == 1 and last.name == "stablehlo.maximum":
        return any(_is_zero(x) for x in operands)
    if len(ops) == 1 and last.name == "stablehlo.clamp":
        return _is_zero(operands[0]) and operands[1] == value and constants.splat_value(operands[2]) == np.inf
    if len(ops) != 2 or last.name != "stablehlo.select" or ops[0].name != "stablehlo.compare" or operands[0] != ops[0].results[0]:
        return False
    left, right = ops[0].operands
    greater = any(order in str(ops[0].attributes["comparison_direction"]) for order in ("GT", "GE"))
    less = any(order in str(ops[0].attributes["comparison_direction"]) for order in ("LT", "LE"))
    if right == value:
        left, right, greater, less = right, left, less, greater
    kept, dropped = operands[1:] if greater else operands[:0:-1]
    return (greater or less) and left == value and _is_zero(right) and kept == value and _is_zero(dropped)


def _is_zero(value: ir.Value) -> bool:
    return constants.splat_value(value) == 0


def _is_gelu(value: ir.Value, ops: list[ir.Operation], result: ir.Value) -> bool:
    x = np.linspace(-6, 6, 241)
    found: dict[ir.Value, np.ndarray] = {value: x}
    with np.errstate(all="ignore"):
        for op in ops:
            operands = [found[v] if v in found else np.float64(constants.splat_value(v)) for v in op.operands]
            found[op.results[0]] = _ANALYTIC[op.name.removeprefix("stablehlo.")](*operands)
    expected = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    tolerance = max(_EPSILON.get(str(build.element_of(v)), 1e-5) for v in found)
    return bool(np.all(np.abs(found[result] - expected) <= tolerance))
