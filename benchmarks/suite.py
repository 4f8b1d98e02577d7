"""A suite is a table of rows and the peers that take them. Processes know rows and peers by the names of both and of the suite."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MODULES = {
    "workloads": "benchmarks.peers",
    "layers": "benchmarks.layers.suite",
    "models": "benchmarks.layers.suite",
    "zoo": "benchmarks.layers.suite",
    "functions": "benchmarks.functions.suite",
    "training": "benchmarks.training.suite",
    "jit": "benchmarks.jit.suite",
}
"""By a suite's name: the module whose SUITES has it."""


GONE = "no longer in the table"


@dataclass
class Results:
    """Of one peer: the arrays as floats, of large ones some of the elements."""

    shapes: list[list[int]]
    arrays: list[np.ndarray]


@dataclass(frozen=True)
class Prepared:
    """A row ready to be timed."""

    call: Callable[[], object]
    """One call, ended when its results are there; they are dropped at once, so that their memory serves the next call."""
    results: list[np.ndarray]
    compile_seconds: float
    note: str = ""
    """What the peer decided for itself."""


@dataclass(frozen=True)
class Peer:
    name: str
    title: str
    modules: tuple[str, ...]
    """Imported before anything is timed."""
    prepare: Callable[[Any, int], Prepared]
    """Of a row and a number of threads."""
    takes: Callable[[Any], bool] = lambda row: True
    warm: Callable[[], object] = lambda: None
    """Called once, after the imports."""
    compares: Callable[[Any], bool] = lambda row: True
    """Whether its results should be those of the reference."""

    @property
    def installed(self) -> bool:
        return all(importlib.util.find_spec(module.partition(".")[0]) for module in self.modules)


def difference(row: Any, found: Results, expected: Results) -> str:
    """How results differ from the reference's, empty where they agree."""
    if found.shapes != expected.shapes:
        return f"shapes {found.shapes}"
    pairs = [(a, b) for a, b in zip(found.arrays, expected.arrays) if b.size]
    if row.chaotic:
        agree = float(np.mean([np.mean(np.isclose(a, b, atol=1e-3)) for a, b in pairs]))
        return "" if agree > 0.95 else f"only {agree:.1%} of the results agree"
    apart = max((_apart(a, b) for a, b in pairs), default=0.0)
    return "" if apart <= row.tolerance else f"results differ by {apart:.2g} of the largest"


def _apart(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, as a fraction of the largest result; infinite where one side alone is infinite or no number."""
    finite = np.isfinite(expected)
    if not np.array_equal(found[~finite], expected[~finite], equal_nan=True):
        return float("inf")
    largest = float(np.max(np.abs(expected), where=finite, initial=0.0))
    apart = float(np.max(np.abs(found - expected), where=finite, initial=0.0))
    return apart / largest if largest else float("inf") if apart else 0.0


@dataclass(frozen=True)
class Suite:
    """A row has a `name`, a `tolerance` (the largest difference, as a fraction of the largest result), and may be `chaotic`: rounding
    decides single elements, and most of them must agree."""

    name: str
    rows: Mapping[str, Any]
    peers: Mapping[str, Peer]
    reference: str
    """The peer whose results the others' must be."""
    best: tuple[str, ...] = ()
    """The peers whose best hloom is held against."""
    best_too: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """More of them, by family."""
    references: Mapping[str, str] = field(default_factory=dict)
    """Another peer than `reference`, by family."""
    difference: Callable[[Any, Results, Results], str] = difference
    """What is wrong with a row's results beside the reference's; empty where nothing is."""
    conditions: str = ""
    """What a page of results says of its peers, where they are not those of torch modules."""

    def best_of(self, name: str) -> tuple[str, ...]:
        """The peers whose best hloom is held against in a row."""
        return (*self.best, *self.best_too.get(self.family(name), ()))

    def reference_of(self, name: str) -> str:
        return self.references.get(self.family(name), self.reference)

    def families(self) -> list[str]:
        """Of all rows, in the table's order."""
        return list(dict.fromkeys([*(row.family for row in self.rows.values()), GONE]))

    def family(self, name: str) -> str:
        """Of a row, which an older table may have had."""
        return self.rows[name].family if name in self.rows else GONE


def load(name: str) -> Suite:
    return importlib.import_module(_MODULES[name]).SUITES[name]
