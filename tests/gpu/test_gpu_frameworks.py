"""On a GPU: arrays of torch, JAX and CuPy go in and come out where they lie, on their own streams."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_programs import ELEMENTWISE, build

from hloom.runtime.errors import InputError

pytestmark = pytest.mark.cuda


def test_torch_in_place_and_on_its_stream(tmp_path, torch):
    exe = build(ELEMENTWISE, tmp_path)
    stream = torch.cuda.Stream()
    x, b = torch.randn(128, 256, device="cuda"), torch.randn(256, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        y = x
        for _ in range(50):  # work that is still running when the call comes
            y = torch.sin(y)
        result = exe(y, b)
        after = result + 1
    stream.synchronize()
    assert result.is_cuda and torch.allclose(after, torch.tanh(y + b) + 1, atol=1e-5)


def test_torch_calls_alternate_between_streams(tmp_path, torch):
    exe = build(ELEMENTWISE, tmp_path)
    streams = [torch.cuda.Stream() for _ in range(3)]
    x, b = torch.randn(128, 256, device="cuda"), torch.randn(256, device="cuda")
    torch.cuda.synchronize()
    found = []
    for number in range(30):
        with torch.cuda.stream(streams[number % 3]):
            found.append((number, exe(x * number, b)))
    torch.cuda.synchronize()
    assert all(torch.allclose(result, torch.tanh(x * number + b), atol=1e-5) for number, result in found)


def test_torch_outputs_and_odd_addresses(tmp_path, torch):
    exe = build(ELEMENTWISE, tmp_path)
    x, b = torch.randn(128 * 256 + 1, device="cuda")[1:].view(128, 256), torch.randn(256, device="cuda")
    out = torch.empty(128, 256, device="cuda")
    exe.run((x, b), out)
    assert torch.allclose(out, torch.tanh(x + b), atol=1e-5)
    with pytest.raises(InputError, match="overlaps"):
        exe.run((out, b), out)


def test_jax(tmp_path, jax):
    exe = build(ELEMENTWISE, tmp_path)
    x, b = jax.random.normal(jax.random.key(0), (128, 256)), jax.numpy.ones(256)
    result = exe(jax.numpy.sin(x), b)
    assert isinstance(result, jax.Array)
    np.testing.assert_allclose(result, jax.numpy.tanh(jax.numpy.sin(x) + b), atol=1e-5)


def test_cupy(tmp_path):
    cupy = pytest.importorskip("cupy")
    exe = build(ELEMENTWISE, tmp_path)
    x, b = cupy.random.standard_normal((128, 256), cupy.float32), cupy.ones(256, cupy.float32)
    with cupy.cuda.Stream(non_blocking=True):
        result = exe(cupy.sin(x), b)
        assert isinstance(result, cupy.ndarray)
        np.testing.assert_allclose(result.get(), np.tanh(np.sin(x.get()) + 1), atol=1e-5)
