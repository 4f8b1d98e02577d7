"""legalize-batch-norm: batch_norm_inference, batch_norm_training and batch_norm_grad as elementwise ops and sums.

Before:
    %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
After:
    %s = scale / sqrt(variance + epsilon)                      // over the features alone
    %0 = (%x - broadcast(mean)) * broadcast(%s) + broadcast(offset)

batch_norm_training computes the mean first and then the variance, as the mean of (x - mean)²: E[x²] - E[x]² cancels. Sums of f16 and bf16
are of f32. Must hold: nothing. Declined: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from ..common.rewriting import element_of, integer
from ..registry import register_pass
from .support import build
from .support.driver import rewrite

_NAMES = tuple(f"stablehlo.batch_norm_{name}" for name in ("inference", "training", "grad"))


@register_pass("legalize-batch-norm", "turns batch norms into elementwise ops and sums", ops=_NAMES)
def legalize_batch_norm(module: ir.Operation) -> None:
    rewrite(module, {name: [rule] for name, rule in zip(_NAMES, (_inference, _training, _grad))})


def _inference(op: ir.Operation) -> list[ir.Value]:
    x, scale, offset, mean, variance = op.operands
    return [_Batch.of(op).normalised(x, scale, offset, mean, variance)]


def _training(op: ir.Operation) -> list[ir.Value]:
    element = element_of(op.operands[0])
    batch = _Batch.of(op)
    x, scale, offset = map(batch.wide, op.operands)
    mean = batch.mean(x)
    centred = build.subtract(x, batch.spread(mean))
    variance = batch.mean(build.multiply(centred, centred))
    return [build.convert(value, element) for value in (batch.normalised(x, scale, offset, mean, variance), mean, variance)]


def _grad(op: ir.Operation) -> list[ir.Value]:
    element = element_of(op.operands[0])
    batch = _Batch.of(op)
    x, scale, mean, variance, gradient = map(batch.wide, op.operands)
    shifted = batch.add_epsilon(variance)
    deviation = build.elementwise("sqrt", shifted)
    centred = build.subtract(x, batch.spread(mean))
    total, moment = batch.sum(gradient), batch.sum(build.multiply(gradient, centred))
    inner = build.subtract(build.multiply(gradient, build.full_like(gradient, batch.count)), batch.spread(total))
    inner = build.subtract(inner, build.multiply(centred, batch.spread(build.divide(moment, shifted))))
    factor = build.divide(build.divide(scale, deviation), build.full_like(scale, batch.count))
    grads = build.multiply(inner, batch.spread(factor)), build.divide(moment, deviation), total
    return [build.convert(value, element) for value in grads]


@dataclass(frozen=True)
class _Batch:
    """The operand's shape, which dimension its features are, and the op's epsilon."""

    shape: list[int]
    feature: int
    epsilon: float

    @staticmethod
    def of(op: ir.Operation) -> _Batch:
        return _Batch(build.shape_of(op.operands[0]), integer(op, "feature_index"), ir.FloatAttr(op.attributes["epsilon"]).value)

    @property
    def count(self) -> int:
        """How many elements a feature has."""
        return build.prod(n for d, n in enumerate(self.shape) if d != self.feature)

    def wide(self, value: ir.Value) -> ir.Value:
        """In the type that sums are taken in."""
        element = element_of(value)
        return build.convert(value, element if element.width >= 32 else ir.F32Type.get())

    def sum(self, value: ir.Value) -> ir.Value:
        return build.sum_along(value, [d for d in range(len(self.shape)) if d != self.feature])

    def mean(self, value: ir.Value) -> ir.Value:
        total = self.sum(value)
        return build.divide(total, build.full_like(total, self.count))

    def spread(self, value: ir.Value) -> ir.Value:
        """A value a feature, for all elements."""
        return build.broadcast(value, self.shape, [self.feature])

    def add_epsilon(self, variance: ir.Value) -> ir.Value:
        return build.add(variance, build.full_like(variance, self.epsilon))

    def normalised(self, x: ir.Value, scale: ir.Value, offset: ir.Value, mean: ir.Value, variance: ir.Value) -> ir.Value:
        deviation = build.elementwise("sqrt", self.add_epsilon(variance))
        factor = build.divide(scale, deviation)
        scaled = build.multiply(build.subtract(x, self.spread(mean)), self.spread(factor))
        return build.add(scaled, self.spread(offset))
