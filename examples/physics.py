"""Thousands of cart-poles at once: each an upright pole on a cart, pushed by a linear controller, by the method of Runge and Kutta.

python examples/physics.py

One function of one cart-pole; jax.vmap makes it one of thousands, lax.fori_loop the steps, hloom.jit compiles the whole.
"""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import hloom

INSTANCES, STEPS, SECONDS = 4096, 500, 0.01
GRAVITY, CART, POLE, LENGTH = 9.81, 1.0, 0.1, 0.5
CONTROL = jnp.array([1.0, 2.2, 28.0, 6.0])
"""The push for each of place, speed, angle and its speed."""


def change(state: jax.Array, push: jax.Array) -> jax.Array:
    """Of place, speed, angle (0 is upright) and angular speed, in a second."""
    _, speed, angle, turning = state
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    inner = (push + POLE * LENGTH * turning**2 * sine) / (CART + POLE)
    falling = (GRAVITY * sine - cosine * inner) / (LENGTH * (4 / 3 - POLE * cosine**2 / (CART + POLE)))
    return jnp.stack([speed, inner - POLE * LENGTH * falling * cosine / (CART + POLE), turning, falling])


def step(state: jax.Array) -> jax.Array:
    push = jnp.clip(CONTROL @ state, -20.0, 20.0)
    first = change(state, push)
    second = change(state + SECONDS / 2 * first, push)
    third = change(state + SECONDS / 2 * second, push)
    fourth = change(state + SECONDS * third, push)
    return state + SECONDS / 6 * (first + 2 * second + 2 * third + fourth)


def simulated(states: jax.Array) -> jax.Array:
    return lax.fori_loop(0, STEPS, lambda _, states: jax.vmap(step)(states), states)


def timed(function: Callable[..., Any], *inputs: Any) -> tuple[Any, float]:
    jax.block_until_ready(function(*inputs))
    start = time.perf_counter()
    return jax.block_until_ready(function(*inputs)), time.perf_counter() - start


def main() -> None:
    states = jax.random.uniform(jax.random.key(0), (INSTANCES, 4), minval=-0.4, maxval=0.4)
    found, seconds = timed(hloom.jit(simulated), states)
    expected, other = timed(jax.jit(simulated), states)
    assert jnp.abs(found - expected).max() < 1e-3 and jnp.abs(found[:, 2]).max() < 0.1
    rate = INSTANCES * STEPS / seconds / 1e6
    print(f"physics: {INSTANCES} poles stand after {STEPS} steps; {rate:.0f} million steps a second, {other / seconds:.1f} x jax.jit's")


if __name__ == "__main__":
    main()
