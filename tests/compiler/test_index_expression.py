"""Index expressions against plain integers: every rule, the bounds, equality, substitution, and affine maps there and back."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hloom.passes.common.affine import evaluate, index_at, to_affine
from hloom.passes.common.index_expression import (
    ZERO,
    Atom,
    Expr,
    cuts,
    delinearise,
    linearise,
    loop,
    loops_of,
    opaque,
    reshape_point,
    run_time_index,
    substitute,
)

EXTENTS = (4, 6, 5)
POINTS = list(itertools.product(*map(range, EXTENTS)))
STEPS = st.lists(st.tuples(st.sampled_from(["add", "scale", "div", "mod", "loop"]), st.integers(-12, 12)), max_size=7)


def value(expr: Expr, dims: Mapping[int, int], values: Mapping[int, int] | None = None) -> int:
    """What the expression is at a point; `values` are those known at run time."""

    def of(atom: Atom) -> int:
        if atom.is_plain:
            return (dims if atom.kind == "dim" else values or {})[atom.number]
        part = value(atom.parts[0], dims, values)
        assert part >= 0, "emitted as an unsigned division"
        return part // atom.number if atom.kind == "div" else part % atom.number

    return expr.constant + sum(c * of(atom) for atom, c in expr.terms)


def apply(what: str, k: int, expr: Expr, values: list[int]) -> tuple[Expr, list[int]]:
    """One step of a random program, on an expression and on its value at each point."""
    if what == "add":
        return expr + k, [e + k for e in values]
    if what == "scale":
        return expr * k, [e * k for e in values]
    if what == "loop":
        return expr + loop(k % 3, EXTENTS[k % 3]) * k, [e + k * p[k % 3] for e, p in zip(values, POINTS)]
    by = abs(k) + 1
    return (expr // by, [e // by for e in values]) if what == "div" else (expr % by, [e % by for e in values])


def test_a_loop_of_one_turn_adds_nothing_to_a_sum() -> None:
    assert loop(0, 4) + loop(1, 1) * 7 == loop(0, 4)
    assert (loop(0, 4) * 8 + loop(1, 1) * 8 + loop(2, 8)) // 8 == loop(0, 4)


@settings(max_examples=400, deadline=None)
@given(STEPS)
def test_expressions_keep_their_value_and_bounds(program):
    expr, expected = loop(0, EXTENTS[0]), [p[0] for p in POINTS]
    for what, k in program:
        expr, expected = apply(what, k, expr, expected)
        assert [value(expr, dict(enumerate(p))) for p in POINTS] == expected
        assert expr.low <= min(expected) and max(expected) <= expr.high
        assert all(c for _, c in expr.terms)


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_affine_expressions_there_and_back(program):
    """An expression is what its affine expression says; the affine expression evaluates to it, over expressions and over integers."""
    expr, expected = loop(0, EXTENTS[0]), [p[0] for p in POINTS]
    for what, k in program:
        expr, expected = apply(what, k, expr, expected)
    with ir.Context():
        affine = to_affine(expr)
        assert [evaluate(affine, p) for p in POINTS] == expected
        assert [value(index_at(affine, loops_of(EXTENTS)), dict(enumerate(p))) for p in POINTS] == expected


@settings(max_examples=100, deadline=None)
@given(STEPS, STEPS, STEPS)
def test_dims_are_replaced(program, first, second):
    """Substitution is evaluation where the dims are what replaces them."""
    expr, expected = loop(0, EXTENTS[0]) + loop(1, EXTENTS[1]) * 4, [p[0] + 4 * p[1] for p in POINTS]
    for what, k in program:
        expr, expected = apply(what, k, expr, expected)
    by_point = dict(zip(POINTS, expected))
    images = {}
    for dim, steps in ((0, first), (1, second)):
        images[dim], at = loop(dim, EXTENTS[dim]), [p[dim] for p in POINTS]
        for what, k in steps:
            images[dim], at = apply(what, k, images[dim], at)
        images[dim] = images[dim] % EXTENTS[dim]
    replaced = expr.substitute(images)
    for p in POINTS:
        dims = dict(enumerate(p))
        assert value(replaced, dims) == by_point[(value(images[0], dims), value(images[1], dims), p[2])]


A, B, C = loops_of((16, 8, 7))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((A * 8 + B) // 8, A),  # (a*k + b) // k = a if 0 <= b < k
        ((A * 8 + B) % 8, B),
        (B // 8, ZERO),
        (B % 8, B),
        ((B - 3) // 8, (B + 5) // 8 - 1),  # the part of a quotient is never negative
        ((A * 8 + B) // 32, A // 4),  # division cuts at a digit
        ((A * 8 + B) % 32, A % 4 * 8 + B),
        (A // 2 // 3, A // 6),
        (A % 6 % 3, A % 3),
        (A // 3 * 3 + A % 3, A),
        (A // 3 * -6 - A % 3 * 2, A * -2),
        (A // 2 % 3 * 2 + A % 2, A % 6),
        (A + C - A, C),
        ((A * 8 + B + 16) // 8, A + 2),
    ],
)
def test_equal_indices_are_equal_expressions(left, right):
    assert left == right and hash(left) == hash(right)


def test_different_indices_are_different_expressions():
    assert loop(0, 8) != loop(0, 4) and A // 3 != A // 5 and A // 3 != A % 3
    assert run_time_index(3, 6) != run_time_index(4, 6) != opaque(4, (), 6) and run_time_index(3, 1) == ZERO
    assert opaque(1, [A], 9) != opaque(1, [B], 9)


def test_what_an_expression_is_made_of():
    gathered = opaque(1, [A + B], 10) // 3
    assert gathered.dims == {0, 1} and gathered.depends_on("opaque") and not gathered.depends_on("value")
    assert substitute((gathered,), {0: C, 1: ZERO}) == (opaque(1, [C], 10) // 3,)
    assert A.dim == 0 and (A + 1).dim is None and (A * 2).dim is None and ZERO.dim is None
    assert (A + B * 2).is_linear and not (A // 3).is_linear and (ZERO + 7).is_constant


def test_a_reshape_and_its_inverse_are_nothing():
    point = loops_of((4, 8, 3, 5))
    for shape in ((32, 15), (4, 4, 2, 15), (2, 2, 8, 15), (480,), (16, 2, 3, 5)):
        assert reshape_point(reshape_point(point, (4, 8, 3, 5), shape), shape, (4, 8, 3, 5)) == point


@given(st.permutations([2, 3, 4, 5]), st.lists(st.integers(1, 3), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_merging_and_splitting_dimensions_again_is_the_identity(shape, cuts):
    """A view of a view is expressed in the last one's dimensions, as when a producer moves into its consumer."""
    index = dims = loops_of(shape)
    for cut in cuts:
        merged = (int(np.prod(shape[:cut])), int(np.prod(shape[cut:])))
        through = delinearise(linearise(loops_of(merged), merged), shape)  # merged dims → index of the view before
        index = substitute(substitute(index, dict(enumerate(through))), dict(enumerate(delinearise(linearise(dims, shape), merged))))
    assert index == dims


D = loop(0, 48)


@pytest.mark.parametrize(
    ("index", "found"),
    [
        (D // 4, (0, {4})),
        (D % 4, (0, {4})),
        (D // 4 % 2, (0, {4, 8})),
        (D % 8 // 4, (0, {4, 8})),
        ((D + loop(1, 7)) // 4, (None, {4})),
    ],
)
def test_cuts(index, found):
    assert cuts(index.atom) == found


def test_what_occurs_several_times_is_looked_at_once():
    """An index doubles in size with each turn of an array, of which it holds the last one's twice: 2 ** 40 terms are too many to walk."""
    index = loop(0, 60)
    for _ in range(40):
        row, column = delinearise(index, (6, 10))
        index = linearise((column, row), (10, 6))
    (moved,) = substitute((index,), {0: loop(1, 60)})
    assert moved.dims == {1} and hash(moved) != hash(index)


def test_what_occurs_several_times_in_a_map_is_evaluated_once():
    with ir.Context():
        index = ir.AffineExpr.get_dim(0)
        for _ in range(24):
            index = ir.AffineExpr.get_mod(index, 10) * 6 + ir.AffineExpr.get_floor_div(index, 10)
        wanted = 17
        for _ in range(24):
            wanted = wanted % 10 * 6 + wanted // 10
        assert evaluate(index, [17]) == wanted
