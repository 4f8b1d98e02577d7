"""Measures one row with several peers: a process each, that take turns in short slices, so that what disturbs the machine disturbs all."""

from __future__ import annotations

import json
import select
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from .peers import PEERS
from .rows import Row
from .settings import BUILD, ROOT, environment

_PREPARE_SECONDS = 600.0
_REST = 0.02
"""Between slices: until the threads of the process that had its turn have stopped spinning."""


@dataclass
class Measured:
    """What is known of one row, peer and number of threads, over the rounds of a run."""

    medians: list[float] = field(default_factory=list)
    least: float = float("inf")
    compile_seconds: float | None = None
    """Of the first round: later ones may find caches filled."""
    differs: str = ""
    error: str = ""

    @property
    def median(self) -> float:
        """The least median of a slice, in milliseconds."""
        return min(self.medians)

    def add(self, samples: list[float]) -> None:
        self.medians.append(statistics.median(samples))
        self.least = min(self.least, *samples)


class WorkerError(Exception):
    """A process ended or kept silent."""


class _Worker:
    """One process that measures (worker.py)."""

    def __init__(self, row: Row, peer: str, threads: int):
        self.peer = peer
        self._log = BUILD / f"log.{peer}.txt"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.worker", row.name, peer, str(threads)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env=environment(threads),
            )

    def ask(self, line: str) -> dict[str, Any]:
        try:
            self._pipe("stdin").write(line + "\n")
            self._pipe("stdin").flush()
        except BrokenPipeError:
            raise WorkerError(self._last_words()) from None
        return self.answer()

    def answer(self) -> dict[str, Any]:
        answers = self._pipe("stdout")
        if not select.select([answers], [], [], _PREPARE_SECONDS)[0]:
            raise WorkerError(f"no answer for {_PREPARE_SECONDS:.0f} s")
        line = answers.readline()
        if not line:
            raise WorkerError(self._last_words())
        return json.loads(line)

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _pipe(self, name: str) -> IO[str]:
        return getattr(self._process, name)

    def _last_words(self) -> str:
        lines = [line.strip() for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return (lines[-1] if lines else f"ended with status {self._process.wait()}")[:200]


def run_round(row: Row, peers: list[str], threads: int, slices: int, seconds: float, known: dict[str, Measured], offset: int) -> None:
    """One round: fresh processes, `slices` turns of `seconds` each. Adds to `known`. `offset` turns the order of the peers."""
    workers = [_Worker(row, peer, threads) for peer in peers]
    try:
        live = []
        results: dict[str, list[np.ndarray]] = {}
        for worker in workers:
            try:
                worker.answer()
                _progress(f"{row.name}, threads {threads}: preparing {worker.peer}")
                answer = worker.ask("prepare")
            except WorkerError as error:
                known[worker.peer].error = str(error)
                continue
            with np.load(answer["results"]) as arrays:
                results[worker.peer] = list(arrays.values())
            if known[worker.peer].compile_seconds is None:
                known[worker.peer].compile_seconds = answer["compile_seconds"]
            live.append(worker)
        for peer, differs in _disagreements(row, results).items():
            known[peer].differs = differs
        for turn in range(slices):
            _progress(f"{row.name}, threads {threads}: slice {turn + 1} of {slices}")
            first = (turn + offset) % max(1, len(live))
            for worker in live[first:] + live[:first]:
                time.sleep(_REST)
                known[worker.peer].add(worker.ask(str(seconds))["milliseconds"])
    finally:
        for worker in workers:
            worker.stop()
        _progress("")


def _disagreements(row: Row, results: dict[str, list[np.ndarray]]) -> dict[str, str]:
    """By peer: how its results differ from JAX's, empty where they agree."""
    if "jax" not in results:
        return {}
    return {peer: _difference(row, peer, arrays, results["jax"]) for peer, arrays in results.items() if peer != "jax"}


def _difference(row: Row, peer: str, found: list[np.ndarray], expected: list[np.ndarray]) -> str:
    if row.program == "cartpole_rng" and PEERS[peer].title.startswith("torch"):
        return ""  # another generator
    if [array.shape for array in found] != [array.shape for array in expected]:
        return f"shapes {[array.shape for array in found]}"
    if row.chaotic:
        agree = float(np.mean([np.mean(np.isclose(a, b, atol=1e-3)) for a, b in zip(found, expected)]))
        return "" if agree > 0.95 else f"only {agree:.1%} of the results agree"
    apart = max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in zip(found, expected))
    return "" if apart <= row.tolerance else f"results differ by {apart:.2g} of the largest"


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
