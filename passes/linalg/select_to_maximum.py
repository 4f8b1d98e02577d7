"""select-to-maximum: a comparison and a select that compute exactly a maximum or minimum become arith.maximumf or arith.minimumf.

Before:
    %c = arith.cmpf ugt, %x, %zero : f32
    %r = arith.select %c, %x, %zero : f32
After:
    %r = arith.maximumf %x, %zero : f32

maximumf and minimumf return NaN if either operand is NaN, and order -0 below +0. With `select(x P c, x, c)`, c a constant that is no NaN
(a constant on the left is brought to the right, exchanged branches invert P), the two agree on every x in these rows and no others:

    P    | c = +0   | c = -0   | c other      why the others differ
    ugt  | maximumf | –        | maximumf     x = +0, c = -0: not greater, so -0; the maximum is +0
    uge  | –        | maximumf | maximumf     x = -0, c = +0: equal, so -0; the maximum is +0
    ult  | –        | minimumf | minimumf     x = -0, c = +0: not less, so +0; the minimum is -0
    ule  | minimumf | –        | minimumf     x = +0, c = -0: equal, so +0; the minimum is -0
    ogt, oge, olt, ole                        x NaN: c is chosen; the maximum is NaN
    eq, ne, ord, uno, true, false             no order

Two variables never agree: whichever is not chosen when the other is NaN would have to be. Upstream's canonicaliser leaves both ops.

Must hold: nothing. Declined: those, NaN constants, and selects whose branches are not the compared values.
"""

from __future__ import annotations

import math

from torch_mlir import ir

from ..common.rewriting import defining_op, erase_unused, integer, producer, replace, value_of, walk
from ..common.scalars import FLOAT_PREDICATES
from ..registry import register_pass

_NAMES = {number: name for name, number in FLOAT_PREDICATES.items()}
_SWAPPED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
_INVERTED = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}


@register_pass("select-to-maximum", "turns compare and select into maximumf or minimumf where that is exact")
def select_to_maximum(module: ir.Operation) -> None:
    for op in walk(module, "arith.select"):
        compare = producer(op.operands[0], "arith.cmpf")
        if compare is None:
            continue
        predicate = _NAMES[integer(compare, "predicate")]
        replacement = _match(predicate, list(compare.operands), list(op.operands)[1:])
        if replacement is None:
            continue
        name, x, c = replacement
        with ir.InsertionPoint(op), op.location:
            replace(op, [value_of(f"arith.{name}", x.type, [x, c])])
        erase_unused([compare])


def _match(predicate: str, compared: list[ir.Value], branches: list[ir.Value]) -> tuple[str, ir.Value, ir.Value] | None:
    """(maximumf or minimumf, the variable, the constant) if the select is exactly that."""
    x, c = compared
    if float_constant(c) is None:
        x, c = c, x
        predicate = swapped(predicate)
    constant = float_constant(c)
    if constant is None or float_constant(x) is not None:
        return None
    if _same(branches[0], c) and branches[1] == x:
        predicate = inverted(predicate)
    elif not (branches[0] == x and _same(branches[1], c)):
        return None
    name = exact_form(predicate, constant)
    return None if name is None else (name, x, c)


def exact_form(predicate: str, constant: float) -> str | None:
    """What `select(x predicate constant, x, constant)` is on every x: "maximumf", "minimumf" or neither."""
    if math.isnan(constant) or predicate[0] != "u" or predicate[1:] not in _SWAPPED:
        return None
    name = "maximumf" if predicate[1] == "g" else "minimumf"
    if constant != 0:
        return name
    positive = math.copysign(1.0, constant) > 0
    return name if predicate in (("ugt", "ule") if positive else ("uge", "ult")) else None


def swapped(predicate: str) -> str:
    """The predicate with its operands exchanged."""
    return predicate[0] + _SWAPPED.get(predicate[1:], predicate[1:])


def inverted(predicate: str) -> str:
    """The predicate that holds where this one does not, if it is an order; other predicates come back as they are."""
    if predicate[1:] not in _INVERTED:
        return predicate
    return ("u" if predicate[0] == "o" else "o") + _INVERTED[predicate[1:]]


def _same(left: ir.Value, right: ir.Value) -> bool:
    """One value, or constants of equal bits."""
    if left == right:
        return True
    one, other = defining_op(left), defining_op(right)
    if one is None or other is None or {one.name, other.name} != {"arith.constant"}:
        return False
    return one.attributes["value"] == other.attributes["value"]


def float_constant(value: ir.Value) -> float | None:
    op = producer(value, "arith.constant")
    if op is None or not isinstance(op.attributes["value"], ir.FloatAttr):
        return None
    return float(ir.FloatAttr(op.attributes["value"]).value)
