"""Dots that JAX lowers for its own CPU alone, whatever hloom compiles for, or refuses to.

It refuses an algorithm that XLA has on no CPU, as f16 summed in f32, which jax.nn.dot_product_attention asks for. Products of a sparse
matrix (jax.experimental.sparse.BCSR) are calls of a function of jaxlib. So dots are lowered as for a platform that JAX knows nothing of.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.lax import lax

Rules = tuple[tuple[Any, Callable[..., Any]], ...]


def lowering_rules() -> Rules:
    """Of JAX's primitives of dots, for jax.export; none where JAX has moved its own rule."""
    return *_dense(), *_sparse()


@functools.cache
def _dense() -> Rules:
    rule = getattr(lax, "_dot_general_lower", None)
    (dot,) = jax.make_jaxpr(lambda x: jax.lax.dot(x, x))(jnp.ones((1, 1))).eqns
    return () if rule is None else ((dot.primitive, rule),)


def _sparse() -> Rules:
    """Nobody has such a matrix who has not imported them."""
    bcsr = sys.modules.get("jax.experimental.sparse.bcsr")
    rule = getattr(bcsr, "_bcsr_dot_general_default_lowering", None)
    return () if bcsr is None or rule is None else ((bcsr.bcsr_dot_general_p, rule),)
