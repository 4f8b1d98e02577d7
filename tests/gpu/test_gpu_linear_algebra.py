"""On a GPU: what cuSOLVER, cuBLAS and cuSPARSE compute for JAX's linear algebra, against jax.jit on the host."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from gpu_programs import traced

sys.path.append(str(Path(__file__).parents[1] / "numerics"))
jax = pytest.importorskip("jax")
from test_linear_algebra_on_cuda import definite, of_eig, of_eigh, of_svd, values  # noqa: E402  (it needs JAX)

pytestmark = pytest.mark.cuda
jnp = jax.numpy

FUNCTIONS = {
    "solve": jnp.linalg.solve, "slogdet": lambda a, b: jnp.linalg.slogdet(a), "cholesky": lambda a, b: jnp.linalg.cholesky(a),
    "qr": lambda a, b: jnp.abs(jnp.linalg.qr(b)[1]), "svd": lambda a, b: of_svd(b), "wide": lambda a, b: of_svd(b.swapaxes(-1, -2)),
    "eigh": lambda a, b: of_eigh(a), "eig": lambda a, b: of_eig(a + b @ b.swapaxes(-1, -2)),
    "tridiagonal": lambda a, b: jax.lax.linalg.tridiagonal_solve(a[..., 0], a[..., 1] + 99, a[..., 2], b),
    "hessenberg": lambda a, b: jnp.abs(jax.lax.linalg.hessenberg(a)[0]),
}  # fmt: skip


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("batch", [(), (300,)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_linear_algebra(name, batch, kind):
    if name == "hessenberg":
        pytest.importorskip("scipy_openblas32", reason="LAPACK computes it on the host")
    a, b = definite(kind, *batch, 9, 9), values(kind, *batch, 9, 4)
    double = kind in (np.float64, np.complex128)
    with jax.enable_x64(double):
        exe = traced(f"{name}-{'x'.join(map(str, batch)) or 1}-{kind.__name__}", FUNCTIONS[name], a, b)
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.tree.leaves(jax.jit(FUNCTIONS[name])(a, b))
        found = jax.tree.leaves(exe(a, b))
    most = 1e-9 if double else 5e-3
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=most, atol=most * max(1, np.abs(want).max(initial=0)))
