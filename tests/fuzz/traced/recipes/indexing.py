"""Gathers, scatters, slices that start where the data says."""

from __future__ import annotations

from math import prod

import jax
import jax.numpy as jnp
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_bool, is_complex, is_float, is_integer, recipe


def indices(b: Builder, extent: int, count: int) -> jax.Array:
    """Some within the extent and some beyond: of the pool, or drawn."""
    computed = [m.value for m in b.pool if is_integer(m.value) and m.exact and m.value.size]
    if computed and b.chance(0.5):
        return b.one(*computed).reshape(-1)[:count].astype(jnp.int32)
    return jnp.asarray(b.rng.randint(-extent - 2, extent + 3, size=(count,)))


def start(b: Builder, extent: int) -> jax.Array:
    return indices(b, extent, 1)[0].astype(jnp.int32)


@recipe
def take(b: Builder) -> Made:
    made = b.pick(full=True)
    axis = b.axis(made.value)
    found = indices(b, made.value.shape[axis], b.number(1, 6))
    return Made(jnp.take(made.value, found, axis=axis, mode=b.one("clip", "fill", "wrap")), made.exact)


@recipe
def take_of_take(b: Builder) -> Made:
    """Indices that are looked up themselves, within the bounds."""
    made = b.pick(full=True)
    rows = made.value.shape[0]
    table = jnp.asarray(b.rng.randint(0, rows, size=(b.number(1, 9),)))
    places = table[indices(b, len(table), b.number(1, 7)) % len(table)]
    return Made(made.value[places] if b.chance(0.5) else jnp.take(made.value, places, axis=0, mode="clip"), made.exact)


@recipe
def take_along(b: Builder) -> Made:
    made = b.pick(full=True)
    axis, shape = b.axis(made.value), list(made.value.shape)
    extent, shape[axis] = shape[axis], b.number(1, 4)
    found = jnp.asarray(b.rng.randint(-1, extent + 1, size=shape))
    return Made(jnp.take_along_axis(made.value, found, axis, mode=b.one("clip", "fill")), made.exact)


@recipe
def take_pairs(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim >= 2 and x.size)
    count = b.number(1, 6)
    i, j = (indices(b, extent, count) for extent in made.value.shape[:2])
    count = min(len(i), len(j))
    return Made(made.value.at[i[:count], j[:count]].get(mode=b.one("clip", "fill"), fill_value=0), made.exact)


@recipe
def dynamic_slice(b: Builder) -> Made:
    made = b.pick(full=True)
    return Made(
        lax.dynamic_slice(made.value, [start(b, d) for d in made.value.shape], [b.number(1, d) for d in made.value.shape]), made.exact
    )


@recipe
def dynamic_update_slice(b: Builder) -> Made:
    made = b.pick(full=True)
    other = b.pick(lambda y: y.dtype == made.value.dtype, full=True)
    update = jnp.resize(other.value, [b.number(1, d) for d in made.value.shape])
    return Made(lax.dynamic_update_slice(made.value, update, [start(b, d) for d in made.value.shape]), made.exact and other.exact)


@recipe
def scatter(b: Builder) -> Made:
    made = b.pick(lambda x: not is_bool(x) and not is_complex(x), full=True)
    x, name = made.value, b.one("add", "multiply", "min", "max", "set", "apply")
    places = indices(b, x.shape[0], b.number(1, 7))
    if name == "set":  # of two updates of one element either may stay
        places = jnp.asarray(b.rng.permutation(x.shape[0] + 2)[: len(places)])
    other = b.pick(lambda y: y.dtype == x.dtype, full=True)
    update = jnp.resize(other.value, (len(places), *x.shape[1:]))
    at = x.at[places]
    if x.ndim > 1 and b.chance(0.4):
        at, update = x.at[places, (jnp.arange(len(places)) * 2) % x.shape[1]], update[:, 0]
    if name == "apply":
        return Made(at.apply(lambda v: v * 2 if is_integer(x) else jnp.tanh(v)), is_integer(x))
    update = jnp.tanh(update) if name == "multiply" and is_float(x) else update
    made_of = getattr(at, name)(update, mode=b.one("drop", "clip" if name != "set" else "drop", "fill"))
    return Made(made_of, is_integer(x) or (made.exact and other.exact and name in ("min", "max", "set")))


@recipe
def set_slice(b: Builder) -> Made:
    """A slice with strides is written or added to."""
    made = b.pick(lambda x: not is_bool(x), full=True)
    x = made.value
    where = tuple(slice(b.number(0, d - 1), None, b.one(1, 1, 2, -1)) for d in x.shape[: b.number(1, x.ndim)])
    shape = jax.eval_shape(lambda: x[where]).shape
    if not prod(shape):
        raise Unsuitable
    other = b.pick(lambda y: y.dtype == x.dtype, full=True)
    update = jnp.resize(other.value, shape)
    if b.chance(0.5):
        return Made(x.at[where].set(update), made.exact and other.exact)
    return Made(x.at[where].add(update), is_integer(x))


@recipe
def histogram(b: Builder) -> Made:
    x = b.pick(is_integer, full=True).value
    return Made(jnp.bincount(jnp.clip(x.reshape(-1), 0, 20).astype(jnp.int32), length=b.number(1, 24)), True)
