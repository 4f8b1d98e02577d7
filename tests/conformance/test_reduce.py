"""reduce: every monoid and type, every choice of dimensions, initial values that are not neutral, several operands, any body."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from movement import iota
from programs import FLOATS, INTEGERS, Program, Value, combine, integers
from values import edges, normals, small, spread

from hloom.runtime.dtypes import numpy_dtype

RANDOM = settings(max_examples=4, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
LT, GT, GE, EQ, NE = (f"comparison_direction = #stablehlo<comparison_direction {d}>" for d in ("LT", "GT", "GE", "EQ", "NE"))

Body = Callable[..., "Value | Sequence[Value]"]


def reduce(p: Program, values: Sequence[Value], inits: Sequence[Value], dims: Sequence[int], body: Body) -> list[Value]:
    shape = [n for d, n in enumerate(values[0].shape) if d not in dims]
    region = p.region([((), v.element) for v in [*values, *values]], body)
    kinds = [(shape, v.element) for v in values]
    return p.ops("reduce", [*values, *inits], kinds, f"dimensions = {integers(dims)}", [region])


def one(p: Program, name: str, x: Value, init: float, dims: Sequence[int]) -> Value:
    start = p.constant(np.array(init).astype(numpy_dtype(x.element)))
    return reduce(p, [x], [start], dims, combine(p, name))[0]


@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_monoids(interpreter, element):
    """Small integers, whose sums are exact in every type; initial values beside the neutral ones."""
    p = Program()
    x = p.input(small((5, 17, 3), element))
    bits = ["and", "or", "xor"] if element in INTEGERS else []
    for name in ["add", "maximum", "minimum", *bits]:
        for dims in ([0], [1], [2], [0, 2], [0, 1, 2], []):
            for init in (0, 3):
                p.check(f"{name} over {dims} from {init}", one(p, name, x, init, dims))
    factors = p.input(np.where(np.arange(51).reshape(17, 3) % 7, 1, 2).astype(numpy_dtype(element)))
    p.check("multiply", one(p, "multiply", factors, 1, [0]))
    p.check("multiply rows", one(p, "multiply", factors, 3, [1]))
    p.verify(interpreter)


def test_bools(interpreter):
    p = Program()
    x = p.input(np.random.default_rng(0).integers(0, 8, (5, 17)) > 0)
    for name in ("and", "or", "xor", "add", "multiply", "maximum", "minimum"):
        for dims in ([0], [1], [0, 1]):
            for init in (False, True):
                p.check(f"{name} over {dims} from {init}", one(p, name, x, init, dims))
    p.verify(interpreter)


@pytest.mark.parametrize("element", FLOATS)
def test_edge_values(interpreter, element):
    """NaN goes through, +0 is above -0, infinities of both signs give NaN."""
    p = Program()
    values = edges(element)
    table = np.stack([np.roll(values, k)[:9] for k in range(len(values))])
    x = p.input(table)
    for dims in ([1], [0]):
        p.check(f"maximum over {dims}", one(p, "maximum", x, -np.inf, dims))
        p.check(f"minimum over {dims}", one(p, "minimum", x, np.inf, dims))
    zeros = p.input(np.array([[0.0, -0.0], [-0.0, -0.0], [-0.0, 0.0]]).astype(values.dtype))
    for name, init in (("add", -0.0), ("maximum", -np.inf), ("minimum", np.inf)):
        p.check(f"{name} of zeros", one(p, name, zeros, init, [1]))
    ends = p.input(np.array([[np.inf, -np.inf, 1], [np.inf, 1, 2], [np.nan, 1, 2]]).astype(values.dtype))
    p.check("sum of infinities", one(p, "add", ends, 0, [1]))
    p.check("product of infinities", one(p, "multiply", ends, 1, [1]))
    p.verify(interpreter)


@pytest.mark.parametrize("element", INTEGERS)
def test_sums_of_integers_wrap(interpreter, element):
    p = Program()
    x = p.input(spread(element, 7 * 61).reshape(7, 61))
    for name in ("add", "multiply", "maximum", "minimum", "xor"):
        for dims in ([0], [1], [0, 1]):
            p.check(f"{name} over {dims}", one(p, name, x, 1, dims))
    p.verify(interpreter)


@pytest.mark.parametrize("element", FLOATS)
def test_sums_of_floats(interpreter, element):
    """Any order of addition; half precision is summed in f32 and rounded once, where the interpreter would round every partial sum."""
    p = Program()
    for shape in [(1021,), (3, 1021), (1021, 3), (61, 17, 5), (17, 1), (1, 17), (257, 64)]:
        values = normals(shape, element)
        x = p.input(values)
        for dims in ([0], [len(shape) - 1], list(range(len(shape)))):
            wide = values.astype(np.float64)
            exact = np.sum(wide, axis=tuple(dims))
            bound = np.sum(np.abs(wide), axis=tuple(dims)).max() * 64 * (2**-53 if element == "f64" else 2**-24)
            wanted = np.asarray(exact.astype(values.dtype))
            p.check(f"{list(shape)} over {dims}", one(p, "add", x, 0, dims), wanted, ulps=1, absolute=bound)
    p.verify(interpreter)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (0,), (3, 0), (0, 3), (), (1, 1, 1, 1, 1), (2, 3, 1, 2, 3)])
def test_small_and_empty_shapes(interpreter, shape):
    p = Program()
    x, y = p.input(small(shape, "f32")), p.input(small(shape, "i32"))
    for dims in ([], [0], [len(shape) - 1], list(range(len(shape)))):
        if len(shape) == 0 and dims:
            continue
        p.check(f"add over {dims}", one(p, "add", x, 2, dims))
        p.check(f"maximum over {dims}", one(p, "maximum", y, -2, dims))
    p.verify(interpreter)


def argmax(p: Program) -> Body:
    """As JAX emits it: the larger value, of equal ones the lower index, NaN first."""

    def body(x: Value, i: Value, y: Value, j: Value) -> Sequence[Value]:
        nan = p.op("compare", [x, x], element="i1", attributes="comparison_direction = #stablehlo<comparison_direction NE>")
        larger = p.op("or", [p.op("compare", [x, y], element="i1", attributes=GT), nan])
        first = p.op("and", [p.op("compare", [x, y], element="i1", attributes=EQ), p.op("compare", [i, j], element="i1", attributes=LT)])
        left = p.op("or", [larger, first])
        return p.op("select", [larger, x, y], element=x.element), p.op("select", [left, i, j], element=i.element)

    return body


@pytest.mark.parametrize("element", ["f32", "bf16", "f64", "i32", "ui8"])
def test_argmax(interpreter, element):
    p = Program()
    for shape, dim in (((5, 17), 1), ((17, 5), 0), ((3, 61, 2), 1), ((1021,), 0), ((4, 1), 1)):
        x = p.input(small(shape, element))
        low = p.constant(np.array(0 if element == "ui8" else -100).astype(numpy_dtype(element)))
        zero = p.constant(np.array(0, np.int32))
        results = reduce(p, [x, iota(p, shape, "i32", dim)], [low, zero], [dim], argmax(p))
        for label, value in zip(("value", "index"), results):
            p.check(f"{label} of {list(shape)} along {dim}", value)
    if element == "f32":
        rows = np.array([[1, np.nan, 3, np.nan], [np.nan] * 4, [-np.inf] * 4, [0.0, -0.0, 0.0, -0.0]], np.float32)
        start = [p.constant(np.array(-np.inf, np.float32)), p.constant(np.array(0, np.int32))]
        p.check("index of NaN", reduce(p, [p.input(rows), iota(p, rows.shape, "i32", 1)], start, [1], argmax(p))[1])
    p.verify(interpreter)


def test_several_operands_and_other_bodies(interpreter):
    p = Program()
    x, y, n = (p.input(small((7, 19), e, s)) for e, s in (("f32", 1), ("f32", 2), ("i32", 3)))
    zero, low, count = (p.constant(v) for v in (np.float32(0), np.float32(-50), np.int32(0)))

    def sum_max_count(a: Value, b: Value, c: Value, d: Value, e: Value, f: Value) -> Sequence[Value]:
        return p.op("add", [a, d]), p.op("maximum", [b, e]), p.op("xor", [c, f])

    def largest_magnitude(a: Value, b: Value) -> Value:
        larger = p.op("compare", [p.op("abs", [a]), p.op("abs", [b])], element="i1", attributes=GT)
        same = p.op("compare", [p.op("abs", [a]), p.op("abs", [b])], element="i1", attributes=EQ)
        either = p.op("select", [larger, a, b], element="f32")
        return p.op("select", [same, p.op("maximum", [a, b]), either], element="f32")

    def complex_product(a: Value, b: Value, c: Value, d: Value) -> Sequence[Value]:
        def times(v: Value, w: Value) -> Value:
            return p.op("multiply", [v, w])

        return p.op("subtract", [times(a, c), times(b, d)]), p.op("add", [times(a, d), times(b, c)])

    for dims in ([0], [1], [0, 1]):
        for label, value in zip(("sum", "max", "xor"), reduce(p, [x, y, n], [zero, low, count], dims, sum_max_count)):
            p.check(f"{label} over {dims}", value)
        p.check(f"largest magnitude over {dims}", reduce(p, [x], [zero], dims, largest_magnitude)[0])
    units = [p.input(small((37, 5), "f32", seed) % 2) for seed in (4, 5)]
    unit = [p.constant(np.float32(1)), zero]
    for label, value in zip(("real", "imaginary"), reduce(p, units, unit, [1], complex_product)):
        p.check(f"{label} part of a product", value)
    p.check("a constant body", reduce(p, [x], [zero], [1], lambda a, b: p.op("maximum", [p.op("maximum", [a, b]), a]))[0])
    p.verify(interpreter)


@pytest.mark.parametrize("elements", [("f32", "i64"), ("bf16", "i32"), ("f64", "i8"), ("i16", "f32")])
def test_what_stands_beside_the_largest(interpreter, elements):
    """Rows of several tiles, which have a lane each."""
    p = Program()
    x, y = (p.input(small((3, 35, 6), element, seed)) for seed, element in enumerate(elements))
    start = [p.constant(np.asarray(-100, numpy_dtype(elements[0]))), p.constant(np.asarray(0, numpy_dtype(elements[1])))]

    def larger(a: Value, b: Value, c: Value, d: Value) -> Sequence[Value]:
        chosen = p.op("compare", [a, c], element="i1", attributes="comparison_direction = #stablehlo<comparison_direction GE>")
        return p.op("select", [chosen, a, c], element=elements[0]), p.op("select", [chosen, b, d], element=elements[1])

    for dims in ([2], [1], [1, 2], [0, 2], [0]):
        for label, value in zip(("largest", "beside"), reduce(p, [x, y], start, dims, larger)):
            p.check(f"{label} over {dims}", value)
    p.verify(interpreter)


@pytest.mark.parametrize("element", FLOATS)
def test_bodies_that_change_signs_and_compare(interpreter, element):
    p = Program()
    x = p.input(small((5, 37), element))
    start = p.constant(np.array(1).astype(numpy_dtype(element)))

    def largest(a, b):
        return p.op("maximum", [p.op("abs", [a]), p.op("abs", [b])])

    def smallest(a, b):
        return p.op("negate", [p.op("maximum", [p.op("negate", [a]), p.op("negate", [b])])])

    def chosen(a, b):
        return p.op("select", [p.op("compare", [a, b], element="i1", attributes=GT), a, b], element=element)

    def whole(a, b):
        return p.op("add", [p.op("floor", [a]), p.op("sign", [b])])

    for body in (largest, smallest, chosen, whole):
        for dims in ([0], [1]):
            p.check(f"{body.__name__} over {dims}", reduce(p, [x], [start], dims, body)[0])
    p.verify(interpreter)


def test_elements_stand_in_order(interpreter):
    """The first that is not zero: any two may be combined, and none swapped."""
    p = Program()
    zero = p.constant(np.int32(0))

    def first(a: Value, b: Value) -> Value:
        return p.op("select", [p.op("compare", [a, zero], element="i1", attributes=NE), a, b], element="i32")

    def kept(x: Value, i: Value, y: Value, j: Value) -> Sequence[Value]:
        stays = p.op("compare", [x, y], element="i1", attributes=GE)
        return p.op("select", [stays, x, y], element=x.element), p.op("select", [stays, i, j], element=i.element)

    low, none = p.constant(np.float32(-9)), p.constant(np.int32(-1))
    for shape, dims in (((3, 5, 4), [1, 2]), ((2, 3, 3), [0, 1, 2]), ((7, 2, 9), [0, 2]), ((2, 40, 6, 3), [0, 1, 3]), ((70,), [0])):
        x = np.random.default_rng(len(shape)).integers(1, 99, shape, dtype=np.int32)
        x[x > 20] = 0
        p.check(f"first of {list(shape)} over {dims}", reduce(p, [p.input(x)], [zero], dims, first)[0])
        ties = p.input((x % 3).astype(np.float32))
        places = p.op("reshape", [iota(p, (x.size,), "i32", 0)], shape)
        p.check(f"place in {list(shape)} over {dims}", reduce(p, [ties, places], [low, none], dims, kept)[1])
    p.verify(interpreter)


def test_an_initial_value_that_is_computed(interpreter):
    p = Program()
    x, start = p.input(small((5, 17), "f32")), p.input(np.float32(7).reshape(()))
    init = p.op("multiply", [start, start])
    for name in ("add", "maximum"):
        p.check(name, reduce(p, [x], [init], [1], combine(p, name))[0])
    p.verify(interpreter)


def test_producers_and_consumers(interpreter):
    """The softmax shape: elementwise, reduce, broadcast back, elementwise, reduce again; rows and columns."""
    p = Program()
    for shape, dim in (((17, 61), 1), ((61, 17), 0), ((3, 5, 7), 1)):
        x = p.input(small(shape, "i32"))
        rest = [d for d in range(len(shape)) if d != dim]
        top = one(p, "maximum", p.op("multiply", [x, x]), -100, [dim])
        back = p.op("broadcast_in_dim", [top], shape, attributes=f"broadcast_dimensions = {integers(rest)}")
        centred = p.op("subtract", [back, x])
        p.check(f"sums of {list(shape)}", one(p, "add", centred, 0, [dim]))
        p.check(f"centred {list(shape)}", centred)
        p.check(f"over all of {list(shape)}", one(p, "add", centred, 5, list(range(len(shape)))))
    p.verify(interpreter)


@RANDOM
@given(st.data())
def test_random_reductions(interpreter, data):
    p = Program()
    for number in range(12):
        rank = data.draw(st.integers(1, 5))
        shape = tuple(data.draw(st.sampled_from([1, 2, 3, 7, 17] if rank < 4 else [1, 2, 3])) for _ in range(rank))
        dims = sorted(data.draw(st.sets(st.integers(0, rank - 1))))
        name, element = data.draw(st.sampled_from(["add", "maximum", "minimum"])), data.draw(st.sampled_from(["f32", "i8", "i64", "f16"]))
        x = p.input(small(shape, element))
        p.check(f"{number}: {name} of {x.type} over {dims}", one(p, name, x, data.draw(st.integers(0, 3)), dims))
    p.verify(interpreter)
