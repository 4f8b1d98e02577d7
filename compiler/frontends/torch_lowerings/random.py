"""Dropouts and random numbers of distributions, from one word of random bits an element (of f64, two).

torch-mlir draws numbers of f64 for what is true or false, and takes logarithms of 0 for normal and exponential ones: one in 2^24 is
infinite, in bf16 one in 256. Its integers are floats that lose their fraction: those below 0 are rounded up, to what is excluded too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering, torch_lowering_of_complex


@torch_lowering("aten.native_dropout")
def native_dropout(op: TorchOp, x: ir.Value, rate: float, train: bool | None) -> tuple[ir.Value, ir.Value]:
    """`x` divided by what is kept of it, 0 where the mask is; outside of training `x` itself."""
    kind, mask = op.results
    if train is False or rate == 0:
        return x, build.full(mask, 1)
    if rate == 1:
        return build.full(kind, 0), build.full(mask, 0)
    chosen = _chosen(mask, build.full(_f32(mask), 1 - rate))
    kept = build.multiply(x, build.convert(chosen, kind.element_type))
    return build.multiply(kept, build.full(kind, 1 / (1 - rate))), chosen


@torch_lowering("aten.bernoulli.p")
def bernoulli(op: TorchOp, x: ir.Value, rate: float = 0.5, *, generator: Any = None) -> ir.Value:
    return build.convert(_chosen(op.result, build.full(_f32(op.result), rate)), op.element)


@torch_lowering("aten.bernoulli.default", "aten.bernoulli.Tensor")
def bernoulli_of_rates(op: TorchOp, x: ir.Value, rates: ir.Value | None = None, *, generator: Any = None) -> ir.Value:
    rates = x if rates is None else build.broadcast_to(rates, list(op.result.shape))
    return build.convert(_chosen(op.result, build.convert(rates, ir.F32Type.get())), op.element)


@torch_lowering("aten.randn", "aten.randn_like")
def randn(op: TorchOp, *_: Any, **__: Any) -> ir.Value:
    return _normal(op, 0.0, 1.0)


@torch_lowering("aten.normal")
def normal(op: TorchOp, mean: ir.Value | float, deviation: ir.Value | float = 1.0, *_: Any, **__: Any) -> ir.Value:
    return _normal(op, mean, deviation)


@torch_lowering("aten.normal_functional")
def normal_instead(op: TorchOp, x: ir.Value, mean: float = 0.0, deviation: float = 1.0, *, generator: Any = None) -> ir.Value:
    return _normal(op, mean, deviation)


@torch_lowering("aten.log_normal")
def log_normal(op: TorchOp, x: ir.Value, mean: float = 1.0, deviation: float = 2.0, *, generator: Any = None) -> ir.Value:
    exponent = _scaled(drawn(wide(op.result), "NORMAL"), mean, deviation)
    return build.convert(build.elementwise("exponential", exponent), op.element)


@torch_lowering("aten.exponential")
def exponential(op: TorchOp, x: ir.Value, rate: float = 1.0, *, generator: Any = None) -> ir.Value:
    """Above 0."""
    logarithm = _logarithm(op)
    return build.convert(build.divide(logarithm, build.full_like(logarithm, -rate)), op.element)


@torch_lowering("aten.geometric")
def geometric(op: TorchOp, x: ir.Value, rate: float, *, generator: Any = None) -> ir.Value:
    """Trials up to the first success, from 1 on."""
    if not isinstance(op.element, ir.FloatType):
        return NotImplemented
    logarithm = _logarithm(op)
    trials = build.divide(logarithm, build.full_like(logarithm, math.log1p(-rate) if rate < 1 else -math.inf))
    least = build.full_like(logarithm, 1.0)
    return build.convert(build.elementwise("maximum", build.elementwise("ceil", trials), least), op.element)


@torch_lowering("aten.cauchy")
def cauchy(op: TorchOp, x: ir.Value, median: float = 0.0, width: float = 1.0, *, generator: Any = None) -> ir.Value:
    uniform = drawn(wide(op.result), "UNIFORM")
    angle = build.multiply(build.subtract(uniform, build.full_like(uniform, 0.5)), build.full_like(uniform, math.pi))
    return build.convert(_scaled(build.elementwise("tan", angle), median, width), op.element)


@torch_lowering("aten.randint.default")
def integers_up_to(op: TorchOp, high: int, *_: Any, **__: Any) -> ir.Value:
    return _integers(op, 0, high)


@torch_lowering("aten.randint.low")
def integers(op: TorchOp, low: int, high: int, *_: Any, **__: Any) -> ir.Value:
    return _integers(op, low, high)


@torch_lowering("aten.randint_like.default", "aten.random.to")
def integers_up_to_like(op: TorchOp, x: ir.Value, high: int, **_: Any) -> ir.Value:
    return _integers(op, 0, high)


@torch_lowering("aten.randint_like.low_dtype")
def integers_like(op: TorchOp, x: ir.Value, low: int, high: int, **_: Any) -> ir.Value:
    return _integers(op, low, high)


@torch_lowering("aten.random.from")
def integers_from(op: TorchOp, x: ir.Value, low: int, high: int | None, *, generator: Any = None) -> ir.Value:
    return _integers(op, low, _most(op.element) + 1 if high is None else high)


@torch_lowering("aten.random.default")
def any_integers(op: TorchOp, x: ir.Value, *, generator: Any = None) -> ir.Value:
    return _integers(op, 0, _most(op.element) + 1)


@torch_lowering("aten.randperm")
def randperm(op: TorchOp, count: int, **_: Any) -> ir.Value:
    """Places in the order of random numbers, which are the upper bits of words whose lower ones are the places: words alone are sorted
    in half the time of numbers with places. Once more where any two numbers would be alike oftener than once in `count` times."""
    bits = max(1, (count - 1).bit_length())
    word = build.tensor([count], ir.IntegerType.get_signless(64))
    places = build.iota([count], word.element_type, 0)
    for _round in range(-(-3 * bits // (64 - bits))):
        numbers = drawn(word, "UNIFORM", (-(2**62), 2**62))  # of 63 bits, of which the shift leaves fewer
        words = build.elementwise("or", build.elementwise("shift_left", numbers, build.full(word, bits)), places)
        (words,) = build.sort([words], 0, lambda x, y: build.compare("LT", x, y))
        places = build.elementwise("and", words, build.full(word, (1 << bits) - 1))
    return build.convert(places, op.element)


@torch_lowering_of_complex("aten.rand", "aten.rand_like")
def complex_uniform(op: TorchOp, *_: Any, **__: Any) -> ir.Value:
    part = build.tensor(list(op.result.shape), op.element.element_type)
    return value_of("stablehlo.complex", op.result, [drawn(part, "UNIFORM") for _ in range(2)])


def _normal(op: TorchOp, mean: ir.Value | float, deviation: ir.Value | float) -> ir.Value:
    """Of complex numbers both parts have half the variance, and a mean that is a number."""
    if isinstance(op.element, ir.ComplexType) and not any(isinstance(each, ir.Value) for each in (mean, deviation)):
        part = build.tensor(list(op.result.shape), op.element.element_type)
        parts = [_scaled(drawn(part, "NORMAL"), mean, deviation * 0.5**0.5) for _ in range(2)]
        return value_of("stablehlo.complex", op.result, parts)
    if not isinstance(op.element, ir.FloatType):
        return NotImplemented
    return build.convert(_scaled(drawn(wide(op.result), "NORMAL"), mean, deviation), op.element)


def _scaled(numbers: ir.Value, mean: ir.Value | float, deviation: ir.Value | float) -> ir.Value:
    shape, element = build.shape_of(numbers), build.element_of(numbers)

    def operand(given: ir.Value | float) -> ir.Value:
        if isinstance(given, ir.Value):
            return build.broadcast_to(build.convert(given, element), shape)
        return build.full_like(numbers, given)

    return build.add(build.multiply(numbers, operand(deviation)), operand(mean))


def _logarithm(op: TorchOp) -> ir.Value:
    """Of uniform numbers between 0 and 1, both excluded: half of the least one instead of 0."""
    uniform = drawn(wide(op.result), "UNIFORM")
    least = 2.0**-54 if build.element_of(uniform).width == 64 else 2.0**-25
    return build.elementwise("log", build.elementwise("maximum", uniform, build.full_like(uniform, least)))


def _integers(op: TorchOp, low: int, high: int) -> ir.Value:
    """From `low` up to `high`, which is excluded. Of all integers of 64 bits the largest is never drawn."""
    width = 32 if -(2**31) <= low and high < 2**31 else 64
    kind = build.tensor(list(op.result.shape), ir.IntegerType.get_signless(width))
    high = min(high, low + 2**64 - 1)
    numbers = drawn(kind, "UNIFORM", (low, high if high < 2**63 else high - 2**64))
    if op.element == ir.IntegerType.get_signless(1):
        return build.compare("NE", numbers, build.full_like(numbers, 0))
    return build.convert(numbers, op.element)


def _most(element: ir.Type) -> int:
    """The largest integer of a type; of floats that up to which they have all."""
    if isinstance(element, ir.FloatType):
        return 2 ** {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}[str(element)]
    return int(build.extreme(element, 1))


def _chosen(kind: ir.RankedTensorType, rates: ir.Value) -> ir.Value:
    """True as often as `rates` say, which are f32: uniform numbers are multiples of 2^-24."""
    return build.compare("LT", drawn(_f32(kind), "UNIFORM"), rates)


def drawn(kind: ir.RankedTensorType, distribution: str, given: tuple[float, float] = (0.0, 1.0)) -> ir.Value:
    """Numbers from one up to the other, 0 and 1, or of such a mean and deviation."""
    ends = (build.full(build.tensor([], kind.element_type), end) for end in given)
    sizes = build.constant(ir.DenseElementsAttr.get(np.array(kind.shape, np.int64)))
    drawn_as = ir.Attribute.parse(f"#stablehlo<rng_distribution {distribution}>")
    return value_of("stablehlo.rng", kind, [*ends, sizes], rng_distribution=drawn_as)


def wide(kind: ir.RankedTensorType) -> ir.RankedTensorType:
    """What numbers of a type are computed in."""
    return kind if isinstance(kind.element_type, ir.F64Type) else _f32(kind)


def _f32(kind: ir.RankedTensorType) -> ir.RankedTensorType:
    return build.tensor(list(kind.shape), ir.F32Type.get())
