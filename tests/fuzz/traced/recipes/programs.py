"""More programs within programs: loops in loops, trips that the data tells, functions mapped and differentiated in every direction."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_bool, is_complex, is_float, is_integer, is_number, like, recipe
from .indexing import start


def grown(b: Builder, like_what: jax.Array | None = None, steps: int = 3) -> Callable[..., jax.Array]:
    """A function of some values: the last thing that is made of them, perhaps as something of that shape and type."""
    tag, count = b.number(0, 10**6), b.number(1, steps)

    def function(*values: jax.Array) -> jax.Array:
        y = b.inner([Made(x) for x in values], count, tag)[-1].value
        return y if like_what is None else like(y, like_what.shape, like_what.dtype)

    return function


def total(x: jax.Array) -> jax.Array:
    return jnp.sum(x if x.dtype == jnp.float64 else x.astype(jnp.float32))


@recipe
def nested_scans(b: Builder) -> Made:
    """Rows and their elements; what the inner loop makes is stacked twice."""
    x = b.pick(lambda x: is_number(x) and x.ndim >= 2, most=800, full=True).value
    state = b.pick(is_float, most=200, full=True).value
    inner, outer, reverse = grown(b, state, 2), grown(b, state, 2), b.chance(0.3)

    def row(carried, elements):
        ended, made = lax.scan(lambda c, e: (inner(e, c), b.one(c, jnp.sum(c), c[..., :1])), carried, elements, reverse=reverse)
        return outer(ended, elements), (made, jnp.max(elements))

    end, (stacked, largest) = lax.scan(row, state, x, reverse=b.chance(0.3), unroll=b.one(1, 1, 2))
    b.pool += [Made(stacked), Made(largest)]
    return Made(end)


@recipe
def counted_while(b: Builder) -> Made:
    """As many turns as the data says."""
    x = b.pick(lambda x: is_integer(x) and x.dtype not in ("int4", "uint4"), exact=True, most=500, full=True).value
    y = b.pick(lambda y: not is_complex(y), most=500, full=True).value
    limit = jnp.sum(x.reshape(-1)[:3].astype(jnp.int32) & 3)
    step = grown(b, y, 2)

    def body(state):
        i, y, seen = state
        return i + 1, step(y, i), seen.at[i].set(jnp.sum(y).astype(seen.dtype)) if not is_bool(y) else seen.at[i].set(i.astype(seen.dtype))

    turns, y, seen = lax.while_loop(lambda s: s[0] < limit, body, (jnp.int32(0), y, jnp.zeros(7, jnp.float32)))
    b.pool += [Made(turns, True), Made(seen)]
    return Made(y)


@recipe
def mapped_while(b: Builder) -> Made:
    """A loop whose lanes end at different turns."""
    x = b.pick(is_number, exact=True, most=300, full=True).value
    last = jnp.float32(b.number(3, 40))

    def one(v):
        v = jnp.clip(v.astype(jnp.float32), 1, 9)
        return lax.while_loop(lambda s: s[1] < last, lambda s: (s[0] + 1, s[1] * 2 + 1), (jnp.int32(0), v))

    return Made(b.one(*jax.vmap(one)(x.reshape(-1))), True)


@recipe
def mapped_branch(b: Builder) -> Made:
    """Both branches are computed, and one is chosen for each."""
    x = b.pick(lambda x: is_float(x) and x.ndim >= 1, exact=True, most=1500, full=True).value
    first, second = grown(b, x[0], 2), grown(b, x[0], 2)
    wanted = jnp.asarray(b.rng.rand(len(x)) < 0.5)
    if b.chance(0.5):
        return Made(jax.vmap(lambda w, v: lax.cond(w, first, second, v))(wanted, x))
    return Made(jax.vmap(lambda n, v: lax.switch(n, [first, second, lambda v: v], v))(wanted * 3 - 1, x))


@recipe
def branch(b: Builder) -> Made:
    x = b.pick(lambda x: not is_complex(x), most=2000, full=True).value
    first = grown(b, x)
    other = b.one(grown(b, x), lambda x: x, lambda x: jnp.flip(x, 0))
    return Made(lax.cond(start(b, 3) > 0, first, other, x))


@recipe
def mapped(b: Builder) -> Made:
    x = b.pick(lambda x: not is_complex(x), most=600, full=True).value
    function = grown(b)
    return Made(lax.map(function, x, batch_size=b.one(None, None, 2)))


@recipe
def updates_in_a_loop(b: Builder) -> Made:
    """An array of which each turn reads parts and writes others."""
    x = b.pick(lambda x: not is_bool(x) and not is_complex(x), most=1500, full=True).value
    rows, width = len(x), b.number(1, len(x))
    shift, far, mode, turns = b.number(-1, 2), b.number(1, 3), b.number(0, 3), b.number(1, 5)

    def body(i, y):
        part = lax.dynamic_slice_in_dim(y, i + shift, width, 0)
        if mode == 0:
            return lax.dynamic_update_slice_in_dim(y, part[::-1], i * far, 0)
        if mode == 1:
            y = lax.dynamic_update_slice_in_dim(y, part * 2, i, 0)
            return lax.dynamic_update_slice_in_dim(y, part, i + far, 0)
        if mode == 2:
            return y.at[(i * far) % rows].add(y[(i + shift) % rows])
        return jnp.concatenate([y[far % rows :], y[: far % rows]]).at[i % rows].set(part[0])

    return Made(lax.fori_loop(0, turns, body, x), is_integer(x))


@recipe
def recurrence(b: Builder) -> Made:
    """A cell with a state of two, over rows, forward, backward, and its gradient."""
    x = b.pick(lambda x: is_float(x) and x.ndim >= 2, most=900, full=True).value
    x = jnp.tanh(x.reshape(len(x), -1)[:, :17])
    units = b.number(1, 6)
    w, u = b.constant((x.shape[1], 2 * units), x.dtype), b.constant((units, 2 * units), x.dtype) * 0.3
    reverse = b.chance(0.4)

    def cell(state, row):
        h, c = state
        gates = row @ w + h @ u
        c = c * jax.nn.sigmoid(gates[:units]) + jnp.tanh(gates[units:])
        return (jnp.tanh(c), c), h

    def run(x):
        zero = jnp.zeros(units, x.dtype)
        (h, c), states = lax.scan(cell, (zero, zero), x, reverse=reverse)
        return states + h + c

    if b.chance(0.5):
        return Made(run(x))
    return Made(jax.grad(lambda x: total(jnp.cos(run(x))))(x))


@recipe
def derivatives(b: Builder) -> Made:
    """Whole Jacobians and Hessians of few elements."""
    x = b.pick(is_float, most=3000, full=True).value.reshape(-1)[:5]
    step = grown(b, None, 4)
    function = lambda x: step(x).reshape(-1)[:6]  # noqa: E731
    if not is_float(jax.eval_shape(function, x)):
        raise Unsuitable
    scalar = lambda x: jnp.sum(jnp.sin(function(x).astype(x.dtype)))  # noqa: E731
    ways = (
        lambda: jax.jacfwd(function)(x),
        lambda: jax.jacrev(function)(x),
        lambda: jax.hessian(scalar)(x),
        lambda: jax.linearize(function, x)[1](jnp.ones_like(x)),
        lambda: jax.vmap(jax.grad(scalar))(jnp.stack([x, x * 2])),
    )
    return Made(b.one(*ways)())


@recipe
def own_derivative(b: Builder) -> Made:
    x = b.pick(is_float, most=1500, full=True).value
    step = grown(b, x, 2)

    @jax.custom_vjp
    def function(x):
        return step(x)

    function.defvjp(lambda x: (step(x), jnp.sign(x)), lambda kept, g: (jnp.clip(g, -1, 1) * kept,))
    kept = jax.checkpoint(lambda x: total(jnp.tanh(function(x * 2))))
    return Made(jax.grad(kept)(x))


@recipe
def pool_gradient(b: Builder) -> Made:
    """The gradient of a pool: what it chose, or shared."""
    made = b.pick(lambda x: is_float(x) and x.ndim >= 1, exact=True, most=1500, full=True)
    x = made.value
    window, strides = [b.one(1, 2, 3) for _ in x.shape], [b.one(1, 1, 2, 3) for _ in x.shape]
    padding = b.one("SAME", "VALID")
    initial, over = b.one((-np.inf, lax.max), (np.inf, lax.min), (0.0, lax.add))
    pooled = lambda x: lax.reduce_window(x, np.asarray(initial).astype(x.dtype), over, window, strides, padding)  # noqa: E731
    y, back = jax.vjp(pooled, x)
    return Made(back(jnp.cos(b.constant(y.shape, y.dtype)))[0])


@recipe
def convolution_gradient(b: Builder) -> Made:
    x = b.pick(lambda x: is_float(x) and x.size >= 32, most=2500).value
    channels, side = b.one(1, 2, 4), b.number(2, 7)
    x = jnp.tanh(jnp.resize(x, (b.one(1, 2), side, b.number(2, 6), channels)))
    groups = b.one(1, 1, channels)
    w = b.constant((b.one(1, 2, 3), b.one(1, 2, 3), channels // groups, groups * b.one(1, 2, 5)), x.dtype)
    strides, dilation = [b.one(1, 1, 2) for _ in range(2)], [b.one(1, 1, 2) for _ in range(2)]
    padding = b.one("SAME", "VALID", [(b.number(0, 2), b.number(0, 2))] * 2)

    def loss(x, w):
        names = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, w, strides, padding, None, dilation, names, groups)
        return total(jnp.sin(y))

    first, second = jax.grad(loss, (0, 1))(x, w)
    b.pool.append(Made(first))
    return Made(second)


@recipe
def scan_of_pairs(b: Builder) -> Made:
    """associative_scan of several arrays: matrices, counts with resets, an argmax so far."""
    made = b.pick(is_number, exact=True, most=1200, full=True)
    x, axis, reverse = made.value, b.axis(made.value), b.chance(0.4)
    kind = b.number(0, 2)
    if kind == 0:
        at = lax.broadcasted_iota(jnp.int32, x.shape, axis)

        def larger(p, q):
            first = (p[0] > q[0]) | ((p[0] == q[0]) & (p[1] < q[1]))
            return jnp.where(first, p[0], q[0]), jnp.where(first, p[1], q[1])

        return Made(b.one(*lax.associative_scan(larger, (x, at), axis=axis, reverse=reverse)), True)
    if kind == 1:
        resets = x > 1
        ones = jnp.ones(x.shape, jnp.int32)
        join = lambda p, q: (p[0] | q[0], jnp.where(q[0], q[1], p[1] + q[1]))  # noqa: E731
        return Made(lax.associative_scan(join, (resets, ones), axis=axis, reverse=reverse)[1], True)
    turns = jnp.tanh(jnp.resize(x.astype(jnp.float32), (x.shape[axis], 2, 2)))
    return Made(lax.associative_scan(lambda p, q: jnp.einsum("nij,njk->nik", p, q), turns, reverse=reverse))
