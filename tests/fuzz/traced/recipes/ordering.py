"""Sorts, and what follows from them."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from ..builder import Builder, Made, is_bool, is_complex, is_number, recipe


@recipe
def sort(b: Builder) -> Made:
    x = b.pick(lambda x: not is_complex(x), exact=True, most=6000, full=True).value
    axis = b.axis(x)
    return Made(b.one(jnp.sort, jnp.argsort, lambda x, axis: jnp.flip(jnp.sort(x, axis), axis))(x, axis), True)


@recipe
def sort_several(b: Builder) -> Made:
    x = b.pick(lambda x: not is_complex(x), exact=True, most=4000, full=True).value
    axis, keys = b.axis(x), b.number(1, 2)
    ties = lax.broadcasted_iota(jnp.int32, x.shape, axis) * 7 % 5
    operands = (x, ties) if b.chance(0.5) else (ties, x, ties + 1)
    found = lax.sort(operands, dimension=axis, num_keys=keys)
    return Made(b.one(*found), True)


@recipe
def top_k(b: Builder) -> Made:
    x = b.pick(lambda x: not is_complex(x) and not is_bool(x), exact=True, most=6000, full=True).value
    return Made(b.one(*lax.top_k(x, b.number(1, x.shape[-1]))), True)


@recipe
def ranks(b: Builder) -> Made:
    """Places in the sorted order, searched or sorted twice."""
    x = b.pick(is_number, exact=True, most=2000, full=True).value
    row = x.reshape(-1, x.shape[-1])[0]
    if b.chance(0.5):
        return Made(jnp.argsort(jnp.argsort(row)), True)
    return Made(jnp.searchsorted(jnp.sort(row), x.reshape(-1)[:64], side=b.one("left", "right"), method=b.one("scan", "sort")), True)


@recipe
def top_mask(b: Builder) -> Made:
    """What sampling does: all but the largest elements are masked."""
    x = b.pick(is_number, exact=True, most=4000, full=True).value
    least = lax.top_k(x, b.number(1, x.shape[-1]))[0][..., -1:]
    return Made(jnp.where(x < least, jnp.zeros((), x.dtype), x), True)
