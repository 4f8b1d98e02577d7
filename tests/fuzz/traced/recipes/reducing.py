"""Reductions, softmax, norms, cumulative ops, segments."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_bool, is_complex, is_float, is_integer, is_number, recipe


def axes(b: Builder, x: jax.Array) -> tuple[int, ...]:
    return tuple(b.some(range(x.ndim))) or (b.axis(x),)


@recipe
def reduction(b: Builder) -> Made:
    made = b.pick(lambda x: not is_bool(x), full=True)
    x, keep = made.value, b.chance(0.4)
    over = axes(b, x)
    if is_complex(x):
        return Made(b.one(jnp.sum, jnp.mean)(x, over, keepdims=keep))
    name = b.one("sum", "max", "min", "prod", "mean", "var") if is_float(x) else b.one("sum", "max", "min", "prod")
    if name == "prod" and is_float(x):
        x = jnp.tanh(x) * 0.3 + 1
    return Made(getattr(jnp, name)(x, axis=over, keepdims=keep), is_integer(x) or (made.exact and name in ("max", "min")))


@recipe
def arg_chain(b: Builder) -> Made:
    """argmax and argmin, and what is taken at the place found."""
    x = b.pick(lambda x: is_number(x), exact=True, full=True).value
    axis, find = b.axis(x), b.one(jnp.argmax, jnp.argmin)
    places = find(x, axis=axis, keepdims=True)
    if b.chance(0.4):
        return Made(places.squeeze(axis) if b.chance(0.5) else places.astype(jnp.int32), True)
    taken = jnp.take_along_axis(x, places, axis)
    if b.chance(0.4):
        return Made(find(jnp.where(taken == x, jnp.zeros((), x.dtype), x), axis=b.axis(x)), True)
    return Made(taken, True)


@recipe
def norm(b: Builder) -> Made:
    x = b.pick(is_float, full=True).value
    over = axes(b, x)
    centred = x - jnp.mean(x, over, keepdims=True)
    functions = (
        lambda: centred * lax.rsqrt(jnp.var(x, over, keepdims=True) + 0.1),
        lambda: jnp.sqrt(jnp.var(x, over) + 0.1),
        lambda: jax.nn.logsumexp(x, axis=over, keepdims=b.chance(0.5)),
        lambda: x / (1 + jnp.sum(jnp.abs(x), over, keepdims=True)),
        lambda: x - jnp.max(x, over, keepdims=True),
        lambda: (x - jnp.min(x, over, keepdims=True)) / (1 + jnp.max(x, over, keepdims=True) - jnp.min(x, over, keepdims=True)),
    )
    return Made(b.one(*functions)())


@recipe
def softmax(b: Builder) -> Made:
    x = b.pick(is_float, full=True).value
    axis = b.axis(x)
    least = -1e4 if x.dtype == jnp.float16 else -1e9
    match b.number(0, 2):
        case 1:
            x = jnp.where(b.mask(x.shape), x, least)
        case 2:
            alive = b.mask(x.shape[axis : axis + 1], 0.3).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
            x = jnp.where(alive, x, -jnp.inf)
    return Made(jax.nn.softmax(x, axis) if b.chance(0.7) else jax.nn.log_softmax(jnp.maximum(x, -50), axis))


@recipe
def loss(b: Builder) -> Made:
    """Cross entropy of drawn classes."""
    x = b.pick(lambda x: is_float(x) and x.ndim >= 2, full=True).value
    classes = jnp.asarray(b.rng.randint(0, x.shape[-1], size=x.shape[:-1]))
    logs = jax.nn.log_softmax(jnp.clip(x, -20, 20), -1)
    if b.chance(0.5):
        return Made(-jnp.sum(logs * jax.nn.one_hot(classes, x.shape[-1], dtype=x.dtype), -1))
    return Made(-jnp.take_along_axis(logs, classes[..., None], -1)[..., 0])


@recipe
def cumulative(b: Builder) -> Made:
    made = b.pick(is_number, most=6000, full=True)
    x, axis, reverse = made.value, b.axis(made.value), b.chance(0.5)
    name = b.one("cumsum", "cumprod", "cummax", "cummin", *(["cumlogsumexp"] if is_float(x) else []))
    if name == "cumprod" and is_float(x):
        x = 1 + 0.2 * jnp.tanh(x)
    return Made(getattr(lax, name)(x, axis=axis, reverse=reverse), is_integer(x) or (made.exact and name in ("cummax", "cummin")))


@recipe
def associative_scan(b: Builder) -> Made:
    made = b.pick(is_float, most=4000, full=True)
    x, axis, reverse = made.value, b.axis(made.value), b.chance(0.5)
    if b.chance(0.5):
        return Made(lax.associative_scan(jnp.maximum, x, axis=axis, reverse=reverse), made.exact)
    linear = lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1])  # noqa: E731
    return Made(lax.associative_scan(linear, (jnp.tanh(x), x), axis=axis, reverse=reverse)[1])


@recipe
def segments(b: Builder) -> Made:
    x = b.pick(is_number, full=True).value
    count = b.number(1, 6)
    ids = jnp.asarray(b.rng.randint(-1, count + 1, size=x.shape[:1]))
    if is_sorted := b.chance(0.3):
        ids = jnp.sort(ids)
    name = b.one("segment_sum", "segment_max", "segment_min", "segment_prod")
    if name == "segment_prod" and is_float(x):
        x = 1 + 0.2 * jnp.tanh(x)
    y = getattr(jax.ops, name)(x, ids, count, indices_are_sorted=is_sorted)
    return Made(jnp.clip(y, -100, 100) if is_float(y) else y, is_integer(x))


@recipe
def specials(b: Builder) -> Made:
    """NaN, infinities and -0 among the elements."""
    made = b.pick(is_float, exact=True, full=True)
    x = jnp.where(b.mask(made.value.shape, 0.15), b.one(jnp.nan, jnp.inf, -jnp.inf, -0.0), made.value)
    axis = b.axis(x)
    functions = (
        *(lambda f=f: f(x, axis=axis) for f in (jnp.argmax, jnp.argmin, jnp.max, jnp.min, jnp.sort, lax.cummax)),
        lambda: jnp.nanmax(jnp.where(jnp.isnan(x), x, 2), axis=axis),
        lambda: jnp.isnan(x),
        lambda: jnp.sign(x),
        lambda: jnp.clip(x, -1, 1),
        lambda: jnp.maximum(x, jnp.roll(x, 1, axis)),
    )
    if made.value.shape[axis] == 0:
        raise Unsuitable
    return Made(b.one(*functions)(), True)
