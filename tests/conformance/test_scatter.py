"""scatter: every type and body, windows inserted or not, batching dims, several operands, duplicates, indices out of bounds.

What is wanted is computed by NumPy, element by element, as XLA does: the interpreter drops a window element by element, reads unsigned
indices as signed, and takes updates in another order where windows lie before their indices. Where it agrees, it is asked too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import FLOATS, INTEGERS, TYPES, Program, Value
from values import small, spread

import hloom
from hloom.passes.stablehlo import sort_scatters
from hloom.runtime.dtypes import numpy_dtype

RANDOM = settings(max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Numbers:
    """Dimension numbers: of the updates' window, what it lacks, batching dims, and the dims that a component of the index moves."""

    window: Sequence[int] = ()
    inserted: Sequence[int] = ()
    batch: Sequence[int] = ()
    index_batch: Sequence[int] = ()
    moved: Sequence[int] = ()
    vector: int = 1

    @property
    def text(self) -> str:
        return (
            f"#stablehlo.scatter<update_window_dims = {list(self.window)}, inserted_window_dims = {list(self.inserted)}, "
            f"input_batching_dims = {list(self.batch)}, scatter_indices_batching_dims = {list(self.index_batch)}, "
            f"scatter_dims_to_operand_dims = {list(self.moved)}, index_vector_dim = {self.vector}>"
        )


ROWS = Numbers(window=[1], inserted=[0], moved=[0])
Body = Callable[..., Value | Sequence[Value]]


def scatter(p: Program, tables: list[Value], indices: Value, updates: list[Value], numbers: Numbers, body: Body) -> list[Value]:
    region = p.region([((), v.element) for v in (*tables, *updates)], body)
    attributes = f"scatter_dimension_numbers = {numbers.text}"
    return p.ops("scatter", [*tables, indices, *updates], [(v.shape, v.element) for v in tables], attributes, [region])


def scattered(tables: list[np.ndarray], indices: np.ndarray, updates: list[np.ndarray], numbers: Numbers, body) -> list[np.ndarray]:
    """What XLA computes: windows one after the other, dropped whole where a part is out of bounds; `body` works on tuples of elements."""
    results = [table.copy() for table in tables]
    shape = tables[0].shape
    over = [d for d in range(updates[0].ndim) if d not in numbers.window]
    dims = [d for d in range(indices.ndim) if d != numbers.vector]
    own = dict(zip((d for d in range(len(shape)) if d not in (*numbers.inserted, *numbers.batch)), numbers.window))
    window = [updates[0].shape[own[d]] if d in own else 1 for d in range(len(shape))]
    for at in itertools.product(*(range(updates[0].shape[d]) for d in over)):
        start = [0] * len(shape)
        for component, d in enumerate(numbers.moved):
            place = list(at)
            if numbers.vector < indices.ndim:
                place.insert(numbers.vector, component)
            start[d] = int(indices[tuple(place)])
        for d, i in zip(numbers.batch, numbers.index_batch):
            start[d] = at[dims.index(i)]
        if any(not 0 <= s <= extent - size for s, extent, size in zip(start, shape, window)):
            continue
        for offset in np.ndindex(*window):
            source = [0] * updates[0].ndim
            for d, index in zip(over, at):
                source[d] = index
            for d, u in own.items():
                source[u] = offset[d]
            target = tuple(np.add(start, offset))
            new = body(*(r[target] for r in results), *(u[tuple(source)] for u in updates))
            for result, value in zip(results, new):
                result[target] = value
    return results


def replaced(p: Program) -> Body:
    return lambda old, new: new


def filled(shape, element: str, seed: int = 0) -> np.ndarray:
    return spread(element, int(np.prod(shape)), seed).reshape(shape)


INDICES = [[4], [0], [2], [4], [-1], [5], [2], [100]]


@pytest.mark.parametrize("element", TYPES)
def test_every_type_is_replaced(interpreter, element):
    p = Program()
    x, updates = filled((5, 17), element, 1), filled((8, 17), element, 2)
    values = [p.input(x), p.input(updates)]
    places = p.input(np.array(INDICES, np.int32))
    (found,) = scatter(p, values[:1], places, values[1:], ROWS, replaced(p))
    p.check("the last of those at one place", found, scattered([x], np.array(INDICES), [updates], ROWS, lambda old, new: [new])[0])
    p.check("as the interpreter", found)
    p.verify(interpreter)


@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_bodies_are_applied_in_order(interpreter, element):
    """Subtraction and division neither commute nor associate."""
    p = Program()
    x, updates = small((5, 7), element, 1), small((8, 7), element, 2)
    table, update, places = p.input(x), p.input(updates), p.input(np.array(INDICES, np.int64))
    for name in "add subtract multiply maximum minimum".split():
        (found,) = scatter(p, [table], places, [update], ROWS, lambda old, new, name=name: p.op(name, [old, new]))
        p.check(name, found)
    p.verify(interpreter)


@pytest.mark.parametrize("element", INTEGERS)
def test_indices_of_every_type(interpreter, element):
    """Those out of bounds are dropped: negative ones, and unsigned ones that would be negative if they were signed."""
    p = Program()
    limits = np.iinfo(numpy_dtype(element))
    numbers = [limits.min, limits.max, 0, 3, limits.max - 1, 2, 3, (limits.max >> 1) + 1]
    x, updates, places = filled(127, "f32", 1), filled(8, "f32", 2), np.array(numbers, numpy_dtype(element)).reshape(8, 1)
    one = Numbers(inserted=[0], moved=[0])
    (found,) = scatter(p, [p.input(x)], p.input(places), [p.input(updates)], one, replaced(p))
    p.check("at one place each", found, scattered([x], places, [updates], one, lambda old, new: [new])[0])
    p.verify(interpreter)


def test_a_window_partly_out_of_bounds_is_dropped_whole(interpreter):
    p = Program()
    x, updates, places = np.arange(6.0), np.arange(1.0, 10).reshape(3, 3), np.array([[4], [-1], [3]])
    numbers = Numbers(window=[1], moved=[0])
    (found,) = scatter(p, [p.input(x)], p.input(places), [p.input(updates)], numbers, replaced(p))
    p.check("only the last lies inside", found, np.array([0, 1, 2, 7, 8, 9.0]))
    p.verify(interpreter)


def test_several_operands_are_updated_together(interpreter):
    """The largest value and where it came from."""
    p = Program()
    values, at, new = filled(6, "f32", 1), np.zeros(6, np.int32), filled(40, "f32", 2)
    new = np.where(np.isnan(new), np.float32(0), new)
    places, number = np.random.default_rng(0).integers(-1, 7, (40, 1)), np.arange(40, dtype=np.int32)
    one = Numbers(inserted=[0], moved=[0])

    def larger(a, i, b, j):
        more = p.op("compare", [b, a], element="i1", attributes="comparison_direction = #stablehlo<comparison_direction GT>")
        return p.op("select", [more, b, a], (), "f32"), p.op("select", [more, j, i], (), "i32")

    found = scatter(p, [p.input(values), p.input(at)], p.input(places), [p.input(new), p.input(number)], one, larger)
    wanted = scattered([values, at], places, [new, number], one, lambda a, i, b, j: (b, j) if b > a else (a, i))
    for label, value, expected in zip(("value", "number"), found, wanted):
        p.check(label, value, expected)
    p.verify(interpreter)


def test_sums_are_of_the_type_of_the_body():
    """300 ones: 256 where bf16 is added to bf16, 300 where the body's type, and so the result's, is f32."""
    text = """func.func @main(%x: tensor<2xbf16>, %i: tensor<300x1xi32>, %u: tensor<300xbf16>) -> tensor<2xELEMENT> {
      %0 = "stablehlo.scatter"(%x, %i, %u) ({
      ^bb0(%a: tensor<ELEMENT>, %b: tensor<ELEMENT>):
        %s = stablehlo.add %a, %b : tensor<ELEMENT>
        stablehlo.return %s : tensor<ELEMENT>
      }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<2xbf16>, tensor<300x1xi32>, tensor<300xbf16>) -> tensor<2xELEMENT>
      return %0 : tensor<2xELEMENT>
    }"""
    bf16 = numpy_dtype("bf16")
    inputs = np.zeros(2, bf16), np.ones((300, 1), np.int32), np.ones(300, bf16)
    for element, total in (("bf16", 256), ("f32", 300)):
        result = hloom.compile(text.replace("ELEMENT", element))(*inputs)
        assert result.dtype == numpy_dtype(element) and result.tolist() == [0, total]


BODIES = {
    "add": np.add,
    "multiply": np.multiply,
    "subtract": np.subtract,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@pytest.mark.parametrize("element", ["i8", "ui16", "i32", "ui64", "f16", "bf16", "f32", "f64"])
def test_any_order_gives_the_same(interpreter, element):
    """Sums, products and bits of integers, and extrema, which GPUs combine by atomics; unique indices, by stores; one value for all."""
    p = Program()
    x, updates = small((5, 7), element, 1), small((8, 7), element, 2)
    table, update, places = p.input(x), p.input(updates), p.input(np.array(INDICES, np.int64))
    floats = element in FLOATS
    for name, function in BODIES.items():
        if floats and name in ("and", "or", "xor"):
            continue
        (found,) = scatter(p, [table], places, [update], ROWS, lambda old, new, name=name: p.op(name, [old, new]))
        if floats and name not in ("maximum", "minimum"):
            p.check(name, found)
            continue
        with np.errstate(over="ignore"):
            p.check(name, found, scattered([x], np.array(INDICES), [updates], ROWS, lambda old, new, f=function: [f(old, new)])[0])
    (found,) = scatter(p, [table], places, [p.constant(np.full((8, 7), 3, x.dtype))], ROWS, replaced(p))
    p.check("one value", found, scattered([x], np.array(INDICES), [np.full((8, 7), 3, x.dtype)], ROWS, lambda old, new: [new])[0])
    p.verify(interpreter)


def test_bits_of_i1(interpreter):
    p = Program()
    x, updates = filled((5, 17), "i1", 1), filled((8, 17), "i1", 2)
    for name, function in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor), ("maximum", np.logical_or)):
        places = p.constant(np.array(INDICES, np.int32))
        (found,) = scatter(p, [p.input(x)], places, [p.input(updates)], ROWS, lambda old, new, name=name: p.op(name, [old, new]))
        p.check(name, found, scattered([x], np.array(INDICES), [updates], ROWS, lambda old, new, f=function: [f(old, new)])[0])
    p.verify(interpreter)


def test_what_is_updated_is_its_own_update(interpreter):
    """Rows of a table change places; and of two results nobody wants the first."""
    p = Program()
    x, places = filled((8, 3), "f32", 1), np.random.default_rng(0).permutation(8).reshape(8, 1)
    table = p.input(x)
    (found,) = scatter(p, [table], p.input(places), [table], ROWS, replaced(p))
    p.check("moved", found, scattered([x], places, [x], ROWS, lambda old, new: [new])[0])
    other = p.input(filled((8, 3), "f32", 2))
    two = scatter(
        p, [table, other], p.input(places), [other, table], ROWS, lambda a, b, c, d: (p.op("add", [a, c]), p.op("subtract", [b, d]))
    )
    p.check("the second of two", two[1])
    p.verify(interpreter)


@st.composite
def programs(draw):
    """A table, indices and updates with dimension numbers of any form."""
    rank = draw(st.integers(0, 3))
    shape = [draw(st.integers(1, 6)) for _ in range(rank)]
    roles = [draw(st.sampled_from(["window", "inserted", "batch"])) for _ in range(rank)]
    inside = [d for d in range(rank) if roles[d] == "window"]
    batch = [d for d in range(rank) if roles[d] == "batch"]
    moved = draw(st.permutations([d for d in range(rank) if roles[d] != "batch"]))
    moved = moved[: draw(st.integers(0, len(moved)))]
    window = [draw(st.integers(1, shape[d])) for d in inside]
    order = draw(st.permutations([("batch", d) for d in batch] + [("index", n) for n in range(draw(st.integers(0, 2)))]))
    lengths = [shape[d] if kind == "batch" else draw(st.integers(0, 5)) for kind, d in order]
    vector = draw(st.integers(0, len(lengths)))
    places = [*lengths[:vector], len(moved), *lengths[vector:]]
    if len(moved) == 1 and draw(st.booleans()):
        places, vector = lengths, len(lengths)
    index_dims = [d for d in range(len(places)) if d != vector]
    index_batch = [index_dims[[*order].index(("batch", d))] for d in batch]
    total = len(inside) + len(lengths)
    at = sorted(draw(st.permutations(range(total)))[: len(inside)])
    inner, outer = iter(window), iter(lengths)
    updates = [next(inner) if d in at else next(outer) for d in range(total)]
    inserted = [d for d in range(rank) if roles[d] == "inserted"]
    return shape, places, updates, Numbers(at, inserted, batch, index_batch, moved, vector), draw(st.integers(0, 1 << 30))


def several(*elements_and_indices):
    """Scatters for one program of five, which compiles in the time of two."""
    return st.lists(st.tuples(programs(), *elements_and_indices), min_size=5, max_size=5)


def random_inputs(seed: int, shape: Sequence[int], places: Sequence[int], updates: Sequence[int], element: str, index: str):
    """A table, indices, some of them out of bounds, and updates."""
    rng = np.random.default_rng(seed)
    x, new = (rng.integers(0, 2 if element == "i1" else 50, s).astype(numpy_dtype(element)) for s in (shape, updates))
    indices = rng.integers(0 if index.startswith("u") else -2, 7, places).astype(numpy_dtype(index))
    return np.asarray(x), np.asarray(indices), np.asarray(new)


@RANDOM
@given(several(st.sampled_from(["f32", "i8", "bf16", "i1"]), st.sampled_from(["i32", "i64", "ui8"]), st.booleans()))
def test_any_dimension_numbers(interpreter, scatters):
    p = Program()
    for (shape, places, updates, numbers, seed), element, index, any_order in scatters:
        x, indices, new = random_inputs(seed, shape, places, updates, element, index)
        name, function = ("maximum", np.maximum) if any_order else ("or", np.logical_or) if element == "i1" else ("subtract", np.subtract)
        table, where, update = map(p.input, (x, indices, new))
        (found,) = scatter(p, [table], where, [update], numbers, lambda old, new, name=name: p.op(name, [old, new]))
        (wanted,) = scattered([x], indices, [new], numbers, lambda old, new, function=function: [function(old, new)])
        p.check(f"{name} of {element} {shape} by {index} {places} and {updates}, {numbers}", found, wanted)
    p.verify(interpreter)


@settings(RANDOM, max_examples=5)
@given(several(st.sampled_from(["f32", "i8"]), st.sampled_from(["i32", "ui64", "i8"])))
def test_any_dimension_numbers_sorted_for_a_gpu(scatters):
    """As if sorting the indices always paid."""
    p, expected = Program(), []
    for (shape, places, updates, numbers, seed), element, index in scatters:
        x, indices, new = random_inputs(seed, shape, places, updates, element, index)
        table, where, update = map(p.input, (x, indices, new))
        (found,) = scatter(p, [table], where, [update], numbers, lambda old, new: p.op("subtract", [p.op("negate", [old]), new]))
        p.check(f"{element} {shape} by {index} {places} and {updates}, {numbers}", found)
        with np.errstate(over="ignore"):
            expected.append(scattered([x], indices, [new], numbers, lambda old, new: [-old - new])[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sort_scatters, "STEP_PS", 1 << 60)
        results = hloom.compile(p.text(), target="sim:sm_90a").flat(p.inputs)
    for check, got, wanted in zip(p.checks, results, expected, strict=True):
        np.testing.assert_array_equal(got, wanted, err_msg=check.label)


def many(body: str, element: str = "f32") -> str:
    return f"""func.func @main(%x: tensor<30x5x{element}>, %i: tensor<200x1xi32>, %u: tensor<200x5x{element}>) -> tensor<30x5x{element}> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) ({{
      ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
        {body}
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
        : (tensor<30x5x{element}>, tensor<200x1xi32>, tensor<200x5x{element}>) -> tensor<30x5x{element}>
      return %0 : tensor<30x5x{element}>
    }}"""


SUM = "%s = stablehlo.add %a, %b : tensor<f32>\n stablehlo.return %s : tensor<f32>"


@pytest.mark.parametrize("body", [SUM, "stablehlo.return %b : tensor<f32>"], ids=["sum", "last"])
def test_many_updates_have_the_bits_of_the_cpu(body):
    rng = np.random.default_rng(0)
    inputs = [filled((30, 5), "f32", 1), rng.integers(-3, 33, (200, 1)).astype(np.int32), filled((200, 5), "f32", 2)]
    with np.errstate(all="ignore"):
        wanted = hloom.compile(many(body))(*inputs)
    np.testing.assert_array_equal(hloom.compile(many(body), target="sim:sm_90a")(*inputs), wanted)


def test_a_policy_lets_sums_of_floats_come_in_any_order():
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((30, 5), np.float32), rng.integers(0, 30, (200, 1)).astype(np.int32), np.ones((200, 5), np.float32)]
    exe = hloom.compile(many(SUM), target="sim:sm_90a", policy={"kernel": [{"op": "scatter", "use": "unordered"}]})
    np.testing.assert_allclose(exe(*inputs), hloom.compile(many(SUM))(*inputs), rtol=1e-5)
    assert exe.device.last.counters.atomics == 1000
