"""Index expressions over loops against plain evaluation at every point, and what is known of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloom.passes.linalg.lowering.indices import (
    Atom,
    Index,
    add,
    constant,
    cuts,
    floordiv,
    loop,
    loops,
    mod,
    reshape_point,
    scale,
)

EXTENTS = (4, 6, 5)
POINTS = list(itertools.product(*map(range, EXTENTS)))
steps = st.lists(st.tuples(st.sampled_from(["add", "scale", "div", "mod", "loop"]), st.integers(1, 12)), max_size=7)


def value(index: Index, point: tuple[int, ...]) -> int:
    def of(atom: Atom) -> int:
        if atom.inner is None:
            return point[atom.number]
        inner = value(atom.inner, point)
        return inner // atom.number if atom.kind == "div" else inner % atom.number

    return index.offset + sum(c * of(atom) for atom, c in index.terms)


@settings(max_examples=300, deadline=None)
@given(steps)
def test_simplification_keeps_the_value_and_its_bounds(program):
    index, expected = loop(0, EXTENTS[0]), [p[0] for p in POINTS]
    for what, k in program:
        if what == "add":
            index, expected = add(index, constant(k)), [e + k for e in expected]
        elif what == "scale":
            index, expected = scale(index, k), [e * k for e in expected]
        elif what == "loop":
            index, expected = add(index, scale(loop(k % 3, EXTENTS[k % 3]), k)), [e + k * p[k % 3] for e, p in zip(expected, POINTS)]
        elif what == "div":
            index, expected = floordiv(index, k), [e // k for e in expected]
        else:
            index, expected = mod(index, k), [e % k for e in expected]
    assert [value(index, p) for p in POINTS] == expected
    assert index.low <= min(expected) and max(expected) <= index.high


def test_a_division_cuts_at_a_digit():
    """(a * 8 + b) div 32 is a div 4, and (a * 8 + b) mod 32 is (a mod 4) * 8 + b, for b below 8."""
    a, b = loops((16, 8))
    position = add(scale(a, 8), b)
    assert floordiv(position, 32) == floordiv(a, 4)
    assert mod(position, 32) == add(scale(mod(a, 4), 8), b)


def test_a_reshape_and_its_inverse_are_nothing():
    point = loops((4, 8, 3, 5))
    for shape in ((32, 15), (4, 4, 2, 15), (2, 2, 8, 15), (480,), (16, 2, 3, 5)):
        assert reshape_point(reshape_point(point, (4, 8, 3, 5), shape), shape, (4, 8, 3, 5)) == point


D = loop(0, 48)


@pytest.mark.parametrize(
    ("index", "found"),
    [
        (floordiv(D, 4), (0, {4})),
        (mod(D, 4), (0, {4})),
        (mod(floordiv(D, 4), 2), (0, {4, 8})),
        (floordiv(mod(D, 8), 4), (0, {4, 8})),
        (floordiv(add(D, loop(1, 7)), 4), (None, {4})),
    ],
)
def test_cuts(index, found):
    ((atom, _),) = index.terms
    assert cuts(atom) == found
