"""The logarithm of the gamma function in f64, by Lanczos' sum as a ratio of polynomials (Boost's and SciPy's coefficients)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch_mlir import ir

from hloom.passes.stablehlo.complex.numbers import Real
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

LANCZOS_G = 6.024680040776729583740234375
_LANCZOS_ABOVE = (
    0.006061842346248906525783753964555936883222, 0.5098416655656676188125178644804694509993, 19.51992788247617482847860966235652136208,
    449.9445569063168119446858607650988409623, 6955.999602515376140356310115515198987526, 75999.29304014542649875303443598909137092,
    601859.6171681098786670226533699352302507, 3481712.15498064590882071018964774556468, 14605578.08768506808414169982791359218571,
    43338889.32467613834773723740590533316085, 86363131.28813859145546927288977868422342, 103794043.1163445451906271053616070238554,
    56906521.91347156388090791033559122686859,
)  # fmt: skip
_LANCZOS_BELOW = (
    1.0, 66.0, 1925.0, 32670.0, 357423.0, 2637558.0, 13339535.0, 45995730.0, 105258076.0, 150917976.0, 120543840.0, 39916800.0, 0.0,
)  # fmt: skip


@torch_lowering("aten.lgamma", "aten.special_gammaln")
def lgamma(op: TorchOp, x: ir.Value) -> ir.Value:
    return build.convert(log_gamma(Real(build.convert(op.operand(x), ir.F64Type.get()))).value, op.element)


def log_gamma(x: Real) -> Real:
    """log |Γ(x)|. Below 1/2 by Γ(x) Γ(1 - x) = π / sin πx, whose sine and sum share a quotient and a logarithm."""
    reflected = x < 0.5
    a = reflected.pick(1 - x, x)
    above, below = _lanczos_parts(1 / a)
    fraction = abs(x) - abs(x).function("floor")
    sine = ((fraction > 0.5).pick(1 - fraction, fraction) * math.pi).function("sine")
    ratio = reflected.pick(below * math.pi, above) / reflected.pick(above * sine, below)
    power = (a - 0.5) * ((a + (LANCZOS_G - 0.5)).function("log") - 1)
    made = ratio.function("log") + reflected.pick(0.0 - power, power)
    made = (x.equals(1) | x.equals(2)).pick(0.0, made)
    return x.is_infinite().pick(abs(x), made)


def lanczos(a: Real) -> Real:
    """A ratio of polynomials: in 1/a above 1, so that no power overflows."""
    large = a > 1
    y = large.pick(1 / a, a)
    above, below = (large.pick(_powers(y, each[::-1]), _powers(y, each)) for each in (_LANCZOS_ABOVE, _LANCZOS_BELOW))
    return above / below


def _lanczos_parts(y: Real) -> tuple[Real, Real]:
    """The sum at 1/y as numerator and denominator."""
    return _powers(y, _LANCZOS_ABOVE[::-1]), _powers(y, _LANCZOS_BELOW[::-1])


def _powers(y: Real, coefficients: Sequence[float]) -> Real:
    total = y.like(coefficients[0])
    for coefficient in coefficients[1:]:
        total = total * y + coefficient
    return total
