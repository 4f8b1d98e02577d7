"""The convolutions and linear layers of a public compiler issue, as a torch module: right in f32 and f16, and no weight widened in f16."""

from __future__ import annotations

import itertools
import json

import pytest

import hloom

torch = pytest.importorskip("torch")


class SimpleModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.convolutions = nn.ModuleList([nn.Conv2d(3, 16, 3, padding=1), *(nn.Conv2d(16, 16, 3, padding=1) for _ in range(3))])
        sizes = [16 * 32 * 32, 2**12, 2**12, 2**10, 2**10, 10]
        self.linears = nn.ModuleList([nn.Linear(a, b) for a, b in itertools.pairwise(sizes)])

    def forward(self, x):
        for convolution in self.convolutions:
            x = torch.relu(convolution(x))
        x = x.view(x.size(0), -1)
        for linear in self.linears[:-1]:
            x = torch.relu(linear(x))
        return self.linears[-1](x)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 4e-3)])
def test_agrees_with_torch(dtype, tolerance):
    torch.manual_seed(0)
    model = SimpleModel().eval().to(dtype)
    x = torch.randn(1, 3, 32, 32).to(dtype)
    exe = hloom.compile(model, x)
    with torch.no_grad():
        expected = model(x)
    found = exe(x)
    assert found.dtype == dtype
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))
    converted = [op["type"] for op in json.loads(exe.report.json())["ops"] if op["op"] == "convert"]
    assert not any(kind.startswith(("4096x", "1024x")) and kind.count("x") > 1 for kind in converted)
    assert exe.arena_bytes < 2 * 1024 * 1024  # activations alone: less than one of the smaller weight matrices, in f16
