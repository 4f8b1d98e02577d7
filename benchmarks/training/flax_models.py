"""Models of flax (linen), as its examples write them: a residual network with batch norms, a decoder of text."""

from __future__ import annotations

import flax.linen as nn
import jax


class _Block(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        strides = (self.stride, self.stride)
        y = nn.Conv(self.width, (3, 3), strides, use_bias=False)(x)
        y = nn.relu(nn.BatchNorm(use_running_average=False)(y))
        y = nn.BatchNorm(use_running_average=False)(nn.Conv(self.width, (3, 3), use_bias=False)(y))
        if y.shape != x.shape:
            x = nn.BatchNorm(use_running_average=False)(nn.Conv(self.width, (1, 1), strides, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    widths: tuple[int, ...]
    classes: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.Conv(self.widths[0], (7, 7), (2, 2), use_bias=False)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for number, width in enumerate(self.widths):
            x = _Block(width, 2 if number else 1)(x)
            x = _Block(width, 1)(x)
        return nn.Dense(self.classes)(x.mean((1, 2)))


class Decoder(nn.Module):
    width: int
    layers: int
    heads: int
    words: int

    @nn.compact
    def __call__(self, tokens: jax.Array) -> jax.Array:
        table = nn.Embed(self.words, self.width)
        places = self.param("places", nn.initializers.normal(0.02), (tokens.shape[1], self.width))
        x, mask = table(tokens) + places, nn.make_causal_mask(tokens)
        for _ in range(self.layers):
            x += nn.MultiHeadDotProductAttention(self.heads)(nn.LayerNorm()(x), mask=mask)
            x += nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(nn.LayerNorm()(x))))
        return table.attend(nn.LayerNorm()(x))


MODELS = {"ResNet": ResNet, "Decoder": Decoder}
"""What the text of a row may name."""
