"""Programs within programs: loops, branches, vmap, derivatives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_complex, is_float, like, recipe
from .indexing import start


@recipe
def scan(b: Builder) -> Made:
    made = b.pick(is_float, most=1500, full=True)
    x, carried = made.value, b.pick(lambda x: not is_complex(x), most=800).value
    tag, steps, extra, writes, others = b.number(0, 10**6), b.number(1, 4), b.number(0, 2), b.chance(0.4), b.recent(300)
    counts = made.exact

    def body(state, row):
        carried, buffer, i = state
        grown = b.inner([*others, Made(row), Made(i, counts), Made(carried)], steps, tag)
        y = grown[-1].value
        if writes:
            piece = like(y, (1, *buffer.shape[1:]), buffer.dtype)
            buffer = lax.dynamic_update_slice(buffer, piece, (i * 2 - 1, *(0 for _ in buffer.shape[1:])))
        return (like(y, carried.shape, carried.dtype), buffer, i + 1), [each.value for each in grown[-1 - extra :]]

    (end, buffer, _), rows = lax.scan(body, (carried, x, jnp.int32(b.number(-1, 2))), x, reverse=b.chance(0.3))
    b.pool += [Made(each) for each in (buffer, *rows)]
    return Made(end)


@recipe
def fori_loop(b: Builder) -> Made:
    x = b.pick(lambda x: not is_complex(x), most=1500, full=True).value
    tag, steps, mode, others = b.number(0, 10**6), b.number(1, 4), b.number(0, 2), b.recent(300)
    trips = b.number(0, 5) if b.chance(0.7) else start(b, 3) % 5

    def body(i, state):
        x, buffer = state
        part = lax.dynamic_slice_in_dim(x, i * 3 - 2, min(2, len(x)), 0)
        y = b.inner([*others, Made(jnp.int32(i), True), Made(x), Made(part)], steps, tag)[-1].value
        if mode == 0:
            return lax.dynamic_update_slice_in_dim(x, like(y, part.shape, x.dtype), i, 0), buffer
        row = like(y, (1, *x.shape[1:]), x.dtype)
        if mode == 1:
            return like(y, x.shape, x.dtype), lax.dynamic_update_slice_in_dim(buffer, row, i, 0)
        return x.at[i].set(row[0]), buffer.at[i].add(row[0]) if x.dtype != jnp.bool_ else buffer

    x, buffer = lax.fori_loop(0, trips, body, (x, x[::-1]))
    b.pool.append(Made(x))
    return Made(buffer)


@recipe
def while_loop(b: Builder) -> Made:
    x = b.pick(lambda x: is_float(x) and x.size, most=1500).value
    tag, steps = b.number(0, 10**6), b.number(1, 3)

    def body(state):
        i, x, before = state
        y = b.inner([Made(before), Made(i, True), Made(x)], steps, tag)[-1].value
        return i + 1, like(y, x.shape, x.dtype), x

    _, x, before = lax.while_loop(lambda state: state[0] < 4, body, (jnp.int32(0), jnp.tanh(x), x))
    b.pool.append(Made(x))
    return Made(before)


@recipe
def switch(b: Builder) -> Made:
    x = b.pick(lambda x: x.size and not is_complex(x), most=3000).value
    tag, steps = b.number(0, 10**6), b.number(1, 3)
    branch = lambda k: lambda x: like(b.inner([Made(x)], steps, f"{tag}.{k}")[-1].value, x.shape, x.dtype)  # noqa: E731
    return Made(lax.switch(start(b, 2), [branch(k) for k in range(b.number(2, 3))], x))


@recipe
def vmap(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim >= 2, most=3000, full=True)
    axis = b.axis(made.value)
    other = b.pick(lambda y: len(y) == made.value.shape[axis], most=3000, full=True)
    tag, steps, others = b.number(0, 10**6), b.number(1, 4), b.recent(200)

    def each(x, y):
        return [m.value for m in b.inner([*others, Made(y, other.exact), Made(x, made.exact)], steps, tag)[-2:]]

    first, second = jax.vmap(each, in_axes=(axis, 0), out_axes=b.one(0, 0, -1))(made.value, other.value)
    b.pool.append(Made(first))
    return Made(second)


def total(values: list[Made]) -> jax.Array:
    """A scalar of them."""
    wide = lambda x: jnp.float64 if x.dtype == jnp.float64 else jnp.float32  # noqa: E731
    return sum((jnp.sum(jnp.cos(m.value.astype(wide(m.value)))) for m in values if is_float(m.value)), jnp.float32(0))


@recipe
def gradient(b: Builder) -> Made:
    if b.depth:
        raise Unsuitable
    x, w = (b.pick(lambda x: is_float(x) and x.size, most=2500).value for _ in range(2))
    tag, steps, ends, others = b.number(0, 10**6), b.number(2, 6), b.number(1, 3), b.recent(600, 3)
    grown = lambda x, w: b.inner([*others, Made(w), Made(x)], steps, tag)  # noqa: E731
    loss = lambda x, w: total(grown(x, w)[-ends:])  # noqa: E731

    def pulled():
        y, back = jax.vjp(lambda x, w: grown(x, w)[-1].value, x, w)
        return back(jnp.cos(y)) if is_float(y) else (x, w)

    ways = (
        *(lambda f=f: jax.grad(f, (0, 1))(x, w) for f in (loss, loss, jax.checkpoint(loss))),
        lambda: jax.jvp(loss, (x, w), (jnp.ones_like(x), jnp.tanh(w))),
        lambda: jax.jvp(jax.grad(loss), (x, w), (jnp.ones_like(x), jnp.zeros_like(w))),
        pulled,
    )
    first, second = b.one(*ways)()
    b.pool.append(Made(first))
    return Made(second)
