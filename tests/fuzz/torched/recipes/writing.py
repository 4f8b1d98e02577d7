"""Writes in place, through views too."""

from __future__ import annotations

import torch

from ...errors import Unsuitable
from ..builder import Builder, Made, Var, recipe
from .movement import subscript, view_of


def written(b: Builder) -> Var:
    """What is written: a copy first where it is an input, more often than not."""
    x = b.pick(lambda x: not overlaps(x.value), full=True)
    if x.name.startswith("a") and b.chance(0.6):
        return b.let(f"{x}.clone()", x.exact)
    return x


@recipe
def write(b: Builder) -> Made:
    x = written(b)
    place = f"{x}[{subscript(b, x)}]" if b.chance(0.7) else str(x)
    fits = [v for v in b.pool if v.is_small and v.dtype == x.dtype and v.name != x.name and v.shape == x.shape]
    y = b.one(*fits) if fits and place == str(x) else None
    if x.is_bool:
        return Made(b.one(f"{place}.logical_not_()", f"{place}.fill_(True)", f"{place}.zero_()"), x.exact, writes=x)
    other = y or b.one(2, -1, 3) if not x.is_float else y or b.one(0.5, 2, -1.5)
    exact = x.exact and (y is None or y.exact)
    match b.number(0, 7):
        case 0 if place != str(x):
            return Made(f"{place} += {other}", exact and x.is_integer, writes=x)
        case 1:
            return Made(f"{place}.add_({other})", exact and x.is_integer, writes=x)
        case 2:
            return Made(f"{place}.mul_({other})", exact and x.is_integer, writes=x)
        case 3 if place != str(x):
            return Made(f"{place} = {other}", exact, writes=x)
        case 4:
            return Made(f"{place}.fill_({b.one(1, 2)})", exact, writes=x)
        case 5:
            return Made(f"{place}.zero_()", exact, writes=x)
        case 6:
            return Made(f"{place}.neg_()" if x.dtype.itemsize > 1 or x.is_integer else f"{place}.zero_()", exact, writes=x)
        case _:
            return Made(f"{place}.clamp_({b.one(-1, 0)}, 2)", exact, writes=x)


@recipe
def write_of_itself(b: Builder) -> Made:
    """What is written is computed of other parts of the same memory."""
    x = b.pick(lambda x: not x.is_bool and not x.is_complex and x.ndim > 0 and x.shape[0] > 1 and not overlaps(x.value))
    extent = x.shape[0]
    count = b.number(1, extent - 1)
    first, second = b.number(0, extent - count), b.number(0, extent - count)
    texts = (
        f"{x}[{first}:{first + count}] += {x}[{second}:{second + count}] * 2",
        f"{x}[{first}:{first + count}] = {x}[{second}:{second + count}].clone()",
        f"{x}[{first}:{first + count}].copy_({x}.flip(0)[{second}:{second + count}])",
        f"{x}.copy_({x}.roll(1, 0))",
        f"{x}.sub_({x}[{first}])",
        f"{x}[{first}] -= {x}.sum(0){f'.to({x.dtype})' if x.is_integer else ''}",
    )
    return Made(b.one(*texts), x.exact and x.is_integer, writes=x)


def overlaps(x: torch.Tensor) -> bool:
    """Whether elements share memory: torch's compilers refuse to write such."""
    places = torch.arange(x.untyped_storage().nbytes() // x.itemsize).as_strided(x.shape, x.stride(), x.storage_offset())
    return places.unique().numel() < x.numel()


@recipe
def write_view(b: Builder) -> Made:
    """A view that has a name: what shares its memory changes too."""
    x = written(b)
    if x.is_bool:
        raise Unsuitable
    y = b.let(view_of(b, x), x.exact)
    if not y.value.numel() or overlaps(y.value) or y.value.untyped_storage().data_ptr() != x.value.untyped_storage().data_ptr():
        raise Unsuitable
    z = b.same(y.shape, y.dtype) if b.chance(0.5) else None
    text = f"{y}.copy_({z})" if z and b.chance(0.5) else f"{y}.add_({z or 1})"
    return Made(text, x.exact and (z is None or z.exact) and ("copy" in text or x.is_integer), writes=y)


@recipe
def write_masked(b: Builder) -> Made:
    x = written(b)
    if x.is_complex or x.is_bool:
        raise Unsuitable
    if b.chance(0.4) and x.exact:
        return Made(f"{x}[{x} > {b.one(0, 1)}] = {b.one(0, 2)}", True, writes=x)
    mask = b.same(x.shape, torch.bool)
    other = b.let(f"{b.same(x.shape, x.dtype)} * 1", False) if x.is_float else b.let(b.constant(x.shape, x.dtype), True)
    texts = (
        (f"{x}.masked_fill_({mask}, {b.one(1, -2)})", x.exact),
        (f"{x}.masked_scatter_({mask}, {other})", x.exact and other.exact),
        (f"{x}[{mask}] = {b.one(3, -1)}", x.exact),
    )
    text, exact = b.one(*texts)
    return Made(text, exact and mask.exact, writes=x)


@recipe
def write_out(b: Builder) -> Made:
    """`out=` is memory that is there."""
    x = b.pick(lambda x: x.is_float or x.is_integer, full=True)
    out = b.let(f"torch.zeros_like({x})", False)
    y = b.same(x.shape, x.dtype)
    b.pool.remove(out)
    made = b.let(f"torch.{b.one('add', 'mul', 'sub', 'maximum')}({x}, {y}, out={out})", False)
    return Made(f"{made} * 2")


@recipe
def write_functions(b: Builder) -> Made:
    x = written(b)
    if not x.is_float:
        raise Unsuitable
    names = ("tanh_", "sigmoid_", "abs_", "sin_", "relu_", "square_", "exp_", "sqrt_", "reciprocal_")
    y = b.same(x.shape, x.dtype)
    others = (
        f"{x}.lerp_({y}, 0.25)",
        f"{x}.addcmul_({y}, {y}, value=0.5)",
        f"F.relu({x}, inplace=True)",
        f"{x}.div_(2).sub_({y})",
        f"{x}.cumsum_(0)",
    )
    return Made(b.one(*(f"{x}.{name}()" for name in names), *others), writes=x)
