"""Dots by an algorithm that XLA has on no CPU, as f16 summed in f32, which jax.nn.dot_product_attention asks for.

JAX refuses to lower them for a CPU, whatever hloom compiles for. So dots are lowered as for a platform that JAX knows nothing of.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.lax import lax


@functools.cache
def lowering_rules() -> tuple[tuple[Any, Callable[..., Any]], ...]:
    """Of JAX's primitive of dots, for jax.export; none where JAX has moved its own rule."""
    rule = getattr(lax, "_dot_general_lower", None)
    (dot,) = jax.make_jaxpr(lambda x: jax.lax.dot(x, x))(jnp.ones((1, 1))).eqns
    return () if rule is None else ((dot.primitive, rule),)
