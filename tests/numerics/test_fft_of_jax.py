"""What JAX builds on Fourier transforms, on complex and real arrays, against jax.jit."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
signal = pytest.importorskip("jax.scipy.signal")


def same(function, *arrays, target: str = "cpu") -> None:
    """Each result of hloom's is near that of jax.jit, of its type."""
    exe = hloom.compile(function, *arrays, target=target)
    for g, w in zip(jax.tree.leaves(exe(*arrays)), jax.tree.leaves(jax.jit(function)(*arrays)), strict=True):
        g, w = np.asarray(g), np.asarray(w)
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        np.testing.assert_allclose(g, w, rtol=0, atol=8 * np.finfo(w.dtype).eps * np.abs(w).max(initial=0))


def normal(*shape, dtype=np.float32) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    parts = rng.standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]).astype(dtype)


Z, X = normal(6, 60, dtype=np.complex64), normal(6, 60)

FUNCTIONS = {
    "fft and ifft": lambda: same(lambda z: (jnp.fft.fft(z), jnp.fft.ifft(z), jnp.fft.fft(z, axis=0)), Z),
    "rfft and irfft": lambda: same(lambda x, z: (jnp.fft.rfft(x), jnp.fft.irfft(z), jnp.fft.irfft(z, n=61), jnp.fft.hfft(z)), X, Z),
    "planes": lambda: same(lambda x, z: (jnp.fft.fft2(z), jnp.fft.irfft2(z), jnp.fft.rfft2(x)), X, Z),
    "three dimensions": lambda: same(lambda x: (jnp.fft.fftn(x), jnp.fft.rfftn(x)), normal(5, 12, 16)),
    "padded and shifted": lambda: same(lambda z: jnp.fft.fftshift(jnp.fft.fft(z, n=97), axes=-1), Z),
    "stft": lambda: same(lambda x: signal.stft(x, nperseg=64)[2], normal(500)),
    "istft": lambda: same(lambda x: signal.istft(signal.stft(x, nperseg=64)[2], nperseg=64)[1], normal(500)),
    "welch": lambda: same(lambda x: signal.welch(x, nperseg=64)[1], normal(500)),
    "convolve": lambda: same(lambda x: signal.fftconvolve(x, x[:100], mode="same"), normal(500)),
    "spectrum": lambda: same(lambda x: jnp.abs(jnp.fft.rfft(x * jnp.hanning(60).astype(jnp.float32))) ** 2 / 60, X),
    "gradient": lambda: same(jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 3)), X),
    "poisson": lambda: same(lambda u: jnp.fft.irfft2(jnp.fft.rfft2(u) / (1 + jnp.arange(9, dtype=jnp.float32) ** 2)), normal(3, 12, 16)),
    "in a loop": lambda: same(lambda z: jax.lax.fori_loop(0, 3, lambda i, u: jnp.fft.ifft(jnp.fft.fft(u) * 0.5), z), Z),
    "nothing": lambda: same(lambda z: (jnp.fft.fft(z[:0]), jnp.fft.fft(z[:, :1])), Z),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_jax(name):
    FUNCTIONS[name]()


def test_of_doubles():
    with jax.enable_x64(True):
        z, x = normal(4, 90, dtype=np.complex128), normal(4, 90, dtype=np.float64)
        same(lambda z, x: (jnp.fft.fft(z), jnp.fft.irfft(z), jnp.fft.rfft(x)), z, x)


def test_on_a_simulated_gpu():
    same(lambda z, x: (jnp.fft.ifft(z[:, :6]), jnp.fft.rfft2(x), jnp.fft.irfft(z)), Z, X, target="sim:sm_90a")


def test_a_length_that_the_operand_lacks_is_refused():
    text = """func.func @main(%z: tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>> {
      %0 = "stablehlo.fft"(%z) {fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 8>}
          : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
      return %0 : tensor<4x6xcomplex<f32>>
    }"""
    with pytest.raises(hloom.CompileError, match=r"fft_length = \[8\]"):
        hloom.compile(text)
