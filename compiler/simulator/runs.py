"""Gathers and scatters of runs of elements that lie side by side."""

from __future__ import annotations

import numpy as np


def gather(buffer: np.ndarray, addresses: np.ndarray, width: int) -> np.ndarray:
    """`width` elements from each address on: an array with one dimension more."""
    if width == 1:
        return buffer.take(addresses)[..., None]
    if len(buffer) % width == 0 and not (addresses % width).any():
        return buffer.reshape(-1, width).take(addresses // width, axis=0)
    return buffer.take(addresses[..., None] + np.arange(width))


def scatter(buffer: np.ndarray, addresses: np.ndarray, values: np.ndarray) -> None:
    """The reverse of `gather`."""
    width, values = values.shape[-1], values.astype(buffer.dtype, copy=False)
    if width == 1:
        buffer[addresses] = values[..., 0]
    elif len(buffer) % width == 0 and not (addresses % width).any():
        # Opaque items of the width of a run are moved several times as fast as rows of an array.
        item = f"V{width * buffer.itemsize}"
        buffer.view(item)[addresses // width] = np.ascontiguousarray(values).view(item)[..., 0]
    else:
        buffer[addresses[..., None] + np.arange(width)] = values
