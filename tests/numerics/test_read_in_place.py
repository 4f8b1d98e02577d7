"""GPUs: what a result is written over is read where it is written, so that no thread reads what another one writes."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import hloom  # noqa: E402


def window(x, y, i):
    return jnp.sin(lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i,), (5,)) * 2, (i,)))


PROGRAMS = {
    "behind the first": lambda x, y, i: x.at[1:].add(y[1:]),
    "of three pieces": lambda x, y, i: jnp.concatenate([x[:3], x[3:60] * y[3:60], x[60:]]),
    "one element": lambda x, y, i: jnp.concatenate([x[:1] - y[:1], x[1:]]),
    "twice": lambda x, y, i: x.at[1:].add(y[1:]).at[:-1].mul(y[1:]),
    "a window": window,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", ["sim:sm_80", "sim:sm_90a+ptx"])
def test_no_thread_reads_what_another_writes(name, target):
    def program(x, y, i):
        return PROGRAMS[name](jnp.sort(x), y, i)

    rng = np.random.default_rng(0)
    arguments = (*(rng.normal(size=100).astype(np.float32) for _ in range(2)), np.int32(37))
    got = hloom.compile(program, *arguments, target=target)(*arguments)
    np.testing.assert_allclose(np.asarray(got), np.asarray(program(*arguments)), rtol=1e-5, atol=1e-6)
