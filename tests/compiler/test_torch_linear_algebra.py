"""Linear algebra of PyTorch: what is computed multiplies to the matrix again, and its gradients are eager's."""

from __future__ import annotations

import pytest
import torch

import hloom

_KINDS = [torch.float32, torch.float64, torch.complex64, torch.complex128]


def _matrix(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(3))


def _compiled(function, *inputs):
    return hloom.compile(function, *inputs)(*inputs)


def _close(got, wanted):
    torch.testing.assert_close(got, wanted, rtol=2e-4 if wanted.dtype in (torch.float32, torch.complex64) else 1e-10, atol=1e-4)


@pytest.mark.parametrize("dtype", _KINDS)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4)])
def test_factors_multiply_to_the_matrix(shape, dtype):
    a = _matrix(*shape, dtype=dtype)

    def products(a):
        q, r = torch.linalg.qr(a)
        u, s, vh = torch.linalg.svd(a, full_matrices=False)
        p, low, high = torch.linalg.lu(a)
        return q @ r, (u * s.to(u.dtype).unsqueeze(-2)) @ vh, p @ low @ high

    for product in _compiled(products, a):
        _close(product, a)


def test_factors_of_matrices_of_open_sizes():
    compiled = torch.compile(lambda a: (*torch.linalg.qr(a), *torch.geqrf(a)), backend="hloom", fullgraph=True, dynamic=True)
    for shape in ((2, 5, 3), (3, 3, 4)):
        a = _matrix(*shape, dtype=torch.float64)
        q, r, factors, scales = compiled(a)
        _close(q @ r, a)
        for got, wanted in zip((factors, scales), torch.geqrf(a)):
            _close(got, wanted)
            assert got.stride() == wanted.stride()


@pytest.mark.parametrize("dtype", _KINDS)
def test_eigenvectors_are_scaled_by_the_matrix(dtype):
    a = _matrix(2, 4, 4, dtype=dtype)

    def sides(a):
        values, vectors = torch.linalg.eig(a)
        symmetric = a + a.mH
        real, orthogonal = torch.linalg.eigh(symmetric)
        return [
            (a.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2)),
            (symmetric @ orthogonal, orthogonal * real.to(a.dtype).unsqueeze(-2)),
        ]

    for left, right in _compiled(sides, a):
        _close(left, right)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_solving_by_the_factors(left, adjoint, dtype):
    a, b = _matrix(2, 4, 4, dtype=dtype), _matrix(2, 4, 4, dtype=dtype) * 3

    def solved(a, b):
        factors, pivots = torch.linalg.lu_factor(a)
        return torch.linalg.lu_solve(factors, pivots, b, left=left, adjoint=adjoint)

    x, matrix = _compiled(solved, a, b), a.mH if adjoint else a
    _close(matrix @ x if left else x @ matrix, b)


def test_a_matrix_that_is_not_positive_definite_is_told_by_info():
    a = torch.diag(torch.tensor([1.0, -1.0, 2.0]))
    factor, info = _compiled(torch.linalg.cholesky_ex, a)
    wanted = torch.linalg.cholesky_ex(a)
    assert info == wanted.info == 2
    assert torch.equal(factor, wanted.L)


def test_large_exponentials_are_squared_as_often_as_each_needs():
    a = _matrix(3, 5, 5) * torch.tensor([1e-3, 1.0, 9.0], dtype=torch.float64).reshape(3, 1, 1)
    torch.testing.assert_close(_compiled(torch.linalg.matrix_exp, a), torch.linalg.matrix_exp(a), rtol=1e-10, atol=0)


_WITH_GRADIENTS = {
    "solve": lambda a: torch.linalg.solve(a, a[:, :2].sin()) + torch.linalg.solve(a, a[:2].cos(), left=False).mT,
    "inv": torch.linalg.inv,
    "det": torch.linalg.det,
    "slogdet": lambda a: torch.linalg.slogdet(a)[1],
    "cholesky": lambda a: torch.linalg.cholesky(a @ a.mT + torch.eye(4)),
    "qr": lambda a: torch.linalg.qr(a)[1].abs(),
    "svdvals": torch.linalg.svdvals,
    "eigvalsh": torch.linalg.eigvalsh,
    "pinv": torch.linalg.pinv,
    "matrix_exp": torch.linalg.matrix_exp,
    "triangular": lambda a: torch.linalg.solve_triangular(a, a, upper=True),
    "transposed": lambda a: torch.linalg.solve(a.mT, a) * torch.linalg.det(a.mT),
}


@pytest.mark.parametrize("name", _WITH_GRADIENTS)
def test_gradients_are_eagers(name):
    torch._dynamo.reset()
    function, found = _WITH_GRADIENTS[name], []
    for call in (torch.compile(function, backend="hloom", fullgraph=True), function):
        a = (_matrix(4, 4, dtype=torch.float32) + 3 * torch.eye(4)).requires_grad_()
        result = call(a)
        result.sum().backward()
        found.append((result.detach(), a.grad))
    for got, wanted in zip(*found):
        torch.testing.assert_close(got, wanted, rtol=1e-3, atol=1e-4)
