"""Programs of JAX take NumPy's arrays of 64 bits for arguments of 32, as jax.jit does unless it is told to keep 64 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

import hloom  # noqa: E402

WIDE = {
    "int64": np.array([3, -1, 2**40 + 5]),
    "uint64": np.array([3, 2**63, 2**40 + 5], np.uint64),
    "float64": np.array([0.1, -3.0, 1e-50]),
    "complex128": np.array([0.1 + 2j, -3j, 1e-50]),
}


def doubled(x):
    return x + x


def same(got, want) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
def test_arrays(name, target, tmp_path):
    x = WIDE[name]
    exe = hloom.compile(doubled, x, target=target)
    exe.save(tmp_path / "doubled.hloom")
    for program in (exe, hloom.load(tmp_path / "doubled.hloom")) if target == "cpu" else (exe,):
        for given in (x, x[::-1], jnp.asarray(x), x[:3].copy()):
            same(program(given), jax.jit(doubled)(given))
    with pytest.raises(hloom.ShapeError):
        exe(x[:2])
    assert x.dtype == name, "what was given stays as it was"


@pytest.mark.filterwarnings("ignore:overflow")
def test_what_is_too_large():
    exe, whole = hloom.compile(doubled, 1.0), hloom.compile(doubled, 1)
    for given in (1e300, np.float64(1e300), np.array(1e300)):
        assert exe(given) == np.inf
    assert whole(np.int64(2**40 + 1)) == whole(np.array(2**32 + 1)) == 2
    with pytest.raises(hloom.DtypeError, match="does not fit"):  # jax.jit: an OverflowError
        whole(2**40)


def test_no_other_type():
    exe = hloom.compile(doubled, np.ones(3))
    for given in (np.ones(3, int), np.ones(3, complex), np.ones(3, np.float16), np.ones(3, ">f8")):
        with pytest.raises(hloom.DtypeError, match="should have element type f32"):
            exe(given)
    with jax.enable_x64(True):
        kept, wide = hloom.compile(doubled, np.ones(3, np.float32)), jnp.ones(3, jnp.float64)
    with pytest.raises(hloom.DtypeError):
        kept(np.ones(3))
    with pytest.raises(hloom.DtypeError):  # JAX keeps such an array as it is
        exe(wide)
    with pytest.raises(hloom.DtypeError):
        hloom.compile("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }")(np.ones(3))


def test_outputs_do_not_narrow():
    exe = hloom.compile(doubled, np.ones(3))
    with pytest.raises(hloom.DtypeError, match="result0"):
        exe.run((np.ones(3),), np.empty(3))
    out = np.empty(3, np.float32)
    exe.run((np.ones(3),), out)
    np.testing.assert_array_equal(out, np.full(3, 2))


def test_lowered_exported_and_bound():
    x, w = np.arange(3.0), np.ones(3)
    lowered = jax.jit(doubled, donate_argnums=0).lower(x)
    exported = jax.export.export(jax.jit(doubled))(x)
    for source in (lowered, exported):
        same(hloom.compile(source)(x), doubled(x.astype(np.float32)))
    bound = hloom.compile(lambda w, x: w * x, w, x, bind={0: w})
    np.testing.assert_array_equal(bound(x), x)
    bound.bind([3 * w])
    np.testing.assert_array_equal(bound(x), 3 * x)


def test_open_shapes(tmp_path):
    (size,) = jax.export.symbolic_shape("b")
    exe = hloom.compile(doubled, jax.ShapeDtypeStruct((size,), np.int32))
    exe(WIDE["int64"])
    exe.save(tmp_path / "doubled.hloom")
    for program in (exe, hloom.load(tmp_path / "doubled.hloom")):
        same(program(WIDE["int64"]), jax.jit(doubled)(WIDE["int64"]))
        with pytest.raises(hloom.DtypeError):
            program(WIDE["float64"])


def test_a_spec_says_it():
    spec = hloom.compile(doubled, np.ones(3)).signature.inputs[0]
    assert spec.narrows and spec.json()["narrows"] and not replace(spec, narrows=False).takes("f64")
