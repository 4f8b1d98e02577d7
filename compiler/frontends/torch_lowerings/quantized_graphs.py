"""Quantised programs of torch.export and torchao: products of bytes, and what makes integers of floats by scales and floats again.

`quantized_decomposed` is what pt2e's convert writes. Its ops have kernels in Python, of ops that compile: these are traced.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering

_TRACED = {
    "quantize_per_tensor.default": "quantize_per_tensor",
    "dequantize_per_tensor.default": "dequantize_per_tensor",
    "quantize_per_channel": "quantize_per_channel",
    "dequantize_per_channel": "dequantize_per_channel",
    "quantize_per_token": "quantize_per_token",
    "dequantize_per_token": "dequantize_per_token",
    "choose_qparams_per_token": "choose_qparams_per_token",
    "choose_qparams_per_token_asymmetric": "_choose_qparams_per_token_asymmetric_impl",
    "_choose_qparams_per_token_asymmetric_impl": "_choose_qparams_per_token_asymmetric_impl",
    "dequantize_per_channel_group": "dequantize_per_channel_group",
    "convert_element_type.no_fuse": "convert_element_type",
}
"""Ops, and the functions of torch's that are their kernels."""


@torch_lowering("aten._int_mm")
def product_of_bytes(op: TorchOp, x: ir.Value, y: ir.Value) -> ir.Value:
    """Summed in i32."""
    return value_of("stablehlo.dot_general", op.result, [x, y], dot_dimension_numbers=build.dot_dimensions([], [], [1], [0]))


@torch_decomposition("aten._weight_int8pack_mm")
def product_with_scaled_bytes(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    """`weight` is [columns, depth], with a scale for each column."""
    return (torch.mm(x.float(), weight.float().t()) * scales.float()).to(x.dtype)


@torch_decomposition("aten._weight_int4pack_mm_for_cpu")
def product_with_scaled_nibbles(x: Tensor, packed: Tensor, group: int, scales_and_zeros: Tensor) -> Tensor:
    """`scales_and_zeros` is [groups of depth, columns, 2]: a weight is (nibble - 8) * scale + zero."""
    nibbles = _unpacked_nibbles(packed)
    scales, zeros = scales_and_zeros.float().permute(2, 1, 0).unsqueeze(-1).unbind()
    weights = (nibbles.reshape(len(nibbles), -1, group).float() - 8) * scales + zeros
    return torch.mm(x.float(), weights.flatten(1).t()).to(x.dtype)


_COLUMNS_OF_BLOCKS = {"AVX512": 64, "AVX2": 32}


def _unpacked_nibbles(packed: Tensor) -> Tensor:
    """[columns, depth], of what aten._convert_weight_to_int4pack_for_cpu makes, whose form is the processor's.

    With the vectors of torch's kernels blocks of 64 or 32 columns lie one after the other, by depth; the low nibbles of a line are its
    first half. In the columns that are left, and without vectors, two columns side by side are a byte."""
    columns, depth = packed.shape[0], 2 * packed.shape[1]
    capability = torch.backends.cpu.get_cpu_capability()
    block = _COLUMNS_OF_BLOCKS.get(capability, 32)
    whole = columns // block * block
    blocks = packed[:whole].reshape(-1, depth, block // 2)
    rest = packed[whole:].reshape(1, depth, -1)
    parts = [_both_nibbles(blocks, -2 if capability in _COLUMNS_OF_BLOCKS else -1), _both_nibbles(rest, -1)]
    return torch.cat([part.transpose(1, 2).reshape(-1, depth) for part in parts])


def _both_nibbles(lines: Tensor, dim: int) -> Tensor:
    return torch.stack([lines & 15, lines >> 4], dim).flatten(-2)


def _kernel(name: str) -> Any:
    def traced(*args: Any, **keywords: Any) -> Any:
        from torch.ao.quantization.fx import _decomposed  # defines the ops: whoever calls one has loaded it

        return getattr(_decomposed, name)(*args, **keywords)

    return traced


for _op, _name in _TRACED.items():
    torch_decomposition(f"quantized_decomposed.{_op}")(_kernel(_name))


@torch_decomposition("quantized_decomposed.quantize_per_tensor.tensor")
def quantize_by_a_tensor(x: Tensor, scale: Tensor, zero_point: Tensor, least: int, most: int, dtype: torch.dtype) -> Tensor:
    return _kernel("quantize_per_tensor")(x, _number(scale), _number(zero_point), least, most, dtype)


@torch_decomposition("quantized_decomposed.dequantize_per_tensor.tensor")
def dequantize_by_a_tensor(
    x: Tensor, scale: Tensor, zero_point: Tensor, least: int, most: int, dtype: torch.dtype, *, out_dtype: torch.dtype | None = None
) -> Tensor:
    return _kernel("dequantize_per_tensor")(x, _number(scale), _number(zero_point), least, most, dtype, out_dtype=out_dtype)


def _number(tensor: Tensor) -> Tensor:
    """Of no dimensions, which decides no type: as the Python number that eager takes of it."""
    return tensor.reshape(())


@torch_decomposition("quantized_decomposed.choose_qparams.tensor")
def scale_and_zero(x: Tensor, least: int, most: int, eps: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Torch's kernel takes them from the tensor as numbers."""
    low, high = (end.reshape(1) for end in torch.aminmax(x))
    low, high = low.clamp(max=0), high.clamp(min=0)
    scale = _at_least((high - low) / float(most - least), eps)
    zero = (least - torch.round(low / scale).to(torch.int32)).clamp(least, most)
    return scale.double(), zero.long()


@torch_decomposition("quantized_decomposed.choose_qparams_symmetric.tensor")
def scale_around_zero(x: Tensor, least: int, most: int, eps: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    largest = x.abs().amax().reshape(1)
    scale = _at_least(largest / (float(most - least) / 2), eps)
    return scale.double(), torch.full((1,), 128 if dtype == torch.uint8 else 0, dtype=torch.int64, device=x.device)


def _at_least(scale: Tensor, eps: float) -> Tensor:
    """In f32, whatever the tensor is of."""
    return torch.maximum(scale.float(), torch.full((), eps, device=scale.device))
