"""A function as the module that hloom.compile takes."""

from __future__ import annotations

import torch


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)
