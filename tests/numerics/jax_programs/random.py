"""Random numbers by JAX's threefry generator, and what is drawn with them."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from . import Family, floats

FAMILY = Family()
key = jax.random.PRNGKey(42)
FAMILY.add("uniform", lambda k: (jax.random.uniform(k, (5, 7)), jax.random.randint(k, (11,), -3, 17)), key)
FAMILY.add("normal", lambda k: jax.random.normal(k, (5, 7)), key)
FAMILY.add("categorical", lambda k, x: jax.random.categorical(k, x), key, floats(9, 13))
FAMILY.add("permutation", lambda k, x: (jax.random.permutation(k, 23), jax.random.permutation(k, x)), key, floats(9, 3))
FAMILY.add("beta_of_two_gammas", lambda k, a: jax.random.beta(k, jnp.abs(a) + 0.1, 2.0), key, floats(13), tolerance=1e-4)
FAMILY.add("poisson", lambda k, a: jax.random.poisson(k, jnp.abs(a) * 20), key, floats(13))
FAMILY.add("split_and_fold", lambda k: (jax.random.split(k, 5), jax.random.fold_in(k, 3)), key)


def dropout_of_pooled(k, x):
    pooled = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").reshape(4, 48)
    return jnp.where(jax.random.bernoulli(k, 0.9, pooled.shape), pooled, 0)


FAMILY.add("dropout_of_pooled", dropout_of_pooled, key, floats(4, 8, 8, 3))


def hardware(words):
    return jax.random.uniform(jax.random.wrap_key_data(words, impl="rbg"), (5, 7))


FAMILY.add("rbg", hardware, jnp.arange(4, dtype="uint32"))
