"""U-Net, which the packages of models have not."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn


def _double(n_in: int, n_out: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for first, second in ((n_in, n_out), (n_out, n_out)):
        layers += [nn.Conv2d(first, second, 3, padding=1, bias=False), nn.BatchNorm2d(second), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Four levels down and up, with the widths of the original."""

    def __init__(self, n_in: int, width: int, n_out: int):
        super().__init__()
        widths = [width << level for level in range(5)]
        pairs = list(itertools.pairwise(widths))
        self.first = _double(n_in, width)
        self.down = nn.ModuleList(_double(a, b) for a, b in pairs)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in pairs)
        self.join = nn.ModuleList(_double(b, a) for a, b in pairs)
        self.last = nn.Conv2d(width, n_out, 1)

    def forward(self, x: Tensor) -> Tensor:
        levels = [self.first(x)]
        for level in self.down:
            levels.append(level(nn.functional.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for up, join in zip(reversed(self.up), reversed(self.join)):
            x = join(torch.cat((levels.pop(), up(x)), 1))
        return self.last(x)
