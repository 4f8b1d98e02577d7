"""Peers beside each other: processes have workloads ready at once, each some of them, on all cores; then one after the other has its times
taken, while the rest wait.

To compile for torch.compile or JAX takes seconds a workload and one core; the GPU is only taken for milliseconds. What is ready stays where
it is, in the GPU's memory too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from .processes import Worker

Answer = dict[str, Any]
_SECONDS = 120.0
"""That one workload may take to be ready, or to be timed."""
_BEGUN = 20.0
"""Seconds that are left to what was begun: a process that is ended takes with it what was ready."""


@dataclass
class Job:
    """What one process does: the workloads ("row") or models ("model") of a peer."""

    what: str
    peer: str
    names: Sequence[str]
    ready: list[str] = field(default_factory=list)


def split(what: str, peer: str, names: Sequence[str], processes: int) -> list[Job]:
    """The names dealt out among processes."""
    return [Job(what, peer, part) for n in range(processes) if (part := names[n::processes])]


def measure_together(
    jobs: Sequence[Job], worker: Callable[[], Worker], folder: str, seconds: float, end: float, told: Callable[[Job, str, Answer], None]
) -> None:
    """Has all ready in half of the time that there is until `end` (time.monotonic()), then times what is; `told` has every answer."""
    enough = time.monotonic() + (end - time.monotonic()) / 2
    workers = [worker() for _ in jobs]
    try:
        with ThreadPoolExecutor(max(1, len(jobs))) as pool:
            list(pool.map(lambda pair: _make_ready(*pair, folder, enough, told), zip(jobs, workers)))
        for job, process in zip(jobs, workers):
            for name in job.ready:
                if time.monotonic() < end:
                    left = max(1.0, min(_SECONDS, end - time.monotonic()))
                    told(job, name, process.ask(left, do="time", what=job.what, name=name, peer=job.peer, seconds=seconds))
            process.stop()
    finally:
        for process in workers:
            process.stop()


def _make_ready(job: Job, process: Worker, folder: str, enough: float, told: Callable[[Job, str, Answer], None]) -> None:
    for name in job.names:
        if time.monotonic() > enough:
            return
        left = max(_BEGUN, min(_SECONDS, enough - time.monotonic()))
        answer = process.ask(left, do="ready", folder=folder, what=job.what, name=name, peer=job.peer)
        if "error" in answer:
            told(job, name, answer)
            if not answer.get("goes_on"):  # the process is gone, and with it what was ready
                job.ready.clear()
        else:
            job.ready.append(name)
