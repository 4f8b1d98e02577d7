"""Elementwise functions of torch: odd values, strided bf16, integers that promote, no elements, no dimensions."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {}

# edge() is a vector with zeros of both signs, tiny, huge, infinite values and NaN.
for name in """abs ceil floor trunc sign negative square relu nan_to_num""".split():
    CASES[f"torch.{name}"] = ("(edge())", "(bf(5, 3).mT)", "(i32(7))")
for name in """acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh exp exp2 expm1 log log10 log1p log2 sqrt rsqrt reciprocal
    sigmoid erf erfc erfinv lgamma digamma sinc i0 deg2rad rad2deg logit""".split():
    CASES[f"torch.{name}"] = ("(edge())", "(bf(5, 3).mT)", "(i32(7))")
for name in "isfinite isinf isnan isneginf isposinf isreal signbit logical_not sgn positive angle".split():
    CASES[f"torch.{name}"] = ("(edge())", "(bf(5, 0))", "(i32(3, 2))")
for name in "frac selu celu hardshrink".split():
    CASES[f"torch.{name}"] = ("(edge())", "(bf(5, 3).mT)", "(f())")
for (
    name
) in """abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil celu cos cosh deg2rad erf erfc exp exp2
    expm1 fix floor frac i0 log log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal relu round rsqrt selu sigmoid sin sinc
    sinh sqrt square tan tanh trunc zero""".split():
    CASES[f"torch.{name}_"] = ("(edge())", "(bf(5, 3).mT)", "(f())")

for name in "add sub mul div true_divide remainder fmod floor_divide".split():
    CASES[f"torch.{name}"] = ("(*edges2())", "(i32(4, 5), nz(5))", "(bf(3, 1).mT, f())")
for name in "eq ne lt le gt ge".split():
    CASES[f"torch.{name}"] = ("(*edges2())", "(i32(4, 5), f(5))", "(b(3, 1), 1)")
for name in "maximum minimum fmax fmin".split():
    CASES[f"torch.{name}"] = ("(*edges2())", "(i32(4, 5), f(5))", "(b(3, 1), b(4))")
for name in "bitwise_and bitwise_or bitwise_xor".split():
    CASES[f"torch.{name}"] = ("(i8(4, 5), i64(5))", "(b(3, 1), b(4))", "(u8(6), 5)")
for name in "bitwise_left_shift bitwise_right_shift".split():
    CASES[f"torch.{name}"] = ("(i32(4, 5), t([0, 1, 7, 31, 40]))", "(i8(9), 3)", "(u8(2, 3), u8(3).clamp(max=7))")
for name in "logical_and logical_or logical_xor".split():
    CASES[f"torch.{name}"] = ("(*edges2())", "(i32(4, 5), b(5))", "(bf(0, 3), u8(3))")
for name in "atan2 copysign hypot nextafter logaddexp logaddexp2 heaviside xlogy float_power ldexp".split():
    CASES[f"torch.{name}"] = ("(*edges2())", "(bf(4, 1), bf(3).flip(0))", "(d(), d(2))")
for name in "gcd lcm".split():
    CASES[f"torch.{name}"] = ("(i32(4, 5), i32(5))", "(i64(), i64(3))", "(u8(2, 3), u8(3))")
for name in "igamma igammac".split():
    CASES[f"torch.{name}"] = ("(pos(4, 5), pos(5))", "(pos(3).double(), pos(3).double())", "(t([0.0, 1.0, 2.0]), t([0.0, math.inf, 1.0]))")
for name in "gcd lcm".split():
    CASES[f"torch.{name}_"] = ("(i32(5), i32(5))", "(i64(3), i64())", "(u8(2, 3), u8(3))")

CASES |= {
    "torch.round": ("(edge())", "(f(4, 3) * 100, decimals=-1)", "(d(5), decimals=2)"),
    "torch.bitwise_not": ("(i8(4, 5))", "(b(3))", "(u8(0, 2))"),
    "torch.clamp": ("(edge(), -1, 2.5)", "(i32(4, 5), i32(5), i32(4, 1))", "(bf(3, 4).mT, max=0.5)"),
    "torch.clamp_min": ("(edge(), -1)", "(i32(4, 5), i32(5))", "(i32(7), 0.5)"),
    "torch.clamp_max": ("(edge(), -1)", "(i32(4, 5), i32(5))", "(i32(7), 0.5)"),
    "torch.clamp_": ("(edge(), -1, 2.5)", "(i32(4, 5), i32(5), i32(4, 1))", "(bf(3, 4).mT, max=0.5)"),
    "torch.clamp_min_": ("(edge(), -1)", "(i32(4, 5), i32(5))", "(bf(7), 0.5)"),
    "torch.clamp_max_": ("(edge(), -1)", "(i32(4, 5), i32(5))", "(bf(7), 0.5)"),
    "torch.clip": ("(edge(), -1, 2.5)", "(edge(), 2.5, -1)", "(u8(4, 5), 3, 9)"),
    "torch.clip_": ("(edge(), -1, 2.5)", "(edge(), 2.5, -1)", "(u8(4, 5), 3, 9)"),
    "torch.fill": ("(f(2, 3), 1.5)", "(i32(2, 0), 2)", "(bf(4), t(3.0))"),
    "torch.fill_": ("(f(2, 3), 1.5)", "(i32(2, 0), 2)", "(bf(4), t(3.0))"),
    "torch.pow": ("(*edges2())", "(i32(3, 4), 3)", "(2, f(5).bfloat16())"),
    "torch.rsub": ("(f(2, 3), f(3), alpha=2)", "(i32(4), 3)", "(bf(3, 2).mT, 1.5)"),
    "torch.addcdiv": ("(f(3, 4), f(4), f(3, 1), value=-0.5)", "(bf(4), bf(4), pos(4).bfloat16())", "(d(), d(2), d(2))"),
    "torch.addcmul": ("(f(3, 4), f(4), f(3, 1), value=-0.5)", "(i32(4), i32(4), i32(4), value=2)", "(d(), d(2), d(2))"),
    "torch.lerp": ("(f(3, 4), f(4), 0.3)", "(f(3, 4), f(4), p01(3, 1))", "(bf(5), bf(5), 0.75)"),
    "torch.mvlgamma": ("(ge1(3, 4) + 1, 3)", "(ge1(3).double() + 1, 2)", "(ge1(3) + 1, 1)"),
    "torch.polygamma": ("(1, pos(3, 4))", "(0, f(5))", "(3, pos(4).double())"),
    "torch.prelu": ("(f(2, 3, 4), p01(3))", "(bf(5, 2), p01(1).bfloat16())", "(f(3), p01(1))"),
    "torch.rrelu": ("(edge(), 0.1, 0.3, False)", "(bf(5, 3).mT)", "(f())"),
    "torch.threshold": ("(edge(), 0.5, 7)", "(i32(3, 4), 2, -1)", "(bf(4, 3).mT, 0.1, 20)"),
    "torch.threshold_": ("(edge(), 0.5, 7)", "(i32(3, 4), 2, -1)", "(bf(4, 3).mT, 0.1, 20)"),
    "torch.rrelu_": ("(edge(), 0.1, 0.3, False)", "(bf(5, 3).mT)", "(f())"),
    "torch.ldexp_": ("(f(3, 4), i32(4))", "(bf(4), i32())", "(d(3), i64(3))"),
    "torch.xlogy_": ("(f(3, 4), pos(4))", "(bf(4), pos(4).bfloat16())", "(d(3), t(0.0))"),
    "torch.where": ("(b(3, 4), f(4), i32(3, 1))", "(b(2, 0), f(2, 0), 1.5)", "(u8(3, 2).mT > 9, bf(2, 3), bf(3))"),
    "torch.masked_fill": ("(f(3, 4), b(4), -math.inf)", "(i32(3, 4), b(3, 1), 2)", "(bf(4), b(2, 4), t(1.0))"),
    "torch.frexp": ("(edge())", "(bf(5, 3).mT)", "(d(3))"),
    "torch.isclose": ("(*edges2())", "(i32(4), i32(4), atol=2)", "(f(3), f(3), equal_nan=True)"),
    "torch.real": ("(f(3, 4))", "(bf(3))", "(c(3))"),
    "torch.conj": ("(f(3, 4))", "(i32(3))", "(c(3))"),
    "torch.conj_physical": ("(f(3, 4))", "(i32(3))", "(c(3))"),
    "torch.conj_physical_": ("(f(3, 4))", "(bf(3))", "(c(3))"),
    "torch.resolve_conj": ("(f(3, 4))", "(i32(3))", "(c(3))"),
    "torch.resolve_neg": ("(f(3, 4))", "(i32(3))", "(c(3))"),
    "torch.imag": ("(c(3))", "(c(3, 2).mT)", "(c())"),
    "torch.complex": ("(f(3), f(3))", "(d(3, 2).mT, d(3))", "(f(), f())"),
    "torch.polar": ("(pos(3), f(3))", "(pos(3, 2).mT.double(), d(3))", "(pos(), f())"),
    "torch.fake_quantize_per_tensor_affine": (
        "(f(3, 4), 0.1, 10, 0, 255)",
        "(f(3, 4).mT, 0.5, -2, -8, 7)",
        "(f(3), t(0.1), t(3, dtype=torch.int32), 0, 15)",
    ),
    "torch.fake_quantize_per_channel_affine": (
        "(f(3, 4), pos(4), i32(4), 1, -128, 127)",
        "(f(2, 3, 2), pos(2) / 9, i32(2), 0, 0, 15)",
        "(f(3), pos(3), t([0, 0, 0]).int(), 0, 0, 255)",
    ),
    "torch.clone": ("(f(3, 4).mT)", "(b(2, 0))", "(i8())"),
    "torch.detach": ("(f(3, 4).mT)", "(b(2, 0))", "(i8())"),
}
for name in "detach alias_copy detach_copy".split():
    CASES[f"torch.{name}"] = CASES["torch.clone"]
CASES["torch.detach_"] = CASES["torch.clone"]

ALIASES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "fix": "trunc", "neg": "negative", "divide": "div", "multiply": "mul", "subtract": "sub", "greater": "gt",
    "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
}  # fmt: skip
for alias, name in ALIASES.items():
    CASES[f"torch.{alias}"] = CASES[f"torch.{name}"]
