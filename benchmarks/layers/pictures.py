"""Pictures of results: hloom's time over the best peer's by family, and where the rows lie under the machine's roof."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from ..suite import Suite
from .limits import LIMITS
from .results import Results, mean

_OURS, _THEIRS = "tab:blue", "tab:orange"
_TICKS = {1 / 64: "1/64", 1 / 16: "1/16", 1 / 4: "1/4", 1 / 2: "1/2", 1: "1", 2: "2", 4: "4", 16: "16", 64: "64"}


def draw(results: Results, suite: Suite, threads: int, folder: Path) -> list[Path]:
    """Writes the pictures; returns their files."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "hloom", "font.size": 9})
    import matplotlib.pyplot as plt

    paths = []
    limited = any(peer in LIMITS for _, _, peer in results.measured)
    for name, picture in (("bars", _bars), *([("roofline", _roofline)] if limited else [])):
        figure = picture(plt, results, suite, threads)
        paths.append(folder / f"{suite.name}-{name}.svg")
        figure.savefig(paths[-1], bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    return paths


def _bars(plt: Any, results: Results, suite: Suite, threads: int) -> Any:
    """A bar a family, the geometric mean of its rows; a dot a row."""
    ratios: dict[str, list[float]] = {}
    for row, count in results.keys():
        ratio = results.ratio(row, threads) if count == threads else None
        if ratio:
            ratios.setdefault(suite.family(row), []).append(ratio)
    families = sorted(ratios, key=lambda family: -mean(ratios[family]))
    figure, axes = plt.subplots(figsize=(8, 1 + 0.28 * len(families)))
    means = [mean(ratios[family]) for family in families]
    axes.barh(families, [each - 1 for each in means], left=1, color=[_OURS if each <= 1 else _THEIRS for each in means], alpha=0.6)
    for place, family in enumerate(families):
        axes.scatter(ratios[family], [place] * len(ratios[family]), s=8, color="black", zorder=3)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks(list(_TICKS), list(_TICKS.values()))
    axes.minorticks_off()
    axes.set_xlabel("hloom's time / the best peer's (logarithmic): left of 1 is faster")
    return figure


def _roofline(plt: Any, results: Results, suite: Suite, threads: int) -> Any:
    """Left: rows with products, flops a second over flops a byte. Right: the others, bytes a second over bytes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    rows = [row for row, count in results.keys() if count == threads]
    flops = {row: work for row in rows if (work := results.work(row, threads, "fma"))}
    moved = {row: work for row in rows if (work := results.work(row, threads, "bandwidth"))}
    places = {row: flops[row] / moved[row] for row in flops if row in moved}
    _dots(left, results, threads, places, flops)
    peaks = _rates(results, threads, "fma", {row: flops[row] for row in places})
    widths = _rates(results, threads, "bandwidth", moved)
    if places and peaks and widths:
        peak, slowest = median(peaks.values()), min(widths.values())
        ends = (min(places.values()) / 2, max(places.values()) * 2)
        line = sorted({*ends, min(max(peak / slowest, ends[0]), ends[1])})
        left.plot(line, [min(peak, place * slowest) for place in line], color="black", linewidth=1, label="the machine")
    left.set(xscale="log", yscale="log", xlabel="flops a byte", ylabel="GFLOP/s", title="products and convolutions")
    others = {row: float(work) for row, work in moved.items() if row not in flops}
    _dots(right, results, threads, others, moved)
    roof = sorted((others[row], widths[row]) for row in others if row in widths)
    if roof:
        right.plot(*zip(*roof), color="black", linewidth=1, label="the machine")
    right.set(xscale="log", yscale="log", xlabel="bytes of a call", ylabel="GB/s", title="all else")
    for axes in (left, right):
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    return figure


def _rates(results: Results, threads: int, peer: str, work: dict[str, int]) -> dict[str, float]:
    """Work a nanosecond, by row."""
    times = {row: results.time(row, threads, peer) for row in work}
    return {row: work[row] / time * 1e-6 for row, time in times.items() if time}


def _dots(axes: Any, results: Results, threads: int, places: dict[str, float], work: dict[str, int]) -> None:
    for label, colour in (("best peer", _THEIRS), ("hloom", _OURS)):
        times = {row: _time(results, row, threads, label) for row in places}
        dots = [(places[row], work[row] / time * 1e-6) for row, time in times.items() if time]
        if dots:
            axes.scatter(*zip(*dots), s=12, color=colour, alpha=0.8, label=label)


def _time(results: Results, row: str, threads: int, label: str) -> float | None:
    best = results.best(row, threads)
    return results.time(row, threads, "hloom") if label == "hloom" else best[0] if best else None
