"""What the CPU's kernel of lines computes (vector/nests/lines.py), for the passes that prepare its convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.dialects.target import TargetView

from .affine import used_dims

FARTHEST = 2
"""Elements from one pixel of a line to the next, at most."""
MOST_TAPS = 64
"""Taps of the two innermost dimensions, at most: the kernel unrolls them."""
LEAST_ROWS = 16
"""Results for which each pixel is read, at least, where pixels are copied first."""
MOST_COPIES = 2
"""How often a pixel is copied, at most."""


def multiplies_halves(element: str, channels: int, target: TargetView) -> bool:
    """Whether it multiplies floats of 16 bits, of so many channels that are summed: no instruction sums pairs of them, or none faster, and
    the ends of lines have masked accesses. Tiles take what they can before."""
    widens = element == "f16" or (element == "bf16" and (channels == 1 or not target.multiplies_pairs))
    return target.masks(16) and widens


def summed_channels(pixels: ir.AffineMap, weights: ir.AffineMap, parallel: Sequence[bool]) -> list[int]:
    """The summed loops of a convolution that are no taps, which move windows: taps are beside a loop that the weights do not have."""
    of_weights = set[int]().union(*map(used_dims, weights.results))
    moved = [dims for dims in map(used_dims, pixels.results) if any(parallel[d] and d not in of_weights for d in dims)]
    taps = set[int]().union(*moved)
    return [d for d, alone in enumerate(parallel) if not alone and d not in taps]
