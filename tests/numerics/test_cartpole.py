"""Cartpole: 200 environments for 500 steps beside the same steps in NumPy; the same environments end at the same steps."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")


def numpy_step(state, random):
    x, v, angle, spin = state
    f32 = np.float32
    force = np.where(random > f32(0.5), f32(10), f32(-10))
    cos, sin = np.cos(angle), np.sin(angle)
    push = (force + f32(0.05) * spin * spin * sin) / f32(1.1)
    torque = (f32(9.8) * sin - cos * push) / (f32(0.5) * (f32(4 / 3) - f32(0.1) * cos * cos / f32(1.1)))
    pull = push - f32(0.05) * torque * cos / f32(1.1)
    after = np.stack([x + f32(0.02) * v, v + f32(0.02) * pull, angle + f32(0.02) * spin, spin + f32(0.02) * torque])
    return after, (np.abs(after[0]) > f32(2.4)) | (np.abs(after[2]) > f32(0.209439516))


def numpy_cartpole(state, randoms, reset):
    ended = np.zeros(state.shape[1], np.float32)
    for random in randoms:
        after, done = numpy_step(state, random)
        state, ended = np.where(done, reset, after), ended + done
    return state, ended


def jax_cartpole(state, randoms, reset):
    import jax.numpy as jnp

    def body(carry, random):
        (x, v, angle, spin), ended = carry
        force = jnp.where(random > 0.5, 10.0, -10.0)
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        push = (force + 0.05 * spin * spin * sin) / 1.1
        torque = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
        pull = push - 0.05 * torque * cos / 1.1
        after = jnp.stack([x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * torque])
        done = (jnp.abs(after[0]) > 2.4) | (jnp.abs(after[2]) > 0.209439516)
        return (jnp.where(done[None], reset, after), ended + done), None

    return jax.lax.scan(body, (state, jnp.zeros(state.shape[1])), randoms)[0]


@pytest.mark.parametrize("environments", [200, 61])
def test_the_same_environments_end(environments):
    rng = np.random.default_rng(environments)
    state, reset = (rng.uniform(-0.05, 0.05, (4, environments)).astype(np.float32) for _ in range(2))
    randoms = rng.random((500, environments), np.float32)
    exe = hloom.compile(jax_cartpole, state, randoms, reset)
    found, ended = (np.asarray(out) for out in exe(state, randoms, reset))
    expected, counts = numpy_cartpole(state, randoms, reset)
    assert counts.sum() > environments  # every environment ends several times
    np.testing.assert_array_equal(ended, counts)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
