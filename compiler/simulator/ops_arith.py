"""arith, math and affine: mostly one numpy expression an op."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.common.dense_constants import constant_bytes
from hloom.passes.common.rewriting import integer

from .element_types import element_name, vector_shape
from .translate import Translator, emits
from .values import DTYPES

# {0}, {1}, … are the operands, {D} the numpy type of the result.
_EXPRESSIONS = {
    "arith.addf": "{0} + {1}",
    "arith.subf": "{0} - {1}",
    "arith.mulf": "{0} * {1}",
    "arith.divf": "{0} / {1}",
    "arith.remf": "np.fmod({0}, {1})",
    "arith.negf": "-{0}",
    "arith.maximumf": "maximumf({0}, {1})",
    "arith.minimumf": "minimumf({0}, {1})",
    "arith.maxnumf": "np.fmax({0}, {1})",
    "arith.minnumf": "np.fmin({0}, {1})",
    "arith.addi": "{0} + {1}",
    "arith.subi": "{0} - {1}",
    "arith.muli": "{0} * {1}",
    "arith.divsi": "divide({0}, {1})",
    "arith.remsi": "remainder({0}, {1})",
    "arith.floordivsi": "{0} // {1}",
    "arith.ceildivsi": "divide_up({0}, {1})",
    "arith.andi": "{0} & {1}",
    "arith.ori": "{0} | {1}",
    "arith.xori": "{0} ^ {1}",
    "arith.shli": "{0} << {1}",
    "arith.shrsi": "{0} >> {1}",
    "arith.maxsi": "maximum({0}, {1})",
    "arith.minsi": "minimum({0}, {1})",
    "arith.divui": "signed(unsigned({0}) // unsigned({1}), {D})",
    "arith.remui": "signed(unsigned({0}) % unsigned({1}), {D})",
    "arith.ceildivui": "signed(divide_up(unsigned({0}), unsigned({1})), {D})",
    "arith.shrui": "signed(unsigned({0}) >> unsigned({1}), {D})",
    "arith.maxui": "signed(maximum(unsigned({0}), unsigned({1})), {D})",
    "arith.minui": "signed(minimum(unsigned({0}), unsigned({1})), {D})",
    "arith.select": "select({0}, {1}, {2})",
    "arith.extf": "np.asarray({0}).astype({D})",
    "arith.truncf": "np.asarray({0}).astype({D})",
    "arith.trunci": "truncate({0}, {D})",
    "arith.sitofp": "signed_bits({0}).astype({D})",
    "arith.extsi": "signed_bits({0}).astype({D})",
    "arith.index_cast": "cast_index(signed_bits({0}), {D})",
    "arith.extui": "unsigned({0}).astype({D})",
    "arith.uitofp": "unsigned({0}).astype({D})",
    "arith.index_castui": "cast_index(unsigned({0}), {D})",
    "arith.fptosi": "to_integer({0}, {D})",
    "arith.fptoui": "to_unsigned({0}, {D})",
    "arith.bitcast": "np.asarray({0}).view({D})",
    "math.fma": "fma({0}, {1}, {2})",
    "vector.fma": "fma({0}, {1}, {2})",
    "math.sqrt": "np.sqrt({0})",
    "math.absf": "np.abs({0})",
    "math.absi": "np.abs({0})",
    "math.floor": "np.floor({0})",
    "math.ceil": "np.ceil({0})",
    "math.trunc": "np.trunc({0})",
    "math.roundeven": "np.rint({0})",
    "math.copysign": "np.copysign({0}, {1})",
    "math.ctpop": "ones({0})",
    "math.ctlz": "leading_zeros({0})",
    "math.cttz": "trailing_zeros({0})",
    "math.isnan": "np.isnan({0})",
    "math.isinf": "np.isinf({0})",
    "math.isfinite": "np.isfinite({0})",
    "math.ipowi": "integer_power({0}, {1})",
    "math.clampf": "np.minimum(np.maximum({0}, {1}), {2})",
}
# An i1 is a numpy bool, whose arithmetic is another.
_BOOLEANS = {
    "arith.addi": "{0} ^ {1}",
    "arith.subi": "{0} ^ {1}",
    "arith.muli": "{0} & {1}",
    "arith.maxsi": "{0} & {1}",
    "arith.minsi": "{0} | {1}",
    "arith.maxui": "{0} | {1}",
    "arith.minui": "{0} & {1}",
    "arith.divui": "{0}",
    "arith.divsi": "{0}",
}
_IN_F64 = {
    **{f"math.{name}": f"np.{name}" for name in ("exp", "exp2", "expm1", "log", "log2", "log1p", "log10", "sin", "cos", "tan")},
    **{f"math.{name}": f"np.{name}" for name in ("sinh", "cosh", "tanh", "cbrt")},
    **{f"math.a{name}": f"np.arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "math.rsqrt": "rsqrt", "math.erf": "erf", "math.erfc": "erfc", "math.round": "round_half_away",
    "math.powf": "np.power", "math.atan2": "np.arctan2", "math.fpowi": "np.power",
}  # fmt: skip
_CMPF = (
    "np.False_",
    "{0} == {1}",
    "{0} > {1}",
    "{0} >= {1}",
    "{0} < {1}",
    "{0} <= {1}",
    "({0} < {1}) | ({0} > {1})",
    "({0} == {0}) & ({1} == {1})",
    "~(({0} < {1}) | ({0} > {1}))",
    "~({0} <= {1})",
    "~({0} < {1})",
    "~({0} >= {1})",
    "~({0} > {1})",
    "{0} != {1}",
    "({0} != {0}) | ({1} != {1})",
    "np.True_",
)
"""By the number of the predicate."""
REDUCTIONS = {
    "add": "np.add", "mul": "np.multiply", "and": "np.bitwise_and", "or": "np.bitwise_or", "xor": "np.bitwise_xor", "minsi": "np.minimum",
    "maxsi": "np.maximum", "minimumf": "np.minimum", "maximumf": "np.maximum", "minnumf": "np.fmin", "maxnumf": "np.fmax",
}  # fmt: skip
"""What combines two values, by the last word of a reduction's kind."""
_CMPI = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_FIRST_UNSIGNED = 6


@emits(*_EXPRESSIONS)
def _expression(t: Translator, op: ir.Operation) -> None:
    kind = element_name(op.results[0].type)
    form = _BOOLEANS.get(op.name, _EXPRESSIONS[op.name]) if kind == "i1" else _EXPRESSIONS[op.name]
    t.result(op, form.format(*t.operands(op), D=kind))


@emits(*_IN_F64)
def _in_f64(t: Translator, op: ir.Operation) -> None:
    t.result(op, f"in_f64({_IN_F64[op.name]}, {', '.join(t.operands(op))})")


@emits("math.sincos")
def _sincos(t: Translator, op: ir.Operation) -> None:
    for result, function in zip(op.results, ("np.sin", "np.cos")):
        t.line(f"{t.new(result)} = in_f64({function}, {t.names[op.operands[0]]})")


@emits("arith.mulsi_extended", "arith.mului_extended")
def _multiply_extended(t: Translator, op: ir.Operation) -> None:
    kind, (a, b) = element_name(op.results[0].type), t.operands(op)
    low, high = t.new(op.results[0]), t.new(op.results[1])
    if op.name == "arith.mulsi_extended":
        t.line(f"{low}, {high} = multiply_extended({a}, {b})")
    else:
        t.line(f"{low}, {high} = (signed(half, {kind}) for half in multiply_extended(unsigned({a}), unsigned({b})))")


@emits("arith.addui_extended")
def _add_extended(t: Translator, op: ir.Operation) -> None:
    a, b = t.operands(op)
    total, carry = t.new(op.results[0]), t.new(op.results[1])
    t.line(f"{total} = {a} + {b}")
    t.line(f"{carry} = unsigned({total}) < unsigned({a})")


@emits("arith.cmpf")
def _cmpf(t: Translator, op: ir.Operation) -> None:
    t.result(op, _CMPF[integer(op, "predicate")].format(*t.operands(op)))


@emits("arith.cmpi")
def _cmpi(t: Translator, op: ir.Operation) -> None:
    predicate, (a, b) = integer(op, "predicate"), t.operands(op)
    if predicate >= _FIRST_UNSIGNED:
        a, b = f"unsigned({a})", f"unsigned({b})"
    elif predicate >= 2 and element_name(op.operands[0].type) == "i1":
        a, b = f"flipped({a})", f"flipped({b})"
    t.result(op, f"{a} {_CMPI[predicate]} {b}")


@emits("arith.constant")
def _constant(t: Translator, op: ir.Operation) -> None:
    value, kind = op.attributes["value"], op.results[0].type
    if str(kind) == "index":
        t.result(op, repr(ir.IntegerAttr(value).value))
        return
    dtype = DTYPES[element_name(kind)]
    shape = vector_shape(kind)
    if not shape:
        t.result(op, t.constant(dtype(_number(value))))
    else:
        t.result(op, t.constant(dense_array(value, dtype).reshape(*shape, 1, 1)))


@emits("ub.poison")
def _poison(t: Translator, op: ir.Operation) -> None:
    kind = op.results[0].type
    t.result(op, "0" if str(kind) == "index" else f"np.zeros({[*vector_shape(kind), 1, 1]}, {element_name(kind)})")


def _number(value: ir.Attribute) -> Any:
    return ir.FloatAttr(value).value if isinstance(value, ir.FloatAttr) else ir.IntegerAttr(value).value


def dense_array(value: ir.Attribute, dtype: Any) -> np.ndarray:
    """The elements of a dense or dense_resource attribute."""
    kind = ir.ShapedType(value.type)
    if isinstance(value, ir.DenseElementsAttr) and value.is_splat:
        return np.full(kind.shape, _number(value.get_splat_value()), dtype)
    if isinstance(kind.element_type, ir.IndexType):
        return np.array(value, dtype)
    if isinstance(value.type, ir.VectorType):
        value = ir.Attribute.parse(str(value).replace(": vector<", ": tensor<"), value.context)
    return np.frombuffer(constant_bytes(value), dtype).reshape(kind.shape)


@emits("affine.apply")
def _apply(t: Translator, op: ir.Operation) -> None:
    t.result(op, _affine_results(t, op)[0])


@emits("affine.min", "affine.max")
def _extreme(t: Translator, op: ir.Operation) -> None:
    function = "minimum" if op.name == "affine.min" else "maximum"
    first, *others = _affine_results(t, op)
    for other in others:
        first = f"{function}({first}, {other})"
    t.result(op, first)


@emits("affine.delinearize_index")
def _delinearize(t: Translator, op: ir.Operation) -> None:
    basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
    rest = t.names[op.operands[0]]
    outer = len(op.results) - len(basis)
    for i in reversed(range(len(op.results))):
        extent = basis[i - outer] if i >= outer else None
        last = i == 0
        t.line(f"{t.new(op.results[i])} = {rest}" + ("" if last or extent is None else f" % {extent}"))
        if not last:
            rest = f"({rest} // {extent})"


@emits("affine.linearize_index")
def _linearize(t: Translator, op: ir.Operation) -> None:
    basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
    names = t.operands(op)
    total = names[0]
    for name, extent in zip(names[1:], basis[len(basis) - len(names) + 1 :]):
        total = f"({total} * {extent} + {name})"
    t.result(op, total)


def _affine_results(t: Translator, op: ir.Operation) -> list[str]:
    affine, names = ir.AffineMapAttr(op.attributes["map"]).value, t.operands(op)
    return [_affine(result, names, affine.n_dims) for result in affine.results]


def _affine(expression: ir.AffineExpr, names: list[str], dims: int) -> str:
    for kind, form in (
        (ir.AffineAddExpr, "({} + {})"),
        (ir.AffineMulExpr, "({} * {})"),
        (ir.AffineModExpr, "({} % {})"),
        (ir.AffineFloorDivExpr, "({} // {})"),
        (ir.AffineCeilDivExpr, "divide_up({}, {})"),
    ):
        if isinstance(expression, kind):
            binary = kind(expression)
            return form.format(_affine(binary.lhs, names, dims), _affine(binary.rhs, names, dims))
    if isinstance(expression, ir.AffineDimExpr):
        return names[ir.AffineDimExpr(expression).position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return names[dims + ir.AffineSymbolExpr(expression).position]
    return str(ir.AffineConstantExpr(expression).value)
