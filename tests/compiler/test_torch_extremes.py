"""Extremes, their places and running extremes beside eager PyTorch: NaN, infinities, zeros of both signs, ties, every type."""

from __future__ import annotations

import pytest
import torch

import hloom


class Extremes(torch.nn.Module):
    def forward(self, x):
        found = [x.amax(-1), x.amin(0, keepdim=True), x.amax((0, 1)), x.max(), x.min(), (x != x).max(), (x == x).min()]
        for dim in (0, 1):
            found += [*x.max(dim), *x.min(dim, keepdim=True)]
            if x.dtype != torch.bool:
                found += [x.argmax(dim), x.argmin(dim, keepdim=True)]
        return found if x.dtype == torch.bool else [*found, x.argmax(), x.argmin(keepdim=True)]


class Running(torch.nn.Module):
    def forward(self, x):
        return [*x.cummax(0), *x.cummax(1), *x.cummin(-1), x.cumprod(0)]


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16])
def test_running_logarithm_of_sums(kind):
    """Of elements far apart, too, whose exponentials overflow or vanish beside others."""

    class Module(torch.nn.Module):
        def forward(self, x):
            return x.logcumsumexp(1), x.logcumsumexp(0)

    torch.manual_seed(0)
    x = (torch.randn(5, 43) * 100).to(kind)
    x[0, 0], x[1, :3], x[2, 9], x[3, 5], x[4, 7] = -torch.inf, -torch.inf, torch.inf, torch.nan, -torch.inf
    for got, wanted in zip(hloom.compile(Module(), x)(x), Module()(x), strict=True):
        torch.testing.assert_close(got, wanted, equal_nan=True)


@pytest.mark.parametrize("module", [Extremes, Running])
@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool])
def test_as_eager(module, kind):
    torch.manual_seed(0)
    x = torch.randint(-3, 4, (5, 37))
    x = x.abs().mul(60).to(kind) if kind is torch.uint8 else x.to(kind)
    if x.is_floating_point():
        x[0, 30], x[1, 4], x[1, 9], x[2, 0], x[2, 1], x[3] = torch.nan, torch.inf, torch.nan, -0.0, 0.0, -torch.inf
    for got, wanted in zip(hloom.compile(module(), x)(x), module()(x), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-3, atol=0, equal_nan=True)
