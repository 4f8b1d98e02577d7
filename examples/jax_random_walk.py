"""Random walkers in JAX: threefry in a scan, its inner loop unrolled; beside jax.jit itself. `--write` writes jax_random_walk.mlir."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import hloom
from hloom.compiler.frontend import load_program

STEPS, WALKERS = 40, 100


def walk(key):
    def step(state, key):
        x, y = state
        dx, dy = jax.random.uniform(key, (2, WALKERS), minval=-1.0)
        x, y = x + dx, y + dy
        home = x * x + y * y > 25.0
        return jnp.where(home, 0.0, jnp.stack([x, y])), home.sum()

    return jax.lax.scan(step, jnp.zeros((2, WALKERS)), jax.random.split(key, STEPS))


def main() -> None:
    key = jax.random.key_data(jax.random.key(0))

    def program(bits):
        return walk(jax.random.wrap_key_data(bits))

    if "--write" in sys.argv:
        Path(__file__).with_suffix(".mlir").write_text(str(load_program(program, (key,)).module))
        return
    positions, returns = hloom.compile(program, key)(key)
    expected, counts = jax.jit(program)(key)
    np.testing.assert_array_equal(returns, counts)
    np.testing.assert_allclose(positions, expected, rtol=1e-5, atol=1e-5)
    print("jax_random_walk: agrees with JAX")


if __name__ == "__main__":
    main()
