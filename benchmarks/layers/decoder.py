"""A step of a decoder that writes one token, beside what came before it: products of one row by all weights, which memory bounds."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Weights(nn.Module):
    """A linear layer without a bias, its weights floats or integers of so many bits, with a scale for each output."""

    def __init__(self, inputs: int, outputs: int, bits: int | None):
        super().__init__()
        weight, self.bits = torch.randn(outputs, inputs) / inputs**0.5, bits
        if bits is None:
            self.weight = nn.Parameter(weight)
            return
        most = 2 ** (bits - 1) - 1
        scale = weight.abs().amax(1, keepdim=True) / most
        whole = torch.round(weight / scale).to(torch.int8)
        self.register_buffer("scale", scale[:, 0])
        self.register_buffer("whole", whole if bits == 8 else _packed(whole))

    def forward(self, x: Tensor) -> Tensor:
        if self.bits is None:
            return F.linear(x, self.weight)
        whole = self.whole if self.bits == 8 else _unpacked(self.whole)
        return F.linear(x, whole.to(x.dtype)) * self.scale


def _packed(whole: Tensor) -> Tensor:
    """Neighbours of four bits in a byte, moved by 8."""
    moved = (whole + 8).to(torch.uint8)
    return moved[:, 0::2] | (moved[:, 1::2] << 4)


def _unpacked(packed: Tensor) -> Tensor:
    halves = [(packed & 15).to(torch.int8) - 8, (packed >> 4).to(torch.int8) - 8]
    return torch.stack(halves, -1).reshape(packed.shape[0], -1)


class Block(nn.Module):
    def __init__(self, width: int, heads: int, bits: int | None):
        super().__init__()
        self.heads = heads
        self.queries, self.out = Weights(width, width, bits), Weights(width, width, bits)
        self.new = Weights(width, 2 * width, bits)
        self.up, self.down = Weights(width, 4 * width, bits), Weights(4 * width, width, bits)
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """The token's new state, and its key and value."""
        before = self.norms[0](x)
        queries = self.queries(before).view(1, self.heads, 1, -1)
        seen = F.scaled_dot_product_attention(queries, keys, values).reshape(x.shape)
        x = x + self.out(seen)
        return x + self.down(F.gelu(self.up(self.norms[1](x)))), self.new(before)


class Decoder(nn.Module):
    """`bits` of a weight, None for floats in the type of the inputs."""

    def __init__(self, layers: int, width: int, heads: int, bits: int | None = None):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, bits) for _ in range(layers))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, ...]:
        made = []
        for number, block in enumerate(self.blocks):
            x, new = block(x, keys[number], values[number])
            made.append(new)
        return x, *made
