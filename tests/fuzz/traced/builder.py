"""Grows a JAX program step by step. A step is drawn from its own seed, so that the others stay as they are when it is left out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..draws import Draws
from ..errors import Unsuitable

MOST = 40_000
"""Elements of a value that others are made of."""
TRIES = 4
DECLINED = (TypeError, ValueError, ZeroDivisionError, NotImplementedError, IndexError, OverflowError, AssertionError)
"""What JAX says of a step that is none."""


@dataclass(frozen=True)
class Made:
    """A value, and whether it has the same bits whoever computes it: only such are compared, sorted and rounded."""

    value: Any
    exact: bool = False


Recipe = Callable[["Builder"], Made]
RECIPES: dict[str, Recipe] = {}


def recipe(function: Recipe) -> Recipe:
    """Registers a family of programs by the function's name."""
    assert function.__name__ not in RECIPES, function.__name__
    RECIPES[function.__name__] = function
    return function


def is_float(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.floating)


def is_integer(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.integer)


def is_bool(x: Any) -> bool:
    return x.dtype == jnp.bool_


def is_complex(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def is_number(x: Any) -> bool:
    return is_float(x) or is_integer(x)


@dataclass
class Drawing:
    """Draws values; `moved` ones differ from those of the same seed by a rounding or so, which tells how far errors grow."""

    moved: bool = False

    def __call__(self, rng: np.random.RandomState, shape: Sequence[int], dtype: Any) -> np.ndarray:
        kind = np.dtype(jnp.dtype(dtype))
        drawn = self._drawn(rng, tuple(shape), kind)
        if not self.moved or not jnp.issubdtype(kind, jnp.inexact):
            return drawn
        noise = np.random.RandomState(drawn.size).standard_normal(drawn.shape)
        step = {2: 4e-3, 4: 3e-7}.get(kind.itemsize, 3e-7 if kind.kind == "c" else 1e-15)
        return (drawn.astype(np.complex128 if kind.kind == "c" else np.float64) * (1 + step * noise)).astype(kind)

    def _drawn(self, rng: np.random.RandomState, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
        """Floats are quarters or normal ones, integers small ones with some extreme ones among them."""
        if kind == np.bool_:
            return rng.rand(*shape) < 0.5
        quarters = rng.randint(-8, 9, size=shape) / 4
        if kind.kind == "c":
            return (quarters + 1j * rng.randint(-8, 9, size=shape) / 4).astype(kind)
        if kind.kind not in "iu":
            return (quarters if rng.rand() < 0.5 else rng.standard_normal(shape)).astype(kind)
        info = np.iinfo(kind)
        small = rng.randint(-5 if info.min else 0, 9, size=shape).astype(kind)
        extreme = np.array([info.min, info.max], kind)[rng.randint(0, 2, size=shape)]
        return np.where(rng.rand(*shape) < 0.06, extreme, small).astype(kind)


@dataclass
class Builder(Draws):
    path: str
    """Names what it grows: `<seed>.<program>`, and of programs in it the steps that they belong to."""
    themes: Sequence[str]
    """Names of recipes, the likelier the more often they are there."""
    pool: list[Made]
    skip: frozenset[str] = frozenset()
    """Paths of steps that are left out."""
    depth: int = 0
    drawing: Drawing = field(default_factory=Drawing)
    log: list[tuple[str, str]] = field(default_factory=list)
    """Of each step its path, and its recipe with what it made."""
    rng: np.random.RandomState = field(default_factory=np.random.RandomState)

    # Draws.

    def axis(self, x: Any) -> int:
        return self.number(0, x.ndim - 1)

    def some(self, items: Iterable[Any]) -> list[Any]:
        return [item for item in items if self.chance(0.5)]

    def mask(self, shape: Sequence[int], probability: float = 0.5) -> Any:
        return jnp.asarray(self.rng.rand(*shape) < probability)

    def constant(self, shape: Sequence[int], dtype: Any) -> Any:
        return jnp.asarray(self.drawing(self.rng, shape, dtype))

    # Values of the pool.

    def pick(self, suits: Callable[[Any], bool] = lambda x: True, *, exact: bool = False, most: int = MOST, full: bool = False) -> Made:
        """A value of at most so many elements, likely a late one; `full`: with a dimension and elements."""
        found = [m for m in self.pool if suits(m.value) and (m.exact or not exact) and m.value.size <= most]
        found = [m for m in found if not full or (m.value.ndim and m.value.size)]
        if not found:
            raise Unsuitable
        return found[len(found) - 1 - int(len(found) * self.rng.rand() ** 1.5)]

    def partner(self, x: Any) -> Made:
        """Another value of that type, of a shape that broadcasts to its."""
        made = self.pick(lambda y: y.dtype == x.dtype)
        if made.value.shape == x.shape:
            return made
        shape = [extent if self.chance(0.7) else 1 for extent in x.shape][self.number(0, x.ndim) :]
        if 0 < prod(shape) <= made.value.size:
            return Made(made.value.reshape(-1)[: prod(shape)].reshape(shape), made.exact)
        return Made(self.constant(shape, x.dtype), True)

    def recent(self, most: int, count: int = 2) -> list[Made]:
        """What inner programs read of the outer one."""
        return [m for m in self.pool if 0 < m.value.size < most][-count:]

    # Steps.

    def run(self, steps: int) -> None:
        for step in range(steps):
            path = f"{self.path}/{step}"
            if path not in self.skip:
                any(self._step(path, attempt) for attempt in range(TRIES))

    def _step(self, path: str, attempt: int) -> bool:
        self.rng.seed(zlib.crc32(f"{path}.{attempt}".encode()))
        name = self.one(*self.themes)
        kept = len(self.pool), len(self.log)
        try:
            made = RECIPES[name](self)
        except (Unsuitable, *DECLINED):
            del self.pool[kept[0] :], self.log[kept[1] :]
            return False
        if made.value.size > 3 * MOST // 2:
            return False
        if is_float(made.value) and not made.exact and self.chance(0.2):
            made = Made(jnp.tanh(made.value))
        self.log.append((path, f"{name} → {made.value.dtype}{list(made.value.shape)}"))
        self.pool.append(made)
        return True

    def updated(self, number: int) -> list[Made]:
        """A value of the pool made anew from itself and others, as a training step makes weights; none if left out."""
        path = f"{self.path}/update{number}"
        if path in self.skip:
            return []
        self.rng.seed(zlib.crc32(path.encode()))
        try:
            made = update(self, self.pool[number])
        except (Unsuitable, *DECLINED):
            return []
        self.log.append((path, f"update → {made.value.dtype}{list(made.value.shape)}"))
        return [made]

    def inner(self, pool: Sequence[Made], steps: int, tag: Any) -> list[Made]:
        """The pool of a program that is grown of those values: the body of a loop, what is differentiated."""
        if self.depth > 1:
            raise Unsuitable
        path = f"{self.path}/{tag}"
        made = Builder(path, self.themes, list(pool), self.skip, self.depth + 1, self.drawing)
        made.run(steps)
        self.log += made.log
        return made.pool


def like(x: Any, shape: Sequence[int], dtype: Any) -> Any:
    """Any value made one of that shape and type, floats of them small."""
    if is_complex(x) and not jnp.issubdtype(dtype, jnp.complexfloating):
        x = jnp.real(x)
    x = (jnp.resize(x, shape) if x.size else jnp.zeros(shape, x.dtype)).astype(dtype)
    return jnp.tanh(x * jnp.asarray(0.2, x.dtype)) if is_float(x) else x


def update(b: Builder, made: Made) -> Made:
    """A value of the same type: changed in places, moved, or made of another."""
    x = made.value
    other = b.pick(full=True, exact=not (is_float(x) or is_complex(x))).value  # a float that is rounded otherwise may be another integer
    if not x.size:
        raise Unsuitable
    axis, new = b.axis(x), like(other, x.shape, x.dtype)
    low = b.number(0, x.shape[axis] - 1)
    high = b.number(low + 1, x.shape[axis])
    before, after = (lax.slice_in_dim(x, *ends, axis=axis) for ends in ((0, low), (high, None)))
    middle = lax.slice_in_dim(new, low, high, axis=axis)
    at = [jnp.int32(b.number(-1, extent)) for extent in x.shape]
    functions = (
        lambda: x + new if not is_bool(x) else x ^ new,
        lambda: jnp.where(b.mask(x.shape), x, new),
        lambda: jnp.concatenate([before, middle, after], axis),
        lambda: jnp.concatenate([after, middle, before], axis),
        lambda: lax.dynamic_update_slice(x, middle, at),
        lambda: x.at[b.number(0, len(x) - 1)].set(x[b.number(0, len(x) - 1)]),
        lambda: jnp.where(x == x.max(), new, x) if is_number(x) and made.exact else lax.rev(x, [axis]),
        lambda: lax.fori_loop(0, b.number(1, 3), lambda i, y: jnp.roll(y, 1, axis).at[i % len(x)].set(new[i % len(x)]), x),
        lambda: new,
    )
    return Made(b.one(*functions)())
