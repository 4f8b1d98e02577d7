"""Scans: windowed reductions in which each result combines all elements up to its own place, as a cumulative sum does."""

from __future__ import annotations

from torch_mlir import ir

from .ops import OPS
from .reductions import neutral_element
from .rewriting import defining_op, integers, ops_in, padding_pairs
from .scalar_code import Typed

ASSOCIATIVE = "hloom.associative"
"""On a windowed reduction: its body is associative, and its initial value neutral."""


def scan_dim(op: ir.Operation, backwards: bool = False) -> int | None:
    """The dimension along which a reduce_window is a scan (`backwards`: from the last element on); None where it is another window.

    Its window is as long as the dimension, the only one, and padded by all of it but an element before the first; its body is one
    associative op on its arguments, and the initial value that which this op leaves as it is.
    """
    if op.name != "stablehlo.reduce_window" or len(op.operands) != 2 or not starts_neutral(op):
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
    """Whether the body of a windowed reduction of one operand is one associative op on its arguments, and the initial value neutral; or
    whoever built the op says so, of a longer body.
    """
    if ASSOCIATIVE in op.attributes:
        return True
    block = op.regions[0].blocks[0]
    ops, owner = ops_in(block), defining_op(op.operands[1])
    if len(ops) != 2 or list(ops[0].operands) not in (list(block.arguments), list(block.arguments)[::-1]):
        return False
    if owner is None or owner.name != "stablehlo.constant" or not isinstance(owner.attributes["value"], ir.DenseElementsAttr):
        return False
    element = ir.RankedTensorType(op.operands[0].type).element_type
    neutral = neutral_element(_scalar_op(ops[0].name, element), element)
    return neutral is not None and _number(neutral) == _number(ir.DenseElementsAttr(owner.attributes["value"]).get_splat_value())


def _scalar_op(name: str, element: ir.Type) -> str:
    """The scalar op that an op of two elements becomes; empty where it is not known to be associative."""
    scalar = OPS[name].scalar if name in OPS else None
    largest_unsigned = name == "stablehlo.minimum" and isinstance(element, ir.IntegerType) and element.is_unsigned
    return scalar.name(element) if isinstance(scalar, Typed) and not largest_unsigned else ""


def _number(attribute: ir.Attribute) -> float | str:
    """What tells whether two constants of one type are the same number."""
    return float(attribute.value) if isinstance(attribute, ir.FloatAttr) else str(attribute).split(" ")[0]
