"""Long sums of floats lose a few roundings, not as many as a chain of additions does: of 2,304 products that would be 1.2e-6."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])


def _convolution(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _by_heads(x, w):
    """The longer dimension stands first: sums are taken in blocks along the last."""
    return jax.lax.dot_general(x, w, (((1, 0), (0, 1)), ((), ())))


PROGRAMS = {
    "product": (lambda x, w: x @ w, [(40, 2304), (2304, 48)]),
    "prime": (lambda x, w: x @ w, [(40, 2309), (2309, 48)]),
    "transposed": (lambda x, w: x.T @ w, [(2304, 40), (2304, 48)]),
    "few rows": (lambda x, w: x @ w, [(2, 2304), (2304, 600)]),
    "convolution": (_convolution, [(2, 6, 6, 256), (3, 3, 256, 32)]),
    "columns": (lambda x: x.sum(0), [(2304, 50)]),
    "of two dimensions in other orders": (_by_heads, [(8, 1024, 64), (1024, 8, 64)]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_long_sums_are_near(name: str, target: str) -> None:
    function, shapes = PROGRAMS[name]
    generator = np.random.default_rng(0)
    given = [generator.standard_normal(shape, np.float32) for shape in shapes]
    found = np.asarray(hloom.compile(function, *given, target=target)(*given))
    with jax.enable_x64(True):
        exact = np.asarray(function(*[jnp.asarray(array.astype(np.float64)) for array in given]))
    assert np.linalg.norm(found - exact) <= 5e-7 * np.linalg.norm(exact)
