"""Sorts and what is made of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from . import Family, floats, integers

FAMILY = Family()
x = floats(5, 33)
ties = integers(7, 41)
FAMILY.add("sort", lambda x: (jnp.sort(x, 0), jnp.sort(x, descending=True)), x)
FAMILY.add("sort_ints", jnp.sort, ties)
FAMILY.add("argsort", lambda x: (jnp.argsort(x), jnp.argsort(x, descending=True), jnp.argsort(x[0], stable=False)), x)
FAMILY.add("lexsort", lambda a, b: jnp.lexsort((a, b)), ties, integers(3, 41))
FAMILY.add("top_k", lambda x: lax.top_k(x, 7), x)
FAMILY.add("median", lambda x: (jnp.median(x), jnp.median(x, 1), jnp.nanmedian(x, 0)), x)
FAMILY.add("percentile", lambda x: jnp.percentile(x, jnp.array([5.0, 50, 91.3]), axis=1), x)
FAMILY.add("quantile", lambda x: jnp.quantile(x, 0.3, method="nearest"), x)
FAMILY.add("unique", lambda x: jnp.unique(x, size=9, fill_value=-1, return_counts=True, return_inverse=True), ties)
FAMILY.add("union", lambda a, b: (jnp.union1d(a, b, size=11), jnp.isin(a, b)), ties, integers(30, 7))
FAMILY.add("ranks", lambda x: jnp.argsort(jnp.argsort(x)), x)
FAMILY.add("gradient_of_sort", jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(33.0))), x)
FAMILY.add("sort_by_key", lambda k, v: lax.sort((k, v), num_keys=2), ties, integers(3, 41))


def nms(boxes, scores):
    """Which of the boxes stay when those that cover better ones go."""
    order = jnp.argsort(-scores)
    boxes = boxes[order]
    low, high = jnp.minimum(boxes[:, :2], boxes[:, 2:]), jnp.maximum(boxes[:, :2], boxes[:, 2:])
    area = jnp.prod(high - low, 1)
    sides = jnp.maximum(0, jnp.minimum(high[:, None], high) - jnp.maximum(low[:, None], low))
    both = jnp.prod(sides, -1)
    overlaps = both / (area[:, None] + area - both) > 0.3
    return lax.fori_loop(
        0, len(boxes), lambda i, keep: keep & ~(keep[i] & overlaps[i] & (jnp.arange(len(boxes)) > i)), jnp.ones(len(boxes), bool)
    )


FAMILY.add("non_maximum_suppression", nms, floats(19, 4), floats(19))
