"""Linear algebra on simulated GPUs, where LAPACK stands in for cuSOLVER, cuBLAS and cuSPARSE, compared with jax.jit.

Programs are JAX's for a CPU (`lapack_*`) and for CUDA (`cusolver_*` and the like), which CPUs run as well. What is determined up to signs
alone is compared by what holds of it.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp, jsl, lax = jax.numpy, pytest.importorskip("jax.scipy.linalg"), jax.lax
pytest.importorskip("jax.export")
GPU = "sim:sm_90a"


def values(kind: type, *shape: int) -> np.ndarray:
    rng = np.random.default_rng([*shape])
    found = rng.standard_normal(shape)
    return (found + 1j * rng.standard_normal(shape) if np.issubdtype(kind, np.complexfloating) else found).astype(kind)


def definite(kind: type, *shape: int) -> np.ndarray:
    a = values(kind, *shape)
    return (a @ a.swapaxes(-1, -2).conj() + shape[-1] * np.eye(shape[-1])).astype(kind)


def adjoint(a):
    return jnp.conj(a.swapaxes(-1, -2))


def of_svd(a, **options):
    """What does not depend on the vectors' signs."""
    u, s, vt = jnp.linalg.svd(a, **options)
    least = s.shape[-1]
    return s, (u[..., :least] * s[..., None, :]) @ vt[..., :least, :], adjoint(u) @ u, vt @ adjoint(vt)


def of_eig(a):
    w, v = jnp.linalg.eig(a)
    return jnp.sort(jnp.abs(w)), a @ v - v * w[..., None, :], jnp.sort(jnp.abs(jnp.linalg.eigvals(a)))


def of_eigh(a):
    w, v = jnp.linalg.eigh(a)
    return w, (v * w[..., None, :]) @ adjoint(v), jnp.linalg.eigvalsh(a)


def check(functions: dict, *arguments: np.ndarray, platform: str, target: str = GPU) -> None:
    """hloom's results of all functions, in one program that was exported for the platform, are jax.jit's."""

    def together(*given):
        return {name: function(*given) for name, function in functions.items()}

    double = arguments[0].dtype in (np.float64, np.complex128)
    most = 1e-9 if double else 2e-3
    with jax.enable_x64(double):
        expected = jax.tree.map(np.asarray, jax.jit(together)(*arguments))
        found = jax.tree.map(np.asarray, compiled(together, platform, target, *arguments)(*arguments))
    for name, wanted in expected.items():
        for got, want in zip(jax.tree.leaves(found[name]), jax.tree.leaves(wanted), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape), name
            np.testing.assert_allclose(got, want, rtol=most, atol=most, err_msg=name)


def compiled(function, platform: str, target: str, *arguments):
    if platform == "cpu":
        return hloom.compile(function, *arguments, target=target)
    others = (
        "cusolver_syrk_ffi",
        "cusolver_ormqr_ffi",
        "cuhybrid_geqp3",
        "cuhybrid_eig_real",
        "cuhybrid_eig_comp",
        "cu_cholesky_update_ffi",
    )
    checks = [jax.export.DisabledSafetyCheck.custom_call(name) for name in others]
    exported = jax.export.export(jax.jit(function, keep_unused=True), platforms=["cuda"], disabled_checks=checks)(*arguments)
    return hloom.compile(exported, target=target)


def test_square_matrices():
    check(
        {
            "inv": jnp.linalg.inv, "slogdet": jnp.linalg.slogdet, "det": jnp.linalg.det, "eigh": of_eigh, "cond": jnp.linalg.cond,
            "cholesky": jnp.linalg.cholesky, "no factor": lambda a: jnp.linalg.cholesky(-a), "lu": jax.vmap(jsl.lu),
            "tridiagonal": lax.linalg.tridiagonal,
        },
        definite(np.float64, 2, 5, 5), platform="cuda",
    )  # fmt: skip


def test_complex_matrices():
    check(
        {
            "solve": lambda a, b: jnp.linalg.solve(a, b), "eigh": lambda a, b: of_eigh(a), "cholesky": lambda a, b: jnp.linalg.cholesky(a),
            "slogdet": lambda a, b: jnp.linalg.slogdet(a), "qr": lambda a, b: jnp.linalg.qr(b),
            "svd": lambda a, b: of_svd(b, full_matrices=False),
            "reflected": lambda a, b: lax.linalg.ormqr(a[0, :, :3], b[0, 0], b[0], transpose=True),
            "adjoint": lambda a, b: jsl.solve_triangular(a, b, trans=2, lower=True), "wide": lambda a, b: of_svd(adjoint(b)),
        },
        definite(np.complex64, 2, 4, 4), values(np.complex64, 2, 4, 3), platform="cpu",
    )  # fmt: skip


@pytest.mark.parametrize(("platform", "kind", "shape"), [("cuda", np.float32, (2, 6, 3)), ("cpu", np.float64, (1, 3, 6))])
def test_factorisations(platform, kind, shape):
    check(
        {
            "qr": jnp.linalg.qr, "complete": partial(jnp.linalg.qr, mode="complete"), "svd": of_svd, "pinv": jnp.linalg.pinv,
            "values": partial(jnp.linalg.svd, compute_uv=False), "rank": jnp.linalg.matrix_rank,
            "norm": lambda a: [jnp.linalg.norm(a[0], ord=order) for order in (2, "nuc")],
        },
        values(kind, *shape), platform=platform,
    )  # fmt: skip


def test_solving():
    check(
        {
            "solve": jnp.linalg.solve, "vector": lambda a, b: jnp.linalg.solve(a[0], b[0, :, 0]),
            "lstsq": lambda a, b: jnp.linalg.lstsq(a[0], b[0]),
            "lu_solve": lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b), "cho_solve": lambda a, b: jsl.cho_solve(jsl.cho_factor(a), b),
            "triangular": lambda a, b: [
                jsl.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit)
                for lower, trans, unit in ((True, 0, False), (True, 1, True), (False, 0, True), (False, 1, False))
            ],
            "right": lambda a, b: lax.linalg.triangular_solve(a, b.swapaxes(1, 2), left_side=False),
            "tridiagonal": lambda a, b: lax.linalg.tridiagonal_solve(a[..., 0], a[..., 1] + 9, a[..., 2], b),
            "product": lambda a, b: lax.linalg.householder_product(a[..., :3], b[:, 0]),
            "reflected": lambda a, b: [
                lax.linalg.ormqr(a[0, :, :3], b[0, 0], b[0]), lax.linalg.ormqr(a[0, :, :3], b[0, 0], b[0].T, left=False, transpose=True)
            ],
            "symmetric": lambda a, b: lax.linalg.symmetric_product(b[0], a[0], alpha=2.0, beta=0.5, symmetrize_output=True),
            "update": lambda a, b: lax.linalg.cholesky_update(jnp.linalg.cholesky(a[0]).T, b[0, :, 0]),
        },
        definite(np.float64, 2, 5, 5), values(np.float64, 2, 5, 3), platform="cuda",
    )  # fmt: skip


@pytest.mark.parametrize(("platform", "kind"), [("cuda", np.float64), ("cpu", np.complex64)])
def test_eigenvalues_of_any_square_matrix(platform, kind):
    check({"eig": of_eig}, values(kind, 2, 5, 5), platform=platform)


def test_functions_of_matrices():
    check({"expm": jsl.expm, "polar": jsl.polar}, definite(np.float32, 4, 4) / 8, platform="cpu")


def test_tridiagonal_systems_of_two_rows():
    check({"": lambda a, b: lax.linalg.tridiagonal_solve(*a, b)}, values(np.float64, 3, 2) + 3, values(np.float64, 2, 2), platform="cpu")


def test_gradients():
    def loss(function):
        return jax.grad(lambda a, b: sum(jnp.sin(x).sum() for x in jax.tree.leaves(function(a, b))), argnums=(0, 1))

    check(
        {
            "slogdet": loss(lambda a, b: jnp.linalg.slogdet(a)[1]), "solve": loss(jnp.linalg.solve),
            "qr": loss(lambda a, b: jnp.linalg.qr(b)),
            "eigh": loss(lambda a, b: of_eigh(a)[:2]), "svd": loss(lambda a, b: of_svd(b, full_matrices=False)[:2]),
        },
        definite(np.float64, 4, 4), values(np.float64, 4, 3), platform="cuda",
    )  # fmt: skip


def test_programs_for_cuda_run_on_cpus():
    check(
        {
            "solve": jnp.linalg.solve, "svd": lambda a, b: of_svd(b), "eig": lambda a, b: of_eig(a + b @ b.swapaxes(1, 2)[::-1]),
            "eigh": lambda a, b: of_eigh(a),
            "tridiagonal": lambda a, b: lax.linalg.tridiagonal_solve(a[..., 0], a[..., 1] + 9, a[..., 2], b),
            "pivoting": lambda a, b: jsl.qr(b[0], pivoting=True),
        },
        definite(np.float64, 2, 5, 5), values(np.float64, 2, 5, 3), platform="cuda", target="cpu",
    )  # fmt: skip


def test_pivots_mean_a_permutation():
    pivots = np.array([[3, 1, 4, 3], [0, 5, 2, 5]], np.int32)
    check({"": partial(lax.linalg.lu_pivots_to_permutation, permutation_size=6)}, pivots, platform="cuda")


def test_empty_matrices():
    names = ("inv", "det", "eigh", "cholesky", "slogdet")
    functions = {name: getattr(jnp.linalg, name) for name in names}
    check(functions, np.zeros((0, 0), np.float32), platform="cuda")
    check(functions | {"svd": jnp.linalg.svd, "qr": jnp.linalg.qr}, np.zeros((0, 3, 3), np.float32), platform="cuda")


def geev_of_cusolver(element: str, number: str) -> str:
    """As JAX writes it where it finds cuSOLVER: vectors packed, beside them a copy of the matrix."""
    layouts = (
        "operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : "
    )
    layouts += "tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]"
    kind, eigenvalues = f"tensor<2x4x4x{element}>", f"tensor<2x4x{number}>"
    return f"""func.func @main(%a: {kind}) -> ({eigenvalues}, {kind}, tensor<2xi32>) {{
      %0:5 = stablehlo.custom_call @cusolver_geev_ffi(%a) {{mhlo.backend_config = {{left = false, right = true}}, {layouts}}}
        : ({kind}) -> ({kind}, {eigenvalues}, {kind}, {kind}, tensor<2xi32>)
      return %0#1, %0#3, %0#4 : {eigenvalues}, {kind}, tensor<2xi32> }}"""


@pytest.mark.parametrize("target", [GPU, "cpu"])
def test_eigenvectors_as_cusolver_packs_them(target):
    a = values(np.float64, 2, 4, 4)
    w, packed, info = hloom.compile(geev_of_cusolver("f64", "complex<f64>"), target=target)(a)
    assert not info.any() and (w.imag != 0).any()
    for matrix, values_, vectors in zip(a, w, packed):
        first = np.flatnonzero(values_.imag > 0)
        v = vectors.astype(complex)
        v[:, first], v[:, first + 1] = vectors[:, first] + 1j * vectors[:, first + 1], vectors[:, first] - 1j * vectors[:, first + 1]
        np.testing.assert_allclose(matrix @ v, v * values_, atol=1e-12)
    a = values(np.complex64, 2, 4, 4)
    w, v, info = hloom.compile(geev_of_cusolver("complex<f32>", "complex<f32>"), target=target)(a)
    np.testing.assert_allclose(a @ v, v * w[:, None], atol=1e-4)


def test_what_the_host_computes():
    def both(a):
        w, left, right = lax.linalg.eig(a, compute_left_eigenvectors=True)
        return [jnp.abs(x) for x in (a @ right - right * w[..., None, :], adjoint(left) @ a - w[..., :, None] * adjoint(left))]

    check(
        {
            "schur": jsl.schur, "sqrtm": lambda a: jnp.abs(jsl.sqrtm(a)), "hessenberg": lax.linalg.hessenberg, "eig": both,
            "pivoting": lambda a: jsl.qr(a, pivoting=True),
            "sylvester": lambda a: jsl.solve_sylvester(a[:3, :3], a[1:, 1:], a[:3, 1:]),
        },
        definite(np.float64, 4, 4), platform="cpu",
    )  # fmt: skip
    exe = hloom.compile(jsl.schur, np.eye(3, dtype=np.float32), target=GPU)
    assert "host sgees 1x3x3" in exe.report.text()
