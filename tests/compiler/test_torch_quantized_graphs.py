"""Ops of quantised programs beside eager PyTorch: equal to the bit, for what they make is rounded to integers."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch.ao.quantization.fx import _decomposed  # noqa: E402, F401  defines the ops
from torch_functions import Function  # noqa: E402

import hloom  # noqa: E402

Q = torch.ops.quantized_decomposed
BYTES = -128, 127, torch.int8


def check(function, *inputs, **tolerance) -> None:
    for result, wanted in zip(hloom.compile(Function(function), *inputs)(*inputs), function(*inputs), strict=True):
        torch.testing.assert_close(result, wanted, **(tolerance or {"rtol": 0, "atol": 0}))


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def some_bytes(*shape: int) -> torch.Tensor:
    return torch.randint(-128, 128, shape, generator=generator(), dtype=torch.int8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scales_of_tensors_channels_and_tokens(dtype) -> None:
    """Of numbers, of tensors, of a middle dimension, and of rows; below and above what a byte holds."""
    x = (torch.randn(4, 5, 6, generator=generator()) * 3).to(dtype)
    scales, zeros = torch.rand(5, generator=generator()) * 0.05 + 0.01, torch.tensor([-3, 0, 2, 1, -1])

    def function(x, scale, zero, scales, zeros):
        a = Q.quantize_per_tensor(x, 0.03, 4, 0, 255, torch.uint8)
        b = Q.quantize_per_tensor.tensor(x.float(), scale, zero, *BYTES)
        c = Q.quantize_per_channel(x, scales, zeros, 1, *BYTES)
        d, e = Q._choose_qparams_per_token_asymmetric_impl(x.float(), torch.int8)
        f = Q.quantize_per_token(x.float(), d, e, *BYTES)
        return (
            a, b, c, d, e, f,
            Q.dequantize_per_tensor(a, 0.03, 4, 0, 255, torch.uint8), Q.dequantize_per_tensor.tensor(b, scale, zero, *BYTES),
            Q.dequantize_per_channel(c, scales, zeros, 1, *BYTES), Q.dequantize_per_token(f, d, e, *BYTES, torch.float32),
        )  # fmt: skip

    check(function, x, torch.tensor(0.03), torch.tensor(4), scales, zeros)


def test_products_of_bytes() -> None:
    """Either way round, bound too, of sums that i16 does not hold, and of unsigned by signed ones."""
    x, y = some_bytes(20, 128), some_bytes(128, 16)

    def function(x, y, z):
        return torch._int_mm(x, y), torch._int_mm(x, z.t()), torch._int_mm(x * 0 - 128, y), torch._int_mm(x.view(torch.uint8), y)

    check(function, x, y, some_bytes(16, 128))
    layer = Function(lambda x: (torch._int_mm(x, y),))
    torch.testing.assert_close(torch.compile(layer, backend="hloom", fullgraph=True)(x)[0], torch._int_mm(x, y))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_products_with_scaled_bytes(dtype) -> None:
    x, scales = (torch.rand(*shape, generator=generator()).to(dtype) for shape in [(20, 64), (32,)])
    tolerance = {"rtol": 1e-5 if dtype == torch.float32 else 1e-2, "atol": 1e-4}
    check(lambda x, w, s: (torch._weight_int8pack_mm(x, w, s),), x, some_bytes(32, 64), scales, **tolerance)
