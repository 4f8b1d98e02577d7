"""while, if, case and calls: what they carry, how often they run, and that no value is overwritten while it is still to be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from movement import broadcast, dynamic_slice, dynamic_update_slice, slice_
from programs import Program, Value
from values import small

from hloom.runtime.dtypes import numpy_dtype

Carries = Sequence[Value]


def number(p: Program, value: float, element: str = "i32") -> Value:
    return p.constant(np.array(value).astype(numpy_dtype(element)))


def less(p: Program, x: Value, y: Value) -> Value:
    return p.op("compare", [x, y], (), "i1", "comparison_direction = #stablehlo<comparison_direction LT>")


def while_(p: Program, values: Carries, condition: Callable[..., Value], body: Callable[..., Carries]) -> list[Value]:
    kinds = [(v.shape, v.element) for v in values]
    return p.ops("while", values, kinds, regions=[p.region(kinds, condition), p.region(kinds, body)])


def times(p: Program, trips: int | Value, values: Carries, body: Callable[..., Carries]) -> list[Value]:
    """`values` after so many runs of `body`, which also gets the counter."""
    limit = number(p, trips) if isinstance(trips, int) else trips

    def whole(i: Value, *carried: Value) -> Carries:
        return p.op("add", [i, number(p, 1)]), *body(i, *carried)

    return while_(p, [number(p, 0), *values], lambda i, *_: less(p, i, limit), whole)[1:]


def checked(p: Program, label: str, values: Carries) -> None:
    for i, value in enumerate(values):
        p.check(f"{label}: result {i}", value)


def vectors(p: Program, count: int, element: str = "f32", shape: tuple[int, ...] = (17,)) -> list[Value]:
    return [p.input(small(shape, element, seed)) for seed in range(count)]


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("known", [True, False])
def test_hazards_of_carries(interpreter, trips, known):
    """Swapped and rotated carries, one returned twice, one unused, one unchanged, one that reads another's old value."""
    p = Program()
    a, b, c = vectors(p, 3)
    limit: int | Value = trips if known else p.input(np.int32(trips).reshape(()))
    checked(p, "swap", times(p, limit, [a, b], lambda i, x, y: (y, x)))
    checked(p, "rotate", times(p, limit, [a, b, c], lambda i, x, y, z: (y, z, x)))
    checked(p, "Fibonacci", times(p, limit, [a, b], lambda i, x, y: (y, p.op("add", [x, y]))))
    checked(p, "twice", times(p, limit, [a, b], lambda i, x, y: (y, y)))
    checked(p, "both from both", times(p, limit, [a, b], lambda i, x, y: (p.op("subtract", [x, y]), p.op("add", [x, y]))))
    checked(p, "unused", times(p, limit, [a, b], lambda i, x, y: (p.op("negate", [x]), c)))
    checked(p, "unchanged", times(p, limit, [a, b], lambda i, x, y: (p.op("add", [x, y]), y)))
    checked(p, "from one value", times(p, limit, [a, a], lambda i, x, y: (p.op("add", [x, x]), p.op("negate", [y]))))
    checked(p, "reversed", times(p, limit, [a, b], lambda i, x, y: (p.op("reverse", [y], attributes="dimensions = array<i64: 0>"), x)))
    checked(p, "the argument itself", [a])
    p.verify(interpreter)


def test_a_carry_used_before_and_after(interpreter):
    p = Program()
    a, b = vectors(p, 2)
    start = p.op("add", [a, b])
    first = times(p, 3, [start], lambda i, x: [p.op("add", [x, a])])
    again = times(p, 2, [start], lambda i, x: [p.op("multiply", [x, b])])
    checked(p, "loops of one value", [start, *first, *again, p.op("subtract", [first[0], start])])
    p.verify(interpreter)


@pytest.mark.parametrize("element", ["f32", "i8", "i1", "bf16", "f64", "ui64"])
def test_types_and_shapes_of_carries(interpreter, element):
    p = Program()
    name = "xor" if element == "i1" else "add"
    for shape in ((), (1,), (0,), (17,), (3, 5), (2, 1, 3, 1, 2)):
        a, b = vectors(p, 2, element, shape)
        checked(p, f"{list(shape)}", times(p, 3, [a, b], lambda i, x, y: (y, p.op(name, [x, y]))))
    p.verify(interpreter)


def test_nested_loops(interpreter):
    p = Program()
    a, b = vectors(p, 2, "i32")

    def outer(i: Value, x: Value, y: Value) -> Carries:
        inner = times(p, i, [x, y], lambda j, u, v: (v, p.op("add", [u, broadcast(p, j, u.shape, [])])))
        return inner[1], p.op("add", [inner[0], y])

    checked(p, "a trip count that grows", times(p, 4, [a, b], outer))
    checked(p, "never within often", times(p, 3, [a, b], lambda i, x, y: times(p, 0, [y, x], lambda j, u, v: (v, v))))
    checked(p, "often within never", times(p, 0, [a, b], lambda i, x, y: times(p, 5, [y, x], lambda j, u, v: (v, v))))
    deep = times(p, 2, [a], lambda i, x: times(p, 2, [x], lambda j, y: times(p, 2, [y], lambda k, z: [p.op("add", [z, b])])))
    checked(p, "three deep", deep)
    p.verify(interpreter)


def test_conditions(interpreter):
    """A condition over data, one that looks at several carries, one that is false at once, a counter that runs down in steps."""
    p = Program()
    x, y = p.input(np.float32(1).reshape(())), p.input(np.float32(100).reshape(()))
    half = number(p, 0.5, "f32")
    checked(p, "doubling", while_(p, [x, y], lambda a, b: less(p, a, b), lambda a, b: (p.op("add", [a, a]), p.op("multiply", [b, half]))))
    checked(p, "false at once", while_(p, [y, x], lambda a, b: less(p, a, b), lambda a, b: (b, a)))
    start = [number(p, 20), y]
    steps = while_(p, start, lambda i, a: less(p, number(p, 3), i), lambda i, a: (p.op("subtract", [i, number(p, 4)]), p.op("add", [a, x])))
    checked(p, "down by four", steps)
    flag = p.input(np.array(True))
    checked(p, "a flag", while_(p, [flag, x], lambda f, a: f, lambda f, a: (less(p, a, y), p.op("add", [a, a]))))
    p.verify(interpreter)


def test_slices_in_loops(interpreter):
    """Reading and writing rows by the counter, as scan does; the buffer's old rows must stay."""
    p = Program()
    table, rows = p.input(small((7, 5), "f32", 1)), p.input(small((7, 5), "f32", 2))
    zero, row = number(p, 0), p.input(small((1, 5), "f32", 3))

    def scan(i: Value, state: Value, out: Value) -> Carries:
        state = p.op("add", [state, dynamic_slice(p, rows, [i, zero], (1, 5))])
        return state, dynamic_update_slice(p, out, state, [i, zero])

    checked(p, "scan", times(p, 7, [row, table], scan))
    checked(p, "partly", times(p, 3, [row, table], scan))

    def shift(i: Value, out: Value) -> Carries:
        return [dynamic_update_slice(p, out, dynamic_slice(p, out, [i, zero], (2, 5)), [p.op("add", [i, number(p, 1)]), zero])]

    checked(p, "overlapping rows of one buffer", times(p, 5, [table], shift))

    def backwards(i: Value, out: Value) -> Carries:
        last = p.op("subtract", [number(p, 6), i])
        return [dynamic_update_slice(p, out, dynamic_slice(p, out, [i, zero], (1, 5)), [last, zero])]

    checked(p, "backwards in place", times(p, 7, [table], backwards))
    checked(p, "old and new", [table, dynamic_update_slice(p, table, row, [number(p, 2), zero])])
    p.verify(interpreter)


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 3, 100])
def test_branches(interpreter, index):
    """case takes its last branch for every index that it has none for; branches that give back a captured value, or one value twice."""
    p = Program()
    a, b, c = vectors(p, 3)
    which, yes = p.input(np.int32(index).reshape(())), p.input(np.array(index % 2 == 0))
    kinds = [(a.shape, "f32")] * 2
    branches = [lambda: (a, b), lambda: (b, a), lambda: (p.op("add", [a, c]), c), lambda: (c, c)]
    checked(p, "case", p.ops("case", [which], kinds, regions=[p.region([], body) for body in branches]))
    checked(p, "case of one", p.ops("case", [which], kinds, regions=[p.region([], branches[2])]))
    checked(p, "if", p.ops("if", [yes], kinds, regions=[p.region([], branches[1]), p.region([], branches[2])]))
    checked(p, "if, both alike", p.ops("if", [yes], kinds, regions=[p.region([], branches[0]), p.region([], branches[0])]))

    def nested() -> Carries:
        inner = p.ops("if", [yes], kinds[:1], regions=[p.region([], lambda: a), p.region([], lambda: p.op("negate", [b]))])
        return p.op("add", [inner[0], c]), inner[0]

    checked(p, "nested", p.ops("case", [which], kinds, regions=[p.region([], nested), p.region([], branches[1])]))
    p.verify(interpreter)


def test_branches_in_loops_and_loops_in_branches(interpreter):
    p = Program()
    a, b = vectors(p, 2)
    kinds = [(a.shape, "f32")] * 2

    def body(i: Value, x: Value, y: Value) -> Carries:
        branches = [lambda: (y, x), lambda: (p.op("add", [x, y]), y), lambda: (x, x)]
        return p.ops("case", [i], kinds, regions=[p.region([], branch) for branch in branches])

    checked(p, "a branch each time", times(p, 5, [a, b], body))
    yes = p.input(np.array(True))
    loop = p.region([], lambda: times(p, 3, [a, b], lambda i, x, y: (y, p.op("subtract", [x, y]))))
    checked(p, "a loop or not", p.ops("if", [yes], kinds, regions=[loop, p.region([], lambda: (a, b))]))
    p.verify(interpreter)


def test_calls(interpreter):
    """Functions called from several places, from each other, from within loops; arguments given back; results that depend on nothing."""
    p = Program()
    a, b = vectors(p, 2)
    kinds = [(a.shape, "f32")] * 2
    swap = p.function("swap", kinds, lambda x, y: [y, x])
    mix = p.function("mix", kinds, lambda x, y: [p.op("add", [x, y]), *p.call("swap", [x, y], swap)])
    checked(p, "swap", p.call("swap", [a, b], swap))
    checked(p, "twice", p.call("swap", p.call("swap", [a, b], swap), swap))
    checked(p, "through another", p.call("mix", [a, b], mix))
    checked(p, "of one value", p.call("mix", [a, a], mix))
    checked(p, "in a loop", times(p, 3, [a, b], lambda i, x, y: p.call("mix", [x, y], mix)[:2]))
    p.verify(interpreter)


def test_results_that_are_arguments_and_constants(interpreter):
    p = Program()
    a, b = vectors(p, 2)
    constant = p.constant(small((17,), "f32", 9))
    checked(p, "as they are", [a, b, a, constant, constant, slice_(p, a, [0], [17], [1])])
    p.verify(interpreter)
