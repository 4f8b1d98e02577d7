"""What of data is counted and compared: covariances, the most frequent elements, histograms, segments."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition, torch_differentiated
from .indexing import segments_of


@torch_decomposition("aten.cov", for_shapes=True)
def cov(x: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """Rows are variables. Torch reads the weights, and warns or raises; too few observations divide by 0 here as there."""
    x = x.reshape(1, -1) if x.dim() < 2 else x
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    weighted = x if weights is None else x * weights
    total = weights.sum() if weights is not None else torch.full([], x.shape[1], dtype=torch.int64)
    mean = weighted.sum(1) / total
    freedom = total - correction
    if weights is not None and aweights is not None and correction:
        freedom = total - correction * (weights * aweights).sum() / total
    freedom = torch.where(freedom <= 0, 0, freedom)
    apart = x - mean.unsqueeze(1)
    products = apart @ (apart if weights is None else apart * weights).t().conj()
    return torch.true_divide(products, freedom).squeeze()


@torch_decomposition("aten.mode")
def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The least of the most frequent elements, and where it is last: at the end of the first of the longest runs in order.

    A NaN is like no other element, and the greatest; torch's order of them is left to chance.
    """
    if not x.dim():
        return x.clone(), torch.full([], 0, dtype=torch.int64)
    values, places = torch.sort(x, dim=dim, stable=True)
    size = x.shape[dim]
    at = torch.arange(size).reshape([size if d == dim % x.dim() else 1 for d in range(x.dim())])
    begins = torch.cat(
        [torch.full_like(places.narrow(dim, 0, 1), 1) != 0, values.narrow(dim, 1, size - 1) != values.narrow(dim, 0, size - 1)], dim
    )
    length = at - torch.where(begins, at, 0).cummax(dim).values
    last = length.argmax(dim, keepdim=True)
    found = values.gather(dim, last), places.gather(dim, last)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


@torch_differentiated("aten.segment_reduce")
@torch_decomposition("aten.segment_reduce")
def segment_reduce(
    x: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Of segments along the first dimension: each row goes to the segment that ends behind it first."""
    if axis != 0 or indices is not None:
        return NotImplemented
    if offsets is not None:
        begins, ends = offsets[:-1], offsets[1:]
    elif lengths is not None:
        ends = lengths.cumsum(0)
        begins = ends - lengths
    else:
        return NotImplemented
    segment = segments_of(len(x), ends)
    start = torch.full([len(ends), *x.shape[1:]], _NEUTRAL[reduce] if initial is None else initial, dtype=x.dtype)
    places = segment.reshape(-1, *[1] * (x.dim() - 1)).expand(x.shape)
    made = start.scatter_reduce(0, places, x, {"max": "amax", "min": "amin", "mean": "sum"}.get(reduce, reduce))
    if reduce != "mean":
        return made
    count = (ends - begins).reshape(-1, *[1] * (x.dim() - 1))
    return made / (count if initial is None else count.clamp(min=1))


@torch_decomposition("aten.histogram.bin_ct")
def histogram(
    x: Tensor, bins: int = 100, *, range: Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    edges = _edges(x.reshape(-1, 1), [bins], range)
    return _counted(x.reshape(-1, 1), edges, weight, density), edges[0]


@torch_decomposition("aten.histogram.bins_tensor")
def histogram_between(x: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False) -> tuple[Tensor, Tensor]:
    return _counted(x.reshape(-1, 1), [bins], weight, density), bins.clone()


@torch_decomposition("aten._histogramdd_bin_edges")
def bin_edges(
    x: Tensor, bins: Sequence[int], *, range: Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False
) -> list[Tensor]:
    return _edges(x.reshape(-1, x.shape[-1]), bins, range)


@torch_decomposition("aten._histogramdd_from_bin_cts")
def histogram_of_points(
    x: Tensor, bins: Sequence[int], *, range: Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False
) -> Tensor:
    x = x.reshape(-1, x.shape[-1])
    return _counted(x, _edges(x, bins, range), weight, density)


@torch_decomposition("aten._histogramdd_from_bin_tensors")
def histogram_of_points_between(x: Tensor, bins: Sequence[Tensor], *, weight: Tensor | None = None, density: bool = False) -> Tensor:
    return _counted(x.reshape(-1, x.shape[-1]), list(bins), weight, density)


def _edges(x: Tensor, bins: Sequence[int], range: Sequence[float] | None) -> list[Tensor]:
    """For each dimension bins of one width between the least and the largest of the points, counted from the nearer end."""
    made = []
    for dim, count in enumerate(bins):
        column = x[:, dim]
        if range is not None:
            low, high = (torch.full([], float(each), dtype=x.dtype) for each in range[2 * dim : 2 * dim + 2])
        elif len(x):
            low, high = column.amin(), column.amax()
        else:
            low, high = torch.full([], 0.0, dtype=x.dtype), torch.full([], 1.0, dtype=x.dtype)
        alone = low == high
        low, high = torch.where(alone, low - 0.5, low), torch.where(alone, high + 0.5, high)
        width, at = (high - low) / count, torch.arange(count + 1)
        made.append(torch.where(at < (count + 1) // 2, low + width * at, high - width * (count - at)))
    return made


def _counted(x: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    """A bin holds its left edge; the last one both."""
    place, inside = torch.full([len(x)], 0, dtype=torch.int64), torch.full([len(x)], 1, dtype=torch.int64) != 0
    for column, edge in zip(x.unbind(1), edges):
        bins = len(edge) - 1
        at = torch.searchsorted(edge, column.contiguous(), right=True) - 1
        place = place * bins + at.clamp(0, bins - 1)
        inside = inside & (column >= edge[0]) & (column <= edge[-1])
    shape = [len(edge) - 1 for edge in edges]
    added = inside.to(x.dtype) if weight is None else torch.where(inside, weight.reshape(-1), 0).to(x.dtype)
    counts = torch.full([math.prod(shape)], 0, dtype=x.dtype).scatter_add(0, place, added).reshape(shape)
    if not density:
        return counts
    counts = counts / counts.sum()
    for dim, edge in enumerate(edges):
        counts = counts / edge.diff().reshape([-1 if d == dim else 1 for d in range(len(shape))])
    return counts
