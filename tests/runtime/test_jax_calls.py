"""Calls with JAX's arrays, which XLA makes from the second on: as the device's own."""

from __future__ import annotations

import concurrent.futures
import gc
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hloom
from hloom import ExecutionError


def _by_xla(exe: Any) -> bool:
    return exe.device._main.by_xla._function is not None


def _affine(x: Any, y: Any) -> Any:
    return {"sum": x + y, "row": jnp.tanh(x).sum(0)}


X, Y = jnp.arange(12.0).reshape(3, 4), jnp.ones((3, 4)) * 2


def test_calls_are_the_same() -> None:
    exe = hloom.compile(_affine, X, Y)
    first = exe(X, Y)
    assert not _by_xla(exe)
    for _ in range(3):
        again = exe(X, Y)
        assert jax.tree.map(lambda a, b: isinstance(b, jax.Array) and bool((a == b).all()), first, again) == {"sum": True, "row": True}
    assert _by_xla(exe)


def test_other_arrays_are_the_devices() -> None:
    exe = hloom.compile(_affine, X, Y)
    for _ in range(3):
        exe(X, Y)
    for x, y in ((np.asarray(X), np.asarray(Y)), (X, np.asarray(Y)), (np.asarray(X), Y)):
        np.testing.assert_array_equal(exe(x, y)["sum"], X + Y)
    assert isinstance(exe(np.asarray(X), np.asarray(Y))["sum"], np.ndarray)


@pytest.mark.parametrize("wrong", [jnp.ones((4, 3)), jnp.ones((3, 4), jnp.int32), jnp.ones((3, 4), jnp.bfloat16)])
def test_wrong_inputs_raise_the_same_errors(wrong: Any) -> None:
    exe = hloom.compile(_affine, X, Y)
    with pytest.raises(ExecutionError) as first:
        exe(wrong, Y)
    for _ in range(3):
        exe(X, Y)
    with pytest.raises(ExecutionError) as again:
        exe(wrong, Y)
    assert type(first.value) is type(again.value) and str(first.value) == str(again.value)
    np.testing.assert_array_equal(exe(X, Y)["sum"], X + Y)


def test_deleted_arrays() -> None:
    exe = hloom.compile(_affine, X, Y)
    for _ in range(3):
        exe(X, Y)
    gone = X + 1
    gone.delete()
    with pytest.raises(ExecutionError, match="deleted"):
        exe(gone, Y)
    np.testing.assert_array_equal(exe(X, Y)["sum"], X + Y)


def test_bound_values_that_change() -> None:
    exe = hloom.compile(lambda w, x: w @ x, jnp.ones((3, 4)), jnp.ones(4), bind={0: jnp.zeros((3, 4))})
    x = jnp.arange(4.0)
    for scale in (1.0, 2.0, 3.0):
        w = np.random.default_rng(0).random((3, 4), np.float32) * scale
        exe.bind([w])
        for _ in range(3):
            np.testing.assert_allclose(exe(x), w @ x, rtol=1e-6)
        assert _by_xla(exe)


def test_bound_values_that_change_where_they_lie() -> None:
    exe = hloom.compile(lambda w, x: jnp.tanh(w).T @ x, jnp.ones((4, 3)), jnp.ones(4), bind={0: jnp.zeros((4, 3))})
    w, x = np.random.default_rng(0).random((4, 3), np.float32), jnp.arange(4.0)
    exe.bind([w])
    for _ in range(3):
        for _ in range(3):
            np.testing.assert_allclose(exe(x), np.tanh(w).T @ x, rtol=1e-5)
        assert _by_xla(exe)
        w *= 0.5
        assert exe.refresh()


@pytest.mark.parametrize("wide", [False, True])
def test_results_of_64_bits(wide: bool) -> None:
    with jax.enable_x64(True):
        x = jnp.arange(4)
        exe = hloom.compile(lambda x: x.astype(jnp.float64) / 3, x)
        expected = exe(np.asarray(x))
    with jax.enable_x64(wide):
        for _ in range(4):
            np.testing.assert_allclose(exe(x), expected, rtol=1e-15 if wide else 1e-7)
    assert _by_xla(exe) is wide


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "uint32", "bool", "complex64", "float8_e4m3fn", "int4"])
def test_types(dtype: str) -> None:
    x = jnp.asarray([1, 0, 1, 1, 0], dtype)
    exe = hloom.compile(lambda x: (jnp.stack([x, x]), x[::-1]), x)
    for _ in range(4):
        both, turned = exe(x)
        assert both.dtype == x.dtype and (both == jnp.stack([x, x])).all() and (turned == x[::-1]).all()


def test_large_results_stay_the_devices() -> None:
    x = jnp.ones((512, 512))
    exe = hloom.compile(lambda x: x + 1, x)
    for _ in range(3):
        assert (exe(x) == 2).all()
    assert not _by_xla(exe)


def test_donated_inputs_stay_as_they_are() -> None:
    x = jnp.ones(8)
    exe = hloom.compile(jax.jit(lambda x: x + 1, donate_argnums=0), x)
    for _ in range(4):
        assert (exe(x) == 2).all() and (x == 1).all()


def test_saved_and_loaded(tmp_path: Any) -> None:
    hloom.compile(_affine, X, Y).save(tmp_path / "affine.hloom")
    exe = hloom.load(tmp_path / "affine.hloom")
    for _ in range(3):
        np.testing.assert_array_equal(exe(X, Y)["sum"], X + Y)
    assert _by_xla(exe)


def test_no_call_of_a_traced_value() -> None:
    exe = hloom.compile(_affine, X, Y)
    for _ in range(3):
        exe(X, Y)
    with pytest.raises(ExecutionError):
        jax.jit(lambda x: exe(x, Y))(X)


def test_several_threads_and_callbacks() -> None:
    exe = hloom.compile(lambda x: jnp.cumsum(x * 2), jnp.ones(64))
    inputs = [jnp.full(64, float(n)) for n in range(16)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for n, result in enumerate(pool.map(exe, inputs)):
                np.testing.assert_array_equal(result, np.cumsum(np.full(64, 2.0 * n)))
    inside = jax.jit(lambda x: jax.pure_callback(exe, jax.ShapeDtypeStruct((64,), jnp.float32), x))
    for _ in range(20):
        np.testing.assert_array_equal(inside(inputs[1]), np.cumsum(np.full(64, 2.0)))


def test_programs_go_with_their_last_holder() -> None:
    exe = hloom.compile(_affine, X, Y)
    for _ in range(3):
        exe(X, Y)
    device = weakref.ref(exe.device)
    del exe
    gc.collect()
    assert device() is None
