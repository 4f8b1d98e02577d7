"""A process that measures rows with one peer. It imports what the peer needs once and forks for each row, so that a row finds nothing of
the ones before it, and waits for no import.

It reads the name of a row; its child then does what the lines on its standard input say, and answers each with a line of JSON: first,
when the row is prepared; then for each number of seconds with the times of calls; at an empty line it ends.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from .settings import BUILD, pin
from .suite import Peer, load

_MOST_SAMPLES = 5000
_MOST_COMPARED = 1 << 21
_STACK = 64 << 20
"""Of the thread that compiles and calls."""
_SHORTEST_SAMPLE = 0.05
"""Milliseconds: calls that are shorter are timed several at a time, for a clock costs some of a microsecond."""


def main(suite_name: str, peer_name: str, threads: int) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to standard output: that is for answers alone
    suite = load(suite_name)
    peer = suite.peers[peer_name]
    for module in peer.modules:
        importlib.import_module(module)
    peer.warm()
    pin(threads)
    _answer(answers, imported=True)
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            os._exit(_in_a_thread(functools.partial(_measure, suite.rows[line.strip()], peer, threads, answers)))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        _answer(answers, ended=status)


def _in_a_thread(function: Callable[[], int]) -> int:
    """What the function gives, called in a new thread: the one that a child begins with has no pool of OpenMP's, which a call of several
    threads would then have to go around (runtime/native/parallel.cpp)."""
    status: list[int] = []
    threading.stack_size(_STACK)
    thread = threading.Thread(target=lambda: status.append(function()))
    thread.start()
    thread.join()
    return status[0]


def _answer(answers: IO[str], **values: object) -> None:
    print(json.dumps(values), file=answers, flush=True)


def _measure(row: Any, peer: Peer, threads: int, answers: IO[str]) -> int:
    try:
        prepared = peer.prepare(row, threads)
        results = BUILD / f"results.{peer.name}.npz"
        np.savez(results, *map(_floats, prepared.results))
        shapes = [np.shape(array) for array in prepared.results]
        _answer(answers, compile_seconds=prepared.compile_seconds, note=prepared.note, results=str(results), shapes=shapes)
        while line := sys.stdin.readline().strip():
            wall, processor = sample(prepared.call, float(line))
            _answer(answers, wall=wall, processor=processor)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _floats(array: np.ndarray) -> np.ndarray:
    """What is compared of an array: the elements in a row, of a large one some; the parts of complex numbers side by side."""
    array = np.asarray(array).reshape(-1)
    array = array[:: array.size // _MOST_COMPARED | 1]
    return np.ascontiguousarray(array, np.complex64).view(np.float32) if array.dtype.kind == "c" else array.astype(np.float32)


def sample(call: Callable[[], object], seconds: float) -> tuple[list[float], list[float]]:
    """Milliseconds of calls, for about so long: by the clock, and of the processor, all threads together. At least three, after some
    that bring the data back into the caches and do not count; but a call that is longer than all that is enough by itself."""
    wall: list[float] = []
    processor: list[float] = []

    def run(count: int) -> None:
        busy, start = time.process_time(), time.perf_counter()
        for _ in range(count):
            call()
        wall.append((time.perf_counter() - start) / count * 1e3)
        processor.append((time.process_time() - busy) / count * 1e3)

    run(1)
    if wall[0] > seconds * 1e3:
        return wall, processor
    warm_until = time.perf_counter() + seconds / 8
    while time.perf_counter() < warm_until:
        run(1)
    at_once = max(1, round(_SHORTEST_SAMPLE / min(wall)))
    wall.clear()
    processor.clear()
    until = time.perf_counter() + seconds
    while len(wall) < 3 or (time.perf_counter() < until and len(wall) < _MOST_SAMPLES):
        run(at_once)
    return wall, processor


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
