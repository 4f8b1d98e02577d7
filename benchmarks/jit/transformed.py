"""JAX's transformations of compiled functions, and calls of almost nothing."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from .program import Jit, Made, normal, table


def _layer(x, w):
    return jnp.tanh(x @ w)


def _grad(jit: Jit) -> Made:
    return jit(jax.grad(lambda w, x: jit(_layer)(x, w).sum())), (normal(128, 128) / 12, normal(64, 128))


def _vmap(jit: Jit) -> Made:
    return jit(jax.vmap(jit(lambda a, b: jnp.sort(a * b).cumsum()))), (normal(64, 256), normal(64, 256, seed=1))


def _scan(jit: Jit) -> Made:
    inner = jit(lambda x, w: (_layer(x, w), x.sum()))
    return jit(lambda x, w: lax.scan(lambda carry, _: inner(carry, w), x, None, 32)), (normal(32, 128), normal(128, 128) / 12)


def _mixed(jit: Jit) -> Made:
    """A function of hloom's among ops of JAX's, in jax.jit."""
    inner = jit(_layer)
    return jax.jit(lambda x, w: jnp.sin(inner(jnp.cos(x), w)).sum()), (normal(64, 128), normal(128, 128) / 12)


PROGRAMS = [
    *table("transformed", {"grad_of_jit": _grad, "vmap_of_jit": _vmap, "scan_of_jit": _scan, "within_jax_jit": _mixed}, whole=False),
    *table(
        "overhead",
        {
            "add_scalars": lambda: (lambda x, y: x + y, (normal(), normal(seed=1))),
            "tree_of_20": lambda: (lambda t: {name: x + 1 for name, x in t.items()}, ({str(i): normal(8, seed=i) for i in range(20)},)),
        },
    ),
]
