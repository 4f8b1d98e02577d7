"""Instance norms that track their moments: torch changes these within the op, which does not say so, and torch.export does not tell of it.

Before:
    norm = aten.instance_norm(x, w, b, mean, variance, True, 0.1, 1e-5)
After:
    mean.lerp_(x.mean((2, 3)).mean(0), 0.1);  variance.lerp_(x.var((2, 3)).mean(0), 0.1)
    norm = aten.instance_norm(x, w, b, None, None, True, 0.1, 1e-5)
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch import Tensor


@contextlib.contextmanager
def tracked_moments() -> Iterator[None]:
    """While torch exports."""
    whole = torch.instance_norm

    def instance_norm(
        x: Tensor, weight: Any, bias: Any, mean: Any, variance: Any, of_the_input: bool, momentum: float, *rest: Any, **named: Any
    ) -> Tensor:
        if mean is None or variance is None or not of_the_input:
            return whole(x, weight, bias, mean, variance, of_the_input, momentum, *rest, **named)
        dims = list(range(2, x.dim()))
        mean.lerp_(x.mean(dims).mean(0).to(mean.dtype), momentum)
        variance.lerp_(x.var(dims).mean(0).to(variance.dtype), momentum)
        return whole(x, weight, bias, None, None, of_the_input, momentum, *rest, **named)

    with mock.patch.object(torch, "instance_norm", instance_norm):
        yield
