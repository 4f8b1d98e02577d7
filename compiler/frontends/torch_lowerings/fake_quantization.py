"""Numbers quantised and dequantised again, as training for quantised programs has it.

Gradients pass where the quantised number was in range.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


@torch_decomposition("aten.fake_quantize_per_tensor_affine_cachemask")
def by_numbers(x: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int) -> tuple[Tensor, Tensor]:
    return _fake_quantized(x, torch.full((), scale, device=x.device), zero_point, quant_min, quant_max)


@torch_decomposition("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def by_tensors(x: Tensor, scale: Tensor, zero_point: Tensor, enabled: Tensor, quant_min: int, quant_max: int) -> tuple[Tensor, Tensor]:
    made, inside = _fake_quantized(x, scale, zero_point, quant_min, quant_max)
    on = enabled != 0
    return torch.where(on, made, x), inside | ~on


@torch_decomposition("aten.fake_quantize_per_channel_affine_cachemask")
def by_channels(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int) -> tuple[Tensor, Tensor]:
    shape = _along(x, axis)
    return _fake_quantized(x, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


@torch_decomposition("aten._fake_quantize_learnable_per_tensor_affine")
def learnt(x: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int, grad_factor: float = 1.0) -> Tensor:
    return _learnt(x, scale.reshape(()), zero_point.reshape(()), quant_min, quant_max)


@torch_decomposition("aten._fake_quantize_learnable_per_channel_affine")
def learnt_by_channels(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int, grad_factor: float = 1.0
) -> Tensor:
    shape = _along(x, axis)
    return _learnt(x, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


@torch_decomposition("aten._fake_quantize_learnable_per_tensor_affine_backward")
def learnt_gradients(
    grad: Tensor, x: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int, grad_factor: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    zero = (zero_point.reshape(()) + 0.5).clamp(quant_min, quant_max).trunc()  # as eager's, whose forward rounds to even
    of_x, of_scale, of_zero = _learnt_gradients(grad, x, scale.reshape(()), zero, quant_min, quant_max)
    return of_x, of_scale.sum().reshape(1) * grad_factor, of_zero.sum().reshape(1) * grad_factor


@torch_decomposition("aten._fake_quantize_learnable_per_channel_affine_backward")
def learnt_gradients_by_channels(
    grad: Tensor, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int, grad_factor: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    shape = _along(x, axis)
    zero = zero_point.reshape(shape).round().clamp(quant_min, quant_max)
    of_x, of_scale, of_zero = _learnt_gradients(grad, x, scale.reshape(shape), zero, quant_min, quant_max)
    others = [dim for dim in range(x.dim()) if dim != axis % x.dim()]
    return of_x, of_scale.sum(others) * grad_factor, of_zero.sum(others) * grad_factor


def _along(x: Tensor, axis: int) -> list[int]:
    shape = [1] * x.dim()
    shape[axis] = -1
    return shape


def _fake_quantized(x: Tensor, scale: Tensor, zero: Tensor | int, least: int, largest: int) -> tuple[Tensor, Tensor]:
    """Quantised and dequantised, and where the quantised number was in range."""
    number = (x * (1 / scale)).round() + zero
    inside = (number >= least) & (number <= largest)
    return ((number.clamp(least, largest) - zero) * scale).to(x.dtype), inside


def _learnt(x: Tensor, scale: Tensor, zero: Tensor, least: int, largest: int) -> Tensor:
    return _fake_quantized(x, scale, zero.round().clamp(least, largest), least, largest)[0]


def _learnt_gradients(grad: Tensor, x: Tensor, scale: Tensor, zero: Tensor, least: int, largest: int) -> tuple[Tensor, Tensor, Tensor]:
    """By x, and by scale and zero point of each element: what lies out of range moves with the range's end."""
    number = (x * (1 / scale)).round() + zero
    end = torch.where(number < least, least - zero, largest - zero)
    made, inside = _fake_quantized(x, scale, zero, least, largest)
    of_scale = torch.where(inside, (made - x) / scale, end)
    return grad * inside, grad * of_scale, torch.where(inside, 0.0, -grad * scale)
