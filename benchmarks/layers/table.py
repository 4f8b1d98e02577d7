"""The tables of layers and models: text files, a row a line. Each says how torch makes the module; flops and bytes are counted from it.

    family | name | module | inputs | jax

The module is a torch expression (`Conv2d(64, 64, 3)`), or a function of the inputs `x`, `y` and `z` (`x.cumsum(-1)`). The last cell, which
need not be there, says it as a function of JAX; jax_modules.py knows many modules by itself. Inputs are their
shapes, f32 unless they say `:bf16`, `:f16` or, of indices, below what they are (`8,128:i64<30522`). A row whose shapes have an `N` is
two: of batch 1 (its name), and of a larger one (its name and `_b16`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

_INPUT = re.compile(r"(?P<shape>[\d,]*)(:(?P<dtype>bf16|f16|i64<(?P<most>\d+)))?")


@dataclass(frozen=True)
class Input:
    shape: tuple[int, ...]
    dtype: str
    most: int = 0
    """Of indices: they are below it."""

    @classmethod
    def of(cls, text: str) -> Input:
        match = _INPUT.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no shape")
        shape = tuple(int(size) for size in match["shape"].split(",") if size)
        return cls(shape, "i64" if match["most"] else match["dtype"] or "f32", int(match["most"] or 0))

    def array(self, seed: int) -> np.ndarray:
        """In f32 where it is a float; NumPy has no bf16."""
        random = np.random.default_rng(seed)
        return random.integers(0, self.most, self.shape) if self.most else random.standard_normal(self.shape, np.float32)


@dataclass(frozen=True)
class Layer:
    """One row."""

    family: str
    name: str
    module: str
    inputs: tuple[Input, ...]
    jax: str = ""
    batch: int = 1
    chaotic: bool = False
    dtype: str = "f32"
    """Of the module's floats where no input says it."""

    @property
    def tolerance(self) -> float:
        return 1e-3 if self.dtype == "f32" and all(each.dtype in ("f32", "i64") for each in self.inputs) else 0.05

    def of_type(self, dtype: str) -> Layer:
        """The same module on the same numbers, in another type; its name tells, but for the table's own."""
        if dtype == self.dtype:
            return self
        inputs = tuple(replace(each, dtype=dtype if each.dtype == self.dtype else each.dtype) for each in self.inputs)
        name = self.name.removesuffix(f"_{self.dtype}") + ("" if dtype == "f32" else f"_{dtype}")
        return replace(self, name=name, inputs=inputs, dtype=dtype)

    def arrays(self) -> list[np.ndarray]:
        return [each.array(seed) for seed, each in enumerate(self.inputs)]


def read(path: Path, many: int) -> dict[str, Layer]:
    """The rows of a table, by name; `many` is the larger batch."""
    rows: dict[str, Layer] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) not in (4, 5):
            raise ValueError(f"{path}:{number}: {len(cells)} cells in place of 4 or 5")
        for row in _rows(many, *cells):
            if row.name in rows:
                raise ValueError(f"{path}:{number}: a second {row.name}")
            rows[row.name] = row
    return rows


def _rows(many: int, family: str, name: str, module: str, inputs: str, jax: str = "") -> list[Layer]:
    batches = {1: "", many: f"_b{many}"} if "N" in inputs else {1: ""}
    return [
        Layer(family, name + suffix, module, tuple(Input.of(text.replace("N", str(batch))) for text in inputs.split()), jax, batch)
        for batch, suffix in batches.items()
    ]
