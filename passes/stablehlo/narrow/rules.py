"""What becomes of the ops that compute with narrow types: rules for the conversion of types.

An op with no rule of its own is done on the types that are computed with (f32 of floats, bytes of integers), its operands widened before,
its results rounded or wrapped after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from ...common.rewriting import attributes_of, create, element_of, integer, keyword
from ..support import build
from ..support.type_conversion import Parts, Rule
from . import bitcasts, converts, tensor_cores
from .constants import stored_constant
from .converts import convert, from_compute, to_compute
from .floats import next_after, reduce_precision
from .types import NarrowType, bytes_of, from_bytes, lowest_bits, narrow_element

_CLOSED = frozenset(
    "and or xor minimum maximum clamp sign remainder shift_right_logical all_reduce all_gather all_to_all collective_permute "
    "collective_broadcast reduce_scatter top_k".split()
)
"""Their results are in the range of their operands."""


def widened(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """The op on the types that are computed with."""
    values = [to_compute(parts[0], narrow_element(old)) for parts, old in zip(operands, op.operands)]
    return _rounded(op, _create(op, values))


def _create(op: ir.Operation, values: Sequence[ir.Value]) -> Sequence[ir.Value]:
    kinds = [_compute_type(result) for result in op.results]
    return create(op.name, kinds, values, **attributes_of(op)).results


def _compute_type(value: ir.Value) -> ir.Type:
    narrow = narrow_element(value)
    return value.type if narrow is None else build.tensor(build.shape_of(value), narrow.compute)


def _rounded(op: ir.Operation, results: Sequence[ir.Value]) -> list[Parts]:
    closed = _short(op) in _CLOSED
    return [[from_compute(value, narrow_element(old), closed)] for value, old in zip(results, op.results)]


def _short(op: ir.Operation) -> str:
    return op.name.partition(".")[2]


def _constant(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    narrow = narrow_element(op.results[0])
    assert narrow is not None
    return [[stored_constant(op.attributes["value"], narrow)]]


def _convert(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    return [[converts.convert(operands[0][0], element_of(op.operands[0]), element_of(op.results[0]))]]


def _bitcast(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    (old,), new = op.operands, op.results[0]
    return [[bitcasts.bitcast(operands[0][0], element_of(old), element_of(new), build.shape_of(new))]]


def _of_bits(rule: Callable[[ir.Operation, ir.Value, list[ir.Value], NarrowType], ir.Value]) -> Rule:
    """The rule of an op that sees the bits of an integer: it gets the lowest of them, as ui8, and the operands."""

    def converted(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
        narrow = narrow_element(op.operands[0])
        assert narrow is not None
        values = [parts[0] for parts in operands]
        result = rule(op, lowest_bits(bytes_of(values[0]), narrow.bits), values, narrow)
        back = build.bitcast(result, values[0].type)
        return [[from_compute(back, narrow)]]

    return converted


def _leading_zeros(op: ir.Operation, bits: ir.Value, values: list[ir.Value], narrow: NarrowType) -> ir.Value:
    unused = build.full_like(bits, 8 - narrow.bits)
    return build.subtract(build.elementwise("count_leading_zeros", bits), unused)


def _ones(op: ir.Operation, bits: ir.Value, values: list[ir.Value], narrow: NarrowType) -> ir.Value:
    return build.elementwise("popcnt", bits)


def _shift_logical(op: ir.Operation, bits: ir.Value, values: list[ir.Value], narrow: NarrowType) -> ir.Value:
    return build.elementwise("shift_right_logical", bits, bytes_of(values[1]))


def _shift_arithmetic(op: ir.Operation, bits: ir.Value, values: list[ir.Value], narrow: NarrowType) -> ir.Value:
    """The topmost bit stays, of unsigned types too."""
    topmost = build.full_like(bits, 8 - narrow.bits)
    high = build.elementwise("shift_left", bits, topmost)
    return build.elementwise("shift_right_arithmetic", build.elementwise("shift_right_arithmetic", high, topmost), bytes_of(values[1]))


def _contraction(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Of floats on tensor cores, else in f32 (which an algorithm that names narrow types means, too); of integers in bytes, where sums
    wrap as they should."""
    if tensor_cores.multiply(op):
        return [[convert(tensor_cores.dot(op, operands[0][0], operands[1][0]), ir.F32Type.get(), element_of(op.results[0]))]]
    values = [to_compute(parts[0], narrow_element(old)) for parts, old in zip(operands[:2], op.operands)]
    others = [parts[0] for parts in operands[2:]]  # the padding of a dynamic_conv
    result, narrow = op.results[0], narrow_element(op.results[0])
    element = narrow.compute if narrow else element_of(result)
    if isinstance(element_of(values[0]), ir.FloatType):
        element = common = _widest_float([element_of(value) for value in values])
    else:
        given = [element_of(old) for old in list(op.operands)[:2] if narrow_element(old) is None]
        common = given[0] if given else ir.IntegerType.get_signless(8)
    attributes = {name: value for name, value in attributes_of(op).items() if name != "algorithm"}
    kind = build.tensor(build.shape_of(result), element)
    made = create(op.name, [kind], [*(build.convert(value, common) for value in values), *others], **attributes).results[0]
    return [[from_compute(made, narrow) if narrow else build.convert(made, element_of(result))]]


def _high_half(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """The upper bits of a product, all of which a byte holds."""
    narrow = narrow_element(op.results[0])
    assert narrow is not None
    product = build.multiply(operands[0][0], operands[1][0])
    shift = "shift_right_arithmetic" if narrow.signed else "shift_right_logical"
    return [[build.elementwise(shift, product, build.full_like(product, narrow.bits))]]


def _reduce_precision(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    narrow = narrow_element(op.results[0])
    assert narrow is not None and narrow.form is not None
    return [[reduce_precision(operands[0][0], narrow.form, integer(op, "exponent_bits"), integer(op, "mantissa_bits"))]]


def _next_after(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    narrow = narrow_element(op.results[0])
    assert narrow is not None and narrow.form is not None
    return [[next_after(operands[0][0], operands[1][0], narrow.form)]]


def _drawn(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Uniform floats are below the end, which rounding may make of one: that becomes the number before it."""
    ((made,),) = widened(op, operands)
    narrow = narrow_element(op.results[0])
    if narrow is None or narrow.form is None or keyword(op, "rng_distribution") == "NORMAL":
        return [[made]]
    (first,), (end,), _ = operands
    shape = build.shape_of(made)
    last = build.broadcast(next_after(end, first, narrow.form), shape, [])
    below = build.compare("LT", to_compute(made, narrow), build.broadcast(to_compute(end, narrow), shape, []))
    return [[build.select(below, made, last)]]


def _widest_float(elements: list[ir.Type]) -> ir.Type:
    f64 = ir.F64Type.get()
    return f64 if f64 in elements else ir.F32Type.get()


def _random_bits(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Each element is the lowest bits of a word."""
    narrow = narrow_element(op.results[1])
    assert narrow is not None
    kind = build.tensor(build.shape_of(op.results[1]), ir.IntegerType.get_unsigned(8))
    state, made = create(op.name, [op.results[0].type, kind], [operands[0][0]], **attributes_of(op)).results
    return [[state], [from_bytes(made, narrow)]]


RULES: dict[str, Rule] = {
    "chlo.mulhi": _high_half,
    "chlo.next_after": _next_after,
    "arith.constant": _constant,
    "stablehlo.constant": _constant,
    "stablehlo.convert": _convert,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.count_leading_zeros": _of_bits(_leading_zeros),
    "stablehlo.popcnt": _of_bits(_ones),
    "stablehlo.shift_right_logical": _of_bits(_shift_logical),
    "stablehlo.shift_right_arithmetic": _of_bits(_shift_arithmetic),
    "stablehlo.dot_general": _contraction,
    "stablehlo.dot": _contraction,
    "stablehlo.convolution": _contraction,
    "stablehlo.dynamic_conv": _contraction,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.rng": _drawn,
    "stablehlo.rng_bit_generator": _random_bits,
}
"""By the ops' names."""
