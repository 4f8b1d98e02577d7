"""Measures rows with several peers: a process each, that take turns in short slices, so that what disturbs the machine disturbs all."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from .settings import BUILD, ROOT, environment
from .suite import Results, Suite

_PREPARE_SECONDS = 600.0
_REST = 0.02
"""Between slices: until the threads of the process that had its turn have stopped spinning."""


@dataclass
class Measured:
    """What is known of one row, peer and number of threads, over the rounds of a run; times are in milliseconds."""

    medians: list[float] = field(default_factory=list)
    """Of each slice."""
    least: float = float("inf")
    processor_medians: list[float] = field(default_factory=list)
    """The same of the time that the processor spent, in all threads: another process on the same core does not count."""
    processor_least: float = float("inf")
    compile_seconds: float | None = None
    """Of the first round: later ones may find caches filled."""
    note: str = ""
    differs: str = ""
    error: str = ""

    @property
    def median(self) -> float:
        """The least median of a slice, in milliseconds."""
        return min(self.medians)

    @property
    def processor(self) -> float:
        """The least median of a slice, of the processor's time."""
        return min(self.processor_medians)

    def add(self, wall: list[float], processor: list[float]) -> None:
        self.medians.append(statistics.median(wall))
        self.least = min(self.least, *wall)
        self.processor_medians.append(statistics.median(processor))
        self.processor_least = min(self.processor_least, *processor)


class WorkerError(Exception):
    """A process ended or kept silent."""


class _Worker:
    """One process that measures with one peer (worker.py)."""

    def __init__(self, suite: Suite, peer: str, threads: int):
        self.peer = peer
        self._log = BUILD / f"log.{peer}.txt"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.worker", suite.name, peer, str(threads)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env=environment(threads),
                start_new_session=True,
            )
        self.lost = False
        self._imported = False

    def begin(self, row: str) -> dict[str, Any]:
        """Prepares a row and tells how that went."""
        if not self._imported:
            self._answer()
            self._imported = True
        return self._ask(row)

    def measure(self, seconds: float) -> tuple[list[float], list[float]]:
        answer = self._ask(str(seconds))
        return answer["wall"], answer["processor"]

    def end(self) -> None:
        """Of a row."""
        self._tell("")
        self._answer()

    def stop(self) -> None:
        self.lost = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _ask(self, line: str) -> dict[str, Any]:
        self._tell(line)
        answer = self._answer()
        if "ended" in answer:
            raise WorkerError(self._last_words(answer["ended"]))
        return answer

    def _tell(self, line: str) -> None:
        try:
            self._pipe("stdin").write(line + "\n")
            self._pipe("stdin").flush()
        except BrokenPipeError:
            raise self._loss() from None

    def _answer(self) -> dict[str, Any]:
        answers = self._pipe("stdout")
        if not select.select([answers], [], [], _PREPARE_SECONDS)[0]:
            self.stop()
            raise WorkerError(f"no answer for {_PREPARE_SECONDS:.0f} s")
        line = answers.readline()
        if not line:
            raise self._loss()
        return json.loads(line)

    def _loss(self) -> WorkerError:
        self.stop()
        return WorkerError(self._last_words(self._process.returncode))

    def _pipe(self, name: str) -> IO[str]:
        return getattr(self._process, name)

    def _last_words(self, status: int) -> str:
        lines = [line.strip() for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return f"status {status}" if status < 0 or not lines else lines[-1][:200]


class Session:
    """The processes of a run. A peer's is started when a row first needs it, and again after it was lost."""

    def __init__(self, suite: Suite):
        self.suite = suite
        self._workers: dict[tuple[str, int], _Worker] = {}

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.stop()
        _progress("")

    def run_round(
        self, row: Any, peers: list[str], threads: int, slices: int, seconds: float, known: dict[str, Measured], offset: int
    ) -> None:
        """One round: `slices` turns of `seconds` each. Adds to `known`. `offset` turns the order of the peers."""
        live = self._prepare(row, peers, threads, known)
        for turn in range(slices):
            _progress(f"{row.name}, threads {threads}: slice {turn + 1} of {slices}")
            first = (turn + offset) % max(1, len(live))
            for peer in live[first:] + live[:first]:
                time.sleep(_REST)
                try:
                    known[peer].add(*self._worker(peer, threads).measure(seconds))
                except WorkerError as error:
                    known[peer].error = str(error)
                    live = [each for each in live if each != peer]
        for peer in live:
            self._worker(peer, threads).end()
        _progress("")

    def _prepare(self, row: Any, peers: list[str], threads: int, known: dict[str, Measured]) -> list[str]:
        """The peers that are ready to be timed."""
        results: dict[str, Results] = {}
        for peer in peers:
            _progress(f"{row.name}, threads {threads}: preparing {peer}")
            try:
                answer = self._worker(peer, threads).begin(row.name)
            except WorkerError as error:
                known[peer].error = str(error)
                continue
            with np.load(answer["results"]) as arrays:
                results[peer] = Results(answer["shapes"], list(arrays.values()))
            known[peer].note = answer["note"]
            if known[peer].compile_seconds is None:
                known[peer].compile_seconds = answer["compile_seconds"]
        for peer, differs in self._disagreements(row, results).items():
            known[peer].differs = differs
        return list(results)

    def _worker(self, peer: str, threads: int) -> _Worker:
        worker = self._workers.get((peer, threads))
        if worker is None or worker.lost:
            worker = self._workers[peer, threads] = _Worker(self.suite, peer, threads)
        return worker

    def _disagreements(self, row: Any, results: dict[str, Results]) -> dict[str, str]:
        """By peer: how its results differ from the reference's, empty where they agree."""
        reference = self.suite.reference_of(row.name)
        expected = results.get(reference)
        if expected is None:
            return {}
        others = [peer for peer in results if peer != reference and self.suite.peers[peer].compares(row)]
        return {peer: self.suite.difference(row, results[peer], expected) for peer in others}


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
