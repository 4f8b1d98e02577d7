"""PyTorch's attention on CPUs and its gradients, in products and a softmax."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition
from .strided import laid_like


@torch_decomposition("aten._scaled_dot_product_flash_attention_for_cpu")
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Torch's decomposition, whose second result are the weights, and the logarithms of their sums, which the gradients need.

    Its products of halves are of f32. These are products of halves summed in f32, the weights rounded in between, as in torch's kernel.
    The output lies as the query does, as the kernel's; torch's decomposition has the tokens first.
    """
    keys = heads_of(key, query)
    scores = _scores(query, keys, is_causal, attn_mask, scale)
    output = product(_weights(scores).to(query.dtype), heads_of(value, query)).to(query.dtype)
    return laid_like(output, query), _logsumexp(scores)


@torch_decomposition("aten._scaled_dot_product_attention_math", for_shapes=True)
def attention_of_any_rank(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: Tensor | None = None,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Tensor, Tensor]:
    """What torch computes where its kernel declines: operands of other ranks than 4, values wider than keys, dropout.

    By the kernel's products: torch converts halves to f32, multiplies queries and keys by the root of the scale, and values by weights of
    f32. The weights are the second result.
    """
    if enable_gqa:
        key, value = heads_of(key, query), heads_of(value, query)
    weights = _weights(_scores(query, key, is_causal, attn_mask, scale))
    if dropout_mask is not None:
        weights = torch.where(dropout_mask, weights / (1 - dropout_p), 0.0)
    elif dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    weights = weights.to(query.dtype)
    return product(weights, value).to(query.dtype), weights


@torch_decomposition("aten._scaled_dot_product_flash_attention_for_cpu_backward")
def attention_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    logsumexp: Tensor,
    dropout: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The weights are computed again, which takes less than to read them: dS = P * (dP - sum(dO * O)).

    P = exp(S - logsumexp): no row is reduced again, every element follows from its scores and numbers of its row.

    The gradients lie as the kernel's do, a token's heads side by side.
    """
    keys, values = heads_of(key, query), heads_of(value, query)
    scores = _scores(query, keys, is_causal, attn_mask, scale)
    weights = _weights_by(logsumexp.unsqueeze(-1), scores, attn_mask)
    towards = product(gradient, values.transpose(-2, -1))
    inner = weights * (towards - (_wide(gradient) * _wide(output)).sum(-1, keepdim=True)) * _scale(query, scale)
    inner, weights = inner.to(query.dtype), weights.to(query.dtype)
    of_keys = product(inner.transpose(-2, -1), query)
    of_values = product(weights.transpose(-2, -1), gradient)
    gradients = product(inner, keys).to(query.dtype), _of_heads(of_keys, key), _of_heads(of_values, value)
    of_query, of_key, of_value = (each.transpose(1, 2).contiguous().transpose(1, 2) for each in gradients)
    return of_query, of_key, of_value


def _scale(query: Tensor, scale: float | None) -> float:
    return scale if scale is not None else 1 / math.sqrt(query.shape[-1])


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.dtype.itemsize < 4 else x


def product(x: Tensor, y: Tensor) -> Tensor:
    """Summed, and given, in f32 at least."""
    return _wide(x) @ _wide(y)


def _scores(query: Tensor, key: Tensor, is_causal: bool, mask: Tensor | None, scale: float | None) -> Tensor:
    scores = product(query, key.transpose(-2, -1)) * _scale(query, scale)
    if is_causal:
        rows, columns = (torch.arange(x.shape[-2], dtype=torch.int32) for x in (query, key))
        return scores + torch.where(rows[:, None] >= columns, 0.0, -math.inf)  # made once: it depends on no input
    if mask is None:
        return scores
    return torch.where(mask, scores, -math.inf) if mask.dtype == torch.bool else scores + mask


def _weights(scores: Tensor) -> Tensor:
    """A mask, and infinite scores, may leave nothing of a row."""
    return torch.ops.aten._safe_softmax(scores, -1)


def _weights_by(sums: Tensor, scores: Tensor, mask: Tensor | None) -> Tensor:
    """The same by the logarithms of the rows' sums."""
    weights = torch.exp(scores - sums)
    return weights if mask is None else torch.where(sums == -math.inf, 0.0, weights)


def _logsumexp(scores: Tensor) -> Tensor:
    """Of the sums that the weights are divided by, so that these are summed once."""
    largest = scores.amax(-1, keepdim=True)
    sums = torch.log(torch.exp(scores - largest).sum(-1, keepdim=True)) + largest
    return torch.where(largest.abs() == math.inf, largest, sums).squeeze(-1)


def heads_of(x: Tensor, query: Tensor) -> Tensor:
    """A head of keys or values for each of the queries': several of these may share one."""
    return x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) if x.shape[-3] != query.shape[-3] else x


def _of_heads(gradient: Tensor, x: Tensor) -> Tensor:
    """The gradient of `x`, summed over the queries' heads that share one of its own."""
    if gradient.shape[1] != x.shape[1]:
        gradient = gradient.unflatten(1, (x.shape[1], -1)).sum(2)
    return gradient.to(x.dtype)
