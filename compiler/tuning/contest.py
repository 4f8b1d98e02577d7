"""Which of two compiled programs is faster, on a machine that does other things too.

Both run in turn, in rounds: first one then the other, in the next round the other first, so that what slows the machine slows both. Time
is the process's own CPU time where a call uses one thread (what other processes take does not count), the clock's where it uses several.
Of each the least round counts: noise only adds. The challenger wins where its least round is shorter by `LEAST_GAIN` *and* it was
the faster in `CLEARLY` of the rounds. A tuner asks twice: of many candidates the luckiest looks best.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from hloom.runtime.library import get_threads

LEAST_GAIN = 0.02
CLEARLY = 0.7
_ROUNDS, _MOST_ROUNDS = 8, 60
_ROUND_SECONDS, _SECONDS = 0.006, 0.6
_HOPELESS = 1.2
"""After half of the rounds a challenger that is slower than this is not measured further."""

Call = Callable[[], object]


@dataclass(frozen=True)
class Outcome:
    """Seconds a call of each, and in which part of the rounds the challenger was the faster."""

    holder: float
    challenger: float
    faster: float

    @property
    def won(self) -> bool:
        """Whether the challenger is the faster, beyond noise."""
        return self.challenger < self.holder * (1 - LEAST_GAIN) and self.faster >= CLEARLY


def clock() -> Callable[[], float]:
    """CPU time of this process for calls on one thread, the clock on the wall for those on several."""
    return time.process_time if get_threads() == 1 else time.perf_counter


def contest(holder: Call, challenger: Call, seconds: float = _SECONDS) -> Outcome:
    """Measures both in turn, for about so long."""
    holder(), challenger()
    now = clock()
    start = now()
    holder()
    calls = max(1, int(_ROUND_SECONDS / max(1e-7, now() - start)))

    def round_of(call: Call) -> float:
        start = now()
        for _ in range(calls):
            call()
        return (now() - start) / calls

    times: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while len(times) < _ROUNDS or (time.perf_counter() < end and len(times) < _MOST_ROUNDS):
        if len(times) % 2:
            second = round_of(challenger)
            times.append((round_of(holder), second))
        else:
            first = round_of(holder)
            times.append((first, round_of(challenger)))
        if len(times) == _ROUNDS // 2 and min(b for _, b in times) > _HOPELESS * min(a for a, _ in times):
            break
    return Outcome(min(a for a, _ in times), min(b for _, b in times), sum(b < a for a, b in times) / len(times))
