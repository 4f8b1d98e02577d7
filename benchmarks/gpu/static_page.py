"""The static report's lines: of each program on each target, what its kernels use, added up or at its worst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..report import table

SECTION = "static"

Reports = Mapping[tuple[str, str], dict[str, Any]]
"""Program and target → the report of hloom-explain."""


@dataclass(frozen=True)
class Summary:
    """Sums count a kernel as often as a call runs it."""

    kernels: int
    """Different ones."""
    launches: int
    libraries: int
    spills: int
    """Bytes of a thread, of the kernel with most."""
    registers: int
    worst: int
    """Percent of a multiprocessor's threads, of the kernel with fewest among those whose blocks would fill it."""
    occupancy: int | None
    """Percent, weighted by time at the roofline; None where there are no kernels."""
    moved: int
    least: int
    wide: int | None
    """Percent of the bytes moved by 128-bit accesses; None where no global memory is accessed."""
    seconds: float
    """At the roofline, library calls included, a kernel after the other."""

    def cells(self) -> list[str]:
        over = f" × {self.moved / self.least:.2f}" if self.least and self.moved > 1.005 * self.least else ""
        wide = "-" if self.wide is None else f"{self.wide} %"
        occupancy = "-" if self.occupancy is None else f"{self.occupancy} % ({self.worst} %)"
        return [
            f"{self.kernels}",
            f"{self.launches} + {self.libraries}",
            f"{self.spills or '-'}",
            f"{self.registers}",
            occupancy,
            f"{_size(self.least)}{over}",
            wide,
            f"{self.seconds * 1e6:.4g} µs",
        ]

    def line(self) -> str:
        return ", ".join(f"{name} {cell}" for name, cell in zip(_HEADER[1:], self.cells()))


_HEADER = ["program", "kernels", "launches + calls", "spills", "registers", "occupancy", "least bytes", "128-bit", "roofline"]


def summary(report: Mapping[str, Any]) -> Summary:
    called = _calls(report)
    kernels = [kernel | {"calls": called[kernel["name"]]} for kernel in report.get("kernels", [])]
    libraries = report.get("libraries", [])
    times = [kernel["roofline_ps"] * kernel["calls"] for kernel in kernels]
    moved = [kernel["moved"] * kernel["calls"] for kernel in kernels]
    seen = [(kernel["wide"], size) for kernel, size in zip(kernels, moved) if kernel.get("wide") is not None]
    fetched = sum(library["least"] * library["calls"] for library in libraries)
    return Summary(
        kernels=len(kernels),
        launches=sum(kernel["calls"] for kernel in kernels),
        libraries=sum(library["calls"] for library in libraries),
        spills=max((kernel["spills"] for kernel in kernels), default=0),
        registers=max((kernel["registers"] for kernel in kernels), default=0),
        worst=min((kernel["occupancy"] for kernel in kernels if _full(kernel)), default=100),
        occupancy=_mean(zip((kernel["occupancy"] for kernel in kernels), times)),
        moved=sum(moved) + fetched,
        least=sum(kernel["least"] * kernel["calls"] for kernel in kernels) + fetched,
        wide=_mean(seen),
        seconds=1e-12 * (sum(times) + sum(library["roofline_ps"] * library["calls"] for library in libraries)),
    )


def _calls(report: Mapping[str, Any]) -> Counter[str]:
    """How often a call of the program runs each kernel. What only prepares bound values, once, counts for none."""
    calls = Counter[str]()
    for group in report.get("groups", []):
        calls[group["name"]] += group["calls"] if group.get("entry") == "main" else 0
    return calls


def page(reports: Reports) -> str:
    """A table a target, and what its columns say."""
    parts = [_WORDS]
    for target in dict.fromkeys(target for _, target in reports):
        rows = [[name, *summary(report).cells()] for (name, other), report in reports.items() if other == target]
        parts += [f"### {target}", table(_HEADER, rows)]
    return "\n\n".join(parts)


_WORDS = """`python -m benchmarks.gpu.static`: what nvJitLink and the PTX say of whole programs; nothing of this ran on a GPU.
**Launches + calls**: of kernels and of libraries, in one call of the program. **Spills**: bytes of a thread, of the kernel with most.
**Registers**: the most. **Occupancy**: weighted by time, and in brackets the least among kernels with two blocks or more for each
multiprocessor. **Least bytes**: what kernels and libraries need once; × is what kernels move over that, at most: of a buffer of which a
kernel reads a slice (the values of an attention, the first token) all is counted. **128-bit**: share of kernels' accesses (but TMA's),
weighted by the bytes that each moves. **Roofline**: the sum over launches and calls, one after the other. Models:
random weights, batch 1, 128 tokens."""


def spilling(reports: Reports) -> list[str]:
    """A line for each kernel that spills, the most bytes first."""
    found = [(kernel["spills"], name, target, kernel) for (name, target), report in reports.items() for kernel in report.get("kernels", [])]
    found = sorted((each for each in found if each[0]), key=lambda each: -each[0])
    return [
        f"{spills} bytes spilled: {name}, {target}, {kernel['name']}, {kernel['registers']} registers, "
        f"{kernel['block'][0]} threads: {_ops(kernel)}"
        for spills, name, target, kernel in found
    ]


def _ops(kernel: Mapping[str, Any]) -> str:
    ops = [op.split(" ")[0] for op in kernel.get("ops", {})]
    return ", ".join(dict.fromkeys(ops))[:100]


def _full(kernel: Mapping[str, Any]) -> bool:
    """A grid of at least two blocks for each multiprocessor of an A100."""
    blocks = 1
    for extent in kernel["grid"]:
        blocks *= extent
    return blocks >= 2 * 108


def _mean(weighted: Iterable[tuple[int, int]]) -> int | None:
    pairs = list(weighted)
    weight = sum(each for _, each in pairs)
    return round(sum(value * each for value, each in pairs) / weight) if weight else None


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
