"""Loops of Python, torch.cond, torch.func, and forms of whole functions."""

from __future__ import annotations

from ...errors import Unsuitable
from ..builder import Builder, Made, recipe

BODIES = (
    "torch.tanh({x} + {i})",
    "{x} * 0.5 + {i}",
    "{x}.roll(1, 0) - {i}",
    "torch.sin({x}) * {x}",
    "{x} + {x}.sum(0) * 0.1",
    "{x}.flip(0)",
)


@recipe
def python_loop(b: Builder) -> Made:
    x = b.floats(full=True, most=2000)
    body = b.one(*BODIES)
    count = b.number(1, 4)
    start = b.let(f"{x}.clone()") if b.chance(0.5) else x
    for i in range(count):
        start = b.let(body.format(x=start, i=i))
    return Made(f"{start} + {x}")


@recipe
def growing_loop(b: Builder) -> Made:
    """Rows that are written one after another."""
    x = b.floats(full=True, most=2000)
    out = b.let(f"torch.zeros_like({x})", True)
    for i in range(min(x.shape[0], 3)):
        b._run(Made(f"{out}[{i}] = {b.one(*BODIES[:2], '{x}.exp()').format(x=f'{x}[{i}]', i=i)}", writes=out), "")
    return Made(f"{out} * 1")


@recipe
def cond(b: Builder) -> Made:
    x = b.floats(full=True, most=2000)
    flag = f"{b.pick(lambda x: x.is_integer or x.is_bool, exact=True, full=True)}.flatten()[0] > 0"
    first, second = (b.one(*BODIES).format(x="x", i=n) for n in range(2))
    return Made(f"torch.cond({flag}, lambda x: {first}, lambda x: {second}, ({x},))")


@recipe
def while_loop(b: Builder) -> Made:
    """Of so many turns, or as many as the data wants. Torch stacks what its gradient reads, as long as that is."""
    x = b.floats(full=True, most=2000)
    body = b.one(*BODIES).format(x="x", i="i")
    kept = f"({body}).to({x.dtype}).clone()"
    goes_on = f"i < {b.number(0, 4)}" if b.chance(0.5) else "(i < 5) & (x.abs().sum() < 40)"
    loop = (
        f"torch._higher_order_ops.while_loop(lambda i, x: {goes_on}, lambda i, x: (i + 1, {kept}), (torch.tensor(0), {x}.detach().clone()))"
    )
    return Made(loop, count=2)


@recipe
def vmap(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.ndim >= 2, full=True, most=2000)
    body = b.one(*BODIES).format(x="x", i=1)
    return Made(f"torch.vmap(lambda x: {body}, in_dims={b.number(0, x.ndim - 1)}, out_dims={b.number(0, 1)})({x})")


@recipe
def derivative(b: Builder) -> Made:
    x = b.floats(full=True, most=800)
    if x.dtype.itemsize < 4:
        raise Unsuitable
    body = b.one(*BODIES).format(x="x", i=1)
    loss = f"lambda x: ({body}).sin().sum()"
    texts = (f"torch.func.grad({loss})({x})", f"torch.func.jvp({loss}, ({x},), ({x},))[1]", f"torch.func.vjp(lambda x: {body}, {x})[0]")
    return Made(b.one(*texts))


@recipe
def scalars(b: Builder) -> Made:
    """Tensors without dimensions, whose types give way."""
    x = b.pick(full=True)
    y = b.one(*[v for v in b.pool if not v.ndim and v.is_small] or [b.let(f"{x}.sum()")])
    return Made(
        b.one(
            f"{x} * {y}",
            f"{y} + {x}",
            f"torch.where({y} > 0, {x}, {x} * 2)" if y.exact and not y.is_complex else f"{x} - {y}",
            f"torch.stack([{y}, {y}]) * 0.5",
            f"{x} / ({y} * {y} + 1)",
        )
    )
