"""Concatenations of many operands along each dimension, alone and with what follows them in their kernel."""

from __future__ import annotations

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import hloom


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16, np.int8], ids=str)
@pytest.mark.parametrize(("count", "axis", "extent"), [(9, 1, 16), (11, 2, 5), (9, 0, 1), (24, 1, 1), (24, 2, 1), (40, 2, 3), (80, 1, 2)])
def test_concatenation(kind, count, axis, extent):
    shape = [3, 7, 19]
    shape[axis] = extent
    pieces = [np.arange(np.prod(shape), dtype=np.float32).reshape(shape).astype(kind) + kind(number) for number in range(count)]
    found = hloom.compile(lambda *pieces: lax.neg(lax.concatenate(pieces, axis)), *pieces)(*pieces)
    np.testing.assert_array_equal(found, -np.concatenate(pieces, axis))


def test_pieces_of_tiles():
    """Rows of which a tile has some, and of those a part of the pieces."""
    pieces = [np.full((extent, 130), extent, np.float32) for extent in range(30, 60)]
    found = hloom.compile(lambda *pieces: lax.concatenate(pieces, 0) + 1, *pieces)(*pieces)
    np.testing.assert_array_equal(found, np.concatenate(pieces) + 1)


def test_hundreds_of_pieces():
    """More than Python calls functions in each other: each piece's value goes through the choice of the next."""
    pieces = [np.full(3, number, np.float32) for number in range(400)]
    found = hloom.compile(lambda *pieces: lax.concatenate(pieces, 0), *pieces)(*pieces)
    np.testing.assert_array_equal(found, np.concatenate(pieces))


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16, np.int32], ids=str)
@pytest.mark.parametrize(("count", "axis"), [(2, 0), (31, 0), (31, -1), (257, 0)])
def test_reduced_stacks(kind, count, axis):
    """Windows of a signal, stacked to be summed and compared: one step at a time, halves rounded once."""
    x = np.random.default_rng(count).integers(-40, 40, 1000).astype(kind)

    def windows(x):
        return jnp.stack([x[at : len(x) - count + at] for at in range(count)], axis)

    exact = np.stack([x[at : len(x) - count + at] for at in range(count)], axis).astype(np.float64)
    total, most, least = hloom.compile(lambda x: (windows(x).sum(axis), windows(x).max(axis), windows(x).min(axis)), x)(x)
    np.testing.assert_array_equal(total, exact.sum(axis).astype(kind))
    np.testing.assert_array_equal(most, exact.max(axis).astype(kind))
    np.testing.assert_array_equal(least, exact.min(axis).astype(kind))
