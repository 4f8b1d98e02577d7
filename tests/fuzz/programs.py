"""Random programs, and the small program of one op and element type."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from .elements import COMMON, FLOATS, QUANTIZED, SMALL_FLOATS, is_float
from .errors import Unsuitable
from .grow import Grower, Limits
from .program import Program
from .recipes import Recipe, every, load

TRIES = 20
XLA = 0.15
"""How many programs have ops that only XLA computes."""
NOT_XLAS = (*QUANTIZED, "i2", "ui2", "i4", "ui4")
"""XLA has no quantized types, and fails on packed integers here and there."""
CONTROL = 0.06
"""How often an op is drawn among those with regions that hold programs, besides their share."""
NESTING = ("while", "if", "case", "func.call", "composite")
SMALL = Limits(ranks=(2,), extents=(3, 5), empty=0, data=("tame",), reuse=0.9)
Knows = Callable[[str, str], bool]
"""Whether an op of an element type compiles."""


def attempt(g: Grower, recipe: Recipe, element: str) -> bool:
    """Makes the op; if its operands do not suit, leaves the program as it was."""
    kept = len(g.ops), list(g.pool), dict(g.facts), dict(g.functions), g.isolated, g.through, g.depth
    g.through = recipe.through
    try:
        recipe.make(g, recipe.name, element)
    except Unsuitable:
        del g.ops[kept[0] :]
        g.pool, g.facts, g.functions, g.isolated, g.through, g.depth = kept[1:]
        return False
    finally:
        g.through = False
    return True


def judged(recipe: Recipe, element: str) -> bool:
    """Neither oracle expands CHLO's functions of small floats."""
    return not (recipe.name.startswith("chlo.") and element in SMALL_FLOATS)


def random_program(seed: Sequence[int], limits: Limits, knows: Knows, size: int, only: Sequence[str] = ()) -> Program:
    """About `size` ops that compile. `only`: of those names. Some programs have ops that the reference interpreter lacks: there floats are
    whole numbers, because XLA contracts multiplications and additions, and flushes what is tiny."""
    rng = random.Random(str(seed))
    common = [element for element in limits.types if element in COMMON] if rng.random() < 0.65 else []
    by_xla = rng.random() < XLA
    among = common or [element for element in limits.types if not by_xla or element not in NOT_XLAS]
    chosen = rng.sample(among, min(len(among), 3))
    g = Grower(seed, replace(limits, types=tuple(chosen), data=("whole",) if by_xla else limits.data))
    recipes = [r for r in every() if (by_xla or not r.by_xla) and (not only or r.name in only)]
    if not recipes:
        return g.finish()
    g.by_xla = by_xla

    regional = [r for r in recipes if r.name in NESTING]

    def some_ops(count: int, names: Sequence[str] = ()) -> None:
        some = [r for r in recipes if r.name in names] if names else []
        for _ in range(count):
            for _ in range(TRIES):
                likely = regional if regional and g.rng.random() < CONTROL else recipes
                recipe, element = g.rng.choice(some or likely), g.element()
                deep = recipe.name in NESTING and g.depth >= limits.depth
                if not deep and judged(recipe, element) and knows(recipe.name, element) and attempt(g, recipe, element):
                    break

    g.some_ops = some_ops
    some_ops(size)
    return g.finish()


def small_program(name: str, element: str, seed: int = 0) -> Program | None:
    """One op of the type; None if it cannot be made of it."""
    recipe = load()[name]
    data = ("whole",) if is_float(element) and element not in FLOATS else ("tame",)
    for number in range(2 * TRIES):
        limits = replace(SMALL, types=(element,), data=data, lenient=number >= TRIES)
        g = Grower([seed, number], limits)
        g.by_xla = recipe.by_xla
        if attempt(g, recipe, element):
            return g.finish()
    return None
