"""Grows a PyTorch program, a line of Python at a time, by running each line in eager."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..draws import Draws
from ..errors import Unsuitable

MOST = 20_000
"""Elements of a value."""
TRIES = 6
LARGEST = 1e4
"""Floats beyond are not read on: what they make says little."""


@dataclass(frozen=True)
class Var:
    """A tensor of the program, and whether it has the same bits whoever computes it: only such are compared, sorted and rounded."""

    name: str
    value: torch.Tensor
    exact: bool

    def __str__(self) -> str:
        return self.name

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    @property
    def dtype(self) -> torch.dtype:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def is_float(self) -> bool:
        return self.value.is_floating_point()

    @property
    def is_complex(self) -> bool:
        return self.value.is_complex()

    @property
    def is_integer(self) -> bool:
        return not (self.is_float or self.is_complex or self.is_bool)

    @property
    def is_bool(self) -> bool:
        return self.dtype == torch.bool

    @property
    def is_small(self) -> bool:
        """Whether it may be read on."""
        return not (self.is_float or self.is_complex) or not self.value.numel() or bool(self.value.detach().abs().max() < LARGEST)


@dataclass(frozen=True)
class Made:
    """An expression with so many results, or a statement that writes into a value."""

    text: str
    exact: bool = False
    count: int = 1
    writes: Var | None = None
    within: str = ""
    """`with …`"""


@dataclass(frozen=True)
class Line:
    text: str
    made: tuple[str, ...]
    """The names that it binds."""
    recipe: str


Recipe = Callable[["Builder"], Made]
RECIPES: dict[str, Recipe] = {}


def recipe(function: Recipe) -> Recipe:
    """Registers a family of lines by the function's name."""
    assert function.__name__ not in RECIPES, function.__name__
    RECIPES[function.__name__] = function
    return function


class Builder(Draws):
    def __init__(self, rng: np.random.RandomState, themes: Sequence[str], inputs: Sequence[Sequence[torch.Tensor]], road: str = "compile"):
        """`inputs`: of each set of sizes that the program is to take; a line must run with all."""
        self.rng, self.themes, self.road = rng, themes, road
        self.lines: list[Line] = []
        self.modules: list[str] = []
        self.environments = [environment(each) for each in inputs]
        self.pool = [Var(name, self.environments[0][name], True) for name in self.environments[0] if name.startswith("a")]
        self._count = 0

    # Draws.

    def dim(self, x: Var) -> int:
        """Of those that it has, from the front or from the back."""
        if not x.ndim:
            raise Unsuitable
        return self.number(-x.ndim, x.ndim - 1)

    def dims(self, x: Var) -> list[int]:
        """Some, at least one."""
        found = [n for n in range(x.ndim) if self.chance(0.5)] or [abs(self.dim(x)) % max(1, x.ndim)]
        return [n - x.ndim if self.chance(0.3) else n for n in found]

    def permutation(self, count: int) -> list[int]:
        return self.rng.permutation(count).tolist()

    # Values.

    def pick(self, suits: Callable[[Var], bool] = lambda x: True, *, exact: bool = False, full: bool = False, most: int = MOST) -> Var:
        """A value of at most so many elements, likely a late one; `full`: with a dimension and elements."""
        found = [v for v in self.pool if suits(v) and (v.exact or not exact) and v.value.numel() <= most and v.is_small]
        found = [v for v in found if not full or (v.ndim and v.value.numel())]
        if not found:
            raise Unsuitable
        return found[len(found) - 1 - int(len(found) * self.rng.rand() ** 1.5)]

    def floats(self, **limits: Any) -> Var:
        return self.pick(lambda x: x.is_float, **limits)

    def image(self, ndim: int, most: int = 4000) -> Var:
        """A float of so many dimensions: one that is there, or another made so."""
        if self.chance(0.6):
            try:
                return self.pick(lambda x: x.is_float and x.ndim == ndim, full=True, most=most)
            except Unsuitable:
                pass
        x = self.floats(full=True, most=most)
        if x.ndim > ndim:
            return self.let(f"{x}.flatten(0, {x.ndim - ndim})", x.exact)
        return x if x.ndim == ndim else self.let(f"{x}[{'None, ' * (ndim - x.ndim)}...]", x.exact)

    def partner(self, x: Var) -> str:
        """Another value that broadcasts to it, or a number."""
        found = [v for v in self.pool if v.is_small and v.value.numel() and broadcasts(v.shape, x.shape) and v.name != x.name]
        if found and self.chance(0.8):
            return str(self.one(*found))
        return str(self.one(2, -1, 0.5, 1.5, 3, "True") if x.is_float else self.one(2, -1, 3, 0.5))

    def same(self, shape: Sequence[int], dtype: torch.dtype) -> Var:
        """A value of that shape and type: one that is there, the first elements of one, or a constant."""
        alike = [v for v in self.pool if v.dtype == dtype and v.is_small]
        found = [v for v in alike if v.shape == tuple(shape)]
        if found and self.chance(0.7):
            return self.one(*found)
        count = int(np.prod(shape, dtype=np.int64))
        larger = [v for v in alike if v.value.numel() >= count]
        if larger and self.chance(0.7):
            x = self.one(*larger)
            return self.let(f"{x}.flatten()[:{count}].reshape({list(shape)})", x.exact)
        return self.let(self.constant(shape, dtype), True)

    def constant(self, shape: Sequence[int], dtype: torch.dtype) -> str:
        """Of eighths, or of small integers."""
        count = int(np.prod(shape, dtype=np.int64))
        low, high = (0, 5) if dtype == torch.uint8 else (-3, 7)
        numbers = f"(torch.arange({count}) * {self.one(3, 5, 7)} % {high - low} + {low})"
        if dtype == torch.bool:
            return f"(torch.arange({count}) % {self.one(2, 3)} == 0).reshape({list(shape)})"
        return (
            f"({numbers} / 8).to({dtype}).reshape({list(shape)})"
            if dtype.is_floating_point or dtype.is_complex
            else f"{numbers}.to({dtype}).reshape({list(shape)})"
        )

    def indices(self, extent: int, shape: Sequence[int], negative: bool = True) -> str:
        """Of the pool's integers or as constants."""
        if not extent:
            raise Unsuitable
        found = [v for v in self.pool if v.is_integer and v.exact and v.shape == tuple(shape)]
        if found and self.chance(0.5):
            x = self.one(*found)
            return f"({x}.long() % {extent}{f' - {extent}' if negative and self.chance(0.3) else ''})"
        drawn = self.rng.randint(-extent if negative else 0, extent, size=tuple(shape))
        return f"torch.tensor({drawn.tolist()}, dtype=torch.int64).reshape({list(shape)})"

    def module(self, text: str) -> str:
        """How the program calls one of torch.nn."""
        text = f"torch.nn.{text}"
        name = f"m{len(self.modules)}"
        for one in self.environments:
            setattr(one["self"], name, eval(text, {"torch": torch}))
        self.modules.append(f"{name} = {text}")
        return f"self.{name}"

    # Lines.

    def let(self, text: str, exact: bool = False, recipe: str = "") -> Var:
        return self._run(Made(text, exact), recipe)[0]

    def statement(self, text: str) -> None:
        """One that binds nothing, and writes into none of the values."""
        self._run(Made(text, True, writes=self.pool[0]), "")

    def run(self, steps: int) -> None:
        for _ in range(steps):
            any(self._step() for _ in range(TRIES))

    def _step(self) -> bool:
        name = self.one(*self.themes)
        kept = len(self.pool), len(self.lines), len(self.modules)
        try:
            made = RECIPES[name](self)
            found = self._run(made, name)
            if len(found) == 1 and found[0].is_float and not made.exact and self.chance(0.15):
                self._run(Made(f"torch.tanh({found[0]})"), "tanh")
        except Exception:  # what eager refuses is no line
            del self.pool[kept[0] :], self.lines[kept[1] :], self.modules[kept[2] :]
            return False
        return True

    def _run(self, made: Made, recipe: str) -> list[Var]:
        names = () if made.writes is not None else tuple(f"v{self._count + n}" for n in range(made.count))
        self._count += len(names)
        line = f"{', '.join(names)} = {made.text}" if names else made.text
        line = f"{made.within}: {line}" if made.within else line
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for one in self.environments:
                exec(line, one)
                if any(not isinstance(one[name], torch.Tensor) or one[name].numel() > MOST for name in names):
                    raise Unsuitable
        if made.writes is not None and not made.exact:
            self._is_no_longer_exact(made.writes)
        self.lines.append(Line(line, names, recipe))
        found = [Var(name, self.environments[0][name], made.exact) for name in names]
        self.pool += found
        return found

    def _is_no_longer_exact(self, written: Var) -> None:
        place = written.value.untyped_storage().data_ptr()
        self.pool = [Var(v.name, v.value, v.exact and v.value.untyped_storage().data_ptr() != place) for v in self.pool]


def environment(inputs: Sequence[torch.Tensor]) -> dict[str, Any]:
    arguments = {f"a{n}": x for n, x in enumerate(inputs)}
    return {"torch": torch, "F": torch.nn.functional, "self": torch.nn.Module(), **arguments}


def broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(reversed(shape), reversed(to)))
