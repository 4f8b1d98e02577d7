"""Decompositions and solvers: what they compute is compared where it is unique."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.scipy.linalg as scipy
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, recipe

WIDE = (jnp.float32, jnp.float64)


def matrices(b: Builder) -> jax.Array:
    """Small square ones, perhaps several, far from singular."""
    x = b.pick(lambda x: x.dtype in WIDE and x.size >= 4, most=3000).value
    extent = b.number(1, min(9, int(x.size**0.5)))
    count = b.number(1, min(4, x.size // extent**2))
    shape = (count, extent, extent) if b.chance(0.5) else (extent, extent)
    return jnp.tanh(jnp.resize(x, shape)) + 2 * extent * jnp.eye(extent, dtype=x.dtype)


def symmetric(b: Builder) -> jax.Array:
    x = matrices(b)
    return x + jnp.swapaxes(x, -1, -2)


@recipe
def cholesky(b: Builder) -> Made:
    x = symmetric(b)
    return Made(b.one(lambda: jnp.linalg.cholesky(x), lambda: jnp.linalg.cholesky(x, upper=True), lambda: lax.linalg.cholesky(x))())


@recipe
def triangular_solve(b: Builder) -> Made:
    x = matrices(b)
    left, lower, turned, unit = (b.chance(0.5) for _ in range(4))
    shape = (x.shape[-1], b.number(1, 9)) if left else (b.number(1, 9), x.shape[-1])
    right = b.constant((*x.shape[:-2], *shape), x.dtype)
    if unit:
        x = x / (4 * x.shape[-1])
    return Made(lax.linalg.triangular_solve(x, right, left_side=left, lower=lower, transpose_a=turned, unit_diagonal=unit))


@recipe
def solve(b: Builder) -> Made:
    x = matrices(b)
    right = b.constant((*x.shape[:-2], x.shape[-1], b.number(1, 5)), x.dtype)
    functions = (
        lambda: jnp.linalg.solve(x, right),
        lambda: jnp.linalg.inv(x),
        lambda: jnp.linalg.slogdet(x)[1],
        lambda: jnp.linalg.det(x / (2 * x.shape[-1])),
        lambda: jnp.linalg.matrix_power(x / (2 * x.shape[-1]), b.number(0, 4)),
        lambda: scipy.expm(x / (8 * x.shape[-1])),
    )
    return Made(b.one(*functions)())


@recipe
def decomposition(b: Builder) -> Made:
    x = matrices(b)
    functions = (
        lambda: jnp.abs(jnp.linalg.qr(x)[1]),
        lambda: jnp.linalg.eigvalsh(symmetric(b)),
        lambda: jnp.linalg.svd(x, compute_uv=False),
        lambda: scipy.lu(x)[2],
        lambda: (lambda q, r: q @ r)(*jnp.linalg.qr(x)),
        lambda: (lambda u, s, v: (u * s[..., None, :]) @ v)(*jnp.linalg.svd(x, full_matrices=False)),
        lambda: jnp.linalg.pinv(x),
    )
    return Made(b.one(*functions)())


@recipe
def norms(b: Builder) -> Made:
    x = b.pick(lambda x: x.dtype in WIDE and x.ndim >= 2, most=3000, full=True).value
    if b.chance(0.5):
        return Made(jnp.linalg.norm(x, b.one("fro", 1, jnp.inf, -1), axis=(-2, -1)))
    return Made(jnp.linalg.norm(x, b.one(None, 1, 2, 3, jnp.inf), axis=b.axis(x), keepdims=b.chance(0.5)))


@recipe
def products(b: Builder) -> Made:
    x = b.pick(lambda x: x.dtype in WIDE and x.size >= 3, most=800).value
    row = x.reshape(-1)[:60]
    if len(row) < 3:
        raise Unsuitable
    other = b.constant((b.number(1, 7),), x.dtype)
    functions = (
        lambda: jnp.convolve(row, other, b.one("full", "same", "valid")),
        lambda: jnp.correlate(row, other, b.one("full", "same", "valid")),
        lambda: jnp.kron(row[:6].reshape(-1, 1), other[None]),
        lambda: jnp.outer(row, other),
        lambda: jnp.cross(jnp.resize(row, (4, 3)), jnp.resize(other, (4, 3))),
        lambda: jnp.vander(jnp.tanh(row[:9]), b.number(1, 5)),
        lambda: jnp.polyval(other, jnp.tanh(row)),
        lambda: scipy.toeplitz(row[:9], jnp.resize(other, (5,))),
    )
    return Made(b.one(*functions)())
