"""Modules as torchao's pt2e leaves them, beside the same in f64: products of bytes, whatever the zero points are."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch.ao.quantization.fx import _decomposed  # noqa: E402, F401  defines the ops

import hloom  # noqa: E402

Q = torch.ops.quantized_decomposed
SIGNED, UNSIGNED = (-128, 127, torch.int8), (0, 255, torch.uint8)


class Quantized(torch.nn.Module):
    """Weights with a scale and a zero point a channel; an image with one of each."""

    def __init__(self, shape, points, image_point=0, image=UNSIGNED, **convolution):
        super().__init__()
        draw = torch.Generator().manual_seed(0)
        self.image_point, self.image, self.convolution = image_point, image, convolution
        self.register_buffer("weights", torch.randint(-127, 128, shape, generator=draw, dtype=torch.int8))
        self.register_buffer("scales", torch.rand(shape[0], generator=draw) * 0.02 + 0.01)
        self.register_buffer("points", torch.as_tensor(points, dtype=torch.int64).expand(shape[0]).clone())
        self.bias = torch.nn.Parameter(torch.randn(shape[0], generator=draw))

    def forward(self, x):
        return self.product(*self.operands(x), self.bias)

    def operands(self, x):
        stored = Q.quantize_per_tensor(x, 0.03, self.image_point, *self.image)
        image = Q.dequantize_per_tensor(stored, 0.03, self.image_point, *self.image)
        return image, Q.dequantize_per_channel(self.weights, self.scales, self.points, 0, *SIGNED)

    def product(self, image, weights, bias):
        return F.linear(image, weights, bias) if weights.dim() == 2 else F.conv2d(image, weights, bias, **self.convolution)

    def exact(self, x):
        image, weights = self.operands(x)
        return self.product(image.double(), weights.double(), self.bias.double())


CASES = {
    "linear": (Quantized((24, 40), 0, 7), (3, 5, 40)),
    "signed": (Quantized((24, 40), 0, -3, SIGNED), (9, 40)),
    "points": (Quantized((24, 40), range(-12, 12), 7), (9, 40)),
    "one row": (Quantized((24, 40), range(-12, 12), 7), (1, 40)),
    "padded": (Quantized((20, 12, 3, 3), 0, 100, padding=1), (2, 12, 9, 11)),
    "first layer": (Quantized((32, 3, 7, 7), 0, 128, padding=3, stride=2), (1, 3, 23, 25)),
    "dilated": (Quantized((20, 12, 3, 3), 0, 0, padding=(2, 1), dilation=2), (2, 12, 9, 11)),
    "groups": (Quantized((24, 6, 3, 3), 0, 5, padding=1, groups=4), (2, 24, 7, 9)),
    "depthwise": (Quantized((12, 1, 3, 3), 0, 5, padding=1, groups=12), (2, 12, 7, 9)),
    "kernels": (Quantized((20, 12, 1, 1), range(-10, 10), 5), (2, 12, 7, 9)),
}


@pytest.mark.parametrize("name", CASES)
def test_modules_are_computed_as_well_as_in_f32(name: str) -> None:
    module, shape = CASES[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        exact = module.exact(x)
        allowed = 2e-6 * exact.abs().max()
        assert (hloom.compile(module, x)(x) - exact).abs().max() < allowed
        torch._dynamo.reset()
        assert (torch.compile(module, backend="hloom", fullgraph=True)(x) - exact).abs().max() < allowed


def test_inputs_may_have_any_name() -> None:
    """Python's own too, which fx gives to no copy of a node."""

    class Named(Quantized):
        def forward(self, input):
            return super().forward(input)

    module, x = Named((24, 40), 0, 7), torch.randn(9, 40, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(hloom.compile(module, x)(x), module.exact(x).float(), rtol=1e-5, atol=1e-5)


def test_scales_and_points_that_a_tensor_asks_for() -> None:
    """A row's own, known when the product is computed: bytes by bytes all the same."""
    weights = torch.randint(-127, 128, (24, 40), generator=torch.Generator().manual_seed(0), dtype=torch.int8)

    def module(x):
        scales, points = Q._choose_qparams_per_token_asymmetric_impl(x, torch.int8)
        stored = Q.quantize_per_token(x, scales, points, *SIGNED)
        return (
            F.linear(Q.dequantize_per_token(stored, scales, points, *SIGNED, torch.float32), weights.float() * 0.01),
            scales,
            points,
            stored,
        )

    x = torch.randn(9, 40, generator=torch.Generator().manual_seed(1)) + 2
    y, scales, points, stored = hloom.compile(module, x)(x)
    exact = (stored.double() - points.double()) * scales.double() @ (weights.double() * 0.01).T
    assert (y - exact).abs().max() < 2e-6 * exact.abs().max()


def test_zero_points_that_change_are_seen() -> None:
    """torch.compile compiles a module for its zero points; what they change to PyTorch computes, and says so."""
    torch._dynamo.reset()
    module, shape = Quantized((20, 12, 3, 3), 0, 100, padding=1), (2, 12, 9, 11)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    compiled = torch.compile(module, backend="hloom", fullgraph=True)
    with torch.no_grad():
        first = compiled(x)
        module.points.add_(2)
        with pytest.warns(UserWarning, match="zero points"):
            torch.testing.assert_close(compiled(x), module(x))
        module.points.zero_()
        assert torch.equal(compiled(x), first)


def test_modules_that_are_alike_share_a_program_but_not_their_zero_points() -> None:
    torch._dynamo.reset()
    layers = [Quantized((16, 16), points, 100) for points in (0, 0, 3)]
    x = torch.randn(9, 16, generator=torch.Generator().manual_seed(1))
    for layer in layers:
        layer.compile(backend="hloom", fullgraph=True)
    with torch.no_grad():
        for layer in layers[:2] * 2:
            torch.testing.assert_close(layer(x), layer.exact(x).float(), rtol=1e-5, atol=1e-5)
        with pytest.warns(UserWarning, match="zero points"):
            torch.testing.assert_close(layers[2](x), layers[2].exact(x).float(), rtol=1e-5, atol=1e-5)
