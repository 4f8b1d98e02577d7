"""Group norms as what the layout of the images makes of a group: rows in one piece, or channels that lie side by side.

Torch's own decomposition, on a CPU, reduces rows and then multiplies the scale of each channel first: a value of other axes than the rows
have stands between their moments and their results, and channels that lie last are put first before anything is summed. It stays for groups
of such channels whose number is no power of two.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch._decomp import decomposition_table

from ..torch_registry import torch_decomposition

_TORCHS = decomposition_table[torch.ops.aten.native_group_norm.default]


@torch_decomposition("aten.native_group_norm")
def group_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, batch: int, channels: int, size: int, groups: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`(x - mean) * rstd * weight + bias`, and the moments of each group, in f32 where x is of half precision."""
    each = channels // groups
    if _has_channels_last(x) and each.bit_count() > 1:
        return _TORCHS(x, weight, bias, batch, channels, size, groups, eps)  # else each lane finds its group by a division
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    if _has_channels_last(x):
        means = _of_groups(wide.mean([2, 3]), groups)
        centred = wide - _of_channels(means, each)
        moments = means, torch.rsqrt(_of_groups((centred * centred).mean([2, 3]), groups) + eps)
        normed, shape = centred * _of_channels(moments[1], each), [channels, 1, 1]
    else:
        rows = wide.reshape(batch, groups, each, size)
        variance, mean = torch.var_mean(rows, dim=(2, 3), unbiased=False, keepdim=True)
        moments = mean, torch.rsqrt(variance + eps)
        normed, shape = (rows - mean) * moments[1], [groups, each, 1]
    if weight is not None:
        normed = normed * weight.reshape(shape)
    if bias is not None:
        normed = normed + bias.reshape(shape)
    mean, rstd = (moment.reshape(batch, groups).to(x.dtype) for moment in moments)
    return normed.to(x.dtype).reshape(x.shape), mean, rstd


def _has_channels_last(x: Tensor) -> bool:
    return x.dim() == 4 and not x.is_contiguous() and x.is_contiguous(memory_format=torch.channels_last)


def _of_groups(means: Tensor, groups: int) -> Tensor:
    """The means of groups of those of channels."""
    return means.reshape(len(means), groups, -1).mean(2)


def _of_channels(moments: Tensor, each: int) -> Tensor:
    return moments.repeat_interleave(each, 1)[:, :, None, None]
