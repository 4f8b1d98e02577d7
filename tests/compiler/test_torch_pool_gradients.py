"""Gradients of pools: windows that overlap, leave elements out, reach into padding, or beyond it in ceil_mode."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402

aten = torch.ops.aten

WINDOWS = {
    "side by side": ((2, 3, 8, 6), [2, 2], [2, 2], [0, 0], False),
    "overlapping": ((2, 3, 9, 8), [3, 3], [2, 2], [1, 1], False),
    "two apart in even extents": ((2, 3, 8, 10), [3, 4], [2, 2], [1, 1], False),
    "stride left out": ((1, 2, 6, 9), [2, 3], [], [0, 0], False),
    "elements in no window": ((2, 1, 11, 10), [2, 2], [4, 3], [0, 0], False),
    "ceil mode": ((1, 3, 8, 9), [3, 2], [2, 2], [1, 0], True),
    "3d": ((1, 2, 5, 6, 7), [2, 3, 2], [2, 2, 1], [1, 1, 0], False),
}


def image(shape, dtype=torch.float32):
    """With elements that are alike, of which the index tells one."""
    return torch.randint(-9, 9, shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def check(function, *inputs, **tolerance) -> None:
    torch.testing.assert_close(hloom.compile(function, *inputs)(*inputs), function(*inputs), **tolerance)


def compare_max_pools(shape, sizes, strides, padding, dilation, ceil_mode) -> None:
    x, names = image(shape), f"max_pool{len(sizes)}d_with_indices"
    values, indices = getattr(aten, names)(x, sizes, strides, padding, dilation, ceil_mode)

    def function(gradient, x, indices):
        return getattr(aten, names + "_backward")(gradient, x, sizes, strides, padding, dilation, ceil_mode, indices)

    check(function, torch.randn_like(values), x, indices)


@pytest.mark.parametrize("name", WINDOWS)
def test_max_pools(name: str) -> None:
    shape, sizes, strides, padding, ceil_mode = WINDOWS[name]
    compare_max_pools(shape, sizes, strides, padding, [1] * len(sizes), ceil_mode)


@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("name", ["side by side", "overlapping", "two apart in even extents", "elements in no window", "ceil mode"])
def test_steps_forward_and_back(name: str, order: torch.memory_format) -> None:
    """Lines of a few registers, among which are last ones that are not whole."""
    shape, *settings = WINDOWS[name]
    windows = (*settings[:3], [1, 1], settings[3])

    def function(x, bias):
        x = torch.relu(x + bias)
        values, indices = aten.max_pool2d_with_indices(x, *windows)
        gradient = aten.max_pool2d_with_indices_backward(values * values, x, *windows, indices)
        return torch.where(x <= 0, 0, gradient)

    for columns in (shape[-1], 38, 66):
        x = image((*shape[:-1], columns)).contiguous(memory_format=order)
        check(function, x, torch.arange(shape[1], dtype=torch.float32).reshape(-1, 1, 1))


def test_max_pools_of_dilated_windows() -> None:
    compare_max_pools((2, 2, 9, 10), [3, 2], [1, 2], [1, 1], [2, 3], False)


@pytest.mark.parametrize(("shape", "sizes", "steps"), [((2, 5, 7, 7), [13, 13], [1, 1]), ((1, 3, 31, 27), [9, 9], [2, 1])])
def test_max_pools_of_large_windows(shape: tuple[int, ...], sizes: list[int], steps: list[int]) -> None:
    """As pyramids of pools have them: of more elements than are compared one after the other."""
    compare_max_pools(shape, sizes, steps, [size // 2 for size in sizes], [1, 1], False)


def test_gradients_of_halves_are_summed_in_f32() -> None:
    """Each is rounded once, where eager rounds every sum."""
    settings = [5, 5], [1, 1], [2, 2], [1, 1], False
    x = image((1, 1, 12, 12), torch.bfloat16)
    values, indices = aten.max_pool2d_with_indices(x, *settings)
    gradient = torch.randn_like(values)

    def function(gradient, x, indices):
        return aten.max_pool2d_with_indices_backward(gradient, x, *settings, indices)

    found = hloom.compile(function, gradient, x, indices)(gradient, x, indices)
    torch.testing.assert_close(found, function(gradient.double(), x.double(), indices).to(torch.bfloat16), atol=0, rtol=2**-8)


@pytest.mark.parametrize(("include", "divisor"), [(True, None), (False, None), (True, 5)])
@pytest.mark.parametrize("name", WINDOWS)
def test_average_pools(name: str, include: bool, divisor: int | None) -> None:
    shape, sizes, strides, padding, ceil_mode = WINDOWS[name]
    forward = getattr(aten, f"avg_pool{len(sizes)}d")
    backward = getattr(aten, f"avg_pool{len(sizes)}d_backward")
    settings = (sizes, strides, padding, ceil_mode, include, divisor)
    x = image(shape)
    check(lambda gradient, x: backward(gradient, x, *settings), torch.randn_like(forward(x, *settings)), x)


def test_adaptive_average_pools() -> None:
    x = image((2, 3, 8, 6))
    check(lambda gradient, x: aten._adaptive_avg_pool2d_backward(gradient, x), torch.randn(2, 3, 4, 2), x)
    check(lambda gradient, x: aten._adaptive_avg_pool2d_backward(gradient, x), torch.randn(2, 3, 5, 4), x)
    volume = torch.randn(2, 5, 7, 4)
    check(lambda gradient, x: aten._adaptive_avg_pool3d_backward(gradient, x), torch.randn(2, 3, 2, 6), volume)


@pytest.mark.parametrize(
    ("shape", "counts"), [((2, 3, 8, 6), (4, 2)), ((2, 3, 13, 7), (6, 5)), ((3, 5, 4), (7, 1)), ((1, 2, 5, 6, 7), (2, 6, 3))]
)
def test_adaptive_max_pools(shape, counts) -> None:
    """Parts that divide a dimension, overlap, or are more than its elements."""
    name, x = f"adaptive_max_pool{len(counts)}d", image(shape)
    values, indices = getattr(aten, name)(x, counts)
    check(lambda *given: getattr(aten, f"{name}_backward")(*given), torch.randn_like(values), x, indices)


@pytest.mark.parametrize(("extents", "sizes", "counts"), [((11, 9), [3, 3], [5, 4]), ((7, 6, 5), [2, 2, 2], [3, 3, 2])])
def test_fractional_max_pools(extents: tuple[int, ...], sizes: list[int], counts: list[int]) -> None:
    spatial = len(sizes)
    pool, backward = getattr(aten, f"fractional_max_pool{spatial}d"), getattr(aten, f"fractional_max_pool{spatial}d_backward")
    x = image((2, 3, *extents))
    values, indices = pool(x, sizes, counts, torch.rand(2, 3, spatial))

    def function(gradient, x, indices):
        return backward(gradient, x, sizes, counts, indices)

    check(function, torch.randn_like(values), x, indices)
