"""Attention on a GPU reads projections and writes results as they lie: on the simulator like torch in f32, in few kernels."""

from __future__ import annotations

import pytest
from test_gpu_attention import attention, numbers, same, torch

import hloom


def heads(x, count):
    batch, tokens, width = x.shape
    return x.view(batch, tokens, count, width // count).transpose(1, 2)


def tokens(x):
    batch, count, length, depth = x.shape
    return x.transpose(1, 2).reshape(batch, length, count * depth)


def three_projections(q, k, v):
    return tokens(attention(heads(q, 3), heads(k, 3), heads(v, 3)))


def one_projection(x):
    """As a ViT has it: three parts of one array, moved together."""
    batch, length, width = x.shape
    q, k, v = x.view(batch, length, 3, 2, width // 6).permute(2, 0, 3, 1, 4).unbind(0)
    return tokens(attention(q, k, v))


def split_projection(x):
    """As GPT-2 has it."""
    return tokens(attention(*(heads(each, 2) for each in x.chunk(3, -1)), is_causal=True))


def repeated_values(q, k, v):
    """Groups of heads share keys and values, which are repeated by hand."""
    k, v = (heads(x, 2).repeat_interleave(2, 1) for x in (k, v))
    return tokens(attention(heads(q, 4), k, v, is_causal=True))


def windows(x, bias):
    """As a Swin has it: short windows with a bias, scaled queries, and no scale behind."""
    batch, length, width = x.shape
    q, k, v = x.view(batch, length, 3, 3, width // 9).permute(2, 0, 3, 1, 4).unbind(0)
    scores = (q * 0.25) @ k.transpose(-1, -2) + bias
    return tokens(torch.softmax(scores, -1) @ v)


def keys_by_token(q, k, v):
    """The tokens of the keys lie together, not the elements of a head: they are moved before."""
    return torch.softmax((q @ k).float() * 0.125, -1).to(q.dtype) @ v


def keys_by_token_turned(q, k, v):
    """The same, where a transpose makes them so: it stays a kernel of its own."""
    k = k.view(1, 80, 2, 32).permute(0, 2, 3, 1).contiguous() * 2.0
    return torch.softmax((heads(q, 2) @ k).float() * 0.125, -1).to(q.dtype) @ heads(v, 2)


CASES = {
    "three projections": (three_projections, [(2, 77, 96)] * 3, 1),
    "one projection": (one_projection, [(2, 197, 192)], 1),
    "split projection": (split_projection, [(2, 130, 192)], 1),
    "repeated values": (repeated_values, [(1, 70, 128), (1, 70, 64), (1, 70, 64)], 1),
    "windows": (windows, [(5, 49, 144), (3, 49, 49)], 2),
    "keys by token, turned": (keys_by_token_turned, [(1, 80, 64)] * 3, 2),
    "keys by token": (keys_by_token, [(1, 2, 80, 32), (1, 2, 32, 80), (1, 2, 80, 32)], 1),
}


@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
@pytest.mark.parametrize("name", CASES)
def test_like_torch(name, target):
    function, shapes, kernels = CASES[name]
    torch.manual_seed(0)
    exe = same(function, *(numbers(*shape) for shape in shapes), target=target)
    assert len(exe.report.data["kernels"]) <= kernels, [each["name"] for each in exe.report.data["kernels"]]


def windows_back(x, w, residual):
    """As a Swin ends a block: what a projection is added to lies in windows, rolled."""
    batch, side, width = residual.shape[0], 8, residual.shape[-1]
    rolled = torch.roll(residual, (3, 3), (1, 2)).view(batch, 2, 4, 2, 4, width).transpose(2, 3).reshape(batch, side * side, width)
    return rolled + x @ w


def classes_before(x, w, first, residual):
    """As a ViT begins: what the first block is added to has a token more."""
    return torch.cat((first.expand(len(x), -1, -1), residual), 1) + x @ w


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (windows_back, [(4, 64, 96), (96, 96), (4, 8, 8, 96)]),
        (classes_before, [(4, 65, 96), (96, 96), (1, 1, 96), (4, 64, 96)]),
    ],
)
def test_products_whose_residual_lies_otherwise(function, shapes):
    torch.manual_seed(0)
    inputs = [numbers(*shape) for shape in shapes]
    exe = hloom.compile(function, *inputs, target="sim:sm_90a")
    torch.testing.assert_close(exe(*inputs).float(), function(*(x.float() for x in inputs)), atol=2e-2, rtol=2e-2)
    assert exe.device.last.counters.mma
