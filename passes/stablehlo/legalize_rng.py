"""legalize-rng: rng as draws from a threefry generator whose state is an argument and a result of @main.

Before:
    func.func @main(%a: tensor<f32>, %b: tensor<f32>, %state: tensor<4xi32> {hloom.generator}) -> (tensor<8xf32>, tensor<4xi32>) {
      %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (…) -> tensor<8xf32>
      return %0, %state
After:
      %x, %y = twenty rounds of threefry2x32 on the counters %counter + iota            // %state is a key and a counter of 64 bits
      %0 = %a + ((%x ^ %y) >> 8) * 2^-24 * (%b - %a)
      return %0, (the key, %counter + 8)

A number follows from its place alone, so that a loop or a tile of any kernel draws what it needs. (The words of one philox counter belong
to several elements: they would go through memory.)

The counter passes from op to op in their order, through loops and branches too, so that no two draws are the same. Uniform numbers lie in
[a, b); what rounding makes b becomes the number before it. Normal ones are the inverse error function of numbers between -1 and 1. Floats
narrower than f32 are drawn in f32.
Must hold: the state is the last result. Declined: a module without a state, which the front end adds. An rng in a region other than a
loop's body or a branch raises UnsupportedOpError.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.init_function import argument_attributes, entry
from ..common.rewriting import element_of, keyword, ops_in, replace, value_of, walk
from ..errors import UnsupportedOpError
from ..registry import register_pass
from .support import build
from .support.random_bits import counters_of, halves, joined, threefry, word_type
from .support.threading import Thread

STATE = "hloom.generator"
"""Marks the argument of @main that is the state: four words of 32 bits, the lower ones first."""
_RNG = "stablehlo.rng"
_BITS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
"""Of a significand; narrower floats round what f32 draws."""


@register_pass("legalize-rng", "turns rng into draws from a generator whose state is an argument", ops=(_RNG,))
def legalize_rng(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None or not walk(module, _RNG):
        return
    places = [index for index, given in enumerate(argument_attributes(main)) if STATE in given]
    if not places:
        return
    block = main.regions[0].blocks[0]
    state = block.arguments[places[0]]
    with main.location, ir.InsertionPoint.at_block_begin(block):
        words = build.elementwise("bitcast_convert", state, result=build.tensor([4], word_type(32)))
        low, high, *counter = (build.reshape(build.slice_dim(words, 0, i, i + 1), []) for i in range(4))
        key, start = joined(low, high), joined(*counter)
    after = Thread(_is_draw, _Draws(key).step, _refused).through(block, start)
    *_, returned = ops_in(block)
    with returned.location, ir.InsertionPoint(returned):
        made = build.concatenate([build.reshape(word, [1]) for word in (low, high, *halves(after))], 0)
        returned.operands[len(returned.operands) - 1] = build.elementwise("bitcast_convert", made, result=state.type)


class _Draws:
    """Gives each rng its numbers, and the counter to the next."""

    def __init__(self, key: ir.Value):
        self.key = key

    def step(self, op: ir.Operation, counter: ir.Value) -> ir.Value:
        value, counter = self._drawn(op, counter)
        replace(op, [value])
        return counter

    def _drawn(self, op: ir.Operation, counter: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The numbers of an rng, and the counter after them."""
        first, second, _ = op.operands
        shape, element = build.shape_of(op.results[0]), element_of(op.results[0])
        x, y = threefry(self.key, *counters_of(counter, shape))
        bits = joined(x, y) if element.width == 64 else build.elementwise("xor", x, y)
        low, high = (build.broadcast(value, shape, []) for value in (first, second))
        if keyword(op, "rng_distribution") == "NORMAL":
            value = _normal(bits, low, high)
        elif isinstance(element, ir.FloatType):
            value = _uniform(bits, first, second)
        else:
            value = _integers(bits, low, high)
        return value, build.add(counter, build.full_like(counter, build.prod(shape)))


def _uniform(bits: ir.Value, first: ir.Value, second: ir.Value) -> ir.Value:
    """In [first, second), which are scalars."""
    shape, element = build.shape_of(bits), element_of(first)
    low, high, last = (build.broadcast(value, shape, []) for value in (first, second, build.elementwise("maximum", first, _before(second))))
    wide = _computed_in(element)
    digits = _BITS.get(str(element), 24)
    start, end = (build.convert(value, wide) for value in (low, high))
    whole = build.convert(_upper(bits, digits), ir.IntegerType.get_signless(element_of(bits).width))
    unit = build.multiply(build.convert(whole, wide), build.full_like(start, 2.0**-digits))
    value = build.add(start, build.multiply(unit, build.subtract(end, start)))
    value = build.convert(value, element)
    return build.select(build.compare("LT", value, high), value, last)


def _before(end: ir.Value) -> ir.Value:
    """The largest float below a scalar: floats are a sign and a magnitude, whose bits count up."""
    element = element_of(end)
    kind = build.tensor([], word_type(element.width))
    bits, zero = build.elementwise("bitcast_convert", end, result=kind), build.zero([], element)
    one = build.full_like(bits, 1)
    smaller, larger = build.subtract(bits, one), build.add(bits, one)
    bits = build.select(build.compare("GT", end, zero), smaller, larger)
    least = build.full_like(bits, 1 << (element.width - 1) | 1)
    bits = build.select(build.compare("EQ", end, zero), least, bits)
    return build.elementwise("bitcast_convert", bits, result=end.type)


def _normal(bits: ir.Value, mean: ir.Value, deviation: ir.Value) -> ir.Value:
    """By the inverse error function of an odd number of 2^-p: it is between -1 and 1, and as often above 0 as below."""
    wide = _computed_in(element_of(mean))
    digits = _BITS[str(wide)]
    whole = ir.IntegerType.get_signless(element_of(bits).width)
    upper = build.convert(_upper(bits, digits), whole)
    odd = build.convert(build.add(build.add(upper, upper), build.full_like(upper, 1 - 2**digits)), wide)
    unit = build.multiply(odd, build.full_like(odd, 2.0**-digits))
    value = build.multiply(value_of("chlo.erf_inv", unit.type, [unit]), build.full_like(unit, 2.0**0.5))
    scaled = build.multiply(value, build.convert(deviation, wide))
    return build.convert(build.add(scaled, build.convert(mean, wide)), element_of(mean))


def _integers(bits: ir.Value, low: ir.Value, high: ir.Value) -> ir.Value:
    """`low` and the upper half of the product of the bits and `high - low`; of 64 bits, the remainder."""
    kind, width = low.type, element_of(low).width
    if width == 1:  # from false up to true is false alone
        return build.convert(_integers(bits, *(build.convert(value, word_type(8)) for value in (low, high))), element_of(low))
    unsigned = build.tensor(build.shape_of(low), word_type(width))
    start, end = (build.bitcast(value, unsigned) for value in (low, high))
    span = build.convert(build.subtract(end, start), word_type(64))
    if width == 64:
        part = build.elementwise("remainder", bits, build.elementwise("maximum", span, build.full_like(span, 1)))
    else:
        wide = build.multiply(build.convert(bits, word_type(64)), span)
        part = build.convert(build.elementwise("shift_right_logical", wide, build.full_like(wide, 32)), word_type(width))
    value = build.add(start, part)
    return value if kind == unsigned else build.elementwise("bitcast_convert", value, result=kind)


def _upper(bits: ir.Value, digits: int) -> ir.Value:
    """The upper `digits` bits as a whole number."""
    return build.elementwise("shift_right_logical", bits, build.full_like(bits, element_of(bits).width - digits))


def _computed_in(element: ir.Type) -> ir.Type:
    return element if element.width >= 32 else ir.F32Type.get()


def _is_draw(op: ir.Operation) -> bool:
    return op.name == _RNG


def _refused(op: ir.Operation, place: str) -> UnsupportedOpError:
    what, remedy = f"hloom does not compile stablehlo.rng in {place}", "draw the numbers before it, or in a loop's body"
    return UnsupportedOpError(what, op=_RNG, loc=str(op.location), stage="stablehlo", remedy=remedy)
