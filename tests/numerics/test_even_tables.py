"""Gathers at known places that follow one another evenly are slices (fold-indices): the same elements as of any other table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom

TABLES: dict[str, Any] = {
    "reflect": np.r_[3:0:-1, 0:12, 10:7:-1],
    "edge": np.r_[[0] * 3, 0:12, [11] * 4],
    "two": np.array([[5, 1], [7, 3]]),
    "one": np.array([4]),
    "same": np.array([2, 2, 2]),
    "scalar": np.array(6),
    "outside": np.array([-1, 0, 1, 14, 15]),
    "columns": np.arange(5)[:, None] * 2 + np.array([3, 0, 1]),
    "columns back": 11 - np.arange(4)[:, None] * 3 + np.array([0, -1]),
    "frames": np.arange(3)[:, None] + np.arange(10),
    "frames of 9 by 4": np.arange(1)[:, None] + np.arange(9),
    "in turn": np.array([0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]),
    "any": np.array([3, 9, 2, 7, 7, 1, 0, 11, 5, 4]),
    "cube": np.arange(2)[:, None, None] * 4 + np.arange(2)[:, None] * 2 + np.arange(3),
}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str, axis: int) -> None:
    import jax.numpy as jnp

    shape = [5, 4, 3]
    shape[axis] = 12
    x, table = np.random.default_rng(0).standard_normal(shape).astype(np.float32), TABLES[name]
    taken = hloom.compile(lambda x: jnp.take(x, table, axis=axis, mode="clip") * 2, x)(x)
    np.testing.assert_array_equal(taken, np.take(x, np.clip(table, 0, 11), axis=axis) * 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 30), st.integers(0, 5), st.sampled_from(["int32", "bool", "complex64"]))
def test_frames(count: int, length: int, hop: int, first: int, dtype: str) -> None:
    import jax.numpy as jnp

    table = first + np.arange(count)[:, None] * hop + np.arange(length)
    x = np.random.default_rng(0).integers(0, 2, (2, int(table.max()) + 1)).astype(dtype)
    np.testing.assert_array_equal(hloom.compile(lambda x: jnp.conj(x[:, table]), x)(x), np.conj(x[:, table]))


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padded_convolutions(mode: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 5, 13, 17)
    module = torch.nn.Sequential(torch.nn.Conv2d(5, 7, 3, padding=(1, 2), padding_mode=mode), torch.nn.ReLU(), torch.nn.MaxPool2d(2)).eval()
    with torch.no_grad():
        torch.testing.assert_close(hloom.compile(module, x)(x), module(x), rtol=1e-5, atol=1e-5)
    for rank, around in ((1, (3, 2)), (2, (1, 2, 3, 4)), (3, (1, 1, 2, 2, 3, 1))):
        y = torch.randn(2, 3, *[9, 8, 7][:rank])
        torch.testing.assert_close(hloom.compile(lambda y, around=around: F.pad(y, around, mode), y)(y), F.pad(y, around, mode))


def test_windows_and_spectra() -> None:
    x = torch.randn(3, 1000)
    for function in (
        lambda x: x.unfold(1, 8, 4).mean(-1),
        lambda x: x.unfold(1, 25, 10) * torch.hann_window(25),
        lambda x: x.unfold(0, 2, 1).unfold(1, 5, 5),
        lambda x: torch.stft(x, 64, 20, window=torch.hann_window(64), return_complex=True).abs(),
        lambda x: torch.repeat_interleave(x, 3, dim=1),
    ):
        torch.testing.assert_close(hloom.compile(function, x)(x), function(x), rtol=1e-5, atol=1e-4)
