"""Random JAX programs, as text of StableHLO with the inputs."""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import jax
import numpy as np

from .builder import RECIPES, Builder, Drawing, Made
from .recipes import load

load()

LOOPS = (
    *("scan", "fori_loop", "while_loop", "switch", "vmap"),
    *("nested_scans", "counted_while", "mapped_while", "mapped_branch", "branch", "mapped", "updates_in_a_loop", "recurrence"),
)
DERIVED = ("gradient", "derivatives", "own_derivative")
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33, 65)
TYPES = (
    *("bfloat16", "float16", "float64", "bool", "complex64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *["float32"] * 4,
)
LARGE = (1, 2, 3, 8, 31, 64, 70, 128, 257, 513)
MOST = 5000
"""Elements of an input; of large ones four times as many."""
KEPT = 20
"""Programs after which JAX forgets what it traced."""


class Grown(NamedTuple):
    text: str
    inputs: list[np.ndarray]
    steps: list[tuple[str, str]]
    donated: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class JaxProgram:
    seed: int
    number: int
    recipes: tuple[str, ...] = ()
    """If not of all: of these."""
    size: int = 8
    """About so many steps."""
    large: bool = False
    skip: frozenset[str] = frozenset()
    """Paths of steps left out."""
    only: tuple[int, ...] | None = None
    """Of its results."""
    donates: bool = True
    """Whether some of its arguments may be given up for results."""
    drawing: Drawing = field(default_factory=Drawing)

    @cached_property
    def _grown(self) -> Grown:
        rng = np.random.RandomState(zlib.crc32(f"{self.seed}.{self.number}".encode()))
        themes, inputs = drawn_themes(rng), list(drawn_inputs(rng, self.drawing, self.large))
        steps, many, kept = rng.randint(3, 5 + self.size), rng.rand() < 0.5, rng.rand(128) < 0.5
        given_up = [n for n, _ in enumerate(inputs) if rng.rand() < 0.4] if rng.rand() < 0.4 else []
        themes = self.recipes or themes
        log: list[tuple[str, str]] = []

        def function(*arguments: Any) -> list[Any]:
            b = Builder(f"{self.seed}.{self.number}", themes, [Made(x, True) for x in arguments], self.skip, drawing=self.drawing)
            b.run(steps)
            log[:] = b.log
            made = b.pool[len(arguments) :]
            results = [m.value for m, keep in zip(made[:-1], kept) if keep and many] + [m.value for m in made[-1:]]
            results += [m.value for n in given_up for m in b.updated(n)]
            return [x for n, x in enumerate(results) if self.only is None or n in self.only]

        if self.number % KEPT == 0:
            jax.clear_caches()
        with jax.enable_x64(True), jax.default_matmul_precision("highest"):
            lowered = jax.jit(function, keep_unused=True).lower(*inputs)
        return Grown(lowered.as_text(), inputs, log, pairs(inputs, lowered.out_info, given_up) if self.donates else ())

    def text(self) -> str:
        return self._grown.text

    @property
    def inputs(self) -> list[np.ndarray]:
        return self._grown.inputs

    @property
    def steps(self) -> list[tuple[str, str]]:
        return self._grown.steps

    @property
    def donated(self) -> tuple[tuple[int, int], ...]:
        """Arguments that are given up, each with the result whose memory it becomes."""
        return self._grown.donated

    @property
    def names(self) -> set[str]:
        return set(re.findall(r"\b((?:stablehlo|chlo)\.\w+)", self.text()))

    def moved(self) -> JaxProgram:
        """Of values that differ by a rounding."""
        return replace(self, drawing=Drawing(moved=True))

    def told(self) -> str:
        """The steps, and the text."""
        lines = [f"// {path}: {made}" for path, made in self.steps]
        lines += [f"// argument {argument} becomes result {result}" for argument, result in self.donated]
        return "\n".join([*lines, self.text()])


def pairs(inputs: Sequence[np.ndarray], results: Sequence[Any], given_up: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Each argument that is given up with the last result of its type that none has yet: there its update is."""
    found: dict[int, int] = {}
    for argument in given_up:
        kind = inputs[argument].shape, inputs[argument].dtype
        free = [n for n, r in enumerate(results) if (r.shape, r.dtype) == kind and n not in found.values()]
        if free and inputs[argument].size:
            found[argument] = free[-1]
    return tuple(found.items())


def drawn_themes(rng: np.random.RandomState) -> list[str]:
    """A few families, of some the likelier: what meets often is what is near."""
    plain = [name for name in RECIPES if name not in (*LOOPS, *DERIVED)]
    themes = [plain[n] for n in rng.permutation(len(plain))[: rng.randint(4, 14)]]
    if rng.rand() < 0.5:
        themes += ["unary", "binary", "slices", "reshape"]
    match rng.randint(4):
        case 0:
            themes += [LOOPS[rng.randint(len(LOOPS))] for _ in range(5)]
        case 1:
            themes += [*DERIVED] * 4
        case 2:
            themes += [(*LOOPS, *DERIVED)[rng.randint(len(LOOPS) + len(DERIVED))]] * 2
    return themes


def drawn_inputs(rng: np.random.RandomState, drawing: Drawing, large: bool) -> Iterator[np.ndarray]:
    extents, most = (LARGE, 4 * MOST) if large else (EXTENTS, MOST)
    for n in range(rng.randint(2, 5)):
        shape = [extents[rng.randint(len(extents))] for _ in range(rng.randint(1, 5))]
        while prod(shape) > most:
            shape[rng.randint(len(shape))] = 3
        if rng.rand() < 0.03:
            shape[rng.randint(len(shape))] = 0
        dtype = TYPES[rng.randint(len(TYPES))] if n else ("float32", "float32", "int32", "bfloat16")[rng.randint(4)]
        yield drawing(rng, shape, dtype)


def program(seed: int, number: int, recipes: Sequence[str] = (), size: int = 8, large: bool = False) -> JaxProgram | None:
    """`recipes`: of these families only. None if no step suited."""
    made = JaxProgram(seed, number, tuple(recipes), size, large)
    return made if made.steps else None
