"""Linear algebra as products, factorizations and triangles. What torch raises for afterwards (singular matrices) is not raised."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._C import DispatchKey

from ..torch_registry import torch_decomposition


@torch_decomposition("aten._linalg_check_errors")
def check_errors(info: Tensor, api_name: str, *, is_matrix: bool) -> None:
    """Nothing: a program reports no errors of its values."""


def _is_row_major(a: Tensor) -> bool:
    """Where torch factorizes the transpose for a determinant, which LAPACK reads without a copy; its gradients count on that."""
    return a.is_contiguous() and not a.is_complex()


@torch_decomposition("aten._linalg_det")
def det(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    factors, pivots, _ = torch.linalg.lu_factor_ex(a.mT if _is_row_major(a) else a)
    diagonal = factors.diagonal(dim1=-2, dim2=-1)
    return diagonal.prod(-1) * _sign(pivots).to(a.dtype), factors, pivots


@torch_decomposition("aten._linalg_slogdet")
def slogdet(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    factors, pivots, _ = torch.linalg.lu_factor_ex(a.mT if _is_row_major(a) else a)
    diagonal = factors.diagonal(dim1=-2, dim2=-1)
    return diagonal.sgn().prod(-1) * _sign(pivots).to(a.dtype), diagonal.abs().log().sum(-1), factors, pivots


def _sign(pivots: Tensor) -> Tensor:
    """Of the permutation: -1 for each row that was swapped with another."""
    moved = (pivots != torch.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype)).sum(-1)
    return 1 - 2 * (moved % 2)


@torch_decomposition("aten._linalg_solve_ex")
def solve(a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`b` is one vector for each matrix where its shape is that of the rows. The factors are those of `a` however it lies, as on CPUs."""
    factors, pivots, info = torch.linalg.lu_factor_ex(a)
    vector = b.dim() == 1 or (b.dim() + 1 == a.dim() and b.shape == a.shape[:-1])
    found = torch.linalg.lu_solve(factors, pivots, b.unsqueeze(-1) if vector else b, left=left)
    return found.squeeze(-1) if vector else found, factors, pivots, info


@torch_decomposition("aten.linalg_inv_ex")
def inverse(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    size = a.shape[-1]
    found = torch.ops.aten._linalg_solve_ex(a, torch.eye(size, dtype=a.dtype).expand(a.shape))
    return found[0], found[3]


@torch_decomposition("aten.linalg_lu")
def lu(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    factors, pivots, _ = torch.linalg.lu_factor_ex(a, pivot=pivot)
    return torch.lu_unpack(factors, pivots)


def _shapes_of_geqrf(a: Tensor) -> tuple[Tensor, Tensor]:
    """Of which torch has none: it runs the op, where all sizes are known."""
    return _by_columns(torch.empty_like(a)), a.new_empty([*a.shape[:-2], min(a.shape[-2:])])


if DispatchKey.Meta not in torch.ops.aten.geqrf.default.py_kernels:
    torch.ops.aten.geqrf.default.py_impl(DispatchKey.Meta)(_shapes_of_geqrf)


@torch_decomposition("aten.linalg_qr")
def qr(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    rows, columns = a.shape[-2:]
    least = min(rows, columns)
    width = rows if mode == "complete" else least
    factors, scales = torch.geqrf(a)
    if mode == "r":
        return a.new_empty([0]), _by_columns(factors[..., :least, :].triu())
    q = factors[..., :width]
    if q.shape[-1] < width:
        q = torch.cat([q, q.new_zeros([*q.shape[:-1], width - q.shape[-1]])], -1)
    return _by_columns(torch.linalg.householder_product(q, scales)), _by_columns(factors[..., :width, :].triu())


def _by_columns(a: Tensor) -> Tensor:
    """As LAPACK leaves a result of its own."""
    return a.mT.contiguous().mT


@torch_decomposition("aten.cholesky")
def cholesky(a: Tensor, upper: bool = False) -> Tensor:
    return torch.linalg.cholesky_ex(a, upper=upper).L


@torch_decomposition("aten.cholesky_inverse")
def cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    return cholesky_solve(torch.eye(factor.shape[-1], dtype=factor.dtype), factor, upper)


@torch_decomposition("aten.cholesky_solve")
def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    first, last = (factor.mH, factor) if upper else (factor, factor.mH)
    return torch.linalg.solve_triangular(last, torch.linalg.solve_triangular(first, b, upper=False), upper=True)


@torch_decomposition("aten.triangular_solve")
def triangular_solve(
    b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    found = torch.linalg.solve_triangular(a.mT if transpose else a, b, upper=upper != transpose, unitriangular=unitriangular)
    return _by_columns(found), _by_columns(a.expand(*found.shape[:-2], *a.shape[-2:]).clone())


@torch_decomposition("aten.linalg_slogdet")
def sign_and_logarithm(a: Tensor) -> tuple[Tensor, Tensor]:
    return torch.ops.aten._linalg_slogdet(a)[:2]


@torch_decomposition("aten.linalg_pinv.atol_rtol_tensor")
def pinv(a: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False) -> Tensor:
    """Singular values up to the tolerance count as zeros."""
    if not a.numel():
        return a.new_empty([*a.shape[:-2], a.shape[-1], a.shape[-2]])
    if hermitian:
        values, u = torch.linalg.eigh(a)
        v, sizes = u, values.abs()
    else:
        u, values, v = torch.linalg.svd(a, full_matrices=False)
        v, sizes = v.mH, values
    if rtol is None:
        least = torch.finfo(a.dtype).eps * max(a.shape[-2:])
        rtol = torch.full([], least, dtype=sizes.dtype) if atol is None else torch.where(atol > 0, 0.0, least)
    within = rtol.unsqueeze(-1) * sizes.amax(-1, keepdim=True)
    if atol is not None:
        within = torch.maximum(within, atol.unsqueeze(-1))
    inverse = torch.where(sizes > within, values.reciprocal(), 0).to(a.dtype)
    return (v * inverse.unsqueeze(-2)) @ u.mH
