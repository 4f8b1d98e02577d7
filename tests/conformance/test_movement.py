"""Ops that move elements: fixed programs for every type and for what is special, random ones by hypothesis for the rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from movement import (
    broadcast,
    check_moves,
    concatenate,
    dynamic_slice,
    dynamic_update_slice,
    gather,
    iota,
    pad,
    reshape,
    reverse,
    slice_,
    transpose,
)
from programs import FLOATS, INTEGERS, TYPES, Program, Value
from values import small, spread

from hloom.runtime.dtypes import numpy_dtype

RANDOM = settings(max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def filled(shape, element: str, seed: int = 0) -> np.ndarray:
    """NaN payloads aside, any value may be moved: edges and random ones."""
    return spread(element, int(np.prod(shape)), seed).reshape(shape)


def scalars(p: Program, numbers, element: str = "i32") -> list[Value]:
    return [p.input(np.array(n).astype(numpy_dtype(element))) for n in numbers]


@pytest.mark.parametrize("element", TYPES)
def test_every_type_moves(interpreter, element):
    p = Program()
    x, y = p.input(filled((5, 17), element, 1)), p.input(filled((5, 17), element, 2))
    zero = p.input(filled((), element))
    check_moves(p, x, y, zero)
    p.check("dynamic_slice", dynamic_slice(p, x, scalars(p, [2, 9]), [2, 5]))
    p.check("dynamic_update_slice", dynamic_update_slice(p, x, slice_(p, y, [0, 0], [2, 5], [1, 1]), scalars(p, [4, -3])))
    rows = p.input(np.array([[4], [0], [7], [-1]], np.int32))
    p.check("gather", gather(p, x, rows, [4, 17], offset=[1], collapsed=[0], start=[0], vector=1, sizes=[1, 17]))
    p.check("constant", p.constant(filled((3, 5), element)))
    p.verify(interpreter)


@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_iota(interpreter, element):
    p = Program()
    for shape in [(17,), (3, 5), (0,), (2, 1, 7)]:
        for dim in range(len(shape)):
            p.check(f"{shape} along {dim}", iota(p, shape, element, dim))
    p.verify(interpreter)


@pytest.mark.parametrize("index", ["i8", "i32", "i64", "ui8", "ui32", "ui64"])
def test_start_indices_are_clamped(interpreter, index):
    """Negative, beyond the end, the ends of the type's range. By NumPy: the interpreter takes the highest unsigned numbers for negative."""
    p = Program()
    values, updates = filled((7, 5), "f32"), small((3, 2), "f32")
    x, update = p.input(values), p.input(updates)
    numbers = [0, 1, 4, 5, 100, int(np.iinfo(numpy_dtype(index)).min), int(np.iinfo(numpy_dtype(index)).max)]
    for number in numbers:
        starts = scalars(p, [number, 2], index)
        row, column = (min(max(number, 0), last) for last in (4, 3))
        p.check(f"read at {number}", dynamic_slice(p, x, starts, [3, 2]), values[row : row + 3, 2:4])
        written = values.copy()
        written[2:5, column : column + 2] = updates
        p.check(f"written at {number}", dynamic_update_slice(p, x, update, starts[::-1]), written)
    indices = p.input(np.array(numbers, numpy_dtype(index)).reshape(-1, 1))
    wanted = np.stack([values[row : row + 2] for row in (min(max(number, 0), 5) for number in numbers)])
    p.check("gather", gather(p, x, indices, wanted.shape, offset=[1, 2], collapsed=[], start=[0], vector=1, sizes=[2, 5]), wanted)
    p.verify(interpreter)


@pytest.mark.parametrize("shape", [(7, 9), (3, 7, 9), (4, 3, 5, 6)])
def test_leading_parts(interpreter, shape):
    """Slices from 0, which are views, cut along some dimensions; alone, under arithmetic, reduced, reshaped."""
    p = Program()
    x = p.input(small(shape, "f32"))
    zero = p.constant(np.float32(0))
    for cut in range(1, 1 << len(shape)):
        for keep in (1, 2):
            limit = [keep if cut >> d & 1 else n for d, n in enumerate(shape)]
            part = slice_(p, x, [0] * len(shape), limit, [1] * len(shape))
            p.check(f"{limit}", part)
            p.check(f"negative of {limit}", p.op("negate", [part]))
            p.check(f"flat {limit}", reshape(p, part, [int(np.prod(limit))]))
            p.check(f"from padding {limit}", pad(p, x, zero, [0] * len(shape), [b - n for b, n in zip(limit, shape)], [0] * len(shape)))
            p.check(f"read after {limit}", slice_(p, p.op("abs", [x]), [0] * len(shape), limit, [1] * len(shape)))
    p.verify(interpreter)


def test_parts_of_copies(interpreter):
    """Of an array's copies one after the other, within one of them, from one into others, from an end to an end."""
    p = Program()
    x = p.input(small((3, 5), "f32"))
    copies = reshape(p, broadcast(p, x, [4, 3, 5], [1, 2]), [60])
    for start, limit, stride in ((0, 60, 1), (2, 11, 1), (13, 37, 1), (15, 30, 1), (0, 31, 1), (14, 60, 1), (16, 29, 1), (3, 50, 2)):
        part = slice_(p, copies, [start], [limit], [stride])
        p.check(f"{start} to {limit} by {stride}", part)
    turned = reshape(p, broadcast(p, p.input(small((3, 3), "f32")), [4, 3, 3], [2, 1]), [36])
    p.check("copies of a transpose", slice_(p, turned, [4], [31], [1]))
    inner = reshape(p, broadcast(p, x, [3, 5, 4], [0, 1]), [60])
    p.check("copies of each", slice_(p, inner, [4], [31], [1]))
    p.verify(interpreter)


def test_gather_in_all_forms(interpreter):
    p = Program()
    x = p.input(filled((4, 5, 6), "f32"))
    rng = np.random.default_rng(0)

    def indices(*shape: int) -> Value:
        return p.input(rng.integers(-3, 9, shape))

    p.check("one number a row", gather(p, x, indices(7), [7, 5, 6], offset=[1, 2], collapsed=[0], start=[0], vector=1, sizes=[1, 5, 6]))
    p.check("points", gather(p, x, indices(2, 3, 3), [2, 3], offset=[], collapsed=[0, 1, 2], start=[0, 1, 2], vector=2, sizes=[1, 1, 1]))
    p.check("permuted start", gather(p, x, indices(5, 2), [5, 4], offset=[1], collapsed=[1, 2], start=[2, 1], vector=1, sizes=[4, 1, 1]))
    p.check("vector first", gather(p, x, indices(2, 5), [2, 5, 3], offset=[0, 2], collapsed=[1], start=[0, 1], vector=0, sizes=[2, 1, 3]))
    between = gather(p, x, indices(3, 2, 1), [3, 2, 2, 6], offset=[1, 3], collapsed=[0], start=[1], vector=2, sizes=[1, 2, 6])
    p.check("offsets between", between)
    batched = {"offset": [2], "collapsed": [1], "start": [1], "vector": 2, "sizes": [1, 1, 6], "operand_batch": [0], "index_batch": [0]}
    p.check("batched", gather(p, x, indices(4, 3, 1), [4, 3, 6], **batched))
    p.check("no rows", gather(p, x, indices(0, 1), [0, 5, 6], offset=[1, 2], collapsed=[0], start=[0], vector=1, sizes=[1, 5, 6]))
    one = p.input(filled((1,), "f32"))
    p.check("from one", gather(p, one, indices(9, 1), [9], offset=[], collapsed=[0], start=[0], vector=1, sizes=[1]))
    p.verify(interpreter)


def test_no_elements_and_one_element(interpreter):
    p = Program()
    none, one, zero = (p.input(filled(shape, "f32", seed)) for shape, seed in (((3, 0), 1), ((1, 1), 2), ((), 3)))
    x = p.input(filled((3, 4), "f32"))
    p.check("transpose of none", transpose(p, none, [1, 0]))
    p.check("reshape of none", reshape(p, none, [0, 5]))
    p.check("pad of none", pad(p, none, zero, [0, 2], [1, 3], [0, 4]))
    p.check("concatenate with none", concatenate(p, [none, x, none], 1))
    p.check("slice to none", slice_(p, x, [0, 2], [3, 2], [1, 1]))
    p.check("dynamic slice to none", dynamic_slice(p, x, scalars(p, [5, 1]), [0, 4]))
    p.check("update by none", dynamic_update_slice(p, x, none, scalars(p, [0, 2])))
    p.check("pad to none", pad(p, x, zero, [-1, 0], [-2, 0], [0, 0]))
    p.check("broadcast of one", broadcast(p, one, [4, 3], [1, 0]))
    p.check("broadcast of rank 0", broadcast(p, zero, [2, 3, 5], []))
    p.check("broadcast to none", broadcast(p, zero, [2, 0], []))
    p.check("reshape to rank 0", reshape(p, one, []))
    p.check("reshape to rank 5", reshape(p, one, [1, 1, 1, 1, 1]))
    p.check("reverse of none", reverse(p, none, [0, 1]))
    p.verify(interpreter)


@st.composite
def shapes(draw, rank: int | None = None) -> tuple[int, ...]:
    rank = draw(st.integers(1, 5)) if rank is None else rank
    return tuple(draw(st.sampled_from([1, 2, 3, 5, 7, 17] if rank < 4 else [1, 2, 3, 4])) for _ in range(rank))


def random_slice(draw, p: Program, x: Value) -> Value:
    start = [draw(st.integers(0, n - 1)) for n in x.shape]
    limit = [draw(st.integers(a + 1, n)) for a, n in zip(start, x.shape)]
    return slice_(p, x, start, limit, [draw(st.integers(1, 3)) for _ in x.shape])


def random_pad(draw, p: Program, x: Value) -> Value:
    interior = [draw(st.integers(0, 2)) for _ in x.shape]
    low = [draw(st.integers(-min(2, n - 1), 3)) for n in x.shape]
    high = [draw(st.integers(max(-2, 1 - a - n), 3)) for a, n in zip(low, x.shape)]
    return pad(p, x, p.input(small((), x.element, draw(st.integers(0, 9)))), low, high, interior)


def random_transpose(draw, p: Program, x: Value) -> Value:
    return transpose(p, x, draw(st.permutations(range(len(x.shape)))))


def random_reshape(draw, p: Program, x: Value) -> Value:
    count, shape = int(np.prod(x.shape)), []
    for factor in (2, 3, 5, 7):
        if count % factor == 0 and draw(st.booleans()):
            shape.append(factor)
            count //= factor
    return reshape(p, x, draw(st.permutations([*shape, count, *([1] * draw(st.integers(0, 1)))])))


def random_reverse(draw, p: Program, x: Value) -> Value:
    return reverse(p, x, sorted(draw(st.sets(st.integers(0, max(0, len(x.shape) - 1)), max_size=len(x.shape)))))


def random_concatenate(draw, p: Program, x: Value) -> Value:
    if not x.shape:
        return x
    return concatenate(p, [x, p.input(filled(x.shape, x.element, 5)), x], draw(st.integers(0, len(x.shape) - 1)))


def random_broadcast(draw, p: Program, x: Value) -> Value:
    rank = len(x.shape) + draw(st.integers(0, 1))
    dims = draw(st.permutations(range(rank)))[: len(x.shape)]
    shape = [draw(st.integers(1, 3)) for _ in range(rank)]
    for d, n in zip(dims, x.shape):
        shape[d] = shape[d] if n == 1 else n
    return broadcast(p, x, shape, dims)


def random_dynamic_slice(draw, p: Program, x: Value) -> Value:
    starts = scalars(p, [draw(st.integers(-3, n + 3)) for n in x.shape], draw(st.sampled_from(["i32", "i64"])))
    return dynamic_slice(p, x, starts, [draw(st.integers(1, n)) for n in x.shape])


def random_update(draw, p: Program, x: Value) -> Value:
    starts = scalars(p, [draw(st.integers(-3, n + 3)) for n in x.shape])
    update = p.input(filled([draw(st.integers(1, n)) for n in x.shape], x.element, 7))
    return dynamic_update_slice(p, x, update, starts)


MOVES = [
    random_slice, random_pad, random_transpose, random_reshape, random_reverse, random_concatenate, random_broadcast, random_dynamic_slice,
    random_update,
]  # fmt: skip


@RANDOM
@given(st.data())
def test_random_moves(interpreter, data):
    """Each of them on shapes of its own; one program holds them all."""
    p = Program()
    for move in MOVES:
        for _ in range(3):
            element = data.draw(st.sampled_from(["f32", "i8", "bf16", "i1", "f64"]))
            x = p.input(filled(data.draw(shapes()), element))
            p.check(f"{move.__name__} of {x.type}", move(data.draw, p, x))
    p.verify(interpreter)


@RANDOM
@given(st.data())
def test_random_chains_of_moves(interpreter, data):
    """What is fused must compose: moves of moves, with arithmetic between them."""
    p = Program()
    for number in range(4):
        x = y = p.input(small(data.draw(shapes()), data.draw(st.sampled_from(["f32", "i32"]))))
        done = []
        for move in data.draw(st.lists(st.sampled_from(MOVES), min_size=2, max_size=5)):
            y = move(data.draw, p, y)
            done.append(move.__name__)
            if np.prod(y.shape) > 20_000:
                break
            if data.draw(st.booleans()):
                y = p.op("add", [y, y])
                done.append("add")
        p.check(f"{number}: {' '.join(done)} of {x.type}", y)
    p.verify(interpreter)
