"""FlexAttention: attention whose scores pass through functions of the user's, as `torch.nn.attention.flex_attention` writes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from .attention import heads_of, product


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: GraphModule,
    block_mask: Sequence[Any],
    scale: float,
    kernel_options: dict[str, Any],
    score_mod_other_buffers: Sequence[Any] = (),
    mask_mod_other_buffers: Sequence[Any] = (),
) -> tuple[Tensor, Tensor, Tensor]:
    """The attention, the logarithms of the sums of its weights and the rows' largest scores, these two by base 2.

    The blocks of the mask are not read: `mask_mod` says all of it, and join-contractions leaves out what it excludes.
    """
    keys, values = heads_of(key, query), heads_of(value, query)
    scores = product(query, keys.transpose(-2, -1)) * scale
    places = [torch.arange(size, dtype=torch.int32) for size in scores.shape]
    masked = _Mapped(block_mask[-1]).all(places, mask_mod_other_buffers, scored=False)
    scores = _Mapped(score_mod).all([scores, *places], score_mod_other_buffers, scored=True)
    scores = torch.where(masked, scores, -math.inf)
    largest = scores.amax(-1)
    sums = torch.where(largest == -math.inf, -math.inf, scores.logsumexp(-1))
    weights = torch.ops.aten._safe_softmax(scores, -1).to(query.dtype)
    return product(weights, values).to(query.dtype), sums / math.log(2), largest / math.log(2)


_AS = {torch.ops.prims.convert_element_type.default: torch.ops.aten.to.dtype}
"""Ops that torch.vmap would run for each element by itself, and what does the same."""


class _Mapped(torch.fx.Interpreter):
    """A function of one score as one of all scores, each place along its axis."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return super().call_function(_AS.get(target, target), args, kwargs)

    def all(self, given: Sequence[Tensor], buffers: Sequence[Any], scored: bool) -> Tensor:
        """`given`: the places, and before them the scores where the function is `scored`."""
        function: Callable[..., Any] = self.run
        others = [None] * len(buffers)
        for axis in reversed(range(4)):
            places = [0 if axis == other else None for other in range(4)]
            function = torch.vmap(function, in_dims=(*[0] * scored, *places, *others))
        return function(*given, *buffers)
