"""What a launch costs that several kernels share, in picoseconds.

    GPU   alone  launch + t each                                 together  launch + sum of t
    CPU   alone  t each, on one thread; or a region + t / 2      together  the same of the sum of t

A GPU's kernel of few blocks leaves most of the machine idle, so that the sum is what it takes at most. A CPU opens a parallel region for
a kernel that is worth it, and none for one that is not: together small kernels may be. Two threads are assumed, the fewest that share.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloom.dialects.kinds.kernel import is_worth_a_region
from hloom.dialects.target import TargetView

_LAUNCHES = 2
"""A kernel is small if it takes so many launches' time at most: its own launch is half of it."""
_THREADS = 2
_PART = 100
"""What is gained must be one part in so many of the time before."""


def is_small(cost_ps: int, target: TargetView) -> bool:
    """Whether what a kernel's own launch or region takes is worth saving."""
    if target.kind == "cuda":
        return cost_ps <= _LAUNCHES * target.launch_ps
    return cost_ps <= _PART * target.parallel_region_ps


def alone_ps(costs: Sequence[int], target: TargetView) -> int:
    """The time of kernels with launches of their own."""
    return sum(costs) if target.kind == "cuda" else sum(_on_threads(cost, target) for cost in costs)


def together_ps(costs: Sequence[int], target: TargetView) -> int:
    """Their time in one launch."""
    if target.kind == "cuda":
        return target.launch_ps + sum(max(0, cost - target.launch_ps) for cost in costs)
    return _on_threads(sum(costs), target)


def is_worth_it(before: int, after: int, target: TargetView) -> bool:
    return before - after > max(target.min_gain_ps, before // _PART)


def _on_threads(cost: int, target: TargetView) -> int:
    return target.parallel_region_ps + cost // _THREADS if is_worth_a_region(cost, target) else cost
