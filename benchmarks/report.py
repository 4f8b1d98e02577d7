"""The tables of docs/benchmarks.md. Each command writes its own section and leaves the others as they are."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from .bars import BARS, COMPILE_SECONDS, FLOP_RATE, PER_ELEMENT, TWO_THREADS
from .peers import PEERS
from .rows import ROWS
from .session import Measured
from .settings import ROOT

INTRODUCTION = """# Benchmarks

    python -m benchmarks                         run times and compile times beside the peers: the first section
    python -m benchmarks.memory FOLDER --write   arenas, repeated calls, calls from two threads: the second
    python -m benchmarks.compile_time --write    hloom's compile time by stage, and of long chains: the third
    python -m benchmarks.gpu                     correctness and run times on an NVIDIA GPU: the last section
    python -m benchmarks.layers                  single layers of well-known models: build/benchmarks/layers.json
    python -m benchmarks.models                  whole models with random weights: build/benchmarks/models.json
    python -m benchmarks.functions               JAX functions: build/benchmarks/functions.json

They need the extras `torch` and `jax` and gcc; a peer that is not installed is left out. `--quick` and names of rows print only.

**Peers.** torch eager; torch.compile (its defaults; cartpole as graphs of 20 steps); JAX, weights as arguments and as constants; C,
with `gcc -O3 -march=native -mprefer-vector-width=512 -ffast-math -fopenmp` and glibc's vector functions (`benchmarks/c/`). hloom compiles
the StableHLO that JAX exports, SimpleModel from torch's export, and binds the weights. In the threefry row, torch uses its own generator.

**Conditions.** Each row and peer has a process of its own, on as many CPUs as threads, with the same allocator settings for all: glibc's
thresholds raised, so that memory is kept and does not fault again. The results of a call are dropped before the next, so every peer reuses
their memory: hloom through its cache (plain calls, no outputs given), torch and JAX through malloc, C by construction. All get the same
arrays and must give the numbers that JAX gives; what does not is listed. Machines are shared: look at the least times too.

**Layers, models and functions.** `benchmarks/layers/layers.txt` and `models.txt` are tables of torch modules with the sizes of real
models, a row a line: family, name, how torch makes it, shapes, and the same as a JAX function; `benchmarks/functions/functions.txt` is one
of JAX functions. Peers are eager, torch.compile with frozen weights, OpenVINO (f32, one stream, latency), JAX and onnxruntime, and two
limits, timed in the same slices: FMAs in registers for the row's flops, and one read and one write of its bytes. hloom and eager are
given images in the better of both memory formats (contiguous, channels_last). Results must be eager's, those of functions jax.jit's.
They need the extra `bench`.

    python -m benchmarks.layers                             one short round, about a quarter of an hour; --full is for a night
    python -m benchmarks.layers conv3x3 'resnet*' --peers hloom,eager   families and rows by name; --batch 1, --threads 2, -o FILE
    python -m benchmarks.models --batch 1                   batch 1 alone, a quarter of an hour too
    python -m benchmarks.layers.page FILE… -o FOLDER        pages with pictures: bars by family, the rows under the machine's roof
    python -m benchmarks.layers.compare BEFORE AFTER        names what got slower between two commits, by what else was measured

hloom is held against the best of eager, torch.compile and OpenVINO, of JAX too where products of matrices dominate. At one thread ratios
are of the processor's time, so a machine may be shared: what waits does not count. Caches and memory still do.

**GPU.** Compiling needs no GPU and measuring no compiler, so they may happen on two machines:

    python -m benchmarks.gpu prepare --target=sm_90a -o DIR    here: every workload and example, and the .mlir files of --programs FOLDER
    python -m benchmarks.gpu run DIR -o OUT                    there: OUT/results.json, OUT/gpu.md; `sh DIR/run.sh` does it
    python -m benchmarks.gpu table OUT                         here: that section of this document

DIR (some 20 MiB) holds all that is wanted there beside Python (3.11 or later), NumPy and cuda-python: programs, seeds and expected
results (JAX's, the file's beside the program, or hloom's on the CPU), hloom's runtime, tests/gpu with its programs, and pytest; weights are
made from their seeds. `sh DIR/run.sh` runs tests/gpu and the benchmarks, whatever fails, and prints one page to send back. `run` checks
every program, then times the workloads beside JAX, torch.compile and hand-written CUDA (`benchmarks/gpu/cuda/`, compiled there by nvcc),
under the ceilings of the same run; peers that are not there are listed as failed. Without torch hloom is timed alone.
`--device=simulator` runs the same check without a GPU. `sh tests/gpu/run.sh [DIR]` does what DIR/run.sh does; without DIR it compiles
the programs first.
"""

DOCUMENT = ROOT / "docs" / "benchmarks.md"
SECTIONS = ("speed", "memory", "compile-time", "gpu")

Results = dict[tuple[str, int, str], Measured]
"""By row, threads and peer."""


def write_section(name: str, text: str, path: Path = DOCUMENT) -> None:
    """Puts `text` between the marks of that section: one of SECTIONS, or of another document."""
    old = path.read_text() if path.exists() else INTRODUCTION
    for section in SECTIONS if name in SECTIONS else (name,):
        if _marks(section)[0] not in old:
            old += "\n{}\n{}\n".format(*_marks(section))
    begin, end = _marks(name)
    head, rest = old.split(begin, 1)
    path.write_text(f"{head}{begin}\n{text.strip()}\n{end}{rest.split(end, 1)[1]}")


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: written by the benchmarks, do not edit -->", f"<!-- end of {name} -->"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """One line on the machine, the versions and the day."""
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
    names = ["hloom", "torch", "jax", "torch-mlir", "llvmlite", "numpy"]
    versions = [f"{name} {version}" for name in names if (version := _version(name))]
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip() if shutil.which("gcc") else "none"
    date = datetime.date.today().isoformat()
    cores = len(os.sched_getaffinity(0))
    return (
        f"{date}. {cpu}, {cores} CPUs, Linux {platform.release()}, {' '.join(platform.libc_ver())}, Python {platform.python_version()}, "
        f"{', '.join(versions)}, gcc {gcc}."
    )


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def speed(results: Results, rounds: int, slices: int, seconds: float, command: str) -> str:
    """The section on run time and compile time."""
    threads = sorted({key[1] for key in results})
    parts = [
        "## Run time and compile time",
        f"`{command}`, {machine()}",
        f"Milliseconds of a call: the least median of a slice / the least of all calls. In each of {rounds} rounds, each row and peer has a"
        f" process of its own; those of a row take turns, {slices} slices of {seconds:g} s each in changing order. Bold: a bar is missed.",
    ]
    for count in threads:
        parts += [f"### {count} thread{'s' * (count > 1)}", _times(results, count)]
        parts += ["hloom's median over each peer's:", _ratios(results, count)]
    parts += ["### Other bars", _other_bars(results)]
    parts += ["### Compile time", "Seconds in the first round, with the packing of weights, without imports."]
    parts += [_compile_times(results, threads[0])]
    notes = [
        f"- {name}, {count} thread{'s' * (count > 1)}, {PEERS[peer].title}: {what}"
        for (name, count, peer), measured in results.items()
        for what in (measured.error, measured.differs)
        if what
    ]
    if notes:
        parts += ["### Failures and differences", "\n".join(notes)]
    return "\n\n".join(parts)


def _peers(results: Results) -> list[str]:
    return [peer for peer in PEERS if any(key[2] == peer for key in results)]


def _rows(results: Results) -> list[str]:
    return [row for row in ROWS if any(key[0] == row for key in results)]


def _timed(results: Results, row: str, threads: int, peer: str) -> Measured | None:
    measured = results.get((row, threads, peer))
    return measured if measured and measured.medians else None


def _times(results: Results, threads: int) -> str:
    peers = _peers(results)
    lines = []
    for name in _rows(results):
        cells = [ROWS[name].title]
        for peer in peers:
            measured = _timed(results, name, threads, peer)
            cell = f"{_number(measured.median)} / {_number(measured.least)}" if measured else _missing(results, name, threads, peer)
            if measured and ROWS[name].gflop:
                cell += f" ({ROWS[name].gflop / measured.median * 1e3:.0f} GFLOP/s)"
            cells.append(cell)
        lines.append(cells)
    return table(["workload", *(PEERS[peer].title for peer in peers)], lines)


def _missing(results: Results, row: str, threads: int, peer: str) -> str:
    measured = results.get((row, threads, peer))
    return "failed" if measured and measured.error else "–"


def _number(value: float) -> str:
    return f"{value:.1f}" if value >= 100 else f"{value:.3g}"


def ratio(results: Results, row: str, threads: int, peer: str) -> float | None:
    ours, theirs = _timed(results, row, threads, "hloom"), _timed(results, row, threads, peer)
    return ours.median / theirs.median if ours and theirs else None


def _ratios(results: Results, threads: int) -> str:
    peers = [peer for peer in _peers(results) if peer != "hloom"]
    lines = []
    for name in _rows(results):
        bars = {bar.peer: bar for bar in BARS if bar.row == name} if threads == 1 else {}
        cells = [ROWS[name].title]
        for peer in peers:
            found = ratio(results, name, threads, peer)
            text = "–" if found is None else f"{found:.2f}"
            cells.append(f"**{text}**" if found is not None and peer in bars and found > bars[peer].most else text)
        lines.append([*cells, *([", ".join(bar.text(PEERS[peer].title) for peer, bar in bars.items())] if threads == 1 else [])])
    return table(["workload", *(PEERS[peer].title for peer in peers), *(["bar"] if threads == 1 else [])], lines)


def _other_bars(results: Results) -> str:
    lines = []

    def add(name: str, what: str, found: float | None, bar: float, at_most: bool) -> None:
        missed = found is not None and (found > bar if at_most else found < bar)
        text = "–" if found is None else f"{found:.2f}"
        lines.append([ROWS[name].title, what, f"**{text}**" if missed else text, f"{'≤' if at_most else '≥'} {bar:g}"])

    for name, other, bar in PER_ELEMENT:
        a, b = _timed(results, name, 1, "hloom"), _timed(results, other, 1, "hloom")
        found = a.median / ROWS[name].elements / (b.median / ROWS[other].elements) if a and b else None
        add(name, f"time an element over that of {ROWS[other].title}", found, bar, True)
    for name, other, bar in FLOP_RATE:
        a, b = _timed(results, name, 1, "hloom"), _timed(results, other, 1, "hloom")
        found = ROWS[name].gflop / a.median / (ROWS[other].gflop / b.median) if a and b else None
        add(name, f"GFLOP/s over those of {ROWS[other].title}", found, bar, False)
    for name, bar in TWO_THREADS:
        a, b = _timed(results, name, 1, "hloom"), _timed(results, name, 2, "hloom")
        add(name, "speed-up at two threads", a.median / b.median if a and b else None, bar, False)
    return table(["workload", "what", "hloom", "bar"], lines)


def _compile_times(results: Results, threads: int) -> str:
    peers = [peer for peer in _peers(results) if peer != "torch"]
    lines = []
    for name in _rows(results):
        cells = [ROWS[name].title]
        for peer in peers:
            measured = results.get((name, threads, peer))
            seconds = measured.compile_seconds if measured else None
            text = "–" if seconds is None else f"{seconds:.2f}"
            cells.append(f"**{text}**" if peer == "hloom" and seconds is not None and seconds > COMPILE_SECONDS else text)
        lines.append([*cells, f"≤ {COMPILE_SECONDS:g}"])
    return table(["workload", *(PEERS[peer].title for peer in peers), "bar"], lines)
