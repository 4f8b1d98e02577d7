"""What a prepared folder holds: an index, and of every case NAME.hloom and NAME.npz (expected results; inputs where no seed makes them)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..rows import Row, rounded
from .rows import ROWS

INDEX = "index.json"


@dataclass
class Case:
    """One program. Its inputs are those of a workload (`row`), stored, or made from the seed."""

    name: str
    row: str = ""
    stored: bool = False
    seed: int = 0
    tolerance: float = 1e-4
    chaotic: bool = False
    reference: str = ""
    """Where the expected results are from."""
    compile_seconds: float = 0.0
    checksum: int = 0
    """Of inputs and bound values: another NumPy may make others from the same seeds."""
    error: str = ""
    """Why there is no program."""


@dataclass
class Index:
    target: str
    prepared_on: str
    cases: list[Case] = field(default_factory=list)
    models: dict[str, float] = field(default_factory=dict)
    """Name → seconds of its compilation (models.py)."""

    def write(self, folder: Path) -> None:
        (folder / INDEX).write_text(json.dumps(asdict(self), indent=1) + "\n")

    @staticmethod
    def read(folder: Path) -> Index:
        data: dict[str, Any] = json.loads((folder / INDEX).read_text())
        return Index(**{**data, "cases": [Case(**case) for case in data["cases"]]})

    def case(self, name: str) -> Case:
        return next(case for case in self.cases if case.name == name)


def values(case: Case, folder: Path, signature: Any) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """The inputs of a call, and the bound values by index."""
    if case.row:
        inputs, weights = drawn(ROWS[case.row])
        return inputs, {len(inputs) + index: weight for index, weight in enumerate(weights)}
    specs = signature.inputs
    if not case.stored:
        return random_inputs(specs, case.seed), {}
    with np.load(folder / f"{case.name}.npz") as arrays:
        return [from_bytes(arrays[f"in{index}"], spec) for index, spec in enumerate(specs)], {}


@lru_cache(1)
def drawn(row: Row) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Inputs and weights of a workload, which its copies share until they are on the GPU."""
    return list(row.inputs()), list(row.weights())


def from_bytes(data: np.ndarray, spec: Any) -> np.ndarray:
    return data.view(spec.numpy_dtype).reshape(spec.shape)


def random_inputs(specs: Sequence[Any], seed: int) -> list[np.ndarray]:
    """Normal floats, small integers that are no negative index or count, and either truth value."""
    rng = np.random.default_rng(seed)
    arrays = []
    for spec in specs:
        if np.issubdtype(spec.numpy_dtype, np.integer) or spec.numpy_dtype == np.bool_:
            arrays.append(rng.integers(0, 2 if spec.numpy_dtype == np.bool_ else 8, spec.shape).astype(spec.numpy_dtype))
        else:
            arrays.append(rounded(np.asarray(rng.standard_normal(spec.shape, np.float32)), spec.numpy_dtype))
    return arrays


def checksum(inputs: Sequence[np.ndarray], bound: dict[int, np.ndarray]) -> int:
    value = 0
    for array in (*inputs, *bound.values()):
        value = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, value)
    return value
