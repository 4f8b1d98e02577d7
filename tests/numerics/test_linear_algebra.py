"""What JAX makes of linear algebra on a CPU, compared with jax.jit, and StableHLO's own ops, with NumPy.

The commonest in f32 are among the programs of jax_programs.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp, jsl, lax = jax.numpy, pytest.importorskip("jax.scipy.linalg"), jax.lax


def values(kind: type, *shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(kind)


def definite(kind: type, *shape: int) -> np.ndarray:
    a = values(kind, *shape)
    return (a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(kind)


def check(functions: dict, *arguments: np.ndarray) -> None:
    """hloom's results of all functions, in one program, are jax.jit's: both call the same routines."""

    def together(*given):
        return {name: function(*given) for name, function in functions.items()}

    double = arguments[0].dtype in (np.float64, np.complex128)
    with jax.enable_x64(double):
        expected = jax.tree.map(np.asarray, jax.jit(together)(*arguments))
        found = jax.tree.map(np.asarray, hloom.compile(together, *arguments, target="cpu")(*arguments))
    most = 1e-11 if double else 1e-4
    for name, wanted in expected.items():
        for got, want in zip(jax.tree.leaves(found[name]), jax.tree.leaves(wanted), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape), name
            np.testing.assert_allclose(got, want, rtol=most, atol=most, err_msg=name)


@pytest.mark.parametrize(("kind", "shape"), [(np.float32, (2, 7, 3)), (np.float64, (1, 3, 7))])
def test_factorisations(kind, shape):
    functions = {
        "qr": jnp.linalg.qr, "complete": partial(jnp.linalg.qr, mode="complete"), "r": partial(jnp.linalg.qr, mode="r"),
        "svd": jnp.linalg.svd, "thin": partial(jnp.linalg.svd, full_matrices=False), "values": partial(jnp.linalg.svd, compute_uv=False),
        "pinv": jnp.linalg.pinv, "rank": jnp.linalg.matrix_rank, "lu": jax.vmap(jsl.lu),
    }  # fmt: skip
    check(functions, values(kind, *shape))


def test_square_matrices():
    check(
        {
            "inv": jnp.linalg.inv, "det": jnp.linalg.det, "slogdet": jnp.linalg.slogdet, "eigh": jnp.linalg.eigh,
            "cholesky": jnp.linalg.cholesky, "upper": partial(jnp.linalg.cholesky, upper=True), "eigvalsh": jnp.linalg.eigvalsh,
            "hessenberg": lax.linalg.hessenberg, "tridiagonal": lax.linalg.tridiagonal, "cond": jnp.linalg.cond,
            "schur": jax.vmap(jsl.schur), "no factor": lambda a: jnp.linalg.cholesky(-a),
        },
        definite(np.float64, 2, 5, 5),
    )  # fmt: skip


def test_solving():
    check(
        {
            "solve": jnp.linalg.solve, "vector": lambda a, b: jnp.linalg.solve(a[0], b[0, :, 0]),
            "lstsq": lambda a, b: jnp.linalg.lstsq(a[0], b[0]),
            "lu_solve": lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b), "cho_solve": lambda a, b: jsl.cho_solve(jsl.cho_factor(a), b),
            "triangular": lambda a, b: [
                jsl.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit)
                for lower in (0, 1) for trans in (0, 1, 2) for unit in (False, True)
            ],
            "tridiagonal": lambda a, b: lax.linalg.tridiagonal_solve(a[..., 0], a[..., 1] + 4, a[..., 2], b),
            "right": lambda a, b: lax.linalg.triangular_solve(a, b.swapaxes(1, 2), left_side=False),
        },
        definite(np.float64, 2, 5, 5), values(np.float64, 2, 5, 3),
    )  # fmt: skip


def test_reflectors():
    check(
        {
            "pivoting": lambda a, t, c: jsl.qr(a, pivoting=True), "product": lambda a, t, c: lax.linalg.householder_product(a, t),
            "ormqr": lambda a, t, c: lax.linalg.ormqr(a, t, c), "transposed": lambda a, t, c: lax.linalg.ormqr(a, t, c, transpose=True),
            "right": lambda a, t, c: lax.linalg.ormqr(a, t, c.T, left=False),
        },
        values(np.float64, 5, 3), values(np.float64, 3), values(np.float64, 5, 4),
    )  # fmt: skip


def process(x, y, length):
    """The negative log-likelihood of a Gaussian process."""
    covariance = jnp.exp(-((x[:, None] - x[None]) ** 2).sum(-1) / (2 * length**2)) + 0.1 * jnp.eye(x.shape[0], dtype=x.dtype)
    factor = jnp.linalg.cholesky(covariance)
    return 0.5 * y @ jsl.cho_solve((factor, True), y) + jnp.log(jnp.diag(factor)).sum()


def test_gaussian_process_and_its_gradient():
    check({"all": jax.value_and_grad(process, argnums=(0, 1, 2))}, values(np.float32, 20, 3), values(np.float32, 20), np.float32(1.3))


def test_expm_and_gradients():
    check(
        {
            "expm": jsl.expm, "eigh": jax.grad(lambda a: jnp.linalg.eigh(a)[0].sum() + jnp.linalg.eigh(a)[1][0, 0]),
            "svd": jax.grad(lambda a: jnp.linalg.svd(a[:, :3], full_matrices=False)[1].sum()),
            "slogdet": jax.grad(lambda a: jnp.linalg.slogdet(a)[1]),
        },
        definite(np.float32, 4, 4),
    )  # fmt: skip


def test_complex_matrices():
    a, b = (values(np.float32, 2, 4, n) + 1j * values(np.float32, 2, 4, n, seed=1) for n in (4, 3))
    a = a @ a.swapaxes(1, 2).conj() + 4 * np.eye(4)
    check(
        {
            "solve": jnp.linalg.solve, "cholesky": lambda a, b: jnp.linalg.cholesky(a), "slogdet": lambda a, b: jnp.linalg.slogdet(a),
            "qr": lambda a, b: jnp.linalg.qr(b), "svd": lambda a, b: jnp.linalg.svd(b), "eigh": lambda a, b: jnp.linalg.eigh(a),
            "adjoint": lambda a, b: jsl.solve_triangular(a, b, trans=2), "pinv": lambda a, b: jnp.linalg.pinv(b),
            "hessenberg": lambda a, b: lax.linalg.hessenberg(a), "tridiagonal": lambda a, b: lax.linalg.tridiagonal(a),
            "pivoting": lambda a, b: jsl.qr(b[0], pivoting=True), "eigvals": lambda a, b: jnp.linalg.eigvals(a @ b @ b.swapaxes(1, 2)),
            "transposed": lambda a, b: lax.linalg.ormqr(b[0], b[1, :3, 0], a[0], transpose=True),
        },
        a.astype(np.complex64), b.astype(np.complex64),
    )  # fmt: skip


@pytest.mark.parametrize("complex_", [False, True])
def test_eigenvectors(complex_):
    """They are determined up to a factor: what holds of them is compared. A real matrix's come in conjugate pairs."""
    a = values(np.float64, 3, 6, 6)
    a = a + 1j * values(np.float64, 3, 6, 6, seed=1) if complex_ else a
    with jax.enable_x64(True):
        exe = hloom.compile(lambda a: (jnp.linalg.eig(a), jax.vmap(lambda a: jsl.schur(a, output="complex"))(a)), a, target="cpu")
    (eigenvalues, vectors), (triangle, unitary) = exe(a)
    np.testing.assert_allclose(np.sort_complex(eigenvalues), np.sort_complex(np.linalg.eigvals(a)), atol=1e-12)
    np.testing.assert_allclose(a @ vectors, vectors * eigenvalues[:, None], atol=1e-12)
    np.testing.assert_allclose(unitary @ triangle @ unitary.swapaxes(1, 2).conj(), a, atol=1e-12)
    assert (np.tril(triangle, -1) == 0).all()


def test_approximate_top_k_is_exact():
    x = values(np.float32, 20, 4)
    check({"max": partial(lax.approx_max_k, k=3), "min": partial(lax.approx_min_k, k=5, reduction_dimension=0)}, x)


def test_matrices_without_an_answer():
    singular, broken, infinite = np.ones((4, 4), np.float32), definite(np.float32, 4, 4), definite(np.float32, 4, 4)
    broken[1, 2], infinite[0, 0] = np.nan, np.inf
    names = ("inv", "det", "cholesky", "slogdet")
    check({name: getattr(jnp.linalg, name) for name in names}, np.stack([singular, broken, infinite]))
    check({name: getattr(jnp.linalg, name) for name in ("svd", "eigh")}, np.stack([singular, broken]))


def test_decompositions_of_infinite_matrices():
    """jax.jit does not come back from some of them."""
    infinite = np.full((3, 3), np.inf, np.float32)
    results = hloom.compile(lambda a: (jnp.linalg.svd(a), jnp.linalg.eigh(a), jsl.schur(a)), infinite, target="cpu")(infinite)
    assert all(np.isnan(each).all() for each in jax.tree.leaves(results))


def test_empty_and_single_matrices():
    names = ("inv", "det", "eigh", "cholesky", "slogdet")
    check({name: getattr(jnp.linalg, name) for name in names}, np.zeros((0, 0), np.float32))
    check({name: getattr(jnp.linalg, name) for name in (*names, "svd", "qr")}, np.zeros((0, 3, 3), np.float32))
    check({name: getattr(jnp.linalg, name) for name in (*names, "svd", "qr")}, np.full((1, 1), 2, np.float32))
    check({"svd": jnp.linalg.svd, "qr": jnp.linalg.qr}, np.zeros((2, 0, 3), np.float32))


# StableHLO's own ops.


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16", "complex<f32>", "complex<f64>"])
def test_cholesky_reads_one_triangle_and_zeroes_the_other(element):
    kind = f"tensor<3x5x5x{element}>"
    text = f"""func.func @main(%a: {kind}, %b: {kind}) -> ({kind}, {kind}) {{
      %0 = stablehlo.cholesky %a, lower = true : {kind}
      %1 = stablehlo.cholesky %b, lower = false : {kind}
      return %0, %1 : {kind}, {kind} }}"""
    exe = hloom.compile(text, target="cpu")
    dtype = exe.signature.inputs[0].numpy_dtype
    a = definite(np.float64, 3, 5, 5)
    if "complex" in element:
        a = a + 1j * (np.tri(5, k=-1) - np.tri(5, k=-1).T)
    a[2] = -a[2]
    lower, upper = (np.where(mask, a, np.nan).astype(dtype) for mask in (np.tri(5, dtype=bool), np.tri(5, dtype=bool).T))
    found = [x.astype(a.dtype) for x in exe(lower, upper)]
    expected = np.linalg.cholesky(a[:2])
    most = {"f64": 1e-14, "f32": 1e-6, "f16": 2e-3, "bf16": 2e-2}[element.removeprefix("complex<").rstrip(">")]
    np.testing.assert_allclose(found[0][:2], expected, rtol=most, atol=most)
    np.testing.assert_allclose(found[1][:2], expected.swapaxes(1, 2).conj(), rtol=most, atol=most)
    assert np.isnan(found[0][2]).all() and np.isnan(found[1][2]).all()


@pytest.mark.parametrize(("element", "n"), [("f32", 5), ("f64", 5), ("bf16", 5), ("f32", 17)])
def test_every_kind_of_triangular_solve(element, n):
    """The other triangle, and a unit diagonal, may hold anything. Small matrices are solved by hloom's loops, larger ones by BLAS."""
    cases = list(itertools.product((True, False), (True, False), (True, False), ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")))
    kinds, lines = {True: f"tensor<2x{n}x3x{element}>", False: f"tensor<2x3x{n}x{element}>"}, []
    matrix = f"tensor<2x{n}x{n}x{element}>"
    for number, (left, lower, unit, trans) in enumerate(cases):
        options = f"left_side = {left}, lower = {lower}, unit_diagonal = {unit}".lower()
        b = f"%{'rl'[left]}"
        lines.append(
            f'%{number} = "stablehlo.triangular_solve"(%m{number}, {b}) <{{{options}, transpose_a = #stablehlo<transpose {trans}>}}> '
            f": ({matrix}, {kinds[left]}) -> {kinds[left]}"
        )
    given = ", ".join([*(f"%m{number}: {matrix}" for number in range(len(cases))), f"%l: {kinds[True]}", f"%r: {kinds[False]}"])
    results, types = ", ".join(f"%{number}" for number in range(len(cases))), ", ".join(kinds[left] for left, *_ in cases)
    exe = hloom.compile(
        f"func.func @main({given}) -> ({types}) {{\n" + "\n".join(lines) + f"\nreturn {results} : {types}\n}}", target="cpu"
    )
    dtype = exe.signature.inputs[0].numpy_dtype
    right_sides = {True: values(np.float64, 2, n, 3).astype(dtype), False: values(np.float64, 2, 3, n).astype(dtype)}
    matrices, meant = [], []
    for _, lower, unit, trans in cases:
        a = (values(np.float64, 2, n, n) + 4 * np.eye(n)).astype(dtype)
        mask = np.tri(n, k=-unit, dtype=bool)
        mask = mask if lower else mask.T
        matrices.append(np.where(mask, a, np.array(np.nan, dtype)))
        full = np.where(mask, a.astype(np.float64), np.eye(n) if unit else 0)
        meant.append(full if trans == "NO_TRANSPOSE" else full.swapaxes(1, 2))
    found = exe(*matrices, right_sides[True], right_sides[False])
    most = {"f64": 1e-12, "f32": 1e-4, "bf16": 4e-2}[element]
    for (left, *_), full, x in zip(cases, meant, found):
        b, x = right_sides[left].astype(np.float64), x.astype(np.float64)
        expected = np.linalg.solve(full, b) if left else np.linalg.solve(full.swapaxes(1, 2), b.swapaxes(1, 2)).swapaxes(1, 2)
        np.testing.assert_allclose(x, expected, rtol=most, atol=most * max(1, np.abs(expected).max()))
