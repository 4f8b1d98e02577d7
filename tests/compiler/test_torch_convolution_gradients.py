"""aten.convolution_backward, of which training steps are full: all dimensions, strides, groups and paddings, transposed ones too."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402

CASES = {
    "1d": dict(size=(17,), kernel=(3,), padding=(1,)),
    "1d strided and dilated": dict(size=(23,), kernel=(3,), stride=(3,), padding=(2,), dilation=(2,)),
    "1x1 of stride 2": dict(size=(7, 8), kernel=(1, 1), stride=(2, 2)),
    "stride leaves a rest": dict(size=(8, 9), kernel=(3, 3), stride=(2, 3), padding=(1, 0)),
    "one number for all": dict(size=(6, 7), kernel=(3, 3), stride=(2,), padding=(1,)),
    "groups": dict(size=(6, 7), kernel=(3, 3), padding=(1, 1), groups=2),
    "depthwise of stride 2": dict(size=(8, 7), kernel=(3, 3), stride=(2, 2), padding=(1, 1), groups=4),
    "whole window": dict(size=(5, 4), kernel=(5, 4)),
    "more padding than window": dict(size=(5, 4), kernel=(2, 1), padding=(2, 1)),
    "3d": dict(size=(4, 5, 6), kernel=(3, 2, 3), stride=(1, 2, 2), padding=(1, 0, 1), groups=2),
    "transposed": dict(size=(5, 6), kernel=(3, 4), stride=(2, 2), padding=(1, 1), transposed=True, output_padding=(1, 0)),
    "transposed groups": dict(size=(5, 6), kernel=(3, 2), stride=(2, 1), dilation=(1, 2), groups=2, transposed=True),
    "transposed, 1d": dict(size=(9,), kernel=(4,), stride=(3,), padding=(2,), transposed=True),
}


def gradients(case, mask, dtype=torch.float32):
    """What takes (gradient, x, weight), and values for it."""
    rank, groups = len(case["size"]), case.get("groups", 1)
    stride, padding, dilation = ([*case.get(name, [n] * rank)] for name, n in (("stride", 1), ("padding", 0), ("dilation", 1)))
    transposed, after = case.get("transposed", False), [*case.get("output_padding", [0] * rank)]
    torch.manual_seed(0)
    inputs, outputs = 4, 6 if groups < 4 else 8
    x = torch.randn(3, inputs, *case["size"], dtype=dtype)
    first, second = (inputs, outputs) if transposed else (outputs, inputs)
    weight = torch.randn(first, second // groups, *case["kernel"], dtype=dtype)
    y = torch.ops.aten.convolution(x, weight, None, stride, padding, dilation, transposed, after, groups)

    def function(gradient, x, weight):
        return torch.ops.aten.convolution_backward(
            gradient, x, weight, [outputs], stride, padding, dilation, transposed, after, groups, mask
        )  # fmt: skip

    return function, (torch.randn_like(y), x, weight)


def check(function, inputs, **tolerance) -> None:
    for made, wanted in zip(hloom.compile(function, *inputs)(*inputs), function(*inputs), strict=True):
        torch.testing.assert_close(made, wanted, **tolerance)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_convolutions(name: str) -> None:
    check(*gradients(CASES[name], [True, True, True]), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("mask", [(True, False, False), (False, True, False), (False, False, True), (False, True, True)])
def test_gradients_that_are_not_asked_for_are_none(mask) -> None:
    function, inputs = gradients(CASES["groups"], list(mask))
    for asked, made, wanted in zip(mask, hloom.compile(function, *inputs)(*inputs), function(*inputs)):
        if asked:
            torch.testing.assert_close(made, wanted, atol=1e-4, rtol=1e-4)
        else:
            assert made is None  # eager may give the weights' with the bias's


def test_gradients_of_halves_are_summed_in_f32() -> None:
    function, inputs = gradients(CASES["stride leaves a rest"], [True, True, True], torch.bfloat16)
    made = hloom.compile(function, *inputs)(*inputs)
    for a, b in zip(made, function(*(x.double() for x in inputs))):
        torch.testing.assert_close(a.double(), b, atol=0.02, rtol=0.01)


def test_gradients_whose_taps_are_of_one_line() -> None:
    """By a stride of 2 the gradient of some pixels has taps along the line alone: lines of all images are as of one."""
    x, weight = torch.randn(2, 32, 16, 24), torch.randn(32, 32, 3, 3)
    gradient = torch.randn(2, 32, 8, 12)

    def function(gradient, x, weight):
        return torch.ops.aten.convolution_backward(
            gradient, x, weight, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False]
        )[:2]

    check(function, (gradient, x, weight), atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize(("images", "channels", "side"), [(32, 512, 4), (128, 256, 8), (1, 512, 3)])
def test_small_pictures_of_many_channels(images: int, channels: int, side: int) -> None:
    """What the last stages of networks for small pictures have: few lines that are no whole registers, and weights that no cache holds."""
    torch.manual_seed(0)
    x, gradient = (torch.randn(images, channels, side, side) for _ in range(2))

    def function(gradient, x):
        weight = torch.empty(channels, channels, 3, 3)
        return torch.ops.aten.convolution_backward(
            gradient, x, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False]
        )[1]

    found, wanted = hloom.compile(function, gradient, x)(gradient, x), function(gradient, x)
    assert (found - wanted).abs().max() < 2e-5 * wanted.abs().max()
