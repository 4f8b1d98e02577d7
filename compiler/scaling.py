"""What a call of a CPU's program is priced at on 1 to 64 threads: where it stops to get faster, before anyone has such a machine.

A kernel's tiles are shared in equal chunks of at least its grain (runtime/native/parallel.cpp), and its thread with the most tiles is the
last to end. Opening a parallel region takes what the target says; no number of threads moves bytes faster than the whole memory does.
Library calls are priced at the target's rate on one thread: how they share their work is theirs to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hloom.dialects.target import TargetView

COUNTS = (1, 2, 4, 8, 16, 32, 64)
_PS = 10**12


def scaling(groups: Iterable[Mapping[str, Any]], target: TargetView) -> list[dict[str, int]]:
    """A row for each number of threads: {"threads", "cost_ps" of a call, "alone_ps" of it in what runs on one thread}."""
    called = [group for group in groups if group["entry"] == "main"]
    return [
        {
            "threads": count,
            "cost_ps": sum(group["calls"] * _time(group, count, target) for group in called),
            "alone_ps": sum(group["calls"] * _time(group, 1, target) for group in called if _most_threads(group) == 1),
        }
        for count in COUNTS
    ]


def _time(group: Mapping[str, Any], threads: int, target: TargetView) -> int:
    """Picoseconds of one run of the group."""
    cost = group.get("cost_ps", group["flops"] * _PS // target.f32_flops)
    shares = min(threads, _most_threads(group))
    if shares == 1:
        return int(cost)
    least = (group["reads"] + group["writes"]) * _PS // target.memory_bytes_per_second
    longest = -(-group["tiles"] // shares)
    return int(target.parallel_region_ps + max(cost * longest // group["tiles"], min(cost, least)))


def _most_threads(group: Mapping[str, Any]) -> int:
    return max(1, group["tiles"] // group["grain"]) if group.get("grain") else 1
