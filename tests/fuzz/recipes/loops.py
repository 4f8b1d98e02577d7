"""Loops that write into their state, maps of several ops, and functions that several calls share."""

from __future__ import annotations

from dataclasses import replace

from ..errors import Unsuitable
from ..grow import Grower
from ..program import Type, Value
from . import variant
from .movement import array
from .reducing import DIRECTION


@variant("while")
def filling_loop(g: Grower, name: str, element: str) -> Value:
    """Writes a slice of its state a turn, at the counter, of what the body makes of the slice that is there or of what is outside."""
    x = g.any(element, low=1, full=True, exact=True)
    other = g.any(g.element(), exact=True)
    axis, step = g.rng.randrange(x.rank), g.rng.choice((1, 1, -1))
    turns = min(x.shape[axis], g.rng.choice((1, 2, 4, 5)))
    piece = Type(tuple(1 if d == axis else extent for d, extent in enumerate(x.shape)), element)
    counter = Type((), g.rng.choice(("i32", "i64")))
    start = g.constant((), counter.element, 0 if step > 0 else turns - 1)
    kinds = [counter, x.type, other.type]

    def condition(count: Value, *rest: Value) -> list[Value]:
        end = g.constant((), counter.element, turns if step > 0 else 0)
        return [g.emit("compare", [count, end], Type((), "i1"), f"{DIRECTION} {'LT' if step > 0 else 'GE'}>")]

    def body(count: Value, state: Value, carried: Value) -> list[Value]:
        zero = g.constant((), counter.element, 0)
        places = [count if d == axis else zero for d in range(x.rank)]
        read = [places[d] if d != axis or g.rng.random() < 0.7 else zero for d in range(x.rank)]
        g.emit("dynamic_slice", [state, *read], piece, f"slice_sizes = {array(piece.shape)}")
        g.some_ops(g.rng.randrange(4))
        written = [v for v in g.pool if v.type == piece and g.facts[v].exact][-1]
        new = g.emit("dynamic_update_slice", [state, written, *places])
        later = [v for v in g.pool if v.type == carried.type and g.facts[v].exact][-1]
        return [g.emit("add", [count, g.constant((), counter.element, step)]), new, later]

    regions = [g.region(kinds, condition, isolated=False), g.region(kinds, body, isolated=False)]
    return g.emit_all(name, [start, x, other], kinds, regions=regions)[1]


@variant("while")
def searching_loop(g: Grower, name: str, element: str) -> Value:
    """Its condition reads its state: a counter in i32 that grows by what it holds, under a limit from outside."""
    limit = g.within((), "i32", 0, 40)
    state = g.any(element, exact=True)
    first = g.within((), "i32", 1, 3)
    kinds = [first.type, limit.type, state.type]

    def condition(count: Value, end: Value, carried: Value) -> list[Value]:
        return [g.emit("compare", [count, end if g.rng.random() < 0.5 else limit], Type((), "i1"), f"{DIRECTION} LT>")]

    def body(count: Value, end: Value, carried: Value) -> list[Value]:
        g.some_ops(g.rng.randrange(3))
        later = [v for v in g.pool if v.type == carried.type and g.facts[v].exact][-1]
        return [g.emit("add", [count, count]), end, later]

    regions = [g.region(kinds, condition, isolated=False), g.region(kinds, body, isolated=False)]
    return g.emit_all(name, [first, limit, state], kinds, regions=regions)[2]


SCALAR = "add subtract multiply maximum minimum and or xor not negate abs compare select clamp convert sign floor ceil is_finite".split()
SCALAR += "popcnt shift_left shift_right_logical divide remainder reduce_precision".split()


@variant("map")
def map_of_ops(g: Grower, name: str, element: str) -> Value:
    """Several exact operands, and a body of several ops of scalars."""
    operands = [g.any(element)]
    operands += [g.value(operands[0].shape, g.element()) for _ in range(g.rng.randrange(2))]
    kinds: list[str] = []

    def body(*scalars: Value) -> list[Value]:
        saved, g.limits = g.limits, replace(g.limits, ranks=(0,))
        try:
            g.some_ops(g.rng.randrange(1, 4), SCALAR)
        finally:
            g.limits = saved
        made = [v for v in g.pool if v.rank == 0 and g.facts[v].exact]
        kinds.append(made[-1].element)
        return [made[-1]]

    region = g.region([Type((), v.element) for v in operands], body)
    x = operands[0]
    return g.emit(name, operands, Type(x.shape, kinds[0]), f"dimensions = {array(range(x.rank))}", [region])


@variant("func.call")
def call_again(g: Grower, name: str, element: str) -> Value:
    """A function that is there, with other operands."""
    return _again(g, name, "callee = @{} ")


@variant("composite")
def composite_again(g: Grower, name: str, element: str) -> Value:
    """Of a function that is there, which a call may share."""
    return _again(g, name, 'name = "fuzz.again", decomposition = @{} , version = 0 : i32')


def _again(g: Grower, name: str, attributes: str) -> Value:
    if not g.functions:
        raise Unsuitable
    callee = g.rng.choice(sorted(g.functions))
    region = g.functions[callee]
    operands = [g.value(v.shape, v.element, exact=True) for v in region.arguments]
    return g.emit_all(name, operands, [v.type for v in region.returned], attributes.format(callee))[0]


@variant("case")
def deep(g: Grower, name: str, element: str) -> Value:
    """A loop in a branch of a choice, of which another branch is empty."""
    x = g.any(element, exact=True)
    if g.depth >= g.limits.depth:
        raise Unsuitable
    index = g.within((), "i32", 0, 1)

    def looping() -> list[Value]:
        g.some_ops(1, ["while"])
        found = [v for v in g.pool if v.type == x.type and g.facts[v].exact]
        return [found[-1]]

    regions = [g.region([], looping, isolated=False), g.region([], lambda: [x], isolated=False)]
    return g.emit(name, [index], x.type, regions=regions)
