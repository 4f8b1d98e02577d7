"""Numerics without linear algebra: interpolation, convolutions, special functions, quantised products, a simulation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from . import Family, floats, integers

FAMILY = Family()
FAMILY.add("convolve", lambda x, y: (jnp.convolve(x, y), jnp.convolve(x, y, "same"), jnp.correlate(x, y)), floats(33), floats(7))
FAMILY.add("convolve2d", lambda x, y: jax.scipy.signal.convolve2d(x, y, "same"), floats(9, 11), floats(3, 4))
FAMILY.add("interp", lambda x: jnp.interp(x, jnp.arange(7.0), jnp.arange(7.0) ** 2), floats(13) * 3)
FAMILY.add("polynomial", lambda c, x: (jnp.polyval(c, x), jnp.polymul(c, c), jnp.polyder(c)), floats(5), floats(9))
FAMILY.add("cumulative", lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x), jax.nn.logsumexp(x, 1)), floats(5, 9))
FAMILY.add("bessel", lambda x: (jax.scipy.special.i0e(x), jax.scipy.special.i1e(x)), floats(13))
FAMILY.add("map_coordinates", lambda x, c: jax.scipy.ndimage.map_coordinates(x, list(c), order=1), floats(7, 9), abs(floats(2, 5)) * 3)


def recurrence(a, b):
    return lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b))


def special(x):
    return jax.scipy.special.gammaln(x), jax.scipy.special.erfinv(x / 9), jax.scipy.special.digamma(x)


def viterbi(transitions, emissions):
    def step(scores, row):
        all_ = scores[:, None] + transitions
        return all_.max(0) + row, all_.argmax(0)

    return lax.scan(step, emissions[0], emissions[1:])


def statistics(x):
    """Sums of rows beside sums of all."""
    return jnp.corrcoef(x), jnp.var(x, ddof=1), jnp.allclose(x, x.mean(1, keepdims=True))


FAMILY.add("statistics", statistics, floats(47, 13))
FAMILY.add("associative_scan", recurrence, floats(17), floats(17, seed=1))
FAMILY.add("special", special, abs(floats(13)) + 0.5)
FAMILY.add("viterbi", viterbi, floats(5, 5), floats(11, 5))


def quantised(x, w):
    """int8 by int8 in int32, scaled by row and column."""
    sx, sw = jnp.max(jnp.abs(x), 1, keepdims=True) / 127, jnp.max(jnp.abs(w), 0, keepdims=True) / 127
    qx, qw = jnp.round(x / sx).astype(jnp.int8), jnp.round(w / sw).astype(jnp.int8)
    return lax.dot(qx, qw, preferred_element_type=jnp.int32) * sx * sw


FAMILY.add("quantised_matmul", quantised, floats(9, 33), floats(33, 5))


def life(board):
    def step(_, board):
        around = sum(jnp.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        return ((around == 3) | (board == 1) & (around == 2)).astype(jnp.int32)

    return lax.fori_loop(0, 7, step, board)


FAMILY.add("game_of_life", life, integers(2, 13, 17))


def newton(x):
    return lax.while_loop(lambda s: jnp.any(jnp.abs(s**2 - x) > 1e-4 * x), lambda s: 0.5 * (s + x / s), jnp.ones_like(x))


FAMILY.add("newton", newton, abs(floats(9)) + 0.5)
FAMILY.add("kmeans", lambda x: lax.fori_loop(0, 5, lambda _, c: nearest(x, c), x[:3]), floats(41, 2))


def nearest(x, centres):
    i = jnp.argmin(jnp.sum((x[:, None] - centres) ** 2, -1), 1)
    return jax.ops.segment_sum(x, i, 3) / jnp.maximum(jnp.bincount(i, length=3), 1)[:, None]


FAMILY.add("bit_tricks", lambda x: (lax.population_count(x), lax.clz(x), x ^ (x >> 3), jnp.packbits(x > 50)), integers(100, 19))
