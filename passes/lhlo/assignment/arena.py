"""Places blocks with known lifetimes at static offsets of one arena."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ALIGNMENT = 64


@dataclass(frozen=True)
class Reservation:
    """`size` bytes (a multiple of ALIGNMENT) that must keep their place from position `start` up to `end`."""

    size: int
    start: int
    end: int


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def live_bytes(blocks: list[Reservation]) -> int:
    """The largest sum of sizes of blocks that are live at one position: no arena can be smaller."""
    change: dict[int, int] = {}
    for block in blocks:
        change[block.start] = change.get(block.start, 0) + block.size
        change[block.end] = change.get(block.end, 0) - block.size
    return int(np.max(np.cumsum([change[position] for position in sorted(change)]), initial=0))


def place(blocks: list[Reservation]) -> tuple[list[int], int]:
    """The offset of each block, and the arena's size: the best of several orders, or the first that reaches the lower bound."""
    bound = live_bytes(blocks)
    best: tuple[list[int], int] | None = None
    for key in _ORDERS:
        offsets, size = _first_fit(blocks, sorted(range(len(blocks)), key=lambda i: key(blocks[i])))
        if best is None or size < best[1]:
            best = offsets, size
        if size == bound:
            break
    assert best is not None
    return best


_ORDERS = (
    lambda block: (-block.size, block.start),
    lambda block: (block.start, -block.size),
    lambda block: (-block.size * (block.end - block.start), block.start),
    lambda block: (block.start - block.end, -block.size),
    lambda block: (-block.end, -block.size),
)


def _first_fit(blocks: list[Reservation], order: list[int]) -> tuple[list[int], int]:
    """Places each block of `order` in the lowest gap between those placed before it that live at the same time."""
    count = len(blocks)
    starts, ends, lows, highs = (np.zeros(count, np.int64) for _ in range(4))
    offsets, size = [0] * count, 0
    for placed, i in enumerate(order):
        block = blocks[i]
        conflicts = (starts[:placed] < block.end) & (ends[:placed] > block.start)
        offset = _lowest_gap(lows[:placed][conflicts], highs[:placed][conflicts], block.size)
        starts[placed], ends[placed], lows[placed], highs[placed] = block.start, block.end, offset, offset + block.size
        offsets[i], size = offset, max(size, offset + block.size)
    return offsets, size


def _lowest_gap(lows: np.ndarray, highs: np.ndarray, size: int) -> int:
    if not len(lows) or lows.min() >= size:
        return 0
    order = np.argsort(lows)
    reach = np.maximum.accumulate(highs[order])
    fits = np.flatnonzero(lows[order][1:] - reach[:-1] >= size)
    return int(reach[fits[0]] if len(fits) else reach[-1])
