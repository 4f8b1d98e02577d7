"""Figures as people read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PICOSECONDS = re.compile(r"\b(\d+) ps\b")


def time(picoseconds: float) -> str:
    """With the unit that leaves one to three digits before the point: "84.5 ns", "2.44 ms"."""
    size = abs(picoseconds)
    for unit, limit in (("ns", 1e6), ("µs", 1e9), ("ms", 1e12)):
        if size < 0.9995 * limit:
            return f"{picoseconds / limit * 1e3:.3g} {unit}"
    return f"{picoseconds / 1e12:.3g} s"


def with_times(text: str) -> str:
    """A text whose picoseconds are told in units that suit."""
    return _PICOSECONDS.sub(lambda found: time(int(found[1])), text)


def size(count: float) -> str:
    """Bytes."""
    for unit in ("B", "KiB", "MiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.2f} GiB"


def count(value: float) -> str:
    """Of flops and the like: "17.2G"."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < 1000:
            return f"{value:.0f}" if not unit else f"{value:.1f}{unit}"
        value /= 1000
    return f"{value:.1f}T"


def figure(name: str, value: object) -> str:
    """A record's figure by its name: gain_ps, bytes_saved, rho."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return with_times(str(value))
    if name.endswith("_ps"):
        return time(value)
    if "bytes" in name:
        return size(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def named(name: str) -> str:
    """A figure's name without its unit: "gain"."""
    return name.removesuffix("_ps")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
