"""Wall-clock time of a compile, a pass at a time, in one table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Timing:
    """Rows of (stage, name, seconds) in the order they ended; `stage` is whichever `begin_stage` named last."""

    rows: list[tuple[str, str, float]] = field(default_factory=list)
    stage: str = ""
    started: float = field(default_factory=time.perf_counter)

    def begin_stage(self, name: str) -> None:
        self.stage = name

    def add(self, name: str, seconds: float) -> None:
        self.rows.append((self.stage, name, seconds))

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Times the block as one row."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - begin)

    def table(self) -> str:
        """One line a pass and stage, times summed over runs, and what was spent outside of any row."""
        total = time.perf_counter() - self.started
        summed: dict[tuple[str, str], tuple[float, int]] = {}
        for stage, name, seconds in self.rows:
            before, runs = summed.get((stage, name), (0.0, 0))
            summed[stage, name] = (before + seconds, runs + 1)
        rest = total - sum(seconds for seconds, _ in summed.values())
        lines = [*heading("Execution time"), f"  Total Execution Time: {total:.4f} seconds", ""]
        lines.append(f"  {'--Wall Time--':>19}  {'-Runs-':>6}  {'--Stage--':<10} --Name--")
        for (stage, name), (seconds, runs) in summed.items():
            lines.append(_line(seconds, total, str(runs), stage, name))
        lines += [_line(rest, total, "", "", "Rest"), _line(total, total, "", "", "Total")]
        return "\n".join(lines)


def heading(what: str) -> list[str]:
    """The lines above a report's table, as mlir-opt's."""
    rule = "===" + "-" * 73 + "==="
    return [rule, f"... {what} report ...".center(79).rstrip(), rule]


def _line(seconds: float, total: float, runs: str, stage: str, name: str) -> str:
    share = 100 * seconds / total if total else 0.0
    return f"  {seconds:10.4f} ({share:5.1f}%)  {runs:>6}  {stage:<10} {name}"
