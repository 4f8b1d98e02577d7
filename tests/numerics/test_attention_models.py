"""Attention as models have it: PyTorch's layers on both of their paths, and blocks in the manner of Mistral and MaxViT."""

from __future__ import annotations

import pytest

import hloom

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


class VisionAttention(nn.Module):
    """Pixels as tokens, and back."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, x):
        tokens = x.flatten(2).transpose(1, 2)
        return self.attention(tokens, tokens, tokens)[0].transpose(1, 2).reshape(x.shape) + x


class Grouped(nn.Module):
    def forward(self, q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class MistralBlock(nn.Module):
    """RMS norms, rotary positions, grouped queries, a gated MLP; each token sees the last so many alone, as Mistral's do."""

    def __init__(self, width=64, heads=4, kept=2, window=5):
        super().__init__()
        self.heads, self.kept, self.depth, self.window = heads, kept, width // heads, window
        self.before, self.after = RmsNorm(width), RmsNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, kept * self.depth, bias=False) for _ in range(2))
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)

    def rotate(self, x, cos, sin):
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], -1) * sin

    def forward(self, x):
        b, n, _ = x.shape
        positions = torch.arange(n)
        angles = positions[:, None] / 10000 ** (torch.arange(0, self.depth, 2) / self.depth)
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos(), angles.sin()
        seen = (positions[None, :] <= positions[:, None]) & (positions[None, :] > positions[:, None] - self.window)
        y = self.before(x)
        q, k, v = (
            each(y).view(b, n, heads, self.depth).transpose(1, 2)
            for each, heads in ((self.q, self.heads), (self.k, self.kept), (self.v, self.kept))
        )
        q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, n, -1))
        y = self.after(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class MaxVitBlock(nn.Module):
    """Attention within windows of neighbours, then along a grid of tokens that lie apart."""

    def __init__(self, channels=32, size=2):
        super().__init__()
        self.size = size
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(2))
        self.attentions = nn.ModuleList(nn.MultiheadAttention(channels, 4, batch_first=True) for _ in range(2))

    def windows(self, x, grid):
        b, c, h, w = x.shape
        p = self.size
        y = x.reshape(b, c, p, h // p, p, w // p).permute(0, 3, 5, 2, 4, 1) if grid else (
            x.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 3, 5, 1)
        )  # fmt: skip
        return y.reshape(-1, p * p, c)

    def image(self, y, shape, grid):
        b, c, h, w = shape
        p = self.size
        y = y.reshape(b, h // p, w // p, p, p, c)
        return (y.permute(0, 5, 3, 1, 4, 2) if grid else y.permute(0, 5, 1, 3, 2, 4)).reshape(shape)

    def forward(self, x):
        for grid, (norm, attention) in enumerate(zip(self.norms, self.attentions)):
            y = norm(self.windows(x, grid))
            x = x + self.image(attention(y, y, y)[0], x.shape, grid)
        return x


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(32, 4, 64, batch_first=True)

    def forward(self, x, memory):
        return self.layer(x, memory)


def encoder():
    return nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)


CASES = {
    "self-attention": (SelfAttention, [(2, 9, 32)]),
    "encoder": (encoder, [(2, 9, 32)]),
    "decoder": (Decoder, [(2, 9, 32), (2, 7, 32)]),
    "grouped": (Grouped, [(2, 8, 9, 16), (2, 2, 9, 16), (2, 2, 9, 16)]),
    "vision": (VisionAttention, [(2, 32, 5, 7)]),
    "mistral": (MistralBlock, [(2, 17, 64)]),
    "maxvit": (MaxVitBlock, [(2, 32, 6, 4)]),
}


def agrees(model, inputs):
    with torch.no_grad():
        expected = model(*inputs)
    torch.testing.assert_close(hloom.compile(model, *inputs)(*inputs), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_torch(name):
    torch.manual_seed(0)
    make, shapes = CASES[name]
    agrees(make().eval(), [torch.randn(shape) for shape in shapes])


@pytest.mark.parametrize("name", ["self-attention", "encoder"])
def test_agrees_with_torch_off_the_fast_path(name):
    torch.manual_seed(0)
    make, shapes = CASES[name]
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        agrees(make().eval(), [torch.randn(shape) for shape in shapes])
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)


@pytest.mark.parametrize("kind", ["Llama", "Mistral", "Qwen2"])
def test_a_small_model_of_transformers_agrees(kind, transformers):
    torch.manual_seed(0)
    window = {"sliding_window": 8} if kind == "Mistral" else {}
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=101, hidden_size=64, intermediate_size=128, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=64, use_cache=False, **window,
    )  # fmt: skip

    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = getattr(transformers, f"{kind}Model")(config)

        def forward(self, tokens):
            return self.model(input_ids=tokens).last_hidden_state

    agrees(Hidden().eval(), [torch.randint(0, 101, (2, 17))])


def test_equal_attentions_are_one_kernel():
    """The group of the third is erased after the second stands for it. The first scales its queries, too, and the last no result."""

    def function(q, k, v):
        for _ in range(4):
            q = functional.scaled_dot_product_attention(q, k, v)
        return q

    inputs = [torch.randn(2, 4, 40, 16) for _ in range(3)]
    exe = hloom.compile(function, *inputs)
    torch.testing.assert_close(exe(*inputs), function(*inputs), rtol=1e-4, atol=1e-5)
    assert "attention_2" in exe.report.text() and "attention_3" not in exe.report.text()
