"""Torch ops that hloom writes in simpler ones, beside eager."""

from __future__ import annotations

import pytest
import torch

import hloom


class _Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.nn.functional.group_norm(x[None], 3, x[:, 0], x[:, 1]),
        lambda x: x.t().contiguous().as_strided((2, 3), (1, 5), 2),
        lambda x: x.as_strided((5, 6), (6, 1)),
        lambda x: torch.cummax(x, 0),
        lambda x: torch.cumprod(x, -1),
        lambda x: torch.nn.functional.pad(x[None], (2, 1), "circular"),
        lambda x: torch.hypot(x, x.flip(0)),
        lambda x: x[:, [1, -1]],
        lambda x: x[[[-6], [2]], [-1, 0]],
        lambda x: x[None, [-1, 0], :, None][:, :, [-5]],
        lambda x: x.take(torch.arange(-30, 30, 7)),
        lambda x: x.roll((-13, 12), (0, 1)),
        lambda x: torch.nn.functional.multilabel_margin_loss(x[:2], torch.arange(10).reshape(2, 5) % 3 - 1),
    ],
)
def test_as_eager(function):
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(hloom.compile(_Calls(function), x)(x), function(x))
