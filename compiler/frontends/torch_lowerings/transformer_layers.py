"""The layers that PyTorch runs as one op where no gradients are asked for: multi-head attention and encoder layers."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear

from ..torch_registry import torch_decomposition

_OF_PAIRS, _OF_KEYS = 0, 1
"""What a mask tells of: pairs of rows and keys, or keys of each sequence. Any other has all of an attention's dimensions."""


@torch_decomposition("aten._transformer_encoder_layer_fwd")
def encoder_layer(
    x: Tensor,
    width: int,
    heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    def attend(x: Tensor) -> Tensor:
        given = width, heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask
        return multi_head_attention(x, x, x, *given, need_weights=False, mask_type=mask_type)[0]

    def feed(x: Tensor) -> Tensor:
        hidden = linear(x, ffn_weight_1, ffn_bias_1)
        return linear(gelu(hidden) if use_gelu else hidden.relu(), ffn_weight_2, ffn_bias_2)

    def first(x: Tensor) -> Tensor:
        return layer_norm(x, [width], norm_weight_1, norm_bias_1, eps)

    def second(x: Tensor) -> Tensor:
        return layer_norm(x, [width], norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = x + attend(first(x))
        return x + feed(second(x))
    x = first(x + attend(x))
    return second(x + feed(x))


@torch_decomposition("aten._native_multi_head_attention")
def multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: int,
    heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The attention, and its weights: without `need_weights` an empty tensor. What is not zero in the mask is left out."""
    parts = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))
    q, k, v = (linear(x, weight, bias).unflatten(-1, (heads, width // heads)).transpose(1, 2) for x, weight, bias in parts)
    scores = q @ k.transpose(-2, -1) / math.sqrt(width // heads)
    if mask is not None:
        left_out = mask.to(torch.bool)
        if mask_type == _OF_KEYS:
            left_out = left_out[:, None, None, :]
        elif mask_type == _OF_PAIRS and left_out.dim() == 3:
            left_out = left_out.unflatten(0, (-1, heads))
        scores = torch.where(left_out, -math.inf, scores)
    weights = scores.softmax(-1)
    result = linear((weights @ v).transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if not need_weights:
        return result, query.new_empty([0])
    return result, weights.mean(1) if average else weights
