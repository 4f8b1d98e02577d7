"""Access maps against plain evaluation; contraction of the group graph against brute force."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from test_index_expression import value
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.context import make_context
from hloom.passes.common.index_expression import Expr
from hloom.passes.fused.planner.codes import Code
from hloom.passes.fused.planner.graph import Dag
from hloom.passes.fused.planner.reader import read_program

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
        assert (kept == Code.CYCLE) == cyclic
        if not cyclic:
            assert kept in (a, b)
            alive.remove(b if kept == a else a)
        assert len({dag.order[x] for x in alive}) == len(alive)
        assert all(dag.order[x] < dag.order[y] and x in dag.predecessors[y] for x in alive for y in dag.successors[x])


def test_a_search_that_finds_no_end_gives_up(monkeypatch):
    monkeypatch.setattr("hloom.passes.fused.planner.graph.BUDGET", 10)
    middle = range(1, 40)
    dag = Dag(42, [(0, i) for i in middle] + [(i, 40) for i in middle] + [(0, 41), (40, 41)])
    assert dag.merge(0, 41) == Code.CYCLE_BUDGET


def test_dissolving_joins_what_was_before_and_after():
    dag = Dag(4, [(0, 1), (1, 2), (1, 3)])
    dag.dissolve(1)
    assert dag.successors[0] == {2, 3} and dag.predecessors[2] == {0} == dag.predecessors[3]
