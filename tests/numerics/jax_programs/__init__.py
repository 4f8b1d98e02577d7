"""What people write in JAX: a file a family, each of functions that give back (name, function, arguments).

A program is a few lines, of odd sizes. test_jax_programs.py compiles them, some in one program, and compares with jax.jit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np


@dataclass(frozen=True)
class Case:
    name: str
    function: Callable
    arguments: tuple
    tolerance: float = 2e-5
    """Relative to the largest of the results that are to be equal."""


@dataclass
class Family:
    """The programs of a file."""

    cases: list[Case] = field(default_factory=list)

    def add(self, name: str, function: Callable, *arguments: object, tolerance: float = 2e-5) -> None:
        self.cases.append(Case(name, function, arguments, tolerance))


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def integers(below: int, *shape: int, low: int = 0) -> np.ndarray:
    return np.random.default_rng([below, *shape]).integers(low, below, shape).astype(np.int32)


FAMILIES = ("training", "gradients", "indexing", "sorting", "random", "numerics", "spectra", "linear_algebra")


def family(name: str) -> list[Case]:
    return import_module(f"{__name__}.{name}").FAMILY.cases
