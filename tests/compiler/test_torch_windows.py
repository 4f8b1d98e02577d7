"""Shifted windows, as Swin has them: rolls, partitions, and a mask made by many slice assignments."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402

SIZE, WINDOW, SHIFT, CHANNELS = 8, 4, 2, 6


class ShiftedWindows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x):
        x = torch.roll(x, (-SHIFT, -SHIFT), (1, 2))
        tokens = self.windows(self.mix(x))
        regions = x.new_zeros(1, SIZE, SIZE, 1)
        count = 0
        for rows in ((0, -WINDOW), (-WINDOW, -SHIFT), (-SHIFT, None)):
            for columns in ((0, -WINDOW), (-WINDOW, -SHIFT), (-SHIFT, None)):
                regions[:, rows[0] : rows[1], columns[0] : columns[1]] = count
                count += 1
        regions = self.windows(regions)[..., 0]
        mask = torch.where(regions[:, None] == regions[:, :, None], 0.0, -100.0)
        scores = torch.softmax(tokens @ tokens.transpose(1, 2) + mask.repeat(x.shape[0], 1, 1), -1)
        y = (scores @ tokens).reshape(-1, SIZE // WINDOW, SIZE // WINDOW, WINDOW, WINDOW, CHANNELS)
        return torch.roll(y.permute(0, 1, 3, 2, 4, 5).reshape(x.shape), (SHIFT, SHIFT), (1, 2))

    def windows(self, x):
        split = x.reshape(x.shape[0], SIZE // WINDOW, WINDOW, SIZE // WINDOW, WINDOW, -1)
        return split.permute(0, 1, 3, 2, 4, 5).reshape(-1, WINDOW * WINDOW, x.shape[-1])


def test_shifted_windows_agree_with_eager() -> None:
    torch.manual_seed(0)
    module, x = ShiftedWindows().eval(), torch.randn(2, SIZE, SIZE, CHANNELS)
    torch.testing.assert_close(hloom.compile(module, x)(x), module(x), atol=1e-5, rtol=1e-5)


def test_a_pool_at_places_that_another_pool_takes_a_part_of() -> None:
    """The second reads some of the places; they do not lie beside each other."""
    generator = torch.Generator().manual_seed(0)
    first = torch.nn.FractionalMaxPool2d(2, output_size=3, _random_samples=torch.rand(1, 3, 2, generator=generator))
    x = torch.randn(1, 3, 7, 8, generator=generator)
    for second in (torch.nn.MaxPool2d(2), torch.nn.LPPool2d(2, 2)):
        module = torch.nn.Sequential(first, second)
        torch.testing.assert_close(hloom.compile(module, x)(x), module(x))
