"""What the table of docs/ops.md has besides: the ops of CHLO that are like others with broadcasts, and started collectives."""

from __future__ import annotations

from .. import errors
from ..elements import COMPLEX, QUANTIZED, SIGNED, is_float, is_integer, part, width
from ..errors import INFINITE, Facts, Unsuitable
from ..grow import Grower
from ..program import Op, Region, Type, Value
from . import recipe

_LESS = "comparison_direction = #chlo<comparison_direction LT>"


def pair(g: Grower, element: str) -> tuple[Value, Value]:
    """The second is broadcast to the first."""
    x = g.any(element, low=1, finite=element in COMPLEX)
    return x, g.value(x.shape[1:], element, finite=element in COMPLEX)


def only(*kinds: bool) -> None:
    """The verifier takes any type: only some have a meaning."""
    if not any(kinds):
        raise Unsuitable


@recipe("chlo.broadcast_subtract chlo.broadcast_minimum chlo.broadcast_and chlo.broadcast_or chlo.broadcast_xor", alone=True)
def exact(g: Grower, name: str, element: str) -> Value:
    only(element != "i1", name != "chlo.broadcast_subtract")
    return g.emit(name, pair(g, element))


@recipe("chlo.broadcast_divide chlo.broadcast_remainder chlo.broadcast_next_after", alone=True)
def quotient(g: Grower, name: str, element: str) -> Value:
    only(is_float(element), element != "i1" and not name.endswith("next_after"))
    x, y = pair(g, element)
    if is_integer(element):
        y = g.emit("maximum", [y, g.constant(y.shape, element, 1)])
    return g.emit(name, [x, y], x.type, facts=Facts(INFINITE, False, 32) if element in COMPLEX else Facts())


@recipe("chlo.broadcast_atan2 chlo.broadcast_power", alone=True)
def function(g: Grower, name: str, element: str) -> Value:
    only(is_float(part(element)), element in QUANTIZED, is_integer(element) and name.endswith("power"))
    x, y = pair(g, element)
    if is_integer(element):
        return g.emit(name, [x, g.within(y.shape, element, 0, min(7, 2 ** (width(element) - (element in SIGNED)) - 1))], x.type)
    off = 512 if element in COMPLEX else errors.ulps(name.removeprefix("chlo.broadcast_"), element) if is_float(element) else 0
    return g.emit(name, [x, y], x.type, facts=Facts(INFINITE, False, off))


@recipe("chlo.broadcast_shift_left chlo.broadcast_shift_right_arithmetic chlo.broadcast_shift_right_logical", alone=True)
def shift(g: Grower, name: str, element: str) -> Value:
    only(is_integer(element))
    x = g.any(element, low=1)
    most = min(width(element) - 1, 2 ** (width(element) - (element in SIGNED)) - 1)
    return g.emit(name, [x, g.within(x.shape[1:], element, 0, most)], x.type)


@recipe("chlo.broadcast_compare", alone=True)
def compare(g: Grower, name: str, element: str) -> Value:
    x, y = pair(g, element)
    return g.emit(name, [x, y], Type(x.shape, "i1"), _LESS.replace("LT", "EQ") if element in COMPLEX else _LESS)


@recipe("chlo.broadcast_select", alone=True)
def select(g: Grower, name: str, element: str) -> Value:
    x, y = pair(g, element)
    return g.emit(name, [g.value(x.shape[1:], "i1"), x, y], x.type)


@recipe("chlo.broadcast_complex", alone=True)
def complex_(g: Grower, name: str, element: str) -> Value:
    x, y = pair(g, part(element))
    return g.emit(name, [x, y], Type(x.shape, element if element in COMPLEX else f"complex<{element}>"))


@recipe("chlo.polygamma chlo.zeta chlo.broadcast_polygamma chlo.broadcast_zeta", alone=True)
def special(g: Grower, name: str, element: str) -> Value:
    """Of the order 2 and numbers from 1 on."""
    only(is_float(element))
    x, order = g.any(element, low=1, finite=True), g.constant((), element, 2)
    y = g.emit("add", [g.emit("abs", [x], facts=g.facts[x]), g.constant(x.shape, element, 1)])
    if "broadcast" not in name:
        order = g.constant(x.shape, element, 2)
    return g.emit(name, [order, y], x.type, facts=Facts(INFINITE, False, 64))


@recipe("chlo._asin_acos_kernel", alone=True)
def kernel(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, finite=True)
    return g.emit(name, [x], facts=Facts(INFINITE, False, 64))


@recipe("chlo.constant", alone=True)
def constant(g: Grower, name: str, element: str) -> Value:
    kind = Type(g.shape(), element)
    number = "true" if element == "i1" else "(1.0, 0.0)" if element in COMPLEX else "1.0" if is_float(element) else "1"
    return g.emit(name, [], [kind], f"value = dense<{number}> : {kind}")


@recipe("chlo.constant_like", alone=True)
def constant_like(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    if element in COMPLEX:
        number = f"#complex.number<:{part(element)} 1.0, 2.0>"
    else:
        number = f"{1.0 if is_float(element) else 'true' if element == 'i1' else 1}{'' if element == 'i1' else f' : {element}'}"
    return g.emit(name, [x], x.type, f"value = {number}")


@recipe("chlo.mulhi", alone=True)
def mulhi(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x, g.value(x.shape, element)])


@recipe("chlo.ragged_dot", alone=True)
def ragged_dot(g: Grower, name: str, element: str) -> Value:
    """Rows of the left operand in groups of one and two, each with a matrix of its own."""
    x, y = g.value((3, 4), element, finite=True, exact=True), g.value((2, 4, 5), element, finite=True, exact=True)
    sizes = g.emit("constant", [], [Type((2,), "i64")], "value = dense<[1, 2]> : tensor<2xi64>")
    numbers = """lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]"""
    attributes = f"ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>, precision_config = []"
    facts = errors.contracted(element, 4, g.facts[x], g.facts[y])
    return g.emit(name, [x, y, sizes], Type((3, 5), element), attributes, facts=facts)


@recipe("chlo.scan", alone=True)
def scan(g: Grower, name: str, element: str) -> Value:
    """A running maximum of rows."""
    x, start = g.value((4, 3), element, exact=True), g.value((3,), element, exact=True)
    row = Type((3,), element)

    def step(new: Value, carried: Value) -> list[Value]:
        larger = g.emit("maximum", [new, carried])
        return [larger, larger]

    attributes = "dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>"
    return g.emit_all(name, [x, start], [x.type, row], attributes, [g.region([row, row], step)])[0]


@recipe("async_start async_done", by_xla=True, alone=True)
def asynchronous(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=1, full=True)
    given, gathered = Value(x.type), Value(x.type)
    gather = Op("stablehlo.all_gather", [given], [gathered], "all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>")
    started = g.emit("async_start", [x], Type((), f"!stablehlo.future<{x.type}>"), "", [Region([given], [gather], [gathered])])
    g.pool.remove(started)
    return g.emit("async_done", [started], x.type, facts=g.facts[x])
