"""jax.numpy.linalg, and a Gaussian process."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from . import Family, floats

FAMILY = Family()
a, b = floats(7, 7), floats(7, 3)
batch = floats(3, 5, 5)
definite = (a @ a.T + 7 * jnp.eye(7)).astype("float32")


def add(name, function, *arguments, tolerance=2e-4):
    FAMILY.add(name, function, *arguments, tolerance=tolerance)


add("solve", lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.solve(a, b[:, 0])), a, b)
add("inv", lambda a, many: (jnp.linalg.inv(a), jnp.linalg.inv(many)), a, batch, tolerance=1e-3)
add("det", lambda a, many: (jnp.linalg.det(many), jnp.linalg.slogdet(a)), a, batch)
add("slogdet", jnp.linalg.slogdet, a)
add("qr", lambda a: jnp.linalg.qr(a), floats(9, 5))
add("qr_complete", lambda a: jnp.abs(jnp.linalg.qr(a, mode="complete")[1]), floats(9, 5))
add("svd", lambda a: (lambda u, s, v: (s, (u * s) @ v))(*jnp.linalg.svd(a, full_matrices=False)), floats(9, 5))
add("pinv", jnp.linalg.pinv, floats(9, 5))
add("eigh", lambda a: (lambda w, v: (w, jnp.abs(v)))(*jnp.linalg.eigh(a)), definite)
add("eig", lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a))), a)
add("expm", jax.scipy.linalg.expm, a / 3)
add("lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], floats(9, 5), floats(9, 2))
add("cholesky", jnp.linalg.cholesky, definite)
add("cho_solve", lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b), definite, b)
add("solve_triangular", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), definite, b)
add("lu", lambda a: jax.scipy.linalg.lu(a), a)
add("matrix_rank", jnp.linalg.matrix_rank, floats(9, 5))
add("norms", lambda a: (jnp.linalg.norm(a), jnp.linalg.norm(a, 1), jnp.linalg.norm(a, axis=1)), a)
add("matrix_power", lambda a: jnp.linalg.matrix_power(a / 3, 5), a)
add("gradient_of_slogdet", jax.grad(lambda a: jnp.linalg.slogdet(a)[1]), a, tolerance=1e-3)


def gaussian_process(x, y, new):
    """The posterior's mean and variance, and the evidence."""

    def kernel(a, b):
        return jnp.exp(-0.5 * (a[:, None] - b) ** 2)

    factor = jnp.linalg.cholesky(kernel(x, x) + 0.1 * jnp.eye(len(x)))
    alpha = jax.scipy.linalg.cho_solve((factor, True), y)
    v = jax.scipy.linalg.solve_triangular(factor, kernel(x, new), lower=True)
    evidence = -0.5 * y @ alpha - jnp.sum(jnp.log(jnp.diag(factor)))
    return kernel(new, x) @ alpha, 1 - jnp.sum(v**2, 0), evidence


add("gaussian_process", gaussian_process, floats(13), floats(13, seed=1), floats(5))


def kalman(f, q, measurements):
    def step(state, z):
        mean, cov = state
        mean, cov = f @ mean, f @ cov @ f.T + q
        gain = jnp.linalg.solve(cov + jnp.eye(3), cov).T
        mean = mean + gain @ (z - mean)
        return (mean, (jnp.eye(3) - gain) @ cov), mean

    return jax.lax.scan(step, (jnp.zeros(3), jnp.eye(3)), measurements)[1]


add("kalman", kalman, floats(3, 3) / 2, jnp.eye(3) * 0.1, floats(7, 3), tolerance=1e-3)
