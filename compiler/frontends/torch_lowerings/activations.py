"""Activations that cost less than the functions their definitions name, and those of halves in f32, rounded once, as torch has them."""

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


@torch_decomposition("aten.gelu")
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    return (
        torch.nn.functional.gelu(x.float(), approximate=approximate).to(x.dtype)
        if x.dtype in (torch.float16, torch.bfloat16)
        else NotImplemented
    )


@torch_decomposition("aten.elu")
def elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    return (
        torch.ops.aten.elu.default(x.float(), alpha, scale, input_scale).to(x.dtype)
        if x.dtype in (torch.float16, torch.bfloat16)
        else NotImplemented
    )


@torch_decomposition("aten.sigmoid")
def sigmoid(x: Tensor) -> Tensor:
    return torch.sigmoid(x.float()).to(x.dtype) if x.dtype in (torch.float16, torch.bfloat16) else NotImplemented


@torch_decomposition("aten.rrelu_with_noise_backward")
def rrelu_with_noise_backward(
    gradient: Tensor, x: Tensor, noise: Tensor, lower: float, upper: float, training: bool, self_is_result: bool
) -> Tensor:
    """Of drawn slopes, else of the one between the ends, which torch-mlir reads from the gradient."""
    if training and upper - lower > 1e-6:
        return gradient * noise
    return torch.ops.aten.leaky_relu_backward.default(gradient, x, (lower + upper) / 2, self_is_result)
