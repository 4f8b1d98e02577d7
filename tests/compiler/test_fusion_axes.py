"""Index expressions and access maps against plain evaluation; contraction of the group graph against brute force."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.context import make_context
from hloom.passes.fused.planner.axes import ZERO, Atom, Expr, linear, opaque, substitute, uniform, var
from hloom.passes.fused.planner.graph import Dag
from hloom.passes.fused.planner.reader import read_program


def value(expr: Expr, point: dict[int, int], uniforms: dict[int, int] | None = None) -> int:
    def of(atom: Atom) -> int:
        if atom.kind == "d":
            return point[atom.scale]
        if atom.kind == "u":
            return (uniforms or {})[atom.scale]
        inner = value(atom.parts[0], point, uniforms)
        return inner // atom.scale if atom.kind == "//" else inner % atom.scale

    return expr.const + sum(k * of(atom) for atom, k in expr.terms)


EXTENTS = (4, 6, 5)
steps = st.lists(st.tuples(st.sampled_from(["add", "scale", "div", "mod", "axis"]), st.integers(1, 12)), max_size=7)


@settings(max_examples=300, deadline=None)
@given(steps)
def test_simplification_keeps_the_value_and_its_bounds(program):
    points = [dict(enumerate(p)) for p in itertools.product(*(range(e) for e in EXTENTS))]
    expr, expected = var(0, 4), [p[0] for p in points]
    for what, k in program:
        if what == "add":
            expr, expected = expr + (k - 6), [e + k - 6 for e in expected]
        elif what == "scale":
            expr, expected = expr * k, [e * k for e in expected]
        elif what == "axis":
            expr, expected = expr + var(k % 3, EXTENTS[k % 3]) * k, [e + k * p[k % 3] for e, p in zip(expected, points)]
        elif what == "div":
            expr, expected = expr.floordiv(k), [e // k for e in expected]
        else:
            expr, expected = expr.mod(k), [e % k for e in expected]
    assert [value(expr, p) for p in points] == expected
    assert expr.lo <= min(expected) and max(expected) <= expr.hi


def split(position: Expr, shape: tuple[int, ...]) -> tuple[Expr, ...]:
    index, stride = [], 1
    for extent in reversed(shape):
        index.append(position.floordiv(stride).mod(extent))
        stride *= extent
    return tuple(reversed(index))


@given(st.permutations([2, 3, 4, 5]), st.lists(st.integers(1, 3), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_merging_and_splitting_dimensions_again_is_the_identity(shape, cuts):
    """A view of a view is expressed in the last one's dimensions, as when a producer moves into its consumer."""
    index = dims = tuple(var(i, e) for i, e in enumerate(shape))
    current = tuple(shape)
    for cut in cuts:
        flat = linear(dims, tuple(shape))
        merged = (int(np.prod(shape[:cut])), int(np.prod(shape[cut:])))
        through = split(linear([var(i, e) for i, e in enumerate(merged)], merged), current)  # merged dims → index of the view before
        index = substitute(substitute(index, dict(enumerate(through))), dict(enumerate(split(flat, merged))))
    assert index == dims


def test_equal_indices_are_equal_and_different_ones_are_not():
    d0, d1 = var(0, 8), var(1, 64)
    assert (d0 * 64 + d1).floordiv(64) == d0
    assert (d0 * 64 + d1).mod(64) == d1
    assert d0.floordiv(2) * 2 + d0.mod(2) == d0
    assert d0.floordiv(2).floordiv(3) == d0.floordiv(6)
    assert uniform(3, 5) != uniform(4, 5) and uniform(3, 0) == ZERO
    assert opaque(1, [d0], 9) != opaque(1, [d1], 9) and opaque(1, [d0], 9).axes == {0}
    assert d0 != var(0, 4) and (d0 + 1).axis is None and d0.axis == 0


MOVES = [
    ("stablehlo.slice %a [1:4:2, 0:6:1] : (tensor<4x6xi32>) -> tensor<2x6xi32>", (2, 6)),
    ("stablehlo.reverse %a, dims = [1] : tensor<4x6xi32>", (4, 6)),
    ("stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xi32>) -> tensor<6x4xi32>", (6, 4)),
    ("stablehlo.reshape %a : (tensor<4x6xi32>) -> tensor<2x2x3x2xi32>", (2, 2, 3, 2)),
    ("stablehlo.reshape %a : (tensor<4x6xi32>) -> tensor<8x3xi32>", (8, 3)),
    ("stablehlo.reshape %a : (tensor<4x6xi32>) -> tensor<1x4x1x6x1xi32>", (1, 4, 1, 6, 1)),
    ("stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<4x6xi32>) -> tensor<6x3x4xi32>", (6, 3, 4)),
    ("stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 6] : (tensor<4x6xi32>, tensor<i32>, tensor<i32>) -> tensor<2x6xi32>", (2, 6)),
    ("stablehlo.pad %a, %i, low = [-1, 0], high = [0, -2], interior = [0, 0] : (tensor<4x6xi32>, tensor<i32>) -> tensor<3x4xi32>", (3, 4)),
]


@pytest.mark.parametrize(("text", "shape"), MOVES)
def test_access_maps_name_the_elements_that_the_op_reads(text, shape):
    """The op moves row-major positions; the map must name the very position that arrives."""
    result = f"tensor<{'x'.join(map(str, shape))}xi32>"
    source = f"func.func @main(%a: tensor<4x6xi32>, %i: tensor<i32>) -> {result} {{ %0 = {text}\nreturn %0 : {result} }}"
    module = ir.Module.parse(source, make_context())
    with module.context, ir.Location.unknown():
        positions = ir.DenseElementsAttr.get(np.arange(24, dtype=np.int32).reshape(4, 6))
        start = ir.DenseElementsAttr.get(np.array(1, np.int32))
        moved = np.array(_stablehlo.eval_module(module, [positions, start])[0])
        program, _ = read_program(module.operation)
    read = next(read for op in program.ops if op.node for read in op.reads if read.value == 0)
    for point in itertools.product(*(range(e) for e in shape)):
        index = read.map.at(tuple(Expr(p) for p in point))
        assert int(np.ravel_multi_index([value(e, {}, {1: 1}) for e in index], (4, 6))) == moved[point]


def reaches(dag: Dag, a: int, b: int) -> bool:
    """Whether a path of at least two edges leads from a to b."""
    todo = [x for x in dag.successors[a] if x != b]
    seen = set(todo)
    while todo:
        x = todo.pop()
        if b in dag.successors[x]:
            return True
        fresh = dag.successors[x] - seen
        seen |= fresh
        todo.extend(fresh)
    return False


@pytest.mark.parametrize("seed", range(100))
def test_contraction_agrees_with_brute_force(seed):
    chance, count = random.Random(seed), 30
    edges = {(a, b) for a in range(count) for b in range(a + 1, min(count, a + 9)) if chance.random() < 0.2}
    dag, alive = Dag(count, edges), list(range(count))
    for _ in range(80):
        if len(alive) < 3:
            break
        a, b = chance.sample(alive, 2)
        cyclic = reaches(dag, a, b) or reaches(dag, b, a)
        kept = dag.merge(a, b)
        assert (kept == "CYCLE") == cyclic
        if not cyclic:
            assert kept in (a, b)
            alive.remove(b if kept == a else a)
        assert len({dag.order[x] for x in alive}) == len(alive)
        assert all(dag.order[x] < dag.order[y] and x in dag.predecessors[y] for x in alive for y in dag.successors[x])


def test_a_search_that_finds_no_end_gives_up(monkeypatch):
    monkeypatch.setattr("hloom.passes.fused.planner.graph.BUDGET", 10)
    middle = range(1, 40)
    dag = Dag(42, [(0, i) for i in middle] + [(i, 40) for i in middle] + [(0, 41), (40, 41)])
    assert dag.merge(0, 41) == "CYCLE_BUDGET"


def test_dissolving_joins_what_was_before_and_after():
    dag = Dag(4, [(0, 1), (1, 2), (1, 3)])
    dag.dissolve(1)
    assert dag.successors[0] == {2, 3} and dag.predecessors[2] == {0} == dag.predecessors[3]
