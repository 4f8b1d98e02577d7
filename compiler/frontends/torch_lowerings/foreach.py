"""Ops on lists of tensors, which optimisers and clipping make their steps of: the op itself on each of the list.

_foreach_add([x, y], [u, v], alpha=2)      →      [add(x, u, alpha=2), add(y, v, alpha=2)]
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition

_NAMES = (
    "abs", "acos", "add", "asin", "atan", "ceil", "clamp_max", "clamp_min", "clone", "cos", "cosh", "div", "erf", "erfc", "exp", "expm1",
    "floor", "frac", "lerp", "lgamma", "log", "log10", "log1p", "log2", "max", "mm", "mul", "neg", "pow", "reciprocal", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "trunc",
)  # fmt: skip
"""Of functions of torch's that take one element of each list."""


def _norm(x: Tensor, order: Any = 2, dtype: torch.dtype | None = None) -> Tensor:
    return torch.linalg.vector_norm(x, order, dtype=dtype)


def _power_sum(x: Tensor, order: Any = 2, dtype: torch.dtype | None = None) -> Tensor:
    return torch.sum(x.abs().pow(order), dtype=dtype)


_FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    **{name: getattr(torch, name) for name in _NAMES},
    "addcdiv": lambda x, a, b, value=1: torch.addcdiv(x, a, b, value=value),
    "addcmul": lambda x, a, b, value=1: torch.addcmul(x, a, b, value=value),
    "copy": lambda x, source, non_blocking=False: torch.ops.aten.copy(x, source),
    "maximum": torch.clamp_min,  # takes numbers, too
    "minimum": torch.clamp_max,
    "norm": _norm,
    "powsum": _power_sum,
    "zero": torch.zeros_like,
}


def _register(name: str, function: Callable[..., Tensor]) -> None:
    @torch_decomposition(f"aten._foreach_{name}")
    def of_each(*operands: Any, **keywords: Any) -> list[Tensor]:
        lists = [operand if isinstance(operand, (list, tuple)) else repeat(operand) for operand in operands]
        return [function(*each, **keywords) for each in zip(*lists)]


for _name, _function in _FUNCTIONS.items():
    _register(_name, _function)
