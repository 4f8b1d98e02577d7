"""Resizes, variances and maxima with their indices beside eager PyTorch, many in one program."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
RESIZES = [
    {"scale_factor": 2.0},
    {"size": (5, 29)},
    {"scale_factor": 2.0, "mode": "bilinear"},
    {"scale_factor": (1.7, 2.3), "mode": "bilinear"},
    {"scale_factor": 0.6, "mode": "bilinear", "recompute_scale_factor": True},
    {"size": (20, 5), "mode": "bilinear", "align_corners": True},
    {"size": (1, 40), "mode": "bilinear", "align_corners": True},
    {"size": (30, 31), "mode": "bicubic"},
    {"size": (5, 29), "mode": "nearest-exact"},
    {"scale_factor": (1.7, 0.6), "mode": "nearest-exact"},
    {"size": (4, 5), "mode": "bilinear", "antialias": True},
    {"size": (20, 2), "mode": "bicubic", "antialias": True},
    {"scale_factor": 0.37, "mode": "bicubic", "antialias": True},
    {"size": (1, 5), "mode": "bilinear", "antialias": True, "align_corners": True},
]


class All(nn.Module):
    def __init__(self, *functions):
        super().__init__()
        self.functions = functions

    def forward(self, *x: Tensor) -> list[Tensor]:
        return [each for function in self.functions for each in function(*x)]


def compare(functions, *x: Tensor, target: str = TARGETS[0], **tolerance: float) -> None:
    module = All(*functions)
    for got, expected in zip(hloom.compile(module, *x, target=target)(*x), module(*x), strict=True):
        torch.testing.assert_close(got, expected, equal_nan=True, **tolerance)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


@pytest.mark.parametrize("target", TARGETS)
def test_planes(target):
    compare([lambda x, kw=kw: [F.interpolate(x, **kw)] for kw in RESIZES], random(2, 3, 9, 17), target=target, rtol=1e-4, atol=1e-5)


def test_lines_and_volumes():
    line, volume = random(2, 3, 19), random(1, 2, 3, 4, 9)
    functions = [
        lambda x, y: [F.interpolate(x, scale_factor=2, mode="linear"), F.interpolate(x, 7), F.interpolate(y, (4, 7, 20))],
        lambda x, y: [F.interpolate(y, (5, 3, 20), mode="trilinear"), F.interpolate(y.bfloat16(), scale_factor=2, mode="trilinear")],
    ]
    compare(functions, line, volume)
    compare([lambda x: [F.interpolate(x, scale_factor=1.7, mode="bilinear")]], random(1, 2, 5, 6).double(), rtol=1e-12, atol=1e-12)


def test_moments():
    functions = [
        lambda x: [x.var(), x.std((0, 2)), x.var(-1, keepdim=True), x.var(1, correction=0)],
        lambda x: [*torch.var_mean(x, (1, 2)), *torch.std_mean(x, 0)],
        lambda x: [x.double().var(2), x.bfloat16().var(2), (x + 1000).var(-1)],
        lambda x: [F.layer_norm(x, (7, 40)), F.layer_norm(x, (40,)), F.group_norm(x, 7), F.instance_norm(x), F.mish(30 * x)],
        lambda x: [F.batch_norm(x, None, None, training=True)],
        lambda x: [x[0, 0, 0].std(), *torch.var_mean(x[0, 0, 0], correction=0)],
    ]
    compare(functions, random(3, 7, 40), rtol=2e-4, atol=1e-5)


def test_maxima_with_indices():
    few = torch.randint(0, 3, (2, 3, 9, 11), generator=torch.Generator().manual_seed(0)).float()
    few.view(-1)[::7], few.view(-1)[::5] = float("nan"), float("-inf")
    settings = [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2},
        {"kernel_size": (2, 3), "stride": (1, 2), "dilation": (2, 1)},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 2, "ceil_mode": True},
    ]
    compare([lambda x, kw=kw: F.max_pool2d(x, return_indices=True, **kw) for kw in settings], few)
    compare([lambda x: F.max_pool3d(x, 2, return_indices=True), lambda x: F.max_pool1d(x[0], 3, return_indices=True)], random(2, 4, 6, 8))


def test_samples():
    x, grid = random(2, 3, 8, 10), 1.2 * random(2, 5, 7, 2, 1).squeeze(-1)
    grid[1, 0, 0], grid[1, 0, 1], grid[0, 0, 0, 0], grid[0, 2, 2, 1] = 1.0, -1.0, -1e30, float("nan")
    settings = [{"align_corners": corners, "padding_mode": mode} for corners in (True, False) for mode in ("zeros", "border")]
    compare([lambda x, y, kw=kw: [F.grid_sample(x, y, **kw)] for kw in settings], x, grid)
    others = [{"mode": "nearest"}, {"padding_mode": "reflection"}]
    compare([lambda x, y, kw=kw: [F.grid_sample(x, y, align_corners=False, **kw)] for kw in others], x, 1.2 * random(2, 5, 7, 2))


@pytest.mark.parametrize("target", TARGETS)
def test_what_follows_a_pool(target):
    """Its results scaled, beside another array, of another type, read twice, beside the pool's own results, reduced."""
    x, y = random(2, 3, 18, 35), random(2, 3, 9, 17)
    compare(
        [
            lambda x, y: [F.relu(F.avg_pool2d(x, 2) + y) * 2, F.avg_pool2d(x, 3, 2, 1).to(torch.bfloat16), F.max_pool2d(x, 2) > y],
            lambda x, y: [each for p in [F.avg_pool2d(x, 2, divisor_override=1)] for each in (p, p.exp(), p.sum(-1), p / (p.abs() + 1))],
            lambda x, y: [F.avg_pool2d(x, 5).tanh(), F.avg_pool2d(x, 7, 3).flip(-1) - 1, F.max_pool2d(x, 3, 1, 1) * x],
            lambda x, y: [F.lp_pool2d(x, 2.0, 2), F.adaptive_avg_pool2d(x, (6, 7)).double() * 3, F.avg_pool2d((x * 9).int().double(), 4)],
        ],
        x,
        y,
        target=target,
        rtol=1e-2,
        atol=1e-4,
    )
