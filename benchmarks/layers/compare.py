"""Compares the results of two commits and names what got slower.

    python -m benchmarks.layers.compare BEFORE.json AFTER.json [--most 1.05]

Machines differ from one hour to the next: hloom's times are divided by those of what did not change, the peers and the limits that both
runs measured of the same row (their geometric mean). Ends with status 1 if a row got slower than `--most` times what it was.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from ..report import table
from .limits import LIMITS
from .results import Key, Results, load_results, mean

_SECONDS_MATTER = 0.2
"""Compile times that differ by less are noise."""


@dataclass(frozen=True)
class Change:
    row: str
    threads: int
    before: float
    """hloom's milliseconds."""
    after: float
    machine: float
    """How much slower all else got."""

    @property
    def factor(self) -> float:
        return self.after / self.before / self.machine


def changes(before: Results, after: Results) -> list[Change]:
    """Of all rows that both have, the worst first."""
    found = []
    for row, threads in before.keys():
        old, new = before.time(row, threads, "hloom"), after.time(row, threads, "hloom")
        if old and new:
            found.append(Change(row, threads, old, new, _machine(before, after, row, threads)))
    return sorted(found, key=lambda change: -change.factor)


def _machine(before: Results, after: Results, row: str, threads: int) -> float:
    others = [peer for name, count, peer in before.measured if (name, count) == (row, threads) and peer != "hloom"]
    others = [peer for peer in others if peer not in LIMITS or before.work(row, threads, peer)]  # no flops take no time
    pairs = [(before.time(row, threads, peer), after.time(row, threads, peer)) for peer in others]
    return mean([new / old for old, new in pairs if old and new] or [1.0])


def text(before: Results, after: Results, most: float) -> tuple[str, bool]:
    """What changed, and whether anything got slower."""
    found = changes(before, after)
    if not found:
        return "no row is in both", False
    slower = [change for change in found if change.factor > most]
    faster = [change for change in reversed(found) if change.factor < 1 / most]
    broken = _only(after, before, "error") + _only(after, before, "differs")
    compiled = _compile_times(before, after, most)
    overall = mean([change.factor for change in found])
    parts = [
        f"{before.commit} → {after.commit}: {len(found)} rows, hloom's time × {overall:.3f} (geometric mean);"
        f" {len(slower)} slower, {len(faster)} faster by more than {most - 1:.0%}"
    ]
    for title, some in (("Slower", slower), ("Faster", faster)):
        if some:
            parts += [f"## {title}", _table(some)]
    if compiled:
        parts += ["## Compiled more slowly", table(["row", "seconds before", "after"], compiled)]
    if broken:
        parts += ["## Newly failed or wrong", "\n".join(broken)]
    return "\n\n".join(parts), bool(slower or broken)


def _table(some: list[Change]) -> str:
    lines = []
    for each in some:
        times = [f"{each.before:.3g}", f"{each.after:.3g}"]
        lines.append([each.row, str(each.threads), *times, f"{each.machine:.2f}", f"{each.factor:.2f}"])
    return table(["row", "threads", "ms before", "ms after", "all else ×", "hloom ×"], lines)


def _compile_times(before: Results, after: Results, most: float) -> list[list[str]]:
    found = []
    for key, old in before.measured.items():
        new = after.measured.get(key)
        if key[2] != "hloom" or new is None or old.compile_seconds is None or new.compile_seconds is None:
            continue
        if new.compile_seconds > max(old.compile_seconds * most, old.compile_seconds + _SECONDS_MATTER):
            found.append([key[0], f"{old.compile_seconds:.2f}", f"{new.compile_seconds:.2f}"])
    return found


def _only(after: Results, before: Results, what: str) -> list[str]:
    def said(results: Results, key: Key) -> str:
        return getattr(results.measured[key], what) if key in results.measured else ""

    return [f"- {key[0]}: {said(after, key)}" for key in after.measured if key[2] == "hloom" and said(after, key) and not said(before, key)]


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.layers.compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--most", type=float, default=1.05, help="times that a row may take of what it took, %(default)s if not said")
    options = parser.parse_args()
    said, slower = text(load_results(options.before), load_results(options.after), options.most)
    print(said)
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
