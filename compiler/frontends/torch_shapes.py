"""Shapes that torch finds by running a decomposition on fake tensors, an op at a time, told at once.

Of a batch norm that runs a dozen ops, for each new size: a quarter of the time that torch.export takes for a network of them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _get_current_dispatch_mode

_BATCH_NORM = torch.ops.aten._native_batch_norm_legit_no_training.default


@contextlib.contextmanager
def shapes_at_once() -> Iterator[None]:
    """While tracing. What is recorded, and all else that is more than shapes, is torch's decomposition."""
    whole = decomposition_table[_BATCH_NORM]

    @functools.wraps(whole)  # torch asks where it is from
    def batch_norm(x: torch.Tensor, weight: Any, bias: Any, mean: torch.Tensor, variance: torch.Tensor, *rest: float) -> Any:
        vectors = [each for each in (weight, bias, mean, variance) if each is not None]
        if (
            isinstance(_get_current_dispatch_mode(), FakeTensorMode)
            and _is_plain(x)
            and all(each.shape == x.shape[1:2] for each in vectors)
        ):
            return torch.empty_like(x), x.new_empty(0), x.new_empty(0)
        return whole(x, weight, bias, mean, variance, *rest)

    decomposition_table[_BATCH_NORM] = batch_norm
    try:
        yield
    finally:
        decomposition_table[_BATCH_NORM] = whole


def _is_plain(x: torch.Tensor) -> bool:
    """Whether the result has the tensor's strides, on the processor, where nothing is kept of moments."""
    if x.device.type != "cpu" or x.dim() < 2 or not all(type(extent) is int for extent in x.shape):
        return False
    return x.is_contiguous() or (x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last))
