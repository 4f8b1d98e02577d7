"""Samples of lines of channels, in every mode, against eager PyTorch in f64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import hloom


class _Sample(torch.nn.Module):
    def __init__(self, mode: str, padding: str, align_corners: bool):
        super().__init__()
        self.options = {"mode": mode, "padding_mode": padding, "align_corners": align_corners}

    def forward(self, x: Tensor, grid: Tensor) -> Tensor:
        return F.grid_sample(x, grid, **self.options)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("element", [torch.float32, torch.bfloat16])
def test_lines_of_channels(mode: str, padding: str, align_corners: bool, element: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 9, 5, 7, generator=generator).to(element)
    grid = (torch.rand(2, 6, 4, 2, generator=generator) * 3.4 - 1.7).to(element)
    module = _Sample(mode, padding, align_corners)
    found = hloom.compile(module, x, grid, target="cpu")(x, grid)
    assert found.dtype == element
    most = 2e-5 if element == torch.float32 else 3e-2
    assert (found.double() - module(x.double(), grid.double())).abs().max() < most
