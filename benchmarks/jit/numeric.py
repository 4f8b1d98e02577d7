"""Linear algebra, Fourier transforms, sorting, random numbers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax import lax

from .program import integers, normal, positive, table, uniform

KEY = np.array([0, 7], np.uint32)


def _well(size: int) -> np.ndarray:
    """A matrix that is far from singular."""
    return normal(size, size) / np.sqrt(size).astype(np.float32) + 2 * np.eye(size, dtype=np.float32)


def _blur(x):
    """By a transform, a product and back."""
    spectrum = jnp.fft.rfft2(x)
    rows, columns = jnp.fft.fftfreq(x.shape[0])[:, None], jnp.fft.rfftfreq(x.shape[1])
    return jnp.fft.irfft2(spectrum * jnp.exp(-40 * (rows**2 + columns**2)), x.shape)


def _poisson(x):
    """The potential of charges in a periodic box."""
    rows, columns = jnp.fft.fftfreq(x.shape[0])[:, None], jnp.fft.rfftfreq(x.shape[1])
    square = rows**2 + columns**2
    return jnp.fft.irfft2(jnp.fft.rfft2(x) * jnp.where(square > 0, 1 / jnp.where(square > 0, square, 1.0), 0.0), x.shape)


def _spectrogram(x):
    frames = x[jnp.arange(0, len(x) - 1024 + 1, 256)[:, None] + jnp.arange(1024)]
    return jnp.log1p(jnp.abs(jnp.fft.rfft(frames * jnp.hanning(1024))))


def _walk(key):
    steps = jax.random.normal(key, (1000, 256))
    return jnp.cumsum(steps, 0).max(0)


def _pi(key):
    points = jax.random.uniform(key, (1 << 18, 2))
    return 4 * ((points**2).sum(1) < 1).mean()


def _option(key):
    """The price of an Asian option by 4,096 paths of 64 steps."""
    steps = jnp.exp(-0.02 / 64 + 0.2 / 8 * jax.random.normal(key, (4096, 64)))
    return jnp.maximum(100 * jnp.cumprod(steps, 1).mean(1) - 100, 0).mean()


PROGRAMS = [
    *table(
        "linalg",
        {
            "cholesky_256": lambda: (jnp.linalg.cholesky, (positive(256),)),
            "solve_256": lambda: (jnp.linalg.solve, (_well(256), normal(256, 8))),
            "solve_batch_512x8": lambda: (jnp.linalg.solve, (np.stack([_well(8)] * 512) + normal(512, 8, 8) / 8, normal(512, 8, 1))),
            "inverse_128": lambda: (jnp.linalg.inv, (_well(128),)),
            "slogdet_128": lambda: (jnp.linalg.slogdet, (_well(128),)),
            "qr_256x64": lambda: (lambda x: jnp.abs(jnp.linalg.qr(x)[1]), (normal(256, 64),)),
            "eigenvalues_96": lambda: (jnp.linalg.eigvalsh, (positive(96),)),
            "singular_values_128x64": lambda: (lambda x: jnp.linalg.svd(x, compute_uv=False), (normal(128, 64),)),
            "exponential_64": lambda: (jax.scipy.linalg.expm, (normal(64, 64) / 16,)),
            "gaussian_process_200": lambda: (_gaussian_process, (uniform(200), uniform(64, seed=1))),
            "power_512": lambda: (lambda x: jnp.linalg.matrix_power(x, 8), (normal(256, 256) / 16,)),
        },
    ),
    *table(
        "fft",
        {
            "fft_64x4096": lambda: (lambda x: jnp.abs(jnp.fft.fft(x)), (normal(64, 4096),)),
            "rfft_batch_1000": lambda: (lambda x: jnp.abs(jnp.fft.rfft(x)), (normal(128, 1000),)),
            "fft2_256": lambda: (lambda x: jnp.abs(jnp.fft.fft2(x)), (normal(256, 256),)),
            "blur_512": lambda: (_blur, (normal(512, 512),)),
            "poisson_256": lambda: (_poisson, (normal(256, 256),)),
            "spectrogram_65536": lambda: (_spectrogram, (normal(65536),)),
        },
    ),
    *table(
        "sorting",
        {
            "sort_100k": lambda: (jnp.sort, (normal(100_000),)),
            "argsort_rows_256x256": lambda: (jnp.argsort, (normal(256, 256),)),
            "top_k_of_32000": lambda: (lambda x: lax.top_k(x, 50), (normal(8, 32000),)),
            "median_rows_512": lambda: (lambda x: jnp.median(x, 1), (normal(512, 512),)),
            "unique_counts_65536": lambda: (lambda x: jnp.unique_counts(x, size=1000), (integers(1000, 65536),)),
            "histogram_100k": lambda: (lambda x: jnp.histogram(x, 64, (-4, 4))[0], (normal(100_000),)),
            "ranks_50k": lambda: (lambda x: jnp.argsort(jnp.argsort(x)), (normal(50_000),)),
        },
    ),
    *table(
        "random",
        {
            "normal_256k": lambda: (lambda key: jax.random.normal(key, (512, 512)), (KEY,)),
            "dropout_512": lambda: (lambda key, x: jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0), (KEY, normal(512, 512))),
            "categorical_64x1000": lambda: (jax.random.categorical, (KEY, normal(64, 1000))),
            "permutation_10k": lambda: (lambda key: jax.random.permutation(key, 10_000), (KEY,)),
            "gamma_10k": lambda: (lambda key, a: jax.random.gamma(key, a), (KEY, uniform(10_000, least=0.5, most=3))),
            "random_walks_256": lambda: (_walk, (KEY,)),
            "monte_carlo_pi": lambda: (_pi, (KEY,)),
            "asian_option_4096": lambda: (_option, (KEY,)),
        },
    ),
]


def _gaussian_process(x, new):
    """Mean and variance at new points."""

    def kernel(a, b):
        return jnp.exp(-50 * (a[:, None] - b) ** 2)

    factor = jax.scipy.linalg.cho_factor(kernel(x, x) + 0.1 * jnp.eye(len(x)))
    across = kernel(x, new)
    solved = jax.scipy.linalg.cho_solve(factor, across)
    return solved.T @ jnp.sin(6 * x), 1 - (across * solved).sum(0)
