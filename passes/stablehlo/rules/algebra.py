"""Algebraic rules of elementwise ops. Each holds for every value, NaN, infinities and signed zeros included, or it is not here.

So x + 0.0 stays (it turns -0 into +0) and x + -0.0 does not; max(x, -inf) is x; x / 8 is x * 0.125, exact both ways. The one liberty is
power by 3, which becomes two multiplications: within 2 ulp.
"""

from __future__ import annotations

import math

from torch_mlir import ir

from ...common.rewriting import defining_op, keyword
from ..support import build, constants
from ..support.driver import Rule

Values = list[ir.Value] | None

_MANTISSA = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
_EXPONENT = {"f64": 11, "f32": 8, "f16": 5, "bf16": 8}
_COMMUTATIVE = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")


def _is_float(value: ir.Value) -> bool:
    return isinstance(build.element_of(value), ir.FloatType)


def _is_negative_zero(known: float) -> bool:
    return known == 0 and math.copysign(1, known) < 0


def _with_constant(op: ir.Operation) -> tuple[ir.Value, float | int | bool] | None:
    """The other operand and the constant that all elements of one are; for commutative ops."""
    for constant, other in ((1, 0), (0, 1)):
        known = constants.splat_value(op.operands[constant])
        if known is not None:
            return op.operands[other], known
    return None


def _ones(value: ir.Value) -> int:
    """All bits set, as a number of the element type."""
    element = build.element_of(value)
    if element.width == 1:
        return 1
    return (1 << element.width) - 1 if element.is_unsigned else -1


def _add(op: ir.Operation) -> Values:
    found = _with_constant(op)
    if found is None or found[1] != 0 or (_is_float(found[0]) and not _is_negative_zero(found[1])):
        return None
    return [found[0]]


def _subtract(op: ir.Operation) -> Values:
    x, y = op.operands
    if not _is_float(x) and x == y:
        return [build.zero(build.shape_of(x), build.element_of(x))]
    known = constants.splat_value(y)
    if known is None or known != 0 or (_is_float(x) and _is_negative_zero(known)):
        return None
    return [x]


def _multiply(op: ir.Operation) -> Values:
    found = _with_constant(op)
    if found is None:
        return None
    x, known = found
    if known == 1:
        return [x]
    if known == 0 and not _is_float(x):
        return [build.zero(build.shape_of(x), build.element_of(x))]
    return None


def _divide(op: ir.Operation) -> Values:
    x, y = op.operands
    known = constants.splat_value(y)
    if known == 1:
        return [x]
    if known is None or not _is_float(x) or not math.isfinite(known) or known == 0:
        return None
    fraction, exponent = math.frexp(known)
    limit = (1 << (_EXPONENT.get(str(build.element_of(x)), 0) - 1)) - 2 if str(build.element_of(x)) in _EXPONENT else 0
    if abs(fraction) != 0.5 or abs(exponent - 1) > limit:  # neither a power of two nor with a normal reciprocal
        return None
    return [build.multiply(x, build.full_like(x, 1 / known))]


def _and(op: ir.Operation) -> Values:
    found = _with_constant(op)
    if found is None:
        return [op.operands[0]] if op.operands[0] == op.operands[1] else None
    x, known = found
    if known == 0:
        return [build.zero(build.shape_of(x), build.element_of(x))]
    return [x] if known == _ones(x) else None


def _or(op: ir.Operation) -> Values:
    found = _with_constant(op)
    if found is None:
        return [op.operands[0]] if op.operands[0] == op.operands[1] else None
    x, known = found
    if known == _ones(x):
        return [build.full_like(x, known)]
    return [x] if known == 0 else None


def _xor(op: ir.Operation) -> Values:
    x, y = op.operands
    if x == y:
        return [build.zero(build.shape_of(x), build.element_of(x))]
    found = _with_constant(op)
    return [found[0]] if found is not None and found[1] == 0 else None


def _extremum(sign: int) -> Rule:
    def rule(op: ir.Operation) -> Values:
        if op.operands[0] == op.operands[1]:
            return [op.operands[0]]
        found = _with_constant(op)
        return [found[0]] if found is not None and found[1] == build.extreme(build.element_of(found[0]), sign) else None

    return rule


def _shift(op: ir.Operation) -> Values:
    return [op.operands[0]] if constants.splat_value(op.operands[1]) == 0 else None


def _involution(op: ir.Operation) -> Values:
    """negate(negate(x)), not(not(x))."""
    inner = defining_op(op.operands[0])
    return [inner.operands[0]] if inner is not None and inner.name == op.name else None


def _power(op: ir.Operation) -> Values:
    x, y = op.operands
    known = constants.splat_value(y)
    if known == 1:
        return [x]
    if known not in (2, 3, -1) or not _is_float(x):
        return None
    if known == -1:
        return [build.divide(build.full_like(x, 1), x)]
    square = build.multiply(x, x)
    return [square if known == 2 else build.multiply(square, x)]


def _select(op: ir.Operation) -> Values:
    predicate, yes, no = op.operands
    known = constants.splat_value(predicate)
    if known is not None:
        return [yes if known else no]
    if yes == no:
        return [yes]
    inner = defining_op(predicate)
    if inner is not None and inner.name == "stablehlo.not":
        return [build.elementwise("select", inner.operands[0], no, yes, result=op.results[0].type)]
    if str(build.element_of(yes)) == "i1" and build.shape_of(predicate) == build.shape_of(yes):
        if constants.splat_value(yes) is True and constants.splat_value(no) is False:
            return [predicate]
    return None


def _compare(op: ir.Operation) -> Values:
    """Integers against themselves or against the least they can be; a flag against a constant."""
    x, y = op.operands
    if _is_float(x):
        return None
    direction = keyword(op, "comparison_direction")
    outcome: bool | None = None
    known = constants.splat_value(y)
    element = build.element_of(x)
    if x == y:
        outcome = direction in ("EQ", "LE", "GE")
    elif known is not None and element.width == 1 and direction in ("EQ", "NE"):
        return [x if bool(known) == (direction == "EQ") else build.elementwise("not", x)]
    elif known is not None and direction in ("LT", "GE") and element.width > 1 and known == build.extreme(element, -1):
        outcome = direction == "GE"
    if outcome is None:
        return None
    kind = op.results[0].type
    return [build.full(kind, outcome)]


def _convert(op: ir.Operation) -> Values:
    x, result = op.operands[0], op.results[0]
    if x.type == result.type:
        return [x]
    inner = defining_op(x)
    if inner is None or inner.name != "stablehlo.convert":
        return None
    source = inner.operands[0]
    first, between, last = (build.element_of(value) for value in (source, x, result))
    if not _is_exact(first, between) or (_is_clamped(first, between, last) and not _is_exact(first, last)):
        return None
    return [build.convert(source, last)]


def _is_clamped(first: ir.Type, between: ir.Type, last: ir.Type) -> bool:
    """Whether integers that became floats become the ends of the last type's range beyond it: those that stay integers wrap."""
    integers = isinstance(first, ir.IntegerType) and isinstance(last, ir.IntegerType)
    return integers and isinstance(between, ir.FloatType) and last.width > 1


def _is_exact(source: ir.Type, target: ir.Type) -> bool:
    """Whether `target` holds every value of `source`."""
    if isinstance(source, ir.FloatType):
        a, b = str(source), str(target)
        return a in _MANTISSA and b in _MANTISSA and _MANTISSA[a] <= _MANTISSA[b] and _EXPONENT[a] <= _EXPONENT[b]
    if not isinstance(source, ir.IntegerType):
        return False
    unsigned = source.is_unsigned or source.width == 1
    bits = source.width if unsigned else source.width - 1
    if isinstance(target, ir.FloatType):
        name = str(target)
        return name in _MANTISSA and bits <= _MANTISSA[name] and bits < 1 << (_EXPONENT[name] - 1)
    if not isinstance(target, ir.IntegerType) or target.width == 1:
        return False
    if target.is_unsigned:
        return unsigned and bits <= target.width
    return bits <= target.width - 1


def _constant_last(op: ir.Operation) -> Values:
    """A constant operand of a commutative op goes to the right, where every pass looks for it."""
    x, y = op.operands
    if constants.elements_attribute(x) is None or constants.elements_attribute(y) is not None:
        return None
    return [ir.Operation.create(op.name, results=[op.results[0].type], operands=[y, x]).results[0]]


def _real(op: ir.Operation) -> Values:
    """The real part of what is real; that of complex numbers is gone before."""
    return [op.operands[0]] if op.operands[0].type == op.results[0].type else None


def _imag(op: ir.Operation) -> Values:
    value = op.operands[0]
    return [build.zero(build.shape_of(value), build.element_of(value))] if value.type == op.results[0].type else None


ALGEBRA: dict[str, list[Rule]] = {
    "stablehlo.real": [_real],
    "stablehlo.imag": [_imag],
    "stablehlo.add": [_add],
    "stablehlo.subtract": [_subtract],
    "stablehlo.multiply": [_multiply],
    "stablehlo.divide": [_divide],
    "stablehlo.and": [_and],
    "stablehlo.or": [_or],
    "stablehlo.xor": [_xor],
    "stablehlo.maximum": [_extremum(-1)],
    "stablehlo.minimum": [_extremum(1)],
    "stablehlo.shift_left": [_shift],
    "stablehlo.shift_right_logical": [_shift],
    "stablehlo.shift_right_arithmetic": [_shift],
    "stablehlo.negate": [_involution],
    "stablehlo.not": [_involution],
    "stablehlo.power": [_power],
    "stablehlo.select": [_select],
    "stablehlo.compare": [_compare],
    "stablehlo.convert": [_convert],
}
for _name in _COMMUTATIVE:
    ALGEBRA[f"stablehlo.{_name}"].append(_constant_last)
