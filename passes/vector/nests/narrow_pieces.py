"""What a tile reads of the left operand of a contraction, as dims of a panel: windows that overlap are in it once.

    x[2 * oh + kh, 2 * ow + kw, i]   for the loops oh < 4, kh < 3, ow < 28, kw < 3   9 lines of 57 pixels: dims oh, kh -> 2 * oh + kh
                                                                                    and ow, kw -> 2 * ow + kw
    x[oh * 4 + kh, i]                 for kh < 4, and other loops that share no     a dim for each loop
                                      element

Zeros around the operand stay around the piece.
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


@dataclass(frozen=True)
class Dim:
    """`extent` elements, `stride` apart; a point of the loops is at the sum of them times `steps`. `bounds`: which of them exist."""

    extent: LoopBound
    stride: int
    steps: dict[int, int]
    bounds: Bounds | None = None

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
            return None
    return None if results is None else sorted(dims, key=lambda dim: -abs(dim.stride))


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
