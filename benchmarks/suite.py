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
}
"""By a suite's name: the module whose SUITES has it."""


GONE = "no longer in the table"


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

    def best_of(self, name: str) -> tuple[str, ...]:
        """The peers whose best hloom is held against in a row."""
        return (*self.best, *self.best_too.get(self.family(name), ()))

    def families(self) -> list[str]:
        """Of all rows, in the table's order."""
        return list(dict.fromkeys([*(row.family for row in self.rows.values()), GONE]))

    def family(self, name: str) -> str:
        """Of a row, which an older table may have had."""
        return self.rows[name].family if name in self.rows else GONE


def load(name: str) -> Suite:
    return importlib.import_module(_MODULES[name]).SUITES[name]
