"""What several neighbours read, as the channels of a group its mean: of images with the channels last, of repeated columns, with tails."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402


class Function(torch.nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


@pytest.mark.parametrize(("channels", "groups"), [(64, 4), (48, 3), (96, 32), (40, 5), (128, 2), (24, 12), (72, 3), (256, 2)])
def test_channel_groups(channels: int, groups: int) -> None:
    x = torch.randn(2, channels, 9, 11, generator=torch.Generator().manual_seed(0)).contiguous(memory_format=torch.channels_last)

    def function(x):
        means = x.unflatten(1, (groups, -1)).mean((2, 3, 4), keepdim=True)
        return torch.nn.functional.group_norm(x, groups), (x.unflatten(1, (groups, -1)) * means).flatten(1, 2)

    for threads in (1, 2):
        hloom.set_threads(threads)
        for result, wanted in zip(hloom.compile(Function(function), x)(x), function(x), strict=True):
            torch.testing.assert_close(result, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("times", [2, 3, 4, 16, 100])
@pytest.mark.parametrize("columns", [5, 16, 37])
def test_repeated_columns(columns: int, times: int) -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(7, columns, generator=generator), torch.randn(7, columns * times, generator=generator)

    def function(x, y):
        return x.repeat_interleave(times, 1) * y, x.half().repeat_interleave(times, 1) + y.half()

    for result, wanted in zip(hloom.compile(Function(function), x, y)(x, y), function(x, y), strict=True):
        torch.testing.assert_close(result, wanted, rtol=0, atol=0)


def test_transposed_sums() -> None:
    """Reductions of what was transposed are reductions of what lies there."""
    x = torch.randn(5, 6, 7, 8, generator=torch.Generator().manual_seed(0))

    def function(x):
        return x.permute(2, 3, 0, 1).sum((0, 3)), x.movedim(1, -1).amax(-1), x.transpose(0, 1).argmax(0), x.permute(3, 1, 2, 0).sum(1)

    for result, wanted in zip(hloom.compile(Function(function), x)(x), function(x), strict=True):
        torch.testing.assert_close(result, wanted)
