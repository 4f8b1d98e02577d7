"""Dots of floats with bytes that were converted and scaled: the kernel reads the bytes, whatever the shape, bound or not."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import hloom

_RANDOM = np.random.default_rng(2)


def _product(x, q, s):
    return jnp.dot(x, q.astype(jnp.float32) * s)


def _by_rows(x, q, s):
    """Each row of `q` is an output."""
    return jnp.dot(x, (q.astype(jnp.float32) * s[:, None]).T)


def _batched(x, q, s):
    return jnp.einsum("bmk,bkn->bmn", x, q.astype(jnp.float32) * s)


def _given(product, m, k, n, kind):
    low, high = np.iinfo(kind).min, np.iinfo(kind).max + 1
    shapes = {_product: ((m, k), (k, n), (n,)), _by_rows: ((m, k), (n, k), (n,)), _batched: ((3, m, k), (3, k, n), (3, 1, n))}[product]
    x, s = (_RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes[::2])
    return x, _RANDOM.integers(low, high, shapes[1], dtype=kind), s


@pytest.mark.parametrize("bound", [False, True], ids=["given", "bound"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize("product", [_product, _by_rows, _batched])
@pytest.mark.parametrize("sizes", [(1, 300, 257), (1, 64, 1), (3, 129, 70), (37, 200, 133), (200, 129, 30)])
def test_a_product(product, sizes, kind, bound):
    x, q, s = _given(product, *sizes, kind)
    exe = hloom.compile(product, x, q, s, bind={"arg1": q, "arg2": s} if bound else None)
    expected = np.asarray(product(x.astype(np.float64), q.astype(np.float64), s.astype(np.float64)))
    found = np.asarray(exe(x) if bound else exe(x, q, s))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_bound_bytes_stay_bytes():
    x, q, s = _given(_product, 1, 512, 384, np.int8)
    report = hloom.compile(_product, x, q, s, bind={"arg1": q, "arg2": s}).report.data
    assert report["memory"].get("packed", 0) == 0
    (group,) = report["groups"]
    assert group["kind"] == "matmul" and group["reads"] == x.nbytes + q.nbytes + s.nbytes
