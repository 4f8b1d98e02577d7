"""Weights of four bits that one row is multiplied by: eight in a word, however the program packed them, whatever the shape."""

from __future__ import annotations

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import hloom

_RANDOM = np.random.default_rng(3)


def _packed(q: np.ndarray) -> np.ndarray:
    """Neighbours in depth in a byte, moved by 8."""
    moved = (q + 8).astype(np.uint8)
    return moved[0::2] | moved[1::2] << 4


def _product(x, p, s):
    halves = [(p & 15).astype(jnp.int8) - 8, (p >> 4).astype(jnp.int8) - 8]
    q = jnp.stack(halves, 1).reshape(-1, p.shape[1])
    return jnp.dot(x, q.astype(x.dtype)) * s


def _without_sign(x, p, s):
    return jnp.dot(x, (p & 15).astype(x.dtype)) * s


def _checked(product, x, p, s, q, tolerance=2e-5) -> hloom.Executable:
    exe = hloom.compile(product, x, p, s, bind={"arg1": p, "arg2": s})
    expected = (x.astype(np.float64) @ q.astype(np.float64)) * s.astype(np.float64)
    found = np.asarray(exe(x)).astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    return exe


def _held(exe: hloom.Executable) -> int:
    """Bytes of weights that @init packed."""
    return exe.report.data["memory"].get("packed", 0)


@pytest.mark.parametrize(("depth", "columns"), [(64, 128), (8, 129), (200, 300), (1032, 257)])
def test_one_row(depth, columns):
    q = _RANDOM.integers(-8, 8, (depth, columns))
    x, s = (_RANDOM.standard_normal(shape).astype(np.float32) for shape in ((1, depth), columns))
    exe = _checked(_product, x, _packed(q), s, q)
    assert 0 <= _held(exe) - depth * columns // 2 < depth // 2 * 128  # but for the columns behind the last one


def test_numbers_without_a_sign():
    q = _RANDOM.integers(0, 16, (72, 200))
    x, s = (_RANDOM.standard_normal(shape).astype(np.float32) for shape in ((1, 72), 200))
    _checked(_without_sign, x, q.astype(np.uint8) | 0x50, s, q)


def test_halves():
    q = _RANDOM.integers(-8, 8, (64, 256))
    x, s = (_RANDOM.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((1, 64), 256))
    exe = _checked(_product, x, _packed(q), s, q, tolerance=0.02)
    assert _held(exe) == q.size // 2


@pytest.mark.parametrize(("rows", "depth"), [(2, 64), (1, 60)], ids=["rows", "depth"])
def test_what_stays_bytes(rows, depth):
    q = _RANDOM.integers(-8, 8, (depth, 200))
    x, s = (_RANDOM.standard_normal(shape).astype(np.float32) for shape in ((rows, depth), 200))
    exe = _checked(_product, x, _packed(q), s, q)
    assert _held(exe) >= q.size


def test_one_thread_and_two():
    q = _RANDOM.integers(-8, 8, (1024, 1024))
    x, s = (_RANDOM.standard_normal(shape).astype(np.float32) for shape in ((1, 1024), 1024))
    exe = _checked(_product, x, _packed(q), s, q)
    results = []
    for threads in (1, 2):
        hloom.set_threads(threads)
        results.append(np.asarray(exe(x)))
    np.testing.assert_array_equal(*results)


def _by_rows(q, s, z):
    """[depth, columns] of [columns, groups, depth of one]."""
    return (_scaled(q, s[..., None], None if z is None else z[..., None])).reshape(q.shape[0], -1).T


def _by_columns(q, s, z):
    """The same of [groups, depth of one, columns]."""
    return _scaled(q, s[:, None], None if z is None else z[:, None]).reshape(-1, q.shape[2])


def _scaled(q, s, z):
    return (q if z is None else q - z) * s


@pytest.mark.parametrize("moved", [False, True], ids=["scales", "zeros"])
@pytest.mark.parametrize(
    ("weights", "shape", "scales"), [(_by_rows, (200, 3, 32), (200, 3)), (_by_columns, (5, 8, 129), (5, 129))], ids=["rows", "columns"]
)
def test_groups(weights, shape, scales, moved):
    """Scales, and zero points, that change along what is summed."""
    q = _RANDOM.integers(0, 16, shape).astype(np.uint8)
    s = _RANDOM.standard_normal(scales).astype(np.float32)
    z = _RANDOM.integers(0, 16, scales).astype(np.float32) if moved else None
    x = _RANDOM.standard_normal((1, 96 if weights is _by_rows else 40)).astype(np.float32)
    held = {"arg1": q, "arg2": s, **({"arg3": z} if moved else {})}
    given = [x, *held.values()]

    def product(x, q, s, z=None):
        return x @ weights((q & 15).astype(jnp.float32), s, z)

    exe = hloom.compile(product, *given, bind=held)
    expected = x.astype(np.float64) @ weights(q.astype(np.float64), s.astype(np.float64), z)
    np.testing.assert_allclose(np.asarray(exe(x)), expected, rtol=2e-5, atol=2e-5 * np.abs(expected).max())
    assert _held(exe) < 2 * q.size  # not f32, four times as many bytes
