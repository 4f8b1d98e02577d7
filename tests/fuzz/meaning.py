"""What a program means, in ops that an oracle has: as the specification defines those that neither the interpreter nor XLA computes.

- An op on quantized types is one on floats, whose results are rounded to what integers stand for (dequantize, op, quantize), in arithmetic.
- Complex numbers are compared by their real parts, then by their imaginary ones.
- An op on floats of a byte or less is one on f32, rounded once at its end: XLA rounds within a decomposition too. narrow.py has more.
- A reduction by one op is one in f32, too: its sum is rounded once.
- unary_einsum is a sum, einsum a dot, a collective on one device gives back its operand, rng between 2 and 3 is 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from .elements import COMPLEX, FLOATS, SMALL_FLOATS, part
from .narrow import FINITE, SCALE, from_scale, full, next_after, spread_to, to_finite, to_scale
from .program import Op, Program, Region, Type, Value

_QUANTIZED = re.compile(
    r"!quant\.uniform<(?P<sign>[iu])(?P<bits>\d+)(<(?P<low>-?\d+):(?P<high>\d+)>)?:(?P<expressed>\w+)(:(?P<axis>\d+))?, (?P<numbers>[^>]*)>"
)
_ALONE = "all_gather all_reduce all_to_all collective_broadcast cross-replica-sum reduce_scatter".split()
_AS_THEY_ARE = (
    "composite func.call constant convert bitcast_convert reduce_precision rng_bit_generator get_tuple_element tuple "
    "chlo.constant chlo.constant_like"
).split()
_UNKNOWN = {f"stablehlo.{name}" for name in "collective_broadcast rng unary_einsum".split()}
_UNKNOWN_OF_NARROW = {"chlo.bessel_i1e", "chlo.digamma", "chlo.erf", "chlo.erf_inv", "chlo.erfc", "chlo.lgamma"}
_BRANCHES = {f"stablehlo.{name}" for name in "while if case map".split()}
_DIRECTION = "comparison_direction = #stablehlo<comparison_direction"


def is_unknown(op: Op) -> bool:
    """Whether every oracle lacks the op, or stops at it."""
    return op.name in _UNKNOWN or (op.name in _UNKNOWN_OF_NARROW and any(map(_is_narrow, op.operands)))


def meaning(program: Program) -> Program | None:
    """A program of the same arguments and results; None where it would be the same."""
    writer = _Writer()
    ops = writer.block(program.ops)
    if not writer.changed:
        return None
    functions = {name: writer.region(region) for name, region in program.functions.items()}
    tolerances = {writer.new.get(value, value): (max(given[0], 1), given[1]) for value, given in program.tolerances.items()}
    returned = [writer.new.get(value, value) for value in program.returned]
    return replace(program, ops=ops, returned=returned, tolerances=tolerances, functions=functions)


class _Writer:
    """Writes ops anew; `new` has what became of each value."""

    def __init__(self) -> None:
        self.new: dict[Value, Value] = {}
        self.ops: list[Op] = []
        self.changed = False
        self.inside = 0

    def block(self, ops: Sequence[Op]) -> list[Op]:
        outer, self.ops = self.ops, []
        for op in ops:
            results = self._written(op, [self.new.get(value, value) for value in op.operands])
            self.new.update(zip(op.results, results, strict=True))
        made, self.ops = self.ops, outer
        return made

    def region(self, region: Region, exact: bool = True) -> Region:
        """`exact`: what it computes is not rounded to quantized values, as in a sum's body."""
        self.inside += exact
        arguments = [Value(self._type(value.type)) for value in region.arguments]
        self.new.update(zip(region.arguments, arguments))
        ops = self.block(region.ops)
        self.inside -= exact
        return Region(arguments, ops, [self.new.get(value, value) for value in region.returned])

    def emit(self, name: str, operands: Sequence[Value], kind: Type, attributes: str = "") -> Value:
        value = Value(kind)
        self.ops.append(Op(f"stablehlo.{name}", list(operands), [value], attributes))
        return value

    def full(self, kind: Type, number: float) -> Value:
        return full(self.emit, kind, number)

    def _type(self, kind: Type) -> Type:
        element = _QUANTIZED.sub(lambda match: match["expressed"], kind.element)
        self.changed |= element != kind.element
        return Type(kind.shape, element)

    def _written(self, op: Op, operands: list[Value]) -> list[Value]:
        rule = _RULES.get(op.name.removeprefix("stablehlo."))
        found = rule(self, op, operands) if rule else None
        if found is not None:
            self.changed = True
            return found if isinstance(found, list) else [found]
        stays = op.regions or op.name.removeprefix("stablehlo.") in _AS_THEY_ARE
        widened = not stays and any(_is_narrow(value) for value in (*op.operands, *op.results))
        if widened:
            self.changed = True
            operands = [self._converted(value, "f32") if _is_narrow(value) else value for value in operands]
        kinds = [self._type(value.type) for value in op.results]
        results = [Value(_in_f32(kind) if widened else kind) for kind in kinds]
        self.ops.append(
            Op(op.name, operands, results, op.attributes, [self.region(region, exact=op.name not in _BRANCHES) for region in op.regions])
        )
        results = [self._converted(value, kind.element) for value, kind in zip(results, kinds)]
        return [self._quantized(value, old.element) for value, old in zip(results, op.results)]

    def _converted(self, value: Value, element: str) -> Value:
        if value.element == element:
            return value
        if value.element == SCALE:
            value = from_scale(self.emit, value, "f64" if element == "f64" else "f32")
            return self._converted(value, element)
        if element in FINITE and value.element in FLOATS:
            return to_finite(self.emit, value, element)
        return to_scale(self.emit, value) if element == SCALE else self.emit("convert", [value], Type(value.shape, element))

    def reduced(self, name: str, x: Value, init: Value) -> Value:
        """Along the last dimension."""
        scalar = Type((), x.element)
        a, b, made = Value(scalar), Value(scalar), Value(scalar)
        body = Region([a, b], [Op(f"stablehlo.{name}", [a, b], [made])], [made])
        result = Value(Type(x.shape[:-1], x.element))
        self.ops.append(Op("stablehlo.reduce", [x, init], [result], f"dimensions = array<i64: {x.rank - 1}>", [body]))
        return result

    def _quantized(self, value: Value, element: str) -> Value:
        """What an integer of that quantized type stands for; in regions nothing is rounded."""
        match = _QUANTIZED.fullmatch(element)
        if match is None or self.inside:
            return value
        scale, zero = (self._along(value.type, match["axis"], numbers) for numbers in _scales_and_zeros(match["numbers"]))
        low, high = (self.full(value.type, limit) for limit in _limits(match))
        x = self.emit("add", [self.emit("divide", [value, scale], value.type), zero], value.type)
        x = self.emit("round_nearest_even", [self.emit("clamp", [low, x, high], value.type)], value.type)
        x = self._converted(self._converted(x, "i64"), value.element)  # an integer has no -0
        return self.emit("multiply", [self.emit("subtract", [x, zero], value.type), scale], value.type)

    def _along(self, kind: Type, axis: str | None, numbers: Sequence[float]) -> Value:
        """One number for all elements, or one for each place of an axis."""
        if axis is None:
            return self.full(kind, numbers[0])
        given = Type((len(numbers),), kind.element)
        text = ", ".join(f"{number:e}" for number in numbers)
        line = self.emit("constant", [], given, f"value = dense<[{text}]> : {given}")
        return self.emit("broadcast_in_dim", [line], kind, f"broadcast_dimensions = array<i64: {axis}>")


def _scales_and_zeros(text: str) -> tuple[list[float], list[float]]:
    """`0.5:3`, `0.5` or `{0.5:3, 0.25:3}`."""
    pairs = [pair.strip(" {}").partition(":") for pair in text.split(",")]
    return [float(scale) for scale, _, _ in pairs], [float(zero or 0) for _, _, zero in pairs]


def _limits(match: re.Match[str]) -> tuple[float, float]:
    """Of the integers."""
    if match["low"] is not None:
        return float(match["low"]), float(match["high"])
    bits = int(match["bits"]) - (match["sign"] == "i")
    return -float(2**bits) if match["sign"] == "i" else 0.0, float(2**bits - 1)


def _is_narrow(value: Value) -> bool:
    return value.element in SMALL_FLOATS


def _in_f32(kind: Type) -> Type:
    return Type(kind.shape, "f32") if kind.element in SMALL_FLOATS else kind


def _order(w: _Writer, op: Op, operands: list[Value]) -> Value | None:
    """Of complex numbers."""
    x, y = operands
    match = re.search(r"comparison_direction (LT|LE|GT|GE)", op.attributes)
    if x.element not in COMPLEX or match is None:
        return None
    flag = op.results[0].type
    real, imag = ([w.emit(name, [v], Type(v.shape, part(v.element))) for v in (x, y)] for name in ("real", "imag"))
    first = w.emit("compare", real, flag, f"{_DIRECTION} {match[1][0]}T>")
    same = w.emit("compare", real, flag, f"{_DIRECTION} EQ>")
    second = w.emit("compare", imag, flag, f"{_DIRECTION} {match[1]}>")
    return w.emit("or", [first, w.emit("and", [same, second], flag)], flag)


def _operand(w: _Writer, op: Op, operands: list[Value]) -> Value:
    return operands[0]


def _permuted(w: _Writer, op: Op, operands: list[Value]) -> Value | None:
    """A device to which nobody sends gets zeros."""
    (x,) = operands
    if "dense<0>" in op.attributes:
        return x
    return w.full(x.type, 0) if _is_narrow(x) else None


def _rng(w: _Writer, op: Op, operands: list[Value]) -> Value:
    return w.emit("broadcast_in_dim", operands[:1], op.results[0].type, "broadcast_dimensions = array<i64>")


def _dot(w: _Writer, op: Op, operands: list[Value]) -> Value | None:
    """ab,bc->ac."""
    if operands[0].type != op.operands[0].type or _is_narrow(operands[0]):
        return None
    numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]"
    return w.emit("dot_general", operands, op.results[0].type, f"dot_dimension_numbers = #stablehlo.dot<{numbers}>")


def _sum(w: _Writer, op: Op, operands: list[Value]) -> Value:
    """ab->a: floats of a byte or less are added in f32."""
    x, old = operands[0], op.results[0].element
    element = "f32" if x.element in SMALL_FLOATS else x.element
    scalar = Type((), element)
    text = "false" if element == "i1" else "(0.0, 0.0)" if element in COMPLEX else "0.0" if element[0] in "fb" else "0"
    zero = w.emit("constant", [], scalar, f"value = dense<{text}> : {scalar}")
    result = w.reduced("add", w._converted(x, element), zero)
    return w._quantized(w._converted(result, x.element), old)


def _next(w: _Writer, op: Op, operands: list[Value]) -> Value | None:
    """Of narrow floats."""
    (kind,) = (result.type for result in op.results)
    if kind.element not in SMALL_FLOATS:
        return None
    x, y = (spread_to(w.emit, w._converted(value, "f32"), kind.shape) for value in operands)
    return w._converted(next_after(w.emit, w.reduced, x, y, kind.element), kind.element)


def _narrowed(w: _Writer, op: Op, operands: list[Value]) -> Value | None:
    """Conversions from and to what oracles convert wrongly."""
    (x,), (kind,) = operands, (result.type for result in op.results)
    if x.element == kind.element or not {x.element, kind.element} & {SCALE, *FINITE}:
        return None
    return w._converted(w._converted(x, "f32") if _is_narrow(x) else x, kind.element)


def _reduced(w: _Writer, op: Op, operands: list[Value]) -> list[Value] | None:
    """By one op, of floats of a byte or less: in f32, rounded at the end."""
    (region,) = op.regions
    if not _is_narrow(operands[0]) or len(region.ops) != 1:
        return None
    (inner,) = region.ops
    wide = {value: Value(_in_f32(value.type)) for value in (*region.arguments, *inner.results)}
    read = [wide.get(value, value) for value in inner.operands]
    body = Region(
        [wide[value] for value in region.arguments],
        [Op(inner.name, read, [wide[value] for value in inner.results], inner.attributes)],
        [wide.get(value, value) for value in region.returned],
    )
    results = [Value(_in_f32(value.type)) for value in op.results]
    w.ops.append(Op(op.name, [w._converted(value, "f32") for value in operands], results, op.attributes, [body]))
    return [w._converted(value, old.element) for value, old in zip(results, op.results)]


def _top(w: _Writer, op: Op, operands: list[Value]) -> list[Value] | None:
    """Of complex numbers, and of floats that XLA lacks, by their total order: sorted, and cut."""
    (x,) = operands
    if x.element not in (*COMPLEX, *FINITE):
        return None
    x = w._converted(x, "f32") if _is_narrow(x) else x
    last, k = len(x.shape) - 1, op.results[0].shape[-1]
    places = w.emit("iota", [], Type(x.shape, "i32"), f"iota_dimension = {last} : i64")
    a, b, flag = Value(Type((), x.element)), Value(Type((), x.element)), Value(Type((), "i1"))
    others = [Value(Type((), "i32")) for _ in range(2)]
    before = Region([a, b, *others], [Op("stablehlo.compare", [a, b], [flag], f"{_DIRECTION} GT>")], [flag])
    body = w.region(before) if x.element in COMPLEX else _after_zero(w, [a, b, *others])
    ordered = [Value(x.type), Value(places.type)]
    w.ops.append(Op("stablehlo.sort", [x, places], ordered, f"dimension = {last} : i64, is_stable = true", [body]))
    zeros, ones = (f"array<i64: {', '.join([str(n)] * len(x.shape))}>" for n in (0, 1))
    limits = ", ".join(map(str, (*x.shape[:-1], k)))
    cut = f"start_indices = {zeros}, limit_indices = array<i64: {limits}>, strides = {ones}"
    found = [w.emit("slice", [value], Type(result.shape, value.element), cut) for value, result in zip(ordered, op.results)]
    return [w._converted(value, result.element) for value, result in zip(found, op.results)]


def _after_zero(w: _Writer, arguments: list[Value]) -> Region:
    """a > b, 0 > -0."""
    outer, w.ops = w.ops, []
    a, b, flag = *arguments[:2], Type((), "i1")
    one = w.full(a.type, 1)
    inverse = [w.emit("divide", [one, value], a.type) for value in (a, b)]
    tie = [w.emit("compare", [a, b], flag, f"{_DIRECTION} EQ>"), w.emit("compare", inverse, flag, f"{_DIRECTION} GT>")]
    above = w.emit("or", [w.emit("compare", [a, b], flag, f"{_DIRECTION} GT>"), w.emit("and", tie, flag)], flag)
    made, w.ops = w.ops, outer
    return Region(arguments, made, [above])


_Rule = Callable[[_Writer, Op, list[Value]], "Value | list[Value] | None"]
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_ALONE, _operand),
    "chlo.broadcast_next_after": _next,
    "chlo.next_after": _next,
    "chlo.top_k": _top,
    "collective_permute": _permuted,
    **dict.fromkeys(("reduce", "reduce_window"), _reduced),
    "compare": _order,
    "convert": _narrowed,
    "einsum": _dot,
    "rng": _rng,
    "unary_einsum": _sum,
    "uniform_dequantize": _operand,
    "uniform_quantize": lambda w, op, operands: w._quantized(operands[0], op.results[0].element),
}
