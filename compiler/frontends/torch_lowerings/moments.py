"""Variances and standard deviations in two passes, which norms are made of: the mean, then the mean square of what differs from it.

torch-mlir computes them in f64, with half the lanes, and the mean of a norm once more. Squares of what is left of a mean that is rounded to
the elements' type are off by the square of that rounding: sums of that type are as good as those of eager's norms. Half-precision floats
are computed in f32. Of complex numbers it is the square of their size.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..torch_registry import depends_on_data, torch_decomposition, torch_differentiated


@torch_decomposition("aten.var.correction")
def var(x: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return NotImplemented if _is_left(x) else _moments(x, dim, correction, keepdim)[0].to(x.dtype.to_real())


@torch_decomposition("aten.var_mean.correction")
def var_mean(
    x: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    if _is_left(x):
        return NotImplemented
    variance, mean = _moments(x, dim, correction, keepdim)
    return variance.to(x.dtype.to_real()), mean.to(x.dtype)


@torch_decomposition("aten.std.correction")
def std(x: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return NotImplemented if _is_left(x) else _moments(x, dim, correction, keepdim)[0].sqrt().to(x.dtype.to_real())


@torch_decomposition("aten.std_mean.correction")
def std_mean(
    x: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    if _is_left(x):
        return NotImplemented
    variance, mean = _moments(x, dim, correction, keepdim)
    return variance.sqrt().to(x.dtype.to_real()), mean.to(x.dtype)


def _is_left(x: Tensor) -> bool:
    return not (x.is_floating_point() or x.is_complex())


def _moments(x: Tensor, dim: Sequence[int] | None, correction: float | None, keepdim: bool) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:  # torch-mlir dies of them
        return _moments(x.reshape(1), [0], correction, keepdim=False)
    dims = sorted(d % x.dim() for d in dim) if dim else list(range(x.dim()))
    wide = x.float() if x.dtype.itemsize < 4 else x
    mean = wide.mean(dims, keepdim=True)
    apart, count = wide - mean, 1
    for d in dims:
        count = count * x.shape[d]
    divisor = count - (1 if correction is None else correction)
    square = torch.view_as_real(apart).square().sum(-1) if x.is_complex() else apart * apart
    variance = square.sum(dims, keepdim=True) / torch.sym_max(divisor, 0)
    if keepdim:
        return variance, mean
    kept = [size for d, size in enumerate(x.shape) if d not in dims]
    return variance.reshape(kept), mean.reshape(kept)


@torch_differentiated("aten.var.correction")
def var_of_data(x: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    """Torch's formula for the gradient asks how many elements there are, which may depend on data."""
    return var(x, dim, correction=correction, keepdim=keepdim) if depends_on_data(x) else NotImplemented


@torch_differentiated("aten.std.correction")
def std_of_data(x: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return std(x, dim, correction=correction, keepdim=keepdim) if depends_on_data(x) else NotImplemented
