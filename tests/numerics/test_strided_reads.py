"""Lanes that lie some elements apart: what is between them is loaded too, nothing beyond the last (`pytest --guards=end`, `--bounds`)."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
STEPS = (2, 3, 4, 5, 8, 9)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "float16", "int8"])
def test_slices_that_end_with_the_last_lane(kind: str, target: str) -> None:
    """Of rows of any length, from the first element and from the last of a step: both rows' ends are ends of what may be read."""
    x = np.random.default_rng(0).integers(-99, 99, (3, 2 * 3 * 4 * 5 + 1)).astype(kind)

    def program(x: Any) -> Any:
        return [-x[:, first::step] for step in STEPS for first in (0, (x.shape[1] - 1) % step)] + [-x[1:, 7::3], -x[:, 1 : 2 * 9 : 2]]

    with jax.enable_x64(True):
        for found, expected in zip(hloom.compile(program, x, target=target)(x), program(x), strict=True):
            np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("target", TARGETS)
def test_channels_of_pixels_by_which_others_are_interleaved(target: str) -> None:
    """pixel_shuffle with the channels last: which channel of four it is follows from the row."""
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 4 * 21)).astype(np.float32)

    def program(x: Any) -> Any:
        return x.reshape(2, 3, 5, 21, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 6, 10, 21)

    np.testing.assert_array_equal(np.asarray(hloom.compile(program, x, target=target)(x)), program(x))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(2, 128, 256), (3, 75, 41)])
def test_transpositions_with_reversal(shape: tuple[int, ...], target: str) -> None:
    """Rotations and reflections, of whole tiles and of others."""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)

    def program(x: Any) -> Any:
        turned = x.transpose(0, 2, 1)
        return [turned[:, ::-1], turned[:, :, ::-1], turned[:, ::-1, ::-1], x[:, ::-1, ::-1]]

    for found, expected in zip(hloom.compile(program, x, target=target)(x), program(x), strict=True):
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int8", "bool"])
def test_pixels_from_the_last_to_the_first(kind: str, target: str) -> None:
    """Of two to five channels, in lines that are no whole registers, and every second or third element of rows turned around."""
    for channels in (2, 3, 4, 5):
        x = np.random.default_rng(channels).integers(0, 99, (2, 5, 37, channels)).astype(kind)

        def program(x: Any) -> Any:
            rows = x.reshape(10, -1)
            return [
                x[:, :, ::-1],
                x[:, ::-1, ::-1],
                x[:, :, ::-1].transpose(0, 3, 1, 2),
                rows[:, ::-2],
                rows[:, 1:100:3][:, ::-1],
                rows[1:, 70::-3],
            ]

        with jax.enable_x64(True):
            for found, expected in zip(hloom.compile(program, x, target=target)(x), program(x), strict=True):
                np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["uint8", "float16", "bool", "int16"])
def test_channels_of_narrow_pixels(kind: str, target: str) -> None:
    """Pictures of pixels put channels first, as numbers: the last register of a line ends with its last pixel."""
    for channels, width in ((2, 64), (3, 96), (3, 37), (4, 50), (5, 33), (7, 64)):
        x = np.random.default_rng(channels).integers(0, 2 if kind == "bool" else 99, (2, 5, width, channels)).astype(kind)

        def program(x: Any) -> Any:
            first = x.transpose(0, 3, 1, 2)
            return [first, first.astype(np.float32) * 2, x[..., 1], x[0].transpose(2, 0, 1)[:, ::-1]]

        for found, expected in zip(hloom.compile(program, x, target=target)(x), program(x), strict=True):
            np.testing.assert_array_equal(np.asarray(found), expected)
