"""Writes the StableHLO of the workloads, as JAX lowers them, to the build folder: what hloom compiles."""

from __future__ import annotations

import importlib
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax

from .gpu.rows import ROWS as ALL
from .peers import program_path
from .rows import ROWS


def main(names: list[str]) -> None:
    programs = importlib.import_module("benchmarks.jax_programs")
    for row in (ALL[name] for name in names or ROWS):
        path = program_path(row)
        path.parent.mkdir(parents=True, exist_ok=True)
        shapes = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in (*row.inputs(), *row.weights())]
        path.write_text(jax.jit(getattr(programs, row.program), keep_unused=True).lower(*shapes).as_text())


if __name__ == "__main__":
    main(sys.argv[1:])
