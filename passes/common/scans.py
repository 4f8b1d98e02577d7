"""Scans: windowed reductions in which each result combines all elements up to its own place, as a cumulative sum does."""

from __future__ import annotations

import itertools
import math

from torch_mlir import ir

from .ops import OPS
from .reductions import neutral_element
from .rewriting import defining_op, element_of, integers, keyword, ops_in, padding_pairs
from .scalar_code import Typed

ASSOCIATIVE = "hloom.associative"
"""On a windowed reduction: its body is associative, and its initial values neutral. It may have several operands."""
_LONGEST = 16
"""Ops of a body that is looked at as a whole."""


def scan_dim(op: ir.Operation, backwards: bool = False) -> int | None:
    """The dimension along which a reduce_window is a scan (`backwards`: from the last element on); None where it is another window.

    Its window is as long as the dimension, the only one, and padded by all of it but an element before the first; its body is one
    associative op on its arguments, and the initial value that which this op leaves as it is.
    """
    several = op.name == "stablehlo.reduce_window" and len(op.operands) != 2
    if op.name != "stablehlo.reduce_window" or (several and ASSOCIATIVE not in op.attributes) or not starts_neutral(op):
        return None
    window = integers(op, "window_dimensions")
    ones = [1] * len(window)
    along = [d for d, n in enumerate(window) if n > 1]
    if len(along) != 1 or any(integers(op, name, ones) != ones for name in ("window_strides", "window_dilations", "base_dilations")):
        return None
    (dim,), length = along, window[along[0]]
    pairs = [(0, 0)] * len(window)
    pairs[dim] = (0, length - 1) if backwards else (length - 1, 0)
    extent = ir.RankedTensorType(op.operands[0].type).shape[dim]
    return dim if extent == length and [tuple(pair) for pair in padding_pairs(op, len(window))] == pairs else None


def starts_neutral(op: ir.Operation) -> bool:
    """Whether the body of a windowed reduction of one operand is one associative op on its arguments, or the logarithm of a sum of
    exponentials, and the initial value neutral; or whoever built the op says so, of another body.
    """
    if ASSOCIATIVE in op.attributes:
        return True
    block, owner = op.regions[0].blocks[0], defining_op(op.operands[1])
    if owner is None or owner.name != "stablehlo.constant" or not isinstance(owner.attributes["value"], ir.DenseElementsAttr):
        return False
    neutral = _neutral(block, element_of(op.operands[0]))
    return neutral is not None and _number(neutral) == _number(ir.DenseElementsAttr(owner.attributes["value"]).get_splat_value())


def _neutral(block: ir.Block, element: ir.Type) -> ir.Attribute | None:
    """What the body leaves as it is, if that is known to be associative."""
    ops = ops_in(block)
    if len(ops) == 2:
        plain = list(ops[0].operands) in (list(block.arguments), list(block.arguments)[::-1])
        return neutral_element(scalar_op(ops[0].name, element), element) if plain else None
    if len(ops) > _LONGEST or not any(op.name == "stablehlo.log_plus_one" for op in ops) or not isinstance(element, ir.FloatType):
        return None
    return ir.FloatAttr.get(element, -math.inf) if any(_adds_exponentials(block, each) for each in itertools.permutations("ab")) else None


def _adds_exponentials(block: ir.Block, names: tuple[str, ...]) -> bool:
    """Whether the body is log(e^a + e^b), written as the larger of a and b and log1p(e^-|a - b|): equal infinities alone are added."""
    apart = ("subtract", "a", "b")
    rest = ("log_plus_one", ("exponential", ("negate", ("abs", apart))))
    known = "add", frozenset([("maximum", frozenset("ab")), rest])
    form = "select", ("compare NE", apart, apart), ("add", frozenset("ab")), known
    return _term(ops_in(block)[-1].operands[0], dict(zip(block.arguments, names))) == form


def _term(value: ir.Value, known: dict[ir.Value, object]) -> object:
    """What computes a value: the name of an op and its operands, of which there is no order where that does not matter."""
    op = defining_op(value)
    if value in known or op is None:
        return known.get(value)
    name, operands = op.name.removeprefix("stablehlo."), tuple(_term(operand, known) for operand in op.operands)
    if name == "compare":
        name += f" {keyword(op, 'comparison_direction')}"
    return (name, frozenset(operands)) if name in ("add", "maximum") else (name, *operands)


def scalar_op(name: str, element: ir.Type) -> str:
    """The scalar op that an op of two elements becomes; empty where it is not known to be associative."""
    scalar = OPS[name].scalar if name in OPS else None
    largest_unsigned = name == "stablehlo.minimum" and isinstance(element, ir.IntegerType) and element.is_unsigned
    return scalar.name(element) if isinstance(scalar, Typed) and not largest_unsigned else ""


def _number(attribute: ir.Attribute) -> float | str:
    """What tells whether two constants of one type are the same number."""
    return float(attribute.value) if isinstance(attribute, ir.FloatAttr) else str(attribute).split(" ")[0]
