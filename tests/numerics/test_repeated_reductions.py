"""Small reductions that every tile of their readers computes for itself, beside NumPy: on CPUs, on any number of threads, and simulated."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = jax.numpy
TARGETS = ("auto", "cpu-avx2", "sim:sm_90a")


def minus_mean(x):
    return x - x.mean()


def minus_means(x):
    return x - x.mean(-1, keepdims=True)


def over_greatest(x):
    """Both readers of the maximum, one of which reduces."""
    greatest = jnp.abs(x).max()
    return x / greatest, jnp.sum((x / greatest) ** 2)


def by_channel(x):
    """Statistics of columns, each over parts of the rows."""
    mean = x.mean(0)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(0) + 1e-5)


def reference(function, x):
    with jax.enable_x64(True):
        return jax.tree.leaves(jax.jit(function)(x.astype(np.float64)))


def repeated(exe) -> list[str]:
    return [name for each in exe.report.data["decisions"] if each["code"] == "FUSED_REPEATED" for name in each["groups"]]


CASES = [(minus_mean, (640, 515)), (over_greatest, (513, 640)), (minus_means, (2, 327680)), (by_channel, (32768, 12))]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("function", "shape"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_like_numpy(function, shape, target):
    x = np.random.default_rng(0).standard_normal(shape, np.float32) + 1
    exe = hloom.compile(function, x, target=target)
    assert repeated(exe)
    for found, expected in zip(jax.tree.leaves(exe(x)), reference(function, x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def test_any_number_of_threads():
    x = np.random.default_rng(0).standard_normal((1024, 1024), np.float32) + 1
    exe = hloom.compile(minus_mean, x)
    before, found = hloom.get_threads(), []
    try:
        for threads in (1, 2, 7):
            hloom.set_threads(threads)
            found.append(np.asarray(exe(x)))
    finally:
        hloom.set_threads(before)
    assert all(np.array_equal(found[0], each) for each in found)


def test_what_a_policy_keeps_apart():
    x = np.ones((1024, 1024), np.float32)
    rule = {"op": "reduce", "with": {"op": "subtract"}, "action": "forbid"}
    exe = hloom.compile(minus_mean, x, policy={"fuse": [rule]})
    assert not repeated(exe)
    assert any(each["code"] == "POLICY_FORBIDDEN" for each in exe.report.data["decisions"])


def test_the_value_behind_is_written_in_place():
    """What a loop reads in every tile besides takes nothing from the value that it writes over."""

    def program(x):
        y = jnp.exp(x).T.reshape(x.shape)
        return jnp.sin(y - y.mean()).T @ x

    x = np.random.default_rng(0).standard_normal((640, 640), np.float32)
    exe = hloom.compile(program, x)
    assert repeated(exe)
    np.testing.assert_allclose(exe(x), jax.jit(program)(x), rtol=1e-4, atol=1e-3)
