"""Element by element, with the types that torch promotes to."""

from __future__ import annotations

from ...errors import Unsuitable
from ..builder import Builder, Made, broadcasts, recipe

FUNCTIONS = """sin cos tanh sigmoid exp expm1 atan erf sinh square neg abs asinh
F.gelu F.silu F.relu F.elu F.softplus F.mish F.hardswish F.hardtanh F.leaky_relu F.selu F.logsigmoid F.softsign F.relu6 F.tanhshrink F.celu
F.hardsigmoid erfc sinc rad2deg exp2 i0 lgamma digamma""".split()
POSITIVE = "log log2 log10 log1p sqrt rsqrt reciprocal".split()
ROUNDING = "floor ceil trunc round sign frac isnan isfinite signbit nan_to_num abs neg".split()


def called(name: str, arguments: str) -> str:
    return f"{name}({arguments})" if name.startswith("F.") else f"torch.{name}({arguments})"


@recipe
def unary(b: Builder) -> Made:
    x = b.pick(lambda x: not x.is_complex)
    if x.is_float or b.chance(0.4):
        if b.chance(0.2):
            return Made(called(b.one(*POSITIVE), f"{x}.abs() + 0.5"))
        return Made(called(b.one(*FUNCTIONS), str(x)))
    return Made(b.one(f"-{x}", f"{x}.abs()", f"{x}.sign()", f"~{x}", f"{x}.square()", f"torch.clamp({x}, -2, 3)"), x.exact)


@recipe
def rounded(b: Builder) -> Made:
    x = b.pick(lambda x: not x.is_complex and not x.is_bool, exact=True)
    return Made(f"torch.{b.one(*ROUNDING)}({x})", True)


@recipe
def binary(b: Builder) -> Made:
    x = b.pick()
    y = b.partner(x)
    operation = b.one(
        "+", "-", "*", "+", "*", "/", "add", "mul", "sub", "rsub", "maximum", "minimum", "hypot", "atan2", "logaddexp", "alpha", "rdiv"
    )
    match operation:
        case "/":
            return Made(f"{x} / ({y} + 5)" if b.chance(0.5) else f"{x} / {b.one(3, 0.7, 4)}")
        case "rdiv":
            return Made(f"{b.one(1, 2.5)} / ({x} * {x} + 1)")
        case "alpha":
            return Made(f"torch.{b.one('add', 'sub')}({x}, {y}, alpha={b.one(2, 0.5, -1)})")
        case "+" | "-" | "*":
            return Made(f"{x} {operation} {y}" if b.chance(0.8) else f"{y} {operation} {x}", _integers(b, x.name, y))
        case _:
            return Made(
                f"torch.{operation}({x}, {y if not y[0].isdigit() and y[0] != '-' and y != 'True' else x})", _integers(b, x.name, y)
            )


def _integers(b: Builder, *names: str) -> bool:
    known = {v.name: v for v in b.pool}
    return all((known[n].exact and (known[n].is_integer or known[n].is_bool)) if n in known else n.lstrip("-").isdigit() for n in names)


@recipe
def integer_arithmetic(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_integer, exact=True)
    others = [v for v in b.pool if v.exact and (v.is_integer or v.is_bool) and broadcasts(v.shape, x.shape)]
    y = str(b.one(*others)) if b.chance(0.7) else str(b.one(1, 2, 3, -2, 5))
    nonzero = f"({y} | 1)" if y[0].isalpha() else y
    texts = (
        f"torch.div({x}, {nonzero}, rounding_mode={b.one('floor', 'trunc')!r})",
        f"{x} // {nonzero}",
        f"torch.floor_divide({x}, {nonzero})",
        f"{x} % {nonzero}",
        f"torch.remainder({x}, {nonzero})",
        f"torch.fmod({x}, {nonzero})",
        f"{x} & {y}",
        f"{x} | {y}",
        f"{x} ^ {y}",
        f"{x} << {b.number(0, 6)}",
        f"{x} >> {b.number(0, 6)}",
        f"torch.bitwise_left_shift({x}, ({x} & 3))",
        f"torch.bitwise_right_shift({x}, ({x} & 3))",
        f"torch.gcd({x}, {x} + 6)",
        f"{x}.pow({b.number(0, 4)})",
        f"torch.abs({x}) * {y}",
    )
    return Made(b.one(*texts), True)


@recipe
def float_remainders(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.dtype.itemsize >= 4, exact=True)
    y = b.one(2, 3, -2, 0.5, 4)
    texts = (f"{x} % {y}", f"torch.fmod({x}, {y})", f"{x} // {y}", f"torch.div({x}, {y}, rounding_mode={b.one('floor', 'trunc')!r})")
    return Made(b.one(*texts))


@recipe
def compared(b: Builder) -> Made:
    x = b.pick(lambda x: not x.is_complex, exact=True)
    others = [v for v in b.pool if v.exact and not v.is_complex and broadcasts(v.shape, x.shape)]
    y = b.one(*others) if b.chance(0.7) else b.one(0, 1, -1)
    if b.chance(0.2):
        return Made(f"torch.isin({x}, torch.tensor([0, 1, 3]).to({x.dtype}))", True)
    return Made(f"{x} {b.one('<', '<=', '>', '>=', '==', '!=')} {y}", True)


@recipe
def logical(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_bool)
    y = b.one(*[v for v in b.pool if v.is_bool and v.exact and broadcasts(v.shape, x.shape)])
    return Made(b.one(f"{x} & {y}", f"{x} | {y}", f"{x} ^ {y}", f"~{x}", f"torch.logical_xor({x}, {y})"), x.exact)


@recipe
def where(b: Builder) -> Made:
    masks = [v for v in b.pool if v.is_bool and v.exact] or [b.let(f"{b.pick(lambda x: not x.is_complex, exact=True)} > 0", True)]
    x = b.pick()
    mask = b.one(*[v for v in masks if broadcasts(v.shape, x.shape)] or masks)
    y = b.partner(x)
    if b.chance(0.3):
        return Made(f"{x}.masked_fill({mask}, {b.one(0, 1, -1) if not x.is_float else b.one(0, 2.5)})", x.exact)
    return Made(f"torch.where({mask}, {x}, {y})" if b.chance(0.6) else f"torch.where({mask}, {y}, {x})")


@recipe
def mixed(b: Builder) -> Made:
    """Several values in one formula."""
    x = b.floats()
    y, z = b.partner(x), b.partner(x)
    texts = (
        f"torch.lerp({x}, {x} * 0.5, 0.25)",
        f"torch.addcmul({x}, {x}, {x} + 1, value=0.5)",
        f"torch.addcdiv({x}, {x}, {x} * {x} + 1, value=-2)",
        f"torch.where({x} == {x}, {y}, {z}) + {x}",
        f"({x} + {y}) * ({x} - {z})",
        f"torch.clamp({x}, min={x} * 0 - 0.3, max=0.6)",
        f"torch.clamp({x}, max={b.one(0.5, 1)})",
        f"F.glu(torch.cat([{x}, {x} * 2], {b.number(0, max(0, x.ndim - 1))}), {b.number(0, max(0, x.ndim - 1))})",
        f"F.prelu({x}, torch.tensor([0.25]).to({x.dtype}))",
        f"torch.xlogy({x}, {x}.abs() + 1)",
        f"{x} ** {b.one(2, 3, -1, 0.5) if b.chance(0.3) else 2}",
        f"({x}.abs() + 0.1) ** ({x} * 0.5)",
        f"torch.heaviside({x}, {x} * 0 + 0.5)",
        f"torch.copysign({x}, {x} - 0.1)",
        f"F.dropout({x}, 0.5, training=False)",
        f"torch.ldexp({x}, torch.tensor(2))",
    )
    return Made(b.one(*texts))


@recipe
def complex_numbers(b: Builder) -> Made:
    if b.chance(0.4):
        x = b.pick(lambda x: x.is_complex)
        texts = ("real", "imag", "abs", "angle", "conj", "exp", "sin", "square", "sum", "sgn", "mean")
        if b.chance(0.2):
            return Made(f"torch.view_as_real({x})", x.exact)
        name = b.one(*texts)
        return Made(f"torch.{name}({x})", x.exact and name in ("real", "imag", "conj"))
    x = b.pick(lambda x: x.is_float and x.dtype.itemsize >= 4)
    texts = (f"torch.complex({x}, {x} * 0.5)", f"torch.polar({x}.abs(), {x})", f"{x} * (1 + 2j)", f"{x} + 1j")
    return Made(b.one(*texts))


@recipe
def created(b: Builder) -> Made:
    x = b.pick()
    n = b.number(1, 9)
    if not x.ndim:
        raise Unsuitable
    extent = f"{x}.shape[{b.dim(x)}]"
    texts = (
        f"torch.arange({extent})",
        f"torch.arange({n}, {n} + {extent}, 2)",
        f"torch.zeros_like({x})",
        f"torch.full_like({x}, 2)",
        f"torch.eye({extent}, {n})",
        f"torch.linspace(0, 1, {n})",
        f"{x}.new_zeros({n}, 3)",
        f"{x}.new_full(({extent},), 3)",
        f"torch.ones({extent}, 2)",
    )
    text = b.one(*texts)
    return Made(text, "linspace" not in text)
