"""Writes results as a page with pictures.

    python -m benchmarks.layers.page build/benchmarks/layers.json -o FOLDER

FOLDER gets a page in Markdown and its pictures, named by the suite. Needs matplotlib (the extra `bench`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..report import table
from ..suite import Suite, load
from .limits import LIMITS
from .pictures import draw
from .results import Results, load_results, summary

_TIMES = """Milliseconds of a call, the least median of a slice / the least call: at one thread of the processor's time, for the machine
may be shared, at several by the clock."""
CONDITIONS = """hloom and eager are given images in the better of both memory formats. Best: of eager,
torch.compile (weights frozen) and OpenVINO (f32, one stream, latency). Limit: hloom's part of what the machine does at most, FMAs in
registers for the row's flops or one read and one write of its bytes from where they lie, whichever takes longer, timed in the same
slices."""
_UNREMARKABLE = 0.6
"""Of the limit: what is below is named, with the reason where reasons.txt has it."""


def write_page(results: Results, folder: Path) -> Path:
    """Returns the page's file."""
    suite = load(results.suite)
    folder.mkdir(parents=True, exist_ok=True)
    counts = sorted({threads for _, threads in results.keys()})
    parts = [
        f"# hloom beside its peers: {suite.name}",
        f"{results.machine} Commit {results.commit}; {results.how}.",
        f"{_TIMES} {suite.conditions or CONDITIONS}",
    ]
    for threads in counts:
        parts += [f"## {threads} thread{'s' * (threads > 1)}"] if len(counts) > 1 else []
        parts += [f"![{path.stem}]({path.name})" for path in draw(results, suite, threads, folder)]
        for family in suite.families():
            rows = [row for row, count in results.keys() if count == threads and suite.family(row) == family]
            lines = [_line(results, row, threads) for row in rows]
            if lines:
                parts += [f"### {family}", table(["row", *_titles(results, suite), "hloom / best", "limit", "compile, s"], lines)]
    parts += ["## Summary", summary(results, suite), _far_from_limit(results, suite)]
    path = folder / f"{suite.name}.md"
    path.write_text("\n\n".join(parts) + "\n")
    return path


def _peers(results: Results) -> list[str]:
    return [peer for peer in dict.fromkeys(peer for _, _, peer in results.measured) if peer not in LIMITS]


def _titles(results: Results, suite: Suite) -> list[str]:
    return [suite.peers[peer].title for peer in _peers(results)]


def _line(results: Results, row: str, threads: int) -> list[str]:
    cells = [row, *(_cell(results, row, threads, peer) for peer in _peers(results))]
    ratio, limit = results.ratio(row, threads), results.of_limit(row, threads)
    cells.append(f"**{ratio:.2f}**" if ratio and ratio > 1 else f"{ratio:.2f}" if ratio else "–")
    cells.append(f"{limit[0]:.0%} of {limit[1]}" if limit else "–")
    cells.append(_compile_times(results, row, threads))
    return cells


def _compile_times(results: Results, row: str, threads: int) -> str:
    """hloom's, and torch.compile's where it is a peer."""
    found = [results.measured.get((row, threads, peer)) for peer in ("hloom", "compile")]
    told = [f"{each.compile_seconds:.2f}" + f" ({each.note})" * bool(each.note) for each in found if each and each.compile_seconds]
    return " / ".join(told) or "–"


def _cell(results: Results, row: str, threads: int, peer: str) -> str:
    found, time = results.measured.get((row, threads, peer)), results.time(row, threads, peer)
    if found is None or time is None:
        return "failed" if found and found.error else "–"
    least = found.processor_least if threads == 1 else found.least
    return f"{time:.3g} / {least:.3g}" + " differs" * bool(found.differs)


def _far_from_limit(results: Results, suite: Suite) -> str:
    found = [(limit, row) for row, threads in results.keys() if threads == 1 and (limit := results.of_limit(row, threads))]
    below = sorted((part, name, row) for (part, name), row in found if part < _UNREMARKABLE)
    reasons = _reasons()
    lines = [[row, f"{part:.0%} of {name}", reasons.get(row, reasons.get(suite.family(row), "–"))] for part, name, row in below]
    return f"## Below {_UNREMARKABLE:.0%} of the limit\n\n{table(['row', 'limit', 'why'], lines)}" if lines else ""


def _reasons() -> dict[str, str]:
    """By row or family."""
    lines = (Path(__file__).parent / "reasons.txt").read_text(encoding="utf-8").splitlines()
    return dict((part.strip() for part in line.split("|", 1)) for line in lines if line.strip() and not line.startswith("#"))


def main() -> int:
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.layers.page", description=__doc__, formatter_class=shape)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args()
    for path in options.results:
        print(write_page(load_results(path), options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
