"""Writes results as a page.

python -m benchmarks.training.page build/benchmarks/training.json -o docs/training.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..layers.results import Results, load_results, summary
from ..report import table
from ..suite import Suite, load

CONDITIONS = """Milliseconds of the processor's time on one thread: the least median of a slice. A step is the loss, its gradients and
torch's own SGD with momentum (optax's in a row of flax's). First step: seconds of the processor's time, other processes' included.
Gradients: the norm of their difference from those in f64 at the same parameters, as a part of theirs, the median of three
steps. A rounding that flips a ReLU makes it a hundred times as much or more: of 24 steps of resnet18's 8 are such by hloom, 7 by eager
at the same parameters, and 9 by eager from inputs that are a rounding apart. What differs in densenet121 is one, too: the
gradient of one norm's bias is off by 9.5e-2 in one step of six by hloom, and by 1.6e-5 from inputs that are a rounding apart, as
by eager. In t5_3 it is a unit of the decoder whose value is -7.0e-7 in f64, where eager's err by up to 3.1e-6: in the third step
its ReLU lets it pass by hloom. How they are judged, and what is the same for all peers: [benchmarks](benchmarks.md). The
reference is eager, of a row of flax's jax.jit."""
COLUMNS = [
    *("row", "hloom", "reference", "torch.compile", "hloom / reference"),
    *("first step: hloom", "compile or JAX", "gradients: hloom", "reference"),
]


def page(results: Results) -> str:
    suite = load(results.suite)
    rows = [row for row, _ in results.keys()]
    parts = ["# Steps of training", f"{results.machine} Commit {results.commit}; {results.how}.", CONDITIONS]
    for family in suite.families():
        lines = [_line(results, suite, row) for row in rows if suite.family(row) == family]
        if lines:
            parts += [f"## {family}", table(COLUMNS, lines)]
    return "\n\n".join([*parts, "## Summary", summary(results, suite)]) + "\n"


def _line(results: Results, suite: Suite, row: str) -> list[str]:
    reference = suite.reference_of(row)
    compiler = "compile" if reference == "eager" else reference
    times = [_number(results.time(row, 1, peer)) for peer in ("hloom", reference, "compile")]
    found = {peer: results.measured.get((row, 1, peer)) for peer in ("hloom", reference, compiler)}
    seconds = [_number(each.compile_seconds if each else None) for each in (found["hloom"], found[compiler])]
    notes = [each.note.split("; ")[0].removesuffix(" from f64") if each else "–" for each in (found["hloom"], found[reference])]
    ours = found["hloom"]
    if ours is not None and ours.differs:
        notes[0] += " differs"
    return [row, *times, _number(results.ratio(row, 1)), *seconds, *notes]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def main() -> int:
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.training.page", description=__doc__, formatter_class=shape)
    parser.add_argument("results", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    options = parser.parse_args()
    options.output.write_text(page(load_results(options.results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
