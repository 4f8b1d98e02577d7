"""Random numbers by threefry as JAX emits it: the same bits as JAX's own, whatever surrounds them."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

KEYS = [0, 1, 2**31]


def keys() -> list[np.ndarray]:
    return [np.asarray(jax.random.key_data(jax.random.key(seed))) for seed in KEYS]


def compare(function, *others, ulps: float = 0) -> None:
    """The function of a key (and more) through hloom and through JAX."""
    exe = hloom.compile(function, keys()[0], *others)
    reference = jax.jit(function)
    for key in keys():
        got, wanted = jax.tree.leaves(exe(key, *others)), jax.tree.leaves(reference(key, *others))
        for g, w in zip(got, wanted, strict=True):
            g, w = np.asarray(g), np.asarray(w)
            assert g.dtype == w.dtype and g.shape == w.shape
            if w.dtype.kind in "iub" or not ulps:
                np.testing.assert_array_equal(g, w)
            else:
                np.testing.assert_allclose(g, w, rtol=ulps * np.finfo(w.dtype).eps, atol=ulps * np.finfo(w.dtype).tiny)


def typed(key):
    return jax.random.wrap_key_data(key)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (17,), (61, 5), (1021,), (0,)])
def test_bits_and_uniform(shape):
    compare(lambda key: (jax.random.bits(typed(key), shape), jax.random.uniform(typed(key), shape)))


def test_uniform_in_a_range(interpreter):
    """Against the interpreter: XLA fuses the multiplication and the addition, which StableHLO does not say."""

    def draw(key):
        return jax.random.uniform(typed(key), (61,), minval=-2, maxval=3)

    exe = hloom.compile(draw, keys()[0])
    program = jax.jit(draw).lower(keys()[0]).as_text()
    for key in keys():
        np.testing.assert_array_equal(np.asarray(exe(key)), interpreter.run(program, [key]).results[0])


def test_types():
    def draw(key):
        k = jax.random.split(typed(key), 4)
        bits = [jax.random.bits(k[0], (19,), dtype) for dtype in (jnp.uint8, jnp.uint16, jnp.uint32)]
        floats = [jax.random.uniform(k[1], (19,), dtype) for dtype in (jnp.float32, jnp.float16, jnp.bfloat16)]
        return bits, floats, jax.random.randint(k[2], (19,), -5, 100), jax.random.bernoulli(k[3], 0.3, (19,)), jax.random.key_data(k)

    compare(draw)


def test_normal():
    """erf_inv is made of a logarithm, a square root and polynomials."""
    compare(lambda key: jax.random.normal(typed(key), (257,)), ulps=16)


def test_split_and_fold_in_a_loop():
    def walk(key, x):
        def step(i, carry):
            k, x = carry
            k, sub = jax.random.split(typed(k))
            x = x + jax.random.uniform(jax.random.fold_in(sub, i), x.shape)
            return jax.random.key_data(k), x

        return jax.lax.fori_loop(0, 5, step, (key, x))

    compare(walk, np.linspace(0, 1, 33, dtype=np.float32))


def test_integers_and_exponentials():
    compare(lambda key: (jax.random.randint(typed(key), (33,), 0, 7, jnp.int8), jax.random.exponential(typed(key), (33,))), ulps=4)
