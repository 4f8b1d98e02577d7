"""torch.linalg.norm as the norm of a vector or of matrices; root mean squares of halves in f32."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


@torch_decomposition("aten.linalg_norm")
def linalg_norm(
    x: Tensor, ord: float | None = None, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    """Without an order, of all elements; with one, of the vector or the matrix that the dimensions tell."""
    if ord is None:
        return torch.linalg.vector_norm(x, 2, dim, keepdim, dtype=dtype)
    dims = list(dim) if dim is not None else list(range(x.dim()))
    if len(dims) == 2:
        return torch.linalg.matrix_norm(x, ord, dims, keepdim, dtype=dtype)
    return torch.linalg.vector_norm(x, ord, dims, keepdim, dtype=dtype)


@torch_decomposition("aten.linalg_norm.ord_str")
def linalg_norm_named(
    x: Tensor, ord: str, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return torch.linalg.matrix_norm(x, ord, list(dim) if dim is not None else [-2, -1], keepdim, dtype=dtype)


@torch_decomposition("aten.linalg_vector_norm")
def vector_norm(
    x: Tensor, ord: float = 2, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    """Of complex numbers that of their absolute values: torch-mlir's is that of their real parts. Of a wider type that of numbers of that
    type: torch-mlir leaves the largest of narrower ones. Of halves in f32: their squares may be larger than any half."""
    kind = dtype or x.dtype
    if x.is_complex():
        return torch.linalg.vector_norm(x.to(kind).abs(), ord, dim, keepdim)
    wide = x.to(torch.promote_types(kind, torch.float32))
    return NotImplemented if wide.dtype == x.dtype else torch.linalg.vector_norm(wide, ord, dim, keepdim).to(kind)


@torch_decomposition("aten.norm.Scalar", "aten.norm.ScalarOpt_dim", "aten.norm.ScalarOpt_dtype", "aten.norm.ScalarOpt_dtype_dim")
def norm(
    x: Tensor, p: float | None = 2, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    """The same op by its older name."""
    return torch.linalg.vector_norm(x, 2 if p is None else p, dim or None, keepdim, dtype=dtype)


@torch_decomposition("aten._weight_norm_interface_backward")
def weight_norm_gradients(gradient: Tensor, direction: Tensor, size: Tensor, norms: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Of `direction * size / norms`, whose norms are those of all dimensions but `dim`."""
    along = (gradient * direction).sum([d for d in range(direction.dim()) if d != dim % direction.dim()], keepdim=True) / norms
    return (gradient - direction * (along / norms)) * (size / norms), along


@torch_decomposition("aten.rms_norm")
def rms_norm(x: Tensor, shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Halves are normalised and weighted in f32 and rounded once: torch-mlir does all of it in halves."""
    return torch.ops.aten._fused_rms_norm(x, shape, weight, eps)[0]
