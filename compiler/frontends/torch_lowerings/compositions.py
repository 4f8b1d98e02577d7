"""Ops written in simpler torch ops, where torch-mlir has neither a lowering nor a decomposition, or a wrong one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from hloom.passes.errors import UnsupportedOpError

from ..torch_registry import torch_decomposition, torch_differentiated, use_torch_decompositions
from .strided import laid_like

use_torch_decompositions("aten.addmv", "aten.unbind_copy", "aten.narrow_copy", "aten.permute_copy")


@torch_decomposition("aten.detach_copy")
def detach_copy(x: Tensor) -> Tensor:
    return x.clone()


@torch_decomposition("aten.slice_copy")
def slice_copy(x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    return torch.ops.aten.slice(x, dim, start, end, step).clone()


@torch_decomposition("aten.select_copy")
def select_copy(x: Tensor, dim: int, place: int) -> Tensor:
    return x.select(dim, place).clone()


@torch_decomposition("aten.embedding")
def embedding(weight: Tensor, places: Tensor, padding: int = -1, scale_by_counts: bool = False, sparse: bool = False) -> Tensor:
    """How its gradient is computed is no matter of its own."""
    return torch.ops.aten.embedding(weight, places, padding) if scale_by_counts or sparse else NotImplemented


@torch_decomposition("aten.range")
def range_(start: float, end: float, step: float = 1, **options: Any) -> Tensor:
    """With its end."""
    dtype = options.get("dtype") or torch.get_default_dtype()
    count = math.floor((end - start) / step) + 1
    return (torch.arange(count, dtype=torch.int64 if not dtype.is_floating_point else torch.float64) * step + start).to(dtype)


@torch_decomposition("aten.empty.memory_format", "aten._efficientzerotensor")
def empty(size: Sequence[int], **options: Any) -> Tensor:
    return torch.full(size, 0, dtype=options.get("dtype") or torch.get_default_dtype())


@torch_decomposition("aten.empty_permuted")
def empty_permuted(size: Sequence[int], order: Sequence[int], **options: Any) -> Tensor:
    """`order` names the dimensions as they lie, the outermost first."""
    return empty([size[d] for d in order], **options).permute([order.index(d) for d in range(len(size))])


@torch_decomposition("aten.new_empty", "aten.new_empty_strided")
def new_empty(x: Tensor, size: Sequence[int], *rest: Any, **options: Any) -> Tensor:
    """Zeros: what an array holds before it is written must not matter."""
    return torch.full(size, 0, dtype=options.get("dtype") or x.dtype)


@torch_decomposition("aten.empty_like")
def empty_like(x: Tensor, *, memory_format: torch.memory_format | None = None, **options: Any) -> Tensor:
    made = torch.full(x.shape, 0, dtype=options.get("dtype") or x.dtype)
    if memory_format in (None, torch.preserve_format):
        return laid_like(made, x)
    return made.contiguous(memory_format=memory_format)


@torch_decomposition("aten.embedding_renorm")
def embedding_renorm(weight: Tensor, places: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Rows that are read are made shorter where they are longer than that."""
    read = torch.zeros_like(weight[:, 0], dtype=torch.bool).index_fill(0, places.reshape(-1), True)
    length = torch.linalg.vector_norm(weight, norm_type, 1)
    scale = torch.where(read & (length > max_norm), max_norm / (length + 1e-7), 1)
    return weight * scale.to(weight.dtype).unsqueeze(1)


@torch_decomposition("aten._new_zeros_with_same_feature_meta")
def new_zeros_of_a_tangent(x: Tensor, other: Tensor, *, self_num_batch_dims: int = 0) -> Tensor:
    """As derivatives by forward mode start: of the other's shape, behind the dimensions that vmap adds."""
    return torch.full((*x.shape[:self_num_batch_dims], *other.shape), 0, dtype=other.dtype)


@torch_decomposition("aten.instance_norm")
def instance_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    variance: Tensor | None,
    of_the_input: bool,
    momentum: float,
    eps: float,
    *rest: Any,
) -> Tensor:
    """By tracked moments it is a batch norm, else a group norm of a group a channel. Those that it tracks at each call torch.export does
    not tell of."""
    if mean is None or variance is None:
        return torch.group_norm(x, x.shape[1], weight, bias, eps)
    if of_the_input:
        remedy = "give hloom.compile the module, call eval(), or make the layer with track_running_stats=False"
        raise UnsupportedOpError("it changes its running moments", op="aten.instance_norm", stage="input", remedy=remedy)
    return torch.ops.aten._native_batch_norm_legit_no_training(x, weight, bias, mean, variance, momentum, eps)[0]


@torch_decomposition("aten.bilinear")
def bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """One product of matrices for all results, which are then multiplied by `x` and summed."""
    outputs, left, right = weight.shape
    product = (y.reshape(-1, right) @ weight.reshape(-1, right).t()).reshape(-1, outputs, left)
    found = (product * x.reshape(-1, 1, left)).sum(-1).reshape(*x.shape[:-1], outputs)
    return found if bias is None else found + bias


@torch_decomposition("aten.conv_tbc")
def conv_tbc(x: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """A convolution whose dimensions are time, batch, channels; its weight's are time, input, output."""
    return torch.conv1d(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


@torch_decomposition("aten.split_copy")
def split_copy(x: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    return [part.clone() for part in x.split(split_size, dim)]


@torch_decomposition("aten.angle")
def angle(x: Tensor) -> Tensor:
    """Of a real: pi where it is negative, else 0."""
    if x.dtype.is_complex:
        return NotImplemented
    real = x if x.dtype.is_floating_point else x.float()
    return torch.where(real.isnan(), real, torch.where(real < 0, math.pi, 0.0).to(real.dtype))


@torch_decomposition("aten.isclose")
def isclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    close = x == y
    if equal_nan and x.dtype.is_floating_point:
        close = close | x.isnan() & y.isnan()
    if rtol == 0 and atol == 0:
        return close
    y = y if y.dtype.is_floating_point else y.to(torch.float32)
    error = (x - y).abs()
    return close | error.isfinite() & (error <= atol + (rtol * y).abs())


@torch_decomposition("aten.hypot")
def hypot(x: Tensor, y: Tensor) -> Tensor:
    """Scaled by the larger one, so that no square overflows; an infinity wins over a NaN."""
    dtype = torch.result_type(x, y)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    x, y = x.to(wide).abs(), y.to(wide).abs()
    large, small = torch.maximum(x, y), torch.minimum(x, y)
    ratio = torch.where(large == 0, 0.0, small / large)
    root = torch.where(large == small, large * math.sqrt(2), large * (1 + ratio * ratio).sqrt())
    return torch.where(x.isinf() | y.isinf(), math.inf, root).to(dtype)


@torch_decomposition("aten.logaddexp2")
def logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    large, small = torch.maximum(x, y), torch.minimum(x, y)
    both = large + torch.log1p(torch.exp2(small - large)) / math.log(2)
    return torch.where(x.isinf() & (x == y), x, both)


@torch_differentiated("aten._cdist_forward")
@torch_decomposition("aten._cdist_forward")
def cdist(x: Tensor, y: Tensor, p: float, compute_mode: int | None) -> Tensor:
    return _distance(x.unsqueeze(-2) - y.unsqueeze(-3), p)


@torch_differentiated("aten._pdist_forward")
@torch_decomposition("aten._pdist_forward")
def pdist(x: Tensor, p: float = 2) -> Tensor:
    """Of all pairs, of which those above the diagonal are taken: rows that are picked pair by pair would be read one by one."""
    count = x.shape[0]
    first, second = torch.triu_indices(count, count, 1)
    return _distance(x.unsqueeze(1) - x.unsqueeze(0), p).reshape(-1).index_select(0, first * count + second)


def _distance(difference: Tensor, p: float) -> Tensor:
    if difference.shape[-1] == 0:
        return difference.sum(-1)
    made = torch.linalg.vector_norm(difference, p, -1)
    return made if p else made + nothing_of(difference).sum(-1)


def nothing_of(x: Tensor) -> Tensor:
    """Zeros, whatever `x` is, with gradients that are zeros: where eager's are, and not missing."""
    return torch.where(torch.zeros_like(x, dtype=torch.bool), x, 0)


@torch_decomposition("aten.histc")
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    x = x.reshape(-1)
    low, high = (x.amin(), x.amax()) if min == max and x.numel() else (torch.full((), float(min)), torch.full((), float(max)))
    low, high = torch.where(low == high, low - 1, low).to(x.dtype), torch.where(low == high, high + 1, high).to(x.dtype)
    place = ((x - low) * bins / (high - low)).floor().clamp(max=bins - 1)
    inside = (x >= low) & (x <= high)
    hits = (place.unsqueeze(1) == torch.arange(bins)) & inside.unsqueeze(1)
    return hits.sum(0).to(x.dtype)


@torch_decomposition("aten.addbmm")
def addbmm(x: Tensor, first: Tensor, second: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    product = torch.bmm(first, second).sum(0, dtype=x.dtype) * alpha
    return product.to(x.dtype) if beta == 0 else (x * beta + product).to(x.dtype)


@torch_decomposition("aten.dist")
def dist(x: Tensor, y: Tensor, p: float = 2) -> Tensor:
    return torch.linalg.vector_norm(x - y, p)


@torch_decomposition("aten.mean.default", "aten.mean.dim")
def mean(x: Tensor, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    """Of halves in f32: their sum may be larger than any half."""
    kind = dtype or x.dtype
    wide = torch.promote_types(kind, torch.float32)
    if wide == x.dtype or not wide.is_floating_point:
        return NotImplemented if kind == x.dtype else x.to(kind).mean(list(dim) if dim else None, keepdim)
    return x.to(wide).mean(list(dim) if dim else None, keepdim).to(kind)


@torch_decomposition("aten.clamp_min.default", "aten.clamp_min.Tensor")
def clamp_min(x: Tensor, least: Tensor | float) -> Tensor:
    return _bounded(torch.maximum, x, least)


@torch_decomposition("aten.clamp_max.default", "aten.clamp_max.Tensor")
def clamp_max(x: Tensor, largest: Tensor | float) -> Tensor:
    return _bounded(torch.minimum, x, largest)


def _bounded(choose: Callable[[Tensor, Tensor], Tensor], x: Tensor, bound: Tensor | float) -> Tensor:
    dtype = torch.result_type(x, bound)
    if dtype == x.dtype and not isinstance(bound, Tensor):
        return NotImplemented
    bound = bound.to(dtype) if isinstance(bound, Tensor) else torch.full((), bound, dtype=dtype)
    return choose(x.to(dtype), bound)


@torch_decomposition("aten.polar")
def polar(length: Tensor, angle: Tensor) -> Tensor:
    return torch.complex(length * angle.cos(), length * angle.sin())


@torch_decomposition("aten.frexp.Tensor")
def frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """The mantissa from 0.5 on below 1, and the exponent, 0 for what has none; numbers below the normal ones are scaled first."""
    double = x.dtype == torch.float64
    bits, fraction, bias = (torch.int64, 52, 1022) if double else (torch.int32, 23, 126)
    wide = x.to(torch.float64 if double else torch.float32)
    small = wide.abs() < torch.finfo(wide.dtype).tiny
    scaled = torch.where(small, wide * 2.0**fraction, wide)
    mask = ((1 << (63 if double else 31)) - 1) >> fraction << fraction
    held = scaled.view(bits)
    exponent = ((held & mask) >> fraction) - bias - torch.where(small, fraction, 0)
    mantissa = ((held & ~mask) | (bias << fraction)).view(wide.dtype)
    plain = (wide == 0) | ~wide.isfinite()
    return torch.where(plain, wide, mantissa).to(x.dtype), torch.where(plain, 0, exponent).to(torch.int32)


@torch_decomposition("aten.xlogy.Scalar_Other", "aten.special_xlogy.other_scalar")
def xlogy(x: Tensor, y: float) -> Tensor:
    return torch.xlogy(x, torch.full([], y, dtype=torch.result_type(x, float(y))))


@torch_decomposition("aten.special_xlog1py.other_scalar")
def xlog1py(x: Tensor, y: float) -> Tensor:
    return torch.special.xlog1py(x, torch.full([], y, dtype=torch.result_type(x, float(y))))
