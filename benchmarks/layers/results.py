"""What a run found: a file, one line a row, and a summary."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from math import exp, log
from pathlib import Path

from ..report import machine, table
from ..session import Measured
from ..settings import ROOT
from ..suite import Suite, load
from .limits import LIMITS

Key = tuple[str, int, str]


@dataclass
class Results:
    suite: str
    commit: str
    machine: str
    how: str
    measured: dict[Key, Measured]
    """By row, threads and peer."""

    @classmethod
    def empty(cls, suite: str, how: str) -> Results:
        command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
        commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
        return cls(suite, commit, machine(), how, {})

    def time(self, row: str, threads: int, peer: str) -> float | None:
        """Milliseconds: of the processor at one thread, for the machine may be shared, by the clock at several."""
        found = self.measured.get((row, threads, peer))
        if found is None or not found.medians:
            return None
        return found.processor if threads == 1 else found.median

    def best(self, row: str, threads: int) -> tuple[float, str] | None:
        """The best peer's time and name."""
        times = [(time, peer) for peer in load(self.suite).best_of(row) if (time := self.time(row, threads, peer)) is not None]
        return min(times, default=None)

    def work(self, row: str, threads: int, limit: str) -> int | None:
        """The flops (`fma`) or bytes (`bandwidth`) of a call."""
        found = self.measured.get((row, threads, limit))
        return int(found.note) if found and found.note else None

    def ratio(self, row: str, threads: int) -> float | None:
        """hloom's time over the best peer's."""
        ours, best = self.time(row, threads, "hloom"), self.best(row, threads)
        return ours / best[0] if ours and best else None

    def of_limit(self, row: str, threads: int, peer: str = "hloom") -> tuple[float, str] | None:
        """What part of the limit that bounds the row a peer reaches, and which that is."""
        ours = self.time(row, threads, peer)
        limits = [(time, name) for name in LIMITS if (time := self.time(row, threads, name)) is not None]
        return (max(limits)[0] / ours, max(limits)[1]) if ours and limits else None

    def keys(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys((row, threads) for row, threads, _ in self.measured))


def save(results: Results, path: Path) -> None:
    rows = [{"row": row, "threads": threads, "peer": peer, **asdict(each)} for (row, threads, peer), each in results.measured.items()]
    head = {"suite": results.suite, "commit": results.commit, "machine": results.machine, "how": results.how}
    path.write_text(json.dumps({**head, "measured": rows}, indent=0))


def load_results(path: Path) -> Results:
    data = json.loads(path.read_text())
    measured = {(each.pop("row"), each.pop("threads"), each.pop("peer")): Measured(**each) for each in data.pop("measured")}
    return Results(**data, measured=measured)


def line(results: Results, row: str, threads: int) -> str:
    """Milliseconds of each peer, hloom's over the best's, and its part of the limit."""
    parts = []
    for (name, count, peer), measured in results.measured.items():
        if (name, count) != (row, threads) or peer in LIMITS:
            continue
        time = results.time(row, threads, peer)
        parts.append(f"{peer} failed ({measured.error})" if time is None else f"{peer} {time:.3g}" + " DIFFERS" * bool(measured.differs))
    ratio, limit = results.ratio(row, threads), results.of_limit(row, threads)
    parts += [f"= {ratio:.2f} × best"] if ratio else []
    parts += [f"{limit[0]:.0%} of {limit[1]}"] if limit else []
    return f"{row}{f', threads {threads}' * (threads > 1)}: {'  '.join(parts)}"


def mean(ratios: list[float]) -> float:
    """Geometric."""
    return exp(sum(map(log, ratios)) / len(ratios))


def summary(results: Results, suite: Suite) -> str:
    """By family: the mean and the worst of the ratios; then what failed."""
    lines = []
    for family in [*suite.families(), "all"]:
        found = [
            (ratio, row)
            for row, threads in results.keys()
            if family in ("all", suite.family(row)) and (ratio := results.ratio(row, threads))
        ]
        if found:
            worst = max(found)
            ratios = [ratio for ratio, _ in found]
            above = sum(ratio > 1 for ratio in ratios)
            lines.append([family, str(len(found)), f"{mean(ratios):.2f}", str(above), f"{worst[0]:.2f} {worst[1]}"])
    notes = [f"{row}, {peer}: {what}" for (row, _, peer), each in results.measured.items() for what in (each.error, each.differs) if what]
    return "\n".join([table(["family", "rows", "hloom / best, mean", "above 1", "worst"], lines), *notes])
