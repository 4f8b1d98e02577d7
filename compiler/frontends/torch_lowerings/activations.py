"""Activations that cost less than the functions their definitions name."""

from __future__ import annotations

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition

_BEYOND = 40.0
"""From here on mish is its operand, in f64 too."""


@torch_decomposition("aten.mish")
def mish(x: Tensor) -> Tensor:
    """x * tanh(log(1 + u)) with u = exp(x), by one exponential: tanh(log(v)) is (v^2 - 1) / (v^2 + 1), and v^2 - 1 is u * (u + 2)."""
    wide = x.float() if x.dtype.itemsize < 4 else x
    u = torch.exp(torch.clamp(wide, max=_BEYOND))
    less = u * (u + 2)
    return (wide * (less / (less + 2))).to(x.dtype)
