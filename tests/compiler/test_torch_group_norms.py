"""Group norms of both layouts beside torch in f64, and what follows them in their kernel."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import hloom

IMAGES = [((2, 24, 7, 9), 4), ((1, 32, 8, 8), 4)]
CASES = [(*each, last) for each in IMAGES for last in (False, True)]
CASES += [(*each, True) for each in (((2, 20, 3, 40), 2), ((1, 6, 1, 67), 3))]
CASES += [(*each, False) for each in (((3, 16, 33), 16), ((2, 6, 5), 1), ((2, 8, 3, 4, 5), 2))]


class Block(nn.Module):
    def __init__(self, channels: int, groups: int):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x, residual):
        return nn.functional.silu(self.norm(x)) + residual


def block(shape, groups):
    torch.manual_seed(0)
    return Block(shape[1], groups).eval(), 2 + torch.randn(shape), torch.randn(shape)


@pytest.mark.parametrize(("shape", "groups", "channels_last"), CASES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 5e-2)])
def test_like_torch(shape, groups, channels_last, dtype, tolerance):
    module, x, residual = block(shape, groups)
    if channels_last:
        x, residual = (each.contiguous(memory_format=torch.channels_last) for each in (x, residual))
    module, x, residual = module.to(dtype), x.to(dtype), residual.to(dtype)
    expected = copy.deepcopy(module).double()(x.double(), residual.double())
    with torch.no_grad():
        found = hloom.compile(module, x, residual)(x, residual)
    torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)
    assert found.stride() == residual.stride()


@pytest.mark.parametrize("channels_last", [False, True])
def test_means_far_from_zero(channels_last):
    """No moment is the difference of two large sums."""
    torch.manual_seed(0)
    x = 3000 + torch.randn(2, 12, 24, 24)
    x = x.contiguous(memory_format=torch.channels_last) if channels_last else x
    expected = nn.functional.group_norm(x.double(), 4)
    found = hloom.compile(lambda x: nn.functional.group_norm(x, 4), x)(x)
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-3)  # rounding the mean alone makes 2e-4


PARTS = {
    "channels": lambda x: x[:, 1:13],
    "lines": lambda x: x[:, 1:13, 2:-1],
    "columns": lambda x: x[:, 1:13, :, 2:-1],
    "every second line": lambda x: x[:, 1:13, ::2],
}


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_pictures(part):
    """Groups of a slice, and their means, whose reads are sums, and quotients where lines are cut."""
    torch.manual_seed(0)
    x = torch.randn(3, 14, 11, 9)

    def both(x):
        y = PARTS[part](x)
        return nn.functional.group_norm(y, 4), y.reshape(3, 4, -1).mean(-1)

    for found, expected in zip(hloom.compile(both, x)(x), both(x.double())):
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)


def test_channels_last_are_not_moved():
    module, x, residual = block((2, 30, 16, 16), 3)
    x, residual = (each.contiguous(memory_format=torch.channels_last) for each in (x, residual))
    with torch.no_grad():
        exe = hloom.compile(module, x, residual, target="cpu-avx512")
    assert "transpose" not in [group["kind"] for group in exe.report.data["groups"]]


@pytest.mark.parametrize(("shape", "groups"), IMAGES)
def test_one_kernel(shape, groups):
    module, x, residual = block(shape, groups)
    with torch.no_grad():
        exe = hloom.compile(module, x, residual, target="cpu-avx2")
    assert [group["kind"] for group in exe.report.data["groups"]] == ["multi_reduce"]


@pytest.mark.parametrize("channels_last", [False, True])
def test_gradients(channels_last):
    shape, groups = IMAGES[0]
    module, x, residual = block(shape, groups)
    if channels_last:
        x = x.contiguous(memory_format=torch.channels_last)
    found, expected = [], []
    for forward, of, kind, into in (
        (torch.compile(module, backend="hloom", fullgraph=True), module, torch.float32, found),
        (other := copy.deepcopy(module).double(), other, torch.float64, expected),
    ):
        given = x.detach().to(kind).requires_grad_()
        forward(given, residual.to(kind)).square().sum().backward()
        into += [given.grad, of.norm.weight.grad, of.norm.bias.grad]
    for mine, theirs in zip(found, expected):
        torch.testing.assert_close(mine.double(), theirs, rtol=1e-4, atol=1e-4)
