"""Fourier transforms and complex numbers."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from . import Family, floats

FAMILY = Family()

x = floats(15, 9)
FAMILY.add("rfft", lambda x: jnp.abs(jnp.fft.rfft(x)), x)
FAMILY.add("fft", lambda x: jnp.fft.ifft(jnp.fft.fft(x) * 2).real, x)
FAMILY.add("fft2", lambda x: jnp.fft.fft2(x), x)
FAMILY.add("irfft", lambda x: jnp.fft.irfft(jnp.fft.rfft(x), 9), x)
FAMILY.add("fftfreq", lambda x: (jnp.fft.fftfreq(9), jnp.fft.fftshift(x)), x)
FAMILY.add("stft", lambda x: jax.scipy.signal.stft(x, nperseg=16)[2], floats(101))
FAMILY.add("fftconvolve", lambda x, y: jax.scipy.signal.fftconvolve(x, y), floats(33), floats(7))
FAMILY.add("gradient_of_rfft", jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2)), floats(17))


def complex_(*shape, seed=0):
    return (floats(*shape, seed=seed) + 1j * floats(*shape, seed=seed + 1)).astype("complex64")


def mandelbrot(c):
    return jax.lax.fori_loop(0, 7, lambda _, z: jnp.where(jnp.abs(z) < 2, z * z + c, z), 0 * c)


def rotary(x, angles):
    z = (x[..., 0] + 1j * x[..., 1]) * jnp.exp(1j * angles)
    return jnp.stack([z.real, z.imag], -1)


def functions(z):
    return jnp.exp(z), jnp.log(z), jnp.sqrt(z), jnp.angle(z), jnp.abs(z)


FAMILY.add("complex_polynomial", lambda c, z: jnp.polyval(c, z), complex_(5), complex_(9))
FAMILY.add("complex_functions", functions, complex_(9))
FAMILY.add("complex_matmul", lambda a, b: a @ b.conj(), complex_(5, 7), complex_(7, 3))
FAMILY.add("mandelbrot", mandelbrot, complex_(7, 5) / 2)
FAMILY.add("complex_gradient", jax.grad(lambda x: jnp.sum(jnp.abs(x[0] + 1j * x[1]) ** 2)), floats(2, 7))
FAMILY.add("rotary", rotary, floats(5, 7, 2), floats(7))
