"""Programs of JAX on complex numbers, equal to jax.jit; some on a simulated GPU too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import hloom
from hloom.runtime.comparison import difference

jax = pytest.importorskip("jax")
jnp = jax.numpy


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    parts = np.random.default_rng([seed, *shape]).normal(size=(2, *shape))
    return (parts[0] + 1j * parts[1]).astype(np.complex64)


def polynomial(z, coefficients):
    return jnp.polyval(coefficients, z)


def rotary(x, angles):
    """Rotary embeddings: pairs of features as complex numbers, turned."""
    z = jax.lax.complex(x[..., ::2], x[..., 1::2]) * jnp.exp(1j * angles)
    return jnp.stack([z.real, z.imag], -1).reshape(x.shape)


def gradient_of_magnitudes(x, y):
    return jax.grad(lambda z: jnp.sum(jnp.abs(z @ y) ** 2))(x)


def mandelbrot(c, z):
    def step(carry):
        number, z, steps = carry
        inside = jnp.abs(z) < 2
        return number + 1, jnp.where(inside, z * z + c, z), steps + inside

    return jax.lax.while_loop(lambda carry: carry[0] < 20, step, (0, z * 0, jnp.zeros(c.shape, jnp.int32)))[2]


def polar(z, w):
    return jnp.abs(z) * jnp.exp(1j * jnp.angle(w)), jnp.conj(z) / w


def products_and_sums(z, w):
    return jnp.prod(z, 0), jnp.cumsum(w, 1), jnp.mean(z * w), jnp.var(z), jnp.linalg.norm(w)


def filtered(z, w):
    return jnp.convolve(z[0], w[0], "same"), jnp.vdot(z, w), jnp.einsum("ij,kj->ik", z, w.conj())


def gathered(z, w):
    at = jnp.array([2, 0, 2])
    return z[at], z.at[at].set(w[:3]), jnp.sort_complex(z[0]), jnp.roll(w, 1, 0).T, jnp.unwrap(jnp.angle(w[0]))


def curvature(x, y):
    """Second derivatives by a small imaginary step would need complex programs: those of jax.grad over holomorphic functions."""
    return jax.vmap(jax.grad(lambda z: jnp.sin(z) * jnp.tanh(z), holomorphic=True))(x[0]) + y[0]


PROGRAMS: list[tuple[Callable, tuple[np.ndarray, ...]]] = [
    (polynomial, (numbers(200), numbers(6, seed=1))),
    (rotary, (numbers(4, 32).view(np.float32), np.linspace(0, 3, 32, dtype=np.float32))),
    (gradient_of_magnitudes, (numbers(16, 24), numbers(24, 8, seed=1))),
    (mandelbrot, (numbers(40, 5), numbers(40, 5))),
    (polar, (numbers(33), numbers(33, seed=1))),
    (products_and_sums, (numbers(5, 7), numbers(5, 7, seed=1))),
    (filtered, (numbers(6, 9), numbers(6, 9, seed=1))),
    (gathered, (numbers(6, 9), numbers(6, 9, seed=1))),
    (curvature, (numbers(2, 50), numbers(2, 50, seed=1))),
]


@pytest.mark.parametrize(("program", "inputs"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_as_jax_computes_it(program, inputs):
    compare(program, inputs, "auto")


@pytest.mark.parametrize(("program", "inputs"), [PROGRAMS[1], PROGRAMS[2], PROGRAMS[4]], ids=["rotary", "gradient", "polar"])
def test_on_a_simulated_gpu(program, inputs):
    compare(program, inputs, "sim:sm_90a")


def compare(program: Callable, inputs: tuple[np.ndarray, ...], target: str) -> None:
    found = jax.tree.leaves(hloom.compile(program, *inputs, target=target)(*inputs))
    wanted = jax.tree.leaves(jax.jit(program)(*inputs))
    for number, (array, expected) in enumerate(zip(found, wanted, strict=True)):
        apart = difference(np.asarray(array), np.asarray(expected))
        assert apart.ok, f"result {number}: {apart}"
