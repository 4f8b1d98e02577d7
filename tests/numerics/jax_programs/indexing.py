"""Lookups and updates: segments, counts, histograms, scatters, loops that update slices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from . import Family, floats, integers

FAMILY = Family()
FAMILY.add("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 9), floats(23, 3), integers(11, 23))
FAMILY.add("segment_max", lambda x, i: jax.ops.segment_max(x, i, 9), floats(23, 3), integers(11, 23))
FAMILY.add("segment_prod", lambda x, i: jax.ops.segment_prod(x, i, 9), floats(23), integers(9, 23))
FAMILY.add("bincount", lambda i: jnp.bincount(i, length=13), integers(13, 101))
FAMILY.add("bincount_weighted", lambda i, w: jnp.bincount(i, w, length=13), integers(13, 101), floats(101))
FAMILY.add("histogram", lambda x: jnp.histogram(x, bins=11), floats(203))
FAMILY.add("histogram2d", lambda x, y: jnp.histogram2d(x, y, bins=(5, 7)), floats(101), floats(101, seed=1))
FAMILY.add("scatter_min", lambda x, i, u: x.at[i].min(u), floats(21), integers(25, 33, low=-21), floats(33))
FAMILY.add("scatter_max", lambda x, i, u: x.at[i].max(u), floats(21), integers(25, 33, low=-21), floats(33))
FAMILY.add("scatter_mul", lambda x, i, u: x.at[i].multiply(u), floats(21), integers(25, 33, low=-21), floats(33))
FAMILY.add("scatter_rows", lambda x, i, u: x.at[i, 1:4].add(u), floats(21, 5), integers(21, 7), floats(7, 3))
FAMILY.add("nonzero", lambda x: jnp.nonzero(x > 0.3, size=17, fill_value=-1), floats(5, 9))
FAMILY.add("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), floats(5, 9), integers(9, 5, 4))
FAMILY.add("searchsorted", lambda x, v: jnp.searchsorted(jnp.cumsum(jnp.abs(x)), v), floats(33), floats(9) + 5)
FAMILY.add("one_hot", lambda i: jax.nn.one_hot(i, 7), integers(9, 11))


def filled(x):
    def body(state):
        i, out = state
        return i + 1, lax.dynamic_update_slice(out, (x[i] * out[i - 1]).reshape(1, -1), (i, 0))

    return lax.while_loop(lambda state: state[0] < x.shape[0], body, (1, jnp.ones_like(x)))


FAMILY.add("while_dynamic_update_slice", filled, floats(9, 5))


def swaps(x, i):
    return lax.fori_loop(0, 7, lambda k, x: x.at[i[k]].set(x[k]).at[k].set(x[i[k]]), x)


FAMILY.add("fori_swaps", swaps, floats(9), integers(9, 7))


def lengths(strings):
    """Levenshtein's distance, a row at a time."""
    a, b = strings

    def row(before, letter):
        def cell(left, each):
            diagonal, up, other = each
            best = jnp.minimum(jnp.minimum(left, up) + 1, diagonal + (other != letter))
            return best, best

        first = before[0] + 1
        rest = lax.scan(cell, first, (before[:-1], before[1:], b))[1]
        return jnp.concatenate([first[None], rest]), None

    return lax.scan(row, jnp.arange(b.shape[0] + 1), a)[0][-1]


FAMILY.add("levenshtein", lengths, (integers(3, 9), integers(3, 7)))
