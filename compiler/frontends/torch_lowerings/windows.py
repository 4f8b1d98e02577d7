"""Windows of signals. A periodic one is the symmetric one of one place more, without its last."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


def _phase(length: int, periodic: bool) -> Tensor:
    """From 0 to 1 in f64; of one place alone the middle."""
    if length == 1:
        return torch.full((1,), 0.5, dtype=torch.float64)
    return torch.arange(length, dtype=torch.float64) / (length if periodic else length - 1)


def _typed(window: Tensor, options: dict[str, Any]) -> Tensor:
    return window.to(options.get("dtype") or torch.get_default_dtype())


@torch_decomposition("aten.bartlett_window")
def bartlett(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    return _typed(1 - (2 * _phase(window_length, periodic) - 1).abs(), options)


@torch_decomposition("aten.blackman_window")
def blackman(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    angle = 2 * math.pi * _phase(window_length, periodic)
    return _typed(0.42 - 0.5 * angle.cos() + 0.08 * (2 * angle).cos(), options)


@torch_decomposition("aten.hamming_window")
def hamming(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any) -> Tensor:
    if window_length == 1:
        return _typed(torch.full((1,), 1.0), options)
    return _typed(alpha - beta * (2 * math.pi * _phase(window_length, periodic)).cos(), options)


@torch_decomposition("aten.kaiser_window")
def kaiser(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    place = 2 * _phase(window_length, periodic) - 1
    scale = torch.full((), beta, dtype=torch.float64)
    return _typed(torch.i0(scale * (1 - place * place).clamp_min(0).sqrt()) / torch.i0(scale), options)
