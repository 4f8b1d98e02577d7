"""Programs that the explorer is tried on."""

from __future__ import annotations

import torch
from torch import nn


def mlp(layers: int = 3, rows: int = 64, width: int = 256) -> str:
    """StableHLO of x → relu(x · w + b), layer after layer, and the softmax of the last."""
    kind, square, row = f"tensor<{rows}x{width}xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{width}xf32>"
    arguments = ", ".join(f"%w{i}: {square}, %b{i}: {row}" for i in range(layers))
    lines = [f"func.func @main(%x: {kind}, {arguments}) -> {kind} {{"]
    lines += [f"  %zero = stablehlo.constant dense<0.0> : {kind}"]
    x = "%x"
    for i in range(layers):
        lines += [
            f"  %dot{i} = stablehlo.dot_general {x}, %w{i}, contracting_dims = [1] x [0] : ({kind}, {square}) -> {kind}",
            f"  %bias{i} = stablehlo.broadcast_in_dim %b{i}, dims = [1] : ({row}) -> {kind}",
            f"  %sum{i} = stablehlo.add %dot{i}, %bias{i} : {kind}",
            f"  %relu{i} = stablehlo.maximum %sum{i}, %zero : {kind}",
        ]
        x = f"%relu{i}"
    column = f"tensor<{rows}xf32>"
    lines += [
        "  %none = stablehlo.constant dense<0.0> : tensor<f32>",
        f"  %e = stablehlo.exponential {x} : {kind}",
        f"  %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [1] : ({kind}, tensor<f32>) -> {column}",
        f"  %all = stablehlo.broadcast_in_dim %s, dims = [0] : ({column}) -> {kind}",
        f"  %y = stablehlo.divide %e, %all : {kind}",
        f"  return %y : {kind}",
        "}",
    ]
    return "\n".join(lines) + "\n"


class Bottleneck(nn.Module):
    """1 × 1, 3 × 3, 1 × 1, and what stood before (He et al., 2015)."""

    def __init__(self, channels: int, width: int, stride: int):
        super().__init__()
        whole = 4 * width
        self.body = nn.Sequential(
            *_convolved(channels, width, 1),
            *_convolved(width, width, 3, stride),
            nn.Conv2d(width, whole, 1, bias=False),
            nn.BatchNorm2d(whole),
        )
        self.beside = nn.Identity()
        if stride != 1 or channels != whole:
            self.beside = nn.Sequential(nn.Conv2d(channels, whole, 1, stride, bias=False), nn.BatchNorm2d(whole))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.beside(x))


def resnet50() -> nn.Module:
    """ResNet-50, for pictures of 3 × 224 × 224."""
    layers, channels = [*_convolved(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for number, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(channels, 64 << number, 2 if number and not block else 1))
            channels = 256 << number
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)).eval()


def decoder(layers: int = 4, width: int = 256, heads: int = 4) -> nn.Module:
    """A decoder without cross attention, for 1 × tokens × width."""
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
    return Causal(nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)).eval()


class Causal(nn.Module):
    def __init__(self, body: nn.Module):
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.body(x, mask=mask, is_causal=True)


def _convolved(channels: int, width: int, window: int, stride: int = 1) -> list[nn.Module]:
    return [nn.Conv2d(channels, width, window, stride, window // 2, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
