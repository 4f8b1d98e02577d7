"""Convolutions of one for each channel whose windows go on by half of themselves or more: a few pixels of all lines, line by line.

    for blocks of pixels of a line: for lines: for c in chunks of channels: the sums of the block

    x[2 h + kh, 2 u + kw, c] of 3 × 3 taps:    a block of a line reads three lines, of which the next block reads one again

A pixel serves few products, so what counts is how it comes from memory. A strip is so narrow that the first cache holds the lines that it
reads with all their channels, and those that the next line of results adds, which a block asks for: nothing is loaded from L2. Where
windows overlap by more, more of a strip's pixels are its neighbours' too, and whole lines are better (vector/nests/channel_chunks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from .linear_index import LinearIndex, linear_results

STRIP_PIXELS = 4
"""Results of a strip's line, at most: more ask for so much at once that their sums wait for it."""
_SHARE = 0.75
"""Of the first cache for a strip's pixels; beside them are weights and results."""

_LEAST_BYTES = 4
"""Of an element: halves are widened for each product, which takes longer than they come from memory."""


@dataclass(frozen=True)
class _Window:
    """One dim of the pixels: results along `loop` are `step` elements apart, and each reads `taps` side by side, along the loop `tap`."""

    loop: int
    tap: int
    step: int
    taps: int


@dataclass(frozen=True)
class Strip:
    """The windows along lines, and along the pixels of a line."""

    lines: _Window
    pixels: _Window


def strip_of(
    m: ir.AffineMap, parallel: Sequence[bool], extents: Sequence[int | ir.Value], pixels: ir.RankedTensorType, target: TargetView
) -> Strip | None:
    """How a contraction whose loops have these `extents` goes in strips over `pixels`, channels last, that it reads at `m`; None where L2
    holds all of them, where the first cache does not hold a strip, of halves, and of other windows. Whether each channel is alone, who asks
    knows."""
    results = linear_results(m, [LinearIndex({loop: 1}) for loop in range(m.n_dims)])
    windows = [_window(index, parallel, extents) for index in results or () if not all(parallel[loop] for loop in index.terms)]
    nbytes = element_bytes(pixels.element_type)
    if len(windows) != 2 or nbytes < _LEAST_BYTES or prod(pixels.shape) * nbytes <= target.l2_bytes:
        return None
    lines, along = windows
    if lines is None or along is None:
        return None
    read = (lines.taps + lines.step) * ((STRIP_PIXELS - 1) * along.step + along.taps) * pixels.shape[-1] * nbytes
    return Strip(lines, along) if read <= _SHARE * target.l1_bytes else None


def _window(index: LinearIndex, parallel: Sequence[bool], extents: Sequence[int | ir.Value]) -> _Window | None:
    """Of taps side by side, at most twice as many as pixels between two windows; these leave none out."""
    if sorted(parallel[loop] for loop in index.terms) != [False, True]:
        return None
    tap, loop = sorted(index.terms, key=lambda loop: parallel[loop])
    step, taps = index.terms[loop], extents[tap]
    fits = isinstance(taps, int) and index.terms[tap] == 1 and 1 < step <= taps <= 2 * step
    return _Window(loop, tap, step, taps) if fits and isinstance(taps, int) else None
