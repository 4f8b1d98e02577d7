"""Every row of the truth table: each order or equality, each constant, both operand and branch orders, on every special value."""

from __future__ import annotations

import itertools
import math

import pytest
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.scalars import FLOAT_PREDICATES
from hloom.passes.linalg.select_to_maximum import select_to_maximum

VALUES = [math.nan, 0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, 2.0, -2.0]
CONSTANTS = {"0.0": 0.0, "-0.0": -0.0, "1.0": 1.0, "-1.0": -1.0, "0x7F800000": math.inf, "0xFF800000": -math.inf, "0x7FC00000": math.nan}


def holds(predicate: str, x: float, y: float) -> bool:
    if predicate in ("true", "false"):
        return predicate == "true"
    unordered = math.isnan(x) or math.isnan(y)
    if predicate in ("ord", "uno"):
        return unordered == (predicate == "uno")
    if unordered:
        return predicate[0] == "u"
    return {"eq": x == y, "ne": x != y, "gt": x > y, "ge": x >= y, "lt": x < y, "le": x <= y}[predicate[1:]]


def extreme(name: str, x: float, y: float) -> float:
    """arith.maximumf and minimumf: NaN wins, -0 is below +0."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    ordered = sorted([x, y], key=lambda v: (v, math.copysign(1, v)))
    return ordered[1] if name == "arith.maximumf" else ordered[0]


def same(x: float, y: float) -> bool:
    return (math.isnan(x) and math.isnan(y)) or (x == y and math.copysign(1, x) == math.copysign(1, y))


def rewritten(predicate: str, text: str, constant_left: bool, constant_first: bool) -> str | None:
    compared = "%c, %x" if constant_left else "%x, %c"
    branches = "%c, %x" if constant_first else "%x, %c"
    with make_context():
        module = ir.Module.parse(f"""func.func @f(%x: f32) -> f32 {{
          %c = arith.constant {text} : f32
          %p = arith.cmpf {predicate}, {compared} : f32
          %r = arith.select %p, {branches} : f32
          return %r : f32 }}""")
        select_to_maximum(module.operation)
        names = [op.operation.name for op in module.body.operations[0].regions[0].blocks[0].operations]
    return next((n for n in names if n in ("arith.maximumf", "arith.minimumf")), None)


@pytest.mark.parametrize("predicate", FLOAT_PREDICATES)
def test_rows(predicate):
    for (text, c), constant_left, constant_first in itertools.product(CONSTANTS.items(), (False, True), (False, True)):

        def selected(x: float, c=c, constant_left=constant_left, constant_first=constant_first) -> float:
            condition = holds(predicate, c, x) if constant_left else holds(predicate, x, c)
            return c if condition == constant_first else x

        exact = {n for n in ("arith.maximumf", "arith.minimumf") if all(same(selected(x), extreme(n, x, c)) for x in VALUES)}
        got = rewritten(predicate, text, constant_left, constant_first)
        assert got is None or got in exact, (text, constant_left, constant_first)
        if math.isfinite(c):  # against an infinity an equality is exact too, and declined
            assert (got is None) == (not exact), (text, constant_left, constant_first)


@pytest.mark.parametrize("predicate", FLOAT_PREDICATES)
def test_two_variables_are_declined(predicate):
    """Rightly: no order of two variables is exact."""
    for first in ("%x, %y", "%y, %x"):
        with make_context():
            module = ir.Module.parse(f"""func.func @f(%x: f32, %y: f32) -> f32 {{
              %p = arith.cmpf {predicate}, %x, %y : f32
              %r = arith.select %p, {first} : f32
              return %r : f32 }}""")
            select_to_maximum(module.operation)
            assert "arith.select" in str(module)
    for name in ("arith.maximumf", "arith.minimumf"):
        assert not all(same(x if holds(predicate, x, y) else y, extreme(name, x, y)) for x in VALUES for y in VALUES)
        assert not all(same(y if holds(predicate, x, y) else x, extreme(name, x, y)) for x in VALUES for y in VALUES)
