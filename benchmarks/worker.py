"""A process that measures one row with one peer. It does what the lines on its standard input say and answers each with a line of JSON."""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable

import numpy as np

from .peers import PEERS
from .rows import ROWS
from .settings import BUILD, pin

_MOST_SAMPLES = 5000


def main(row_name: str, peer_name: str, threads: int) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to standard output: that is for answers alone

    def answer(**values: object) -> None:
        print(json.dumps(values), file=answers, flush=True)

    row, peer = ROWS[row_name], PEERS[peer_name]
    for module in peer.modules:
        importlib.import_module(module)
    pin(threads)
    answer(imported=True)
    if not sys.stdin.readline():
        return
    prepared = peer.prepare(row, threads)
    results = BUILD / f"results.{peer_name}.npz"
    np.savez(results, *map(_floats, prepared.results))
    answer(compile_seconds=prepared.compile_seconds, results=str(results))
    for line in sys.stdin:
        answer(milliseconds=sample(prepared.call, float(line)))


def _floats(array: np.ndarray) -> np.ndarray:
    """An array to compare; the parts of complex numbers side by side."""
    array = np.asarray(array)
    return np.ascontiguousarray(array, np.complex64).view(np.float32) if array.dtype.kind == "c" else array.astype(np.float32)


def sample(call: Callable[[], object], seconds: float) -> list[float]:
    """Times of single calls, at least three, for about so long. The first calls bring the data back into the caches and do not count."""
    warm_until = time.perf_counter() + seconds / 8
    call()
    while time.perf_counter() < warm_until:
        call()
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < until and len(times) < _MOST_SAMPLES):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return times


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
