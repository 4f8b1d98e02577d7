"""Layouts: how the elements of a tile are dealt out to the threads of a block.

A layout gives each dimension of a tile a list of factors, outer to inner; an element's index along the dimension is the mixed-radix number
of their coordinates. The kinds:

    s  a sequential loop                     r  a register (unrolled)
    w  part of the warp's number             l  part of the lane's number           v  the place in a vector

A 4 × 1024 tile, one row a warp: `[w4] [r8 l32 v4]`. Threads that no factor tells apart hold copies. The product of a dimension's factors
may exceed its extent: coordinates beyond it are clamped when they are read and masked when they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from .emit import WARP

Key = tuple[int, ...]
"""The register coordinate along each dimension."""


@dataclass(frozen=True)
class Factor:
    """`size` coordinates of a kind; for w and l, `stride` is how far apart in the warp's or lane's number they lie."""

    kind: str
    size: int
    stride: int = 1

    def __str__(self) -> str:
        return f"{self.kind}{self.size}" + (f"@{self.stride}" if self.stride > 1 else "")


@dataclass(frozen=True)
class Layout:
    """The factors of each dimension, outer to inner."""

    dims: tuple[tuple[Factor, ...], ...]

    def count(self, dim: int, kind: str) -> int:
        """The product of the factors of that kind along `dim`."""
        return prod(f.size for f in self.dims[dim] if f.kind == kind)

    def keys(self) -> Iterator[Key]:
        """The register coordinates that a thread holds."""
        return product(*(range(self.count(d, "r")) for d in range(len(self.dims))))

    @property
    def vector(self) -> tuple[int | None, int]:
        """(the dimension that vectors run along, their length)."""
        return next(((d, f.size) for d, fs in enumerate(self.dims) for f in fs if f.kind == "v"), (None, 1))

    def of_kind(self, kind: str) -> list[Factor]:
        """All factors of that kind."""
        return [f for fs in self.dims for f in fs if f.kind == kind]

    def spread(self, dim: int) -> bool:
        """Whether several threads, or several places of a vector, share the dimension."""
        return any(f.kind in "wlv" for f in self.dims[dim])

    def project(self, dims: Sequence[int | None]) -> Layout:
        """The layout whose dimensions are these of this one; None has no factors."""
        return Layout(tuple(self.dims[d] if d is not None else () for d in dims))

    def __str__(self) -> str:
        return " ".join(f"[{' '.join(map(str, fs))}]" for fs in self.dims) or "[]"


def blocked(
    extents: Sequence[int], order: Sequence[int], *, vector: int, warps: int, registers: int, reduced: frozenset[int] = frozenset()
) -> Layout:
    """The layout of a tile that is read in memory order `order` (dimensions, fastest first).

    Vectors and lanes run along memory; warps take dimensions that are kept before those that are reduced, so that no warp waits for
    another if it can be helped. A thread holds at most `registers` elements of a dimension that may be looped over, the rest is a loop.
    """
    tile = _Dealer(list(extents))
    if order:
        tile.take(order[0], "v", vector)
    tile.deal("l", WARP, order)
    kept = [d for d in reversed(order) if d not in reduced]
    tile.deal("w", warps, [*kept, *(d for d in order if d in reduced)])
    room = max(1, registers // vector)
    if reduced:
        for d in kept:
            room = max(1, room // tile.left[d])
            tile.take(d, "r", tile.left[d])
    for d in order:
        size = tile.left[d] if tile.left[d] <= room else _even(tile.left[d], room)
        room = max(1, room // size)
        tile.take(d, "r", size)
        tile.take(d, "s", tile.left[d])
    return Layout(tuple(tuple(fs) for fs in tile.dims))


def serial(
    extents: Sequence[int], order: Sequence[int], *, vector: int, warps: int, registers: int, reduced: frozenset[int], in_order: bool
) -> Layout:
    """The layout in which each thread reduces for itself: threads share the kept dimensions, the reduced ones are loops or unrolled.

    `in_order`: elements follow each other as in memory, so inner dimensions alone are unrolled.
    """
    tile = _Dealer(list(extents))
    kept = [d for d in order if d not in reduced]
    if kept:
        tile.take(kept[0], "v", vector)
    tile.deal("l", WARP, kept)
    tile.deal("w", warps, kept)
    for d in kept:
        tile.take(d, "r", tile.left[d])
    room = max(1, registers // vector // prod(f.size for fs in tile.dims for f in fs if f.kind == "r"))
    for d in sorted(reduced, reverse=True) if in_order else sorted(reduced, key=lambda d: extents[d]):
        kind = "r" if tile.left[d] <= room else "s"
        if kind == "r":
            room = max(1, room // tile.left[d])
        elif in_order:
            room = 0
        tile.take(d, kind, tile.left[d])
    return Layout(tuple(tuple(fs) for fs in tile.dims))


def ordered(extents: Sequence[int], reduced: int, *, warps: int) -> Layout:
    """The layout in which threads hold runs of the reduced dimension one after the other, for reductions that must keep the order."""
    tile = _Dealer(list(extents))
    lanes = min(WARP, power_above(extents[reduced]))
    along = min(warps, power_above(-(-extents[reduced] // lanes)))
    tile.take(reduced, "s", -(-extents[reduced] // (lanes * along)))
    tile.take(reduced, "l", lanes)
    tile.take(reduced, "w", along)
    kept = [d for d in reversed(range(len(extents))) if d != reduced]
    tile.deal("l", WARP, kept, lanes)
    tile.deal("w", warps, kept, along)
    for d in kept:
        tile.take(d, "r", tile.left[d])
    return Layout(tuple(tuple(fs) for fs in tile.dims))


def scanned(extents: Sequence[int], order: Sequence[int], dim: int, *, vector: int, warps: int) -> Layout:
    """The layout of a tile that is scanned along `dim`: read in memory order, and each warp's part of a row in one piece, without loops."""
    tile = _Dealer(list(extents))
    tile.take(order[0], "v", vector)
    tile.deal("l", WARP, order)
    kept = [d for d in reversed(order) if d != dim]
    used = tile.deal("w", warps, kept)
    along = min(warps // used, power_above(tile.left[dim]))
    tile.take(dim, "r", -(-tile.left[dim] // along))
    tile.take(dim, "w", along, used)
    for d in kept:
        tile.take(d, "r", tile.left[d])
    return Layout(tuple(tuple(fs) for fs in tile.dims))


class _Dealer:
    """Takes factors off the extents of a tile, inner ones first."""

    def __init__(self, extents: list[int]):
        self.left = extents
        self.dims: list[list[Factor]] = [[] for _ in extents]

    def take(self, dim: int, kind: str, size: int, stride: int = 1) -> None:
        if size > 1:
            self.dims[dim].insert(0, Factor(kind, size, stride))
            self.left[dim] = -(-self.left[dim] // size)

    def deal(self, kind: str, have: int, dims: Sequence[int], stride: int = 1) -> int:
        """Gives dims their parts of a number below `have`, of which the first `stride` are taken; returns how many are then."""
        for d in dims:
            size = min(have // stride, power_above(self.left[d]))
            self.take(d, kind, size, stride)
            stride *= size
        return stride


def power_above(n: int) -> int:
    """The least power of two that is at least `n`."""
    return 1 << max(0, n - 1).bit_length()


def _even(total: int, most: int) -> int:
    """The largest divisor of `total` that is at most `most`, unless that is less than half of it."""
    best = next(n for n in range(most, 0, -1) if total % n == 0)
    return best if 2 * best >= most else most
