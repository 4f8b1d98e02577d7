"""Convolutions and pools."""

from __future__ import annotations

from math import prod

import jax.numpy as jnp
import numpy as np
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_float, is_integer, is_number, recipe

LAYOUTS = {1: [("NHC", "HIO", "NHC"), ("NCH", "OIH", "NCH")], 2: [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")]}
INITIAL = {"add": 0.0, "max": -np.inf, "min": np.inf}


def images(b: Builder) -> jnp.ndarray:
    """A value of the pool as N × spatial × C."""
    x = b.pick(lambda x: is_float(x) and x.size >= 64, most=9000).value
    rank, channels, batch = b.one(1, 2, 2), b.one(1, 2, 4, 8, 16), b.one(1, 2, 4)
    area = x.size // (batch * channels)
    side = b.number(2, max(2, int(area**0.5)))
    spatial = [area] if rank == 1 else [side, area // side]
    if 0 in spatial:
        raise Unsuitable
    return jnp.tanh(x.reshape(-1)[: batch * channels * prod(spatial)].reshape(batch, *spatial, channels))


@recipe
def convolution(b: Builder) -> Made:
    x = images(b)
    batch, *spatial, channels = x.shape
    groups = b.one(*(g for g in (1, 1, 2, 4, channels) if channels % g == 0))
    batch_groups = b.one(*(g for g in (1, 2, 4) if batch % g == 0)) if groups == 1 and b.chance(0.25) else 1
    kernel = [3 for _ in spatial] if b.chance(0.3) else [b.one(1, 2, 3, 3, 5) for _ in spatial]
    w = b.constant((*kernel, channels // groups, groups * batch_groups * b.one(1, 2, 8)), x.dtype)
    padding = b.one("SAME", "VALID", [(b.number(-1, 3), b.number(0, 3)) for _ in spatial], [(k - 1, k - 1) for k in kernel])
    plain = b.chance(0.4)
    strides, dilations = ([1 if plain else b.one(*among) for _ in spatial] for among in ((1, 1, 2, 3), (1, 1, 2)))
    spread = [1 if plain or isinstance(padding, str) else b.one(1, 1, 1, 2, 3) for _ in spatial]
    last, first = LAYOUTS[len(spatial)]
    if b.chance(0.3):  # channels first
        x, w, last = jnp.moveaxis(x, -1, 1), jnp.transpose(w, (len(kernel) + 1, len(kernel), *range(len(kernel)))), first
    y = lax.conv_general_dilated(x, w, strides, padding, spread, dilations, last, groups, batch_groups)
    return Made(y)


@recipe
def transposed_convolution(b: Builder) -> Made:
    x = images(b)
    kernel = [b.one(1, 2, 3, 4) for _ in x.shape[1:-1]]
    w = b.constant((*kernel, x.shape[-1], b.one(1, 3, 8)), x.dtype)
    layout = LAYOUTS[len(kernel)][0]
    return Made(lax.conv_transpose(x, w, [b.one(1, 2, 3) for _ in kernel], b.one("SAME", "VALID"), dimension_numbers=layout))


@recipe
def pool(b: Builder) -> Made:
    made = b.pick(is_number, most=6000, full=True)
    x = made.value
    window, strides = [b.one(1, 2, 3) for _ in x.shape], [b.one(1, 1, 2, 3) for _ in x.shape]
    padding = b.one("SAME", "VALID", [(b.number(0, 2), b.number(0, 2)) for _ in window])
    spread = [1 if isinstance(padding, str) else b.one(1, 1, 1, 2) for _ in window]
    dilations = [1 if isinstance(padding, str) else b.one(1, 1, 2) for _ in window]
    name = b.one("add", "max", "min")
    initial = np.float64(INITIAL[name])
    if is_integer(x):
        initial = {"add": 0, "max": np.iinfo(x.dtype).min, "min": np.iinfo(x.dtype).max}[name]
    y = lax.reduce_window(x, np.array(initial).astype(x.dtype), getattr(lax, name), window, strides, padding, spread, dilations)
    return Made(y, is_integer(x) or (made.exact and name != "add"))


@recipe
def mean_pool(b: Builder) -> Made:
    """A mean over the elements that are there, divided by their number."""
    x = b.pick(lambda x: is_float(x) and x.ndim >= 2, most=4000, full=True).value
    window, strides = [b.one(1, 2, 3) for _ in x.shape], [b.one(1, 2) for _ in x.shape]
    over = lambda y: lax.reduce_window(y, np.array(0, y.dtype), lax.add, window, strides, "SAME")  # noqa: E731
    return Made(over(x) / over(jnp.ones_like(x)))
