"""The ops that the emitters make of index expressions and linear indices, evaluated against plain integers."""

from __future__ import annotations

import operator
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_index_expression import EXTENTS, POINTS, STEPS, apply
from torch_mlir import ir

from hloom.passes.common.index_emitter import ExpressionEmitter
from hloom.passes.common.index_expression import Atom, loop
from hloom.passes.common.linear_index import LinearIndex

OPS = {"addi": operator.add, "subi": operator.sub, "muli": operator.mul, "divui": operator.floordiv, "remui": operator.mod}


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[None]:
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        yield


class Emitted:
    """A block whose arguments are the dims, and what its ops make of them."""

    def __init__(self) -> None:
        self.module = ir.Module.create()
        holder = ir.Operation.create("test.holder", regions=1, ip=ir.InsertionPoint(self.module.body))
        self.block = holder.regions[0].blocks.append(*[ir.IndexType.get()] * len(EXTENTS))
        self.dims = list(self.block.arguments)

    def value(self, wanted: ir.Value, point: tuple[int, ...]) -> int:
        known: dict[ir.Value, int] = dict(zip(self.dims, point))
        for op in (view.operation for view in self.block.operations):
            if op.name == "arith.constant":
                known[op.results[0]] = ir.IntegerAttr(op.attributes["value"]).value
                continue
            x, y = (known[v] for v in op.operands)
            assert "ui" not in op.name or x >= 0 < y
            known[op.results[0]] = OPS[op.name.removeprefix("arith.")](x, y)
        return known[wanted]


class DimsEmitter(ExpressionEmitter):
    def __init__(self, dims: list[ir.Value]):
        super().__init__()
        self.dims = dims

    def plain(self, atom: Atom) -> ir.Value:
        return self.dims[atom.number]


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_expressions(program):
    expr, expected = loop(0, EXTENTS[0]), [p[0] for p in POINTS]
    for what, k in program:
        expr, expected = apply(what, k, expr, expected)
    emitted = Emitted()
    emitter = DimsEmitter(emitted.dims)
    with ir.InsertionPoint(emitted.block):
        result = emitter.expression(expr)
        count = len(emitted.block.operations)
        assert emitter.expression(expr) == result and len(emitted.block.operations) == count, "emitted once"
    assert [emitted.value(result, p) for p in POINTS] == expected


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=3), st.integers(-5, 5), st.tuples(*[st.integers(-9, 9)] * 3))
def test_linear_indices(coefficients, constant, point):
    emitted = Emitted()
    with ir.InsertionPoint(emitted.block):
        result = LinearIndex(dict(zip(emitted.dims, coefficients)), constant).value()
    assert emitted.value(result, point) == constant + sum(c * p for c, p in zip(coefficients, point))
