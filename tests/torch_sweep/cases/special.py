"""torch.special: odd values, strided bf16 where torch takes it, f64, integers that promote."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {}

for name in "erf erfc erfinv exp2 expit expm1 gammaln i0 log1p logit sinc ndtr entr round".split():
    CASES[name] = ("(edge())", "(d(5, 3).mT)", "(bf(4))")
for name in "digamma psi".split():
    CASES[name] = ("(edge())", "(pos(5, 3).mT.double())", "(bf(4))")
for (
    name
) in """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 erfcx i0e i1 i1e log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0
    modified_bessel_k1 ndtri scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0""".split():
    CASES[name] = ("(edge())", "(d(5, 3).mT)", "(i32(4))")
for name in """chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h
    hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u
    shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w""".split():
    CASES[name] = ("(unit(5), 3)", "(f(4, 1), nat(3))", "(d(4), t([0.0, 1.0, 2.0, -1.0]))")
for name in "gammainc gammaincc".split():
    CASES[name] = ("(pos(4, 5), pos(5))", "(pos(3).double(), pos(3).double())", "(t([0.0, 1.0, 2.0]), t([0.0, math.inf, 1.0]))")
for name in "softmax log_softmax".split():
    CASES[name] = ("(f(3, 5), -1)", "(bf(3, 5).mT, 0)", "(i32(3, 4), 1, dtype=torch.float32)")
for name in "xlogy xlog1py".split():
    CASES[name] = ("(*edges2())", "(i32(4, 5), pos(5))", "(d(3), 2.0)")
CASES |= {
    "logsumexp": ("(f(3, 5), -1)", "(d(3, 5, 2).mT, (0, 2), keepdim=True)", "(edge()[18:22], 0)"),
    "multigammaln": ("(ge1(5), 2)", "(ge1(3).double() + 2, 3)", "(ge1(2, 3), 1)"),
    "polygamma": ("(1, pos(5))", "(0, d(3))", "(2, pos(2, 3))"),
    "zeta": ("(ge1(5), pos(5))", "(ge1(3).double(), 2.0)", "(t([1.0, 2.0, 0.5]), t([1.0, -1.0, 3.0]))"),
}
CASES = {f"torch.special.{name}": settings for name, settings in CASES.items()}
