"""Runs a prepared program and holds its results against the expected ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hloom

from .cases import Case, checksum, values
from .expected import difference


def load_case(case: Case, folder: Path, device: Callable[[Any], Any] | None = None, ending: str = ".hloom") -> tuple[Any, list[np.ndarray]]:
    """The executable with its values bound, and the inputs of a call. Raises ValueError where the seeds give other inputs here."""
    exe = hloom.load(folder / f"{case.name}{ending}", device)
    inputs, bound = values(case, folder, exe.signature)
    if checksum(inputs, bound) != case.checksum:
        raise ValueError("the inputs made here from the seeds are not those that the expected results belong to (another NumPy?)")
    if bound:
        exe.bind(bound)
    return exe, inputs


def check(case: Case, folder: Path, device: Callable[[Any], Any] | None = None) -> str:
    """How the program's results differ from those expected; empty where they agree. A second call must give the same."""
    exe, inputs = load_case(case, folder, device)
    with np.load(folder / f"{case.name}.npz") as kept:
        expected = {name: kept[name] for name in kept if name.startswith("out")}
    first = [np.asarray(result) for result in exe.flat(inputs)]
    found = difference(first, expected, case.tolerance, case.chaotic)
    if found or device is not None:
        return found
    again = difference([np.asarray(result) for result in exe.flat(inputs)], expected, case.tolerance, case.chaotic)
    return f"the second call: {again}" if again else ""


def simulator() -> Callable[[Any], Any]:
    """The device that stands in for a GPU where the compiler is installed."""
    from hloom.compiler.compile import simulator as make

    return make()
