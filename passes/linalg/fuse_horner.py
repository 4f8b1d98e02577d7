"""fuse-horner: a polynomial with constant coefficients, by Horner's scheme, is evaluated by fused multiply-adds.

Before, in a body, of a function that chlo's legalization wrote out (erf, erfc, erf_inv, digamma, …):

    %1 = arith.addf (arith.mulf %s, %c4), %c3 : f32
    %2 = arith.addf (arith.mulf %1, %s), %c2 : f32
    %3 = arith.addf (arith.mulf %2, %s), %c1 : f32
    %4 = arith.addf (arith.mulf %3, %s), %c0 : f32

After:

    %1 = math.fma %c4, %s, %c3 : f32
    %2 = math.fma %1, %s, %c2 : f32
    ...

Half as many operations, half as many roundings. A chain of four steps and more approximates a function, of which nobody asks the bits;
what a program multiplies and adds itself keeps both roundings, so shorter ones are left alone. Must hold: nothing. Declined: fewer steps, a
step whose value is used elsewhere, steps by different factors, other types than f32 and f64, targets without fused multiply-adds.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import producer, replace, value_of, walk
from ..registry import register_pass

_STEPS = 4


@dataclass(frozen=True)
class _Step:
    """`product` + a coefficient; of the product's operands the one at `place` is the step before, the other one the factor."""

    total: ir.Operation
    product: ir.Operation
    place: int

    @property
    def value(self) -> ir.Value:
        return self.product.operands[self.place]

    @property
    def factor(self) -> ir.Value:
        return self.product.operands[1 - self.place]

    @property
    def coefficient(self) -> ir.Value:
        left, right = self.total.operands
        return right if left == self.product.results[0] else left


@register_pass("fuse-horner", "evaluates polynomials by fused multiply-adds")
def fuse_horner(module: ir.Operation) -> None:
    if not target_of(module).fma:
        return
    chains: list[list[_Step]] = []
    taken: set[ir.Value] = set()
    # the last step of a chain is met before the others
    for op in reversed(walk(module, "arith.addf")):
        if op.results[0] not in taken and len(chain := _chain(op.results[0])) >= _STEPS:
            chains.append(chain)
            taken.update(step.total.results[0] for step in chain)
    for chain in chains:
        _fuse(chain[::-1])


def _chain(value: ir.Value) -> list[_Step]:
    """The steps by one factor that end with `value`, the last first."""
    chain: list[_Step] = []
    factor: ir.Value | None = None
    while (not chain or _used_once(value)) and (step := _step(value, factor)):
        chain.append(step)
        value, factor = step.value, step.factor
    return chain


def _step(value: ir.Value, factor: ir.Value | None) -> _Step | None:
    """How `value` is a step by `factor`; where that is None, by what is no sum."""
    total = producer(value, "arith.addf")
    if total is None or not isinstance(value.type, (ir.F32Type, ir.F64Type)):
        return None
    for place, summand in enumerate(total.operands):
        product = producer(summand, "arith.mulf")
        if product is None or not _used_once(summand) or producer(total.operands[1 - place], "arith.constant") is None:
            continue
        for step in (_Step(total, product, 0), _Step(total, product, 1)):
            if producer(step.factor, "arith.addf") is None if factor is None else step.factor == factor:
                return step
    return None


def _used_once(value: ir.Value) -> bool:
    return len(list(value.uses)) == 1


def _fuse(chain: list[_Step]) -> None:
    """Puts fused multiply-adds in the place of the steps, the first first."""
    for step in chain:
        with ir.InsertionPoint(step.total), step.total.location:
            fused = value_of("math.fma", step.value.type, [step.value, step.factor, step.coefficient])
        replace(step.total, [fused])
        step.product.erase()
