"""The workloads that NumPy has a function for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def sort(x: np.ndarray) -> np.ndarray:
    return np.sort(x, axis=-1)


def argsort(x: np.ndarray) -> np.ndarray:
    return np.argsort(x, axis=-1, kind="stable")


def fft(x: np.ndarray) -> np.ndarray:
    return np.fft.fft(x)


def rfft(x: np.ndarray) -> np.ndarray:
    return np.fft.rfft(x)


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(a, b)


PROGRAMS: dict[str, Callable[..., Any]] = {function.__name__: function for function in (sort, argsort, fft, rfft, solve)}
