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


@pytest.mark.parametrize(("columns", "dtype"), [(80, torch.bfloat16), (64, torch.float32), (16, torch.float16)])
def test_products_with_scaled_nibbles(columns, dtype) -> None:
    """Whole blocks of columns, one and a part, and less than one."""
    nibbles = torch.randint(0, 16, (columns, 64), generator=generator(), dtype=torch.int32)
    packed = torch._convert_weight_to_int4pack_for_cpu(nibbles, 1)
    x, scales_and_zeros = (torch.rand(*shape, generator=generator()).to(dtype) for shape in [(7, 64), (2, columns, 2)])
    tolerance = {"rtol": 1e-5 if dtype == torch.float32 else 1e-2, "atol": 1e-4}
    check(lambda x, w, s: (torch._weight_int4pack_mm_for_cpu(x, w, 32, s),), x, packed, scales_and_zeros, **tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "x",
    [torch.randn(9, 32, generator=generator()) * 3, torch.arange(1.0, 36).reshape(5, 7), -torch.tensor([3.1, 3.7, 3.3]), torch.zeros(4)],
)
def test_scales_that_a_tensor_asks_for(x, dtype) -> None:
    """Of tensors on both sides of zero, on one, and of zeros."""
    torch._dynamo.reset()
    x = x.to(dtype)

    def function(x):
        scale, zero = Q.choose_qparams.tensor(x, 0, 255, 1e-5, torch.uint8)
        number = Q.quantize_per_tensor.tensor(x.float(), scale, zero, 0, 255, torch.uint8)
        return scale, zero, number, *Q.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, torch.int8)

    check(function, x)
    for result, wanted in zip(torch.compile(function, backend="hloom", fullgraph=True)(x), function(x), strict=True):
        torch.testing.assert_close(result, wanted, rtol=0, atol=0)


def test_scales_of_tokens_and_groups() -> None:
    x, scales = torch.randn(6, 8, generator=generator()), torch.rand(6, 2, generator=generator())

    def function(x, scales):
        a, b = Q.choose_qparams_per_token_asymmetric(x, torch.int8)
        number = Q.quantize_per_token(x, a, b, *BYTES)
        group = Q.dequantize_per_channel_group(number, scales, None, *BYTES, 4, torch.float32)
        return a, b, number, group, *Q.choose_qparams_per_token(x, torch.int8), Q.convert_element_type.no_fuse(x, torch.bfloat16)

    check(function, x, scales)


def _fake_quantized(x, scale, zero, scales, zeros):
    a = torch.fake_quantize_per_tensor_affine(x, 0.03, 3, -128, 127)
    b = torch._fake_quantize_learnable_per_tensor_affine(x, scale, zero, -128, 127, 0.5)
    c = torch._fake_quantize_learnable_per_channel_affine(x, scales, zeros, 1, -128, 127, 0.5)
    return a, b, c


def _fake_quantization_inputs() -> tuple[torch.Tensor, ...]:
    x = torch.randn(4, 5, 6, generator=generator()) * 4
    scales = torch.rand(5, generator=generator()) * 0.05 + 0.01
    return x, torch.tensor([0.05]), torch.tensor([0.5]), scales, torch.tensor([0.0, 2.5, -3.0, 200.0, -200.0])


def test_numbers_quantised_and_dequantised_again() -> None:
    """Zero points are rounded to even, and kept in range."""
    check(_fake_quantized, *_fake_quantization_inputs())


def test_gradients_of_fake_quantisation() -> None:
    """By the tensor, and by scales and zero points that are learnt."""
    torch._dynamo.reset()
    results = []
    for function in (_fake_quantized, torch.compile(_fake_quantized, backend="hloom", fullgraph=True)):
        inputs = [x.clone().requires_grad_() for x in _fake_quantization_inputs()]
        sum(each.square().sum() for each in function(*inputs)).backward()
        results.append([x.grad for x in inputs])
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-4)


class _Scaled(torch.Tensor):
    """Bytes and a scale for each row. Ops compute with their products."""

    @staticmethod
    def __new__(cls, number, scale):
        return torch.Tensor._make_wrapper_subclass(cls, number.shape, dtype=scale.dtype)

    def __init__(self, number, scale):
        self.number, self.scale = number, scale

    def __tensor_flatten__(self):
        return ["number", "scale"], None

    @staticmethod
    def __tensor_unflatten__(parts, rest, size, stride):
        return _Scaled(parts["number"], parts["scale"])

    @classmethod
    def __torch_function__(cls, function, types, args=(), keywords=None):
        if function is torch.nn.functional.linear:
            x, weight, bias = args
            return function(x, weight.number * weight.scale, bias)
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(keywords or {}))

    @classmethod
    def __torch_dispatch__(cls, op, types, args, keywords=None):
        if op is not torch.ops.aten.detach.default:
            raise NotImplementedError(op)
        return _Scaled(args[0].number, args[0].scale)


def test_a_weight_that_is_made_of_other_tensors() -> None:
    """As torchao's are: the program is bound to these."""
    torch.manual_seed(0)
    x, scale = torch.randn(3, 6), torch.rand(4, 1)
    layer = torch.nn.Linear(6, 4)
    layer.weight = torch.nn.Parameter(_Scaled(some_bytes(4, 6), scale), requires_grad=False)
    wanted = torch.nn.functional.linear(x, layer.weight.number * scale, layer.bias).detach()
    for source in (layer, torch.export.export(layer, (x,))):
        torch.testing.assert_close(hloom.compile(source, x)(x), wanted)
