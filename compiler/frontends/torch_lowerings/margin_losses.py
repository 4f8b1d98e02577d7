"""Losses of margins between classes, which torch traces otherwise than it computes them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._decomp import decomposition_table

from ..torch_registry import torch_decomposition


@torch_decomposition("aten.multi_margin_loss")
def multi_margin_loss(
    x: Tensor, target: Tensor, p: float = 1, margin: float = 1, weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """torch's own, which forgets that without a reduction the result has the target's shape."""
    made = decomposition_table[torch.ops.aten.multi_margin_loss.default](x, target, p, margin, weight, reduction)
    return made if reduction else made.reshape(target.shape)


@torch_decomposition("aten.soft_margin_loss_backward")
def soft_margin_loss_backward(gradient: Tensor, x: Tensor, target: Tensor, reduction: int) -> Tensor:
    """Torch's decomposition subtracts 1 from what is almost 1 where a loss is small."""
    made = -target * gradient * torch.sigmoid(-target * x)
    return made / x.numel() if reduction == 1 else made


@torch_decomposition("aten.multilabel_margin_loss_forward")
def multilabel_margin_loss(x: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """The targets of a row are its classes up to the first -1. Torch's decomposition counts what stands behind that too.

    A row loses the sum of max(0, 1 - x[target] + x[other]) over its targets and the classes that are none, by the number of classes.
    """
    rows, targets = torch.atleast_2d(x), torch.atleast_2d(target)
    classes = rows.shape[-1]
    numbers = torch.arange(classes, device=x.device)
    end = torch.where(targets == -1, numbers, classes).amin(-1, keepdim=True)
    counts = numbers < end
    named = torch.where(counts, targets, 0)
    is_target = ((named.unsqueeze(-1) == numbers) & counts.unsqueeze(-1)).any(1)
    margins = 1 - rows.gather(-1, named).unsqueeze(-1) + rows.unsqueeze(1)
    margins = torch.where(counts.unsqueeze(-1) & ~is_target.unsqueeze(1), margins.clamp_min(0), 0)
    loss = margins.sum((1, 2)) / classes
    reduced = loss.reshape(target.shape[:-1]) if reduction == 0 else loss.mean() if reduction == 1 else loss.sum()
    return reduced, is_target.to(x.dtype).reshape(x.shape)
