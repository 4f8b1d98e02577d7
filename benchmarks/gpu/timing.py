"""Times on the GPU by device events, and of calls by the host's clock. Here torch owns the stream, the events and the memory.

Each workload stands there in several copies, weights and results too, that together are more than twice the L2, and they take turns: none
finds its data in the cache. A workload too small for that within MOST_COPIES copies is marked as one that may.
"""

from __future__ import annotations

import importlib.metadata
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

MOST_COPIES = 8
_MOST_LAUNCHES = 24
"""A stream takes so many graphs ahead, if cuda.core's builder made them; then the host waits, and its speed counts."""
_SAMPLE_SECONDS = 0.02
"""What a sample may hold, but one turn of all copies it holds at least."""
_MOST_WAIT = 0.5
_CYCLES_A_SECOND = 2e9
"""No GPU of these ticks faster by much."""

Launch = Callable[[], object]


@dataclass
class Times:
    """Microseconds of one call."""

    median: float
    least: float
    samples: int

    @staticmethod
    def of(samples: Sequence[float]) -> Times:
        return Times(statistics.median(samples), min(samples), len(samples))


def copies_for(nbytes: int, l2: int) -> int:
    """How many copies of so many bytes exceed twice the L2."""
    return min(MOST_COPIES, 2 * l2 // max(nbytes, 1) + 1)


def device_times(launches: Sequence[Launch], seconds: float) -> Times:
    """A sample is the time between two events around launches of all copies, over their number. The GPU is kept busy while the host
    enqueues them, so that they stand ready and the host's speed does not count."""
    import torch

    queue = _queue(launches, torch.cuda.synchronize)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start = time.perf_counter()
    _run(queue)
    enqueue = min(time.perf_counter() - start, _MOST_WAIT)
    torch.cuda.synchronize()

    def sample() -> float:
        torch.cuda._sleep(int((2 * enqueue + 1e-4) * _CYCLES_A_SECOND))
        begin.record()
        _run(queue)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / len(queue)

    return _sample(sample, seconds)


def call_times(calls: Sequence[Launch], synchronise: Launch, seconds: float) -> Times:
    """A sample is the host's time for calls of all copies, one after the other without waiting, until the last has its results."""
    queue = _queue(calls, synchronise)

    def sample() -> float:
        synchronise()
        start = time.perf_counter()
        _run(queue)
        synchronise()
        return (time.perf_counter() - start) * 1e6 / len(queue)

    return _sample(sample, seconds)


def sampled(launches: Sequence[Launch], synchronise: Launch, sample: Callable[[list[Launch]], float], seconds: float) -> Times:
    """`sample` gives the microseconds of a call, of a queue of as many turns of all copies as a sample may take."""
    queue = _queue(launches, synchronise)
    return _sample(lambda: sample(queue), seconds)


def has_torch() -> bool:
    """Whether torch is there and has a GPU. Else hloom is measured without it (alone.py), and peers are not."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def _queue(launches: Sequence[Launch], synchronise: Launch) -> list[Launch]:
    """As many turns of all copies as a sample may take."""
    _run(launches)
    synchronise()
    start = time.perf_counter()
    _run(launches)
    synchronise()
    turn = time.perf_counter() - start
    turns = max(1, min(_MOST_LAUNCHES // len(launches), int(_SAMPLE_SECONDS / turn)))
    return [*launches] * turns


def _run(queue: Sequence[Launch]) -> None:
    for launch in queue:
        launch()


def _sample(sample: Callable[[], float], seconds: float, least: int = 5, most: int = 200) -> Times:
    sample()
    samples: list[float] = []
    until = time.monotonic() + seconds
    while len(samples) < least or (time.monotonic() < until and len(samples) < most):
        samples.append(sample())
    return Times.of(samples)


def device_facts() -> dict[str, Any]:
    """Of the GPU that torch works on."""
    import torch

    properties = torch.cuda.get_device_properties(0)
    return {
        "device": properties.name,
        "l2_bytes": properties.L2_cache_size,
        "multiprocessors": properties.multi_processor_count,
        "memory_bytes": properties.total_memory,
        "architecture": f"sm_{properties.major}{properties.minor}",
        "torch": torch.__version__,
        "jax": _version("jax"),
        "cuda": torch.version.cuda,
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"
