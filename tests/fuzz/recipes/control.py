"""Control flow, calls and composites: their regions hold what the fuzzer grows there. A loop's state is exact, whatever its body does."""

from __future__ import annotations

from .. import errors
from ..elements import QUANTIZED
from ..errors import Unsuitable
from ..grow import Grower
from ..program import Region, Type, Value
from . import recipe


def branch(g: Grower, kinds: list[Type]) -> tuple[Region, list[errors.Facts]]:
    """A region that reads what is outside, and returns values of those types."""
    facts: list[errors.Facts] = []

    def body() -> list[Value]:
        g.some_ops(g.rng.randrange(4))
        through, g.through = g.through, True
        returned = [g.value(kind.shape, kind.element) for kind in kinds]
        g.through = through
        facts.extend(g.facts[value] for value in returned)
        return returned

    return g.region([], body, isolated=False), facts


def some_kinds(g: Grower, element: str) -> list[Type]:
    kinds = [Type(g.shape(), element), *(Type(g.shape(), g.element()) for _ in range(g.rng.randrange(2)))]
    if any(kind.element in QUANTIZED for kind in kinds) and not g.limits.lenient:
        raise Unsuitable
    return kinds


def chosen(g: Grower, name: str, index: Value, count: int, kinds: list[Type]) -> Value:
    """An op with a region for each choice."""
    made = [branch(g, kinds) for _ in range(count)]
    values = g.emit_all(name, [index], kinds, regions=[region for region, _ in made])
    for value, *each in zip(values, *(facts for _, facts in made)):
        g.facts[value] = errors.through(*each)
    return values[0]


@recipe("if")
def if_(g: Grower, name: str, element: str) -> Value:
    return chosen(g, name, g.value((), "i1"), 2, some_kinds(g, element))


@recipe("case")
def case(g: Grower, name: str, element: str) -> Value:
    count = g.rng.choice((1, 2, 3, 4))
    return chosen(g, name, g.within((), "i32", -1, count), count, some_kinds(g, element))


@recipe("while")
def while_(g: Grower, name: str, element: str) -> Value:
    """Counts to a constant; the rest of its state is what its body makes of it."""
    state = [g.any(element, exact=True), *(g.any(g.element(), exact=True) for _ in range(g.rng.randrange(3)))]
    zero, turns = g.constant((), "i32", 0), g.rng.choice((0, 1, 2, 3, 5))
    kinds = [zero.type, *(value.type for value in state)]
    direction = "comparison_direction = #stablehlo<comparison_direction LT>"

    def condition(count: Value, *rest: Value) -> list[Value]:
        return [g.emit("compare", [count, g.constant((), "i32", turns)], Type((), "i1"), direction)]

    def body(count: Value, *rest: Value) -> list[Value]:
        g.some_ops(g.rng.randrange(1, 5))
        return [g.emit("add", [count, g.constant((), "i32", 1)]), *(last(g, value) for value in rest)]

    outside = set(g.pool)
    regions = [g.region(kinds, condition, isolated=False), g.region(kinds, body, isolated=False)]
    assert outside <= set(g.pool)
    return g.emit_all(name, [zero, *state], kinds, regions=regions)[1]


def last(g: Grower, value: Value) -> Value:
    """The newest exact value of that type, most often."""
    alike = [v for v in g.pool if v.type == value.type and g.facts[v].exact]
    return alike[-1] if g.rng.random() < 0.8 else g.rng.choice(alike)


def private(g: Grower, element: str) -> tuple[str, list[Value], list[Type]]:
    """A private function of a few ops, its operands and its results."""
    operands = [g.any(element, exact=True), *(g.any(g.element(), exact=True) for _ in range(g.rng.randrange(2)))]
    kinds: list[Type] = []

    def body(*arguments: Value) -> list[Value]:
        g.some_ops(g.rng.randrange(1, 4))
        returned = [v for v in g.pool if g.facts[v].exact][-g.rng.choice((1, 2)) :]
        kinds.extend(v.type for v in returned)
        return returned

    region = g.region([value.type for value in operands], body)
    name = f"f{len(g.functions)}"
    g.functions[name] = region
    return name, operands, kinds


@recipe("func.call")
def call(g: Grower, name: str, element: str) -> Value:
    callee, operands, kinds = private(g, element)
    return g.emit_all(name, operands, kinds, f"callee = @{callee} ")[0]


@recipe("composite")
def composite(g: Grower, name: str, element: str) -> Value:
    callee, operands, kinds = private(g, element)
    return g.emit_all(name, operands, kinds, f'name = "fuzz.{callee}", decomposition = @{callee} , version = 1 : i32')[0]
