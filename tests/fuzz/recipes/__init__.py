"""How to make each op of the specification, of an element type: one recipe for the fuzzer and for the table of docs/ops.md.

A recipe takes operands from a Grower, and emits the op, of values of that type. What the op refuses (a type, a shape) the verifier says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ..grow import Grower

Make = Callable[[Grower, str, str], object]


@dataclass(frozen=True)
class Recipe:
    name: str
    make: Make
    through: bool
    """Takes operands that are not exact: it copies elements, or errors.py has a rule for it."""
    by_xla: bool
    """The reference interpreter lacks it, or computes it wrongly."""
    alone: bool
    """Not for the fuzzer: only its own results are defined."""


RECIPES: dict[str, Recipe] = {}
VARIANTS: list[Recipe] = []
"""Other ways to make the ops, for the fuzzer alone."""


def recipe(names: str, *, through: bool = False, by_xla: bool = False, alone: bool = False) -> Callable[[Make], Make]:
    """Registers the function for those ops. It gets the grower, the name and an element type."""

    def register(make: Make) -> Make:
        for name in names.split():
            assert name not in RECIPES, name
            RECIPES[name] = Recipe(name, make, through, by_xla, alone)
        return make

    return register


def variant(names: str, *, through: bool = False, by_xla: bool = False) -> Callable[[Make], Make]:
    """Registers the function as another way to make those ops."""

    def register(make: Make) -> Make:
        VARIANTS.extend(Recipe(name, make, through, by_xla, False) for name in names.split())
        return make

    return register


def every() -> list[Recipe]:
    """The recipes of the fuzzer."""
    return [*(each for each in load().values() if not each.alone), *VARIANTS]


def load() -> dict[str, Recipe]:
    families = "elementwise movement indexing reducing several contracting control loops numbers quantized dynamic devices compositions"
    for family in families.split():
        import_module(f"{__name__}.{family}")
    return RECIPES
