"""A row: a program with its inputs, made when it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

Jit = Callable[[Callable[..., Any]], Callable[..., Any]]
"""jax.jit or hloom.jit."""
Made = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    family: str
    name: str
    make: Callable[..., Made]
    """The function and the arguments of a call; `whole` is false where it takes a Jit and applies it within."""
    whole: bool = True
    needs: tuple[str, ...] = ()
    """Packages."""
    tolerance: float = 1e-3
    chaotic: bool = False
    dtype: str = "f32"
    batch: int = 1

    @property
    def module(self) -> str:
        return self.make.__doc__ or ""

    def of_type(self, dtype: str) -> Program:
        return self

    def made(self, jit: Jit) -> Made:
        """The compiled function, and its arguments on the device."""
        function, inputs = self.make() if self.whole else self.make(jit)
        return jit(function) if self.whole else function, jax.tree.map(jax.device_put, inputs)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape, np.float32)


def uniform(*shape: int, least: float = 0.0, most: float = 1.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).uniform(least, most, shape).astype(np.float32)


def integers(most: int, *shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, most, *shape)).integers(0, most, shape).astype(np.int32)


def positive(size: int) -> np.ndarray:
    """A symmetric matrix of positive eigenvalues."""
    found = normal(size, size)
    return found @ found.T / size + np.eye(size, dtype=np.float32)


def table(family: str, rows: dict[str, Callable[..., Any]], **more: Any) -> list[Program]:
    """Each row makes a function and its inputs."""
    return [Program(family, name, make, **more) for name, make in rows.items()]
