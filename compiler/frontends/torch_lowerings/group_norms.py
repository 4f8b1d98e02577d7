"""Group norms as what the layout of the images makes of a group: rows in one piece, or channels that lie side by side.

Torch's own decomposition, on a CPU, reduces rows and then multiplies the scale of each channel first: a value of other axes than the rows
have stands between their moments and their results, and channels that lie last are put first before anything is summed. Here these stay
where they are, and are read once for their moments: means, and squares about these, of parts of some pixels, which add up to those of a
group (Chan, Golub and LeVeque) without the cancellation of a sum of squares.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


@torch_decomposition("aten.native_group_norm")
def group_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, batch: int, channels: int, size: int, groups: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`(x - mean) * rstd * weight + bias`, and the moments of each group, in f32 where x is of half precision."""
    each = channels // groups
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    if _has_channels_last(x):
        return _of_pixels(x, wide, weight, bias, groups, eps)
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


def _of_pixels(
    x: Tensor, wide: Tensor, weight: Tensor | None, bias: Tensor | None, groups: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The same where channels lie last. What is left for each pixel is a scale and a shift of each channel: none looks for the group that a
    channel is in, which took a division a lane."""
    batch, channels, height, width = x.shape
    each, size = channels // groups, height * width
    length = _part(size)
    parts = wide.permute(0, 2, 3, 1).reshape(batch, size // length, length, channels)
    means = parts.mean(2)
    spread = (parts - means[:, :, None]).square().sum(2)
    mean = _of_groups(means.mean(1), groups)
    apart = means - mean.repeat_interleave(each, 1)[:, None]
    variance = _of_groups((spread + length * apart.square()).sum(1), groups) / size
    rstd = torch.rsqrt(variance + eps)
    scale = rstd.repeat_interleave(each, 1)
    if weight is not None:
        scale = scale * weight
    shift = -mean.repeat_interleave(each, 1) * scale
    if bias is not None:
        shift = shift + bias
    normed = wide * scale[:, :, None, None] + shift[:, :, None, None]
    return normed.to(x.dtype), mean.to(x.dtype), rstd.to(x.dtype)


def _of_groups(channels: Tensor, groups: int) -> Tensor:
    """The means of groups of channels."""
    return channels.reshape(len(channels), groups, -1).mean(2)


def _part(size: int) -> int:
    """How many pixels a part has: a divisor of theirs, all where there is none near 64."""
    length = next(length for length in range(min(size, 64), 0, -1) if size % length == 0)
    return length if length >= 8 else size


def _has_channels_last(x: Tensor) -> bool:
    return x.dim() == 4 and not x.is_contiguous() and x.is_contiguous(memory_format=torch.channels_last)
