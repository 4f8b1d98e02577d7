"""What a tile reads of the left operand of a contraction, as dims of a panel: windows that overlap are in it once.

    x[2 * oh + kh, 2 * ow + kw, i]   for the loops oh < 4, kh < 3, ow < 28, kw < 3   9 lines of 57 pixels: dims oh, kh -> 2 * oh + kh
                                                                                    and ow, kw -> 2 * ow + kw
    x[oh * 4 + kh, i]                 for kh < 4, and other loops that share no     a dim for each loop
                                      element

    x[oh * 2 + kh, ow * 6 + j]        for the depth j < 21: each window is a row, they overlap

Zeros around the operand stay around the piece; those along the depth are in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from torch_mlir import ir

from ...common.control_flow import LoopBound
from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Bounds, Storage
from ...common.tiled_function import size_bound

_MOST_EDGES = 16


@dataclass(frozen=True)
class Reach:
    """Element k of row i exists where `low <= step * i + k < high`, as do all `depth` of the rows `whole`."""

    step: int
    low: int
    high: int
    depth: int

    @property
    def whole(self) -> range:
        first = max(0, -(-self.low // self.step))
        return range(first, max(first, (self.high - self.depth) // self.step + 1))

    def existing(self, row: int) -> range:
        """The elements of a row that exist."""
        first = min(self.depth, max(0, self.low - self.step * row))
        return range(first, max(first, min(self.depth, self.high - self.step * row)))

    def times(self, count: int) -> Reach:
        """Of rows whose elements are each `count` of what they are here."""
        return Reach(self.step * count, self.low * count, self.high * count, self.depth * count)


@dataclass(frozen=True)
class Dim:
    """`extent` elements, `stride` apart; a point of the loops is at the sum of them times `steps`. `bounds`: which of them exist; `reach`:
    where each is a row along the depth of which not all elements do."""

    extent: LoopBound
    stride: int
    steps: dict[int, int]
    bounds: Bounds | None = None
    reach: Reach | None = None

    @property
    def most(self) -> int:
        """The extent, at most."""
        return size_bound(self.extent)


def piece(m: ir.AffineMap, storage: Storage, extents: list[LoopBound], depth: int, fixed: Mapping[int, LinearIndex]) -> list[Dim] | None:
    """The dims of what is read of `storage`, but for the loop `depth`, where the loops `fixed` are; those furthest apart come first. None
    where zeros around it are read otherwise than through windows."""
    dims: list[Dim] = []
    results = linear_results(m, [LinearIndex({loop: 1}) for loop in range(m.n_dims)])
    for number, index in enumerate(results or []):
        stride, bounds = storage.strides[number], storage.bounds[number] if storage.bounds else None
        free = {loop: step for loop, step in index.terms.items() if loop not in fixed and extents[loop] != 1}
        start = sum((at * index.coefficient(loop) for loop, at in fixed.items()), LinearIndex(constant=index.constant))
        inside = None if bounds is None else (bounds[0] - start, bounds[1] - start)
        if stride and depth not in free and (bounds or _overlap(free, extents)) and min(free.values(), default=0) > 0:
            common = 1 if bounds else gcd(*free.values())
            steps = {loop: step // common for loop, step in free.items()}
            dims.append(Dim(_reach(steps, extents), common * stride, steps, inside))
        elif bounds is None:
            dims += [Dim(extents[loop], step * stride, {loop: 1}) for loop, step in free.items() if loop != depth and stride]
        else:
            windows = _windows_along_depth(free, extents, depth, stride, inside)
            if windows is None:
                return None
            dims.append(windows)
    dims.sort(key=lambda dim: -abs(dim.stride))
    return None if results is None or any(dim.reach for dim in dims[:-1]) else dims


def _windows_along_depth(free: Mapping[int, int], extents: list[LoopBound], depth: int, stride: int, inside: Bounds | None) -> Dim | None:
    """Windows side by side that reach into zeros along the depth, few of them; None where they are no such windows."""
    others, length = [loop for loop in free if loop != depth], extents[depth]
    known = inside is not None and inside[0].is_constant and inside[1].is_constant
    if free.get(depth) != 1 or len(others) != 1 or inside is None or not known or not isinstance(length, int):
        return None
    (loop,) = others
    step, extent = free[loop], extents[loop]
    if not isinstance(extent, int) or step <= 0:
        return None
    reach = Reach(step, inside[0].constant, inside[1].constant, length)
    whole = reach.whole
    edges = extent - len(range(whole.start, min(whole.stop, extent)))
    return Dim(extent, step * stride, {loop: 1}, reach=reach) if edges <= _MOST_EDGES else None


def _overlap(steps: Mapping[int, int], extents: list[LoopBound]) -> bool:
    """Whether loops of these steps come to an element twice."""
    reach = 0
    for loop, step in sorted(steps.items(), key=lambda item: abs(item[1])):
        if abs(step) <= reach:
            return True
        reach += abs(step) * (size_bound(extents[loop]) - 1)
    return False


def _reach(steps: Mapping[int, int], extents: list[LoopBound]) -> LoopBound:
    """The elements from the first that the loops come to, to the last."""
    total = LinearIndex(constant=1)
    for loop, step in steps.items():
        total = total + (LinearIndex.of(extents[loop]) - 1) * step
    return total.constant if total.is_constant else total.value()
