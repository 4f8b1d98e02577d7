"""The work of planning grows as programs do, and no pass goes through a program again and again.

Work is how many calls of functions the passes make, which hardly depends on the run, and not on the machine or on what else it does. The
programs are small for the tests to be quick: a merge's price still grows then, up to groups of EXACT reads (planner/cost.py).
"""

from __future__ import annotations

import cProfile
import pstats

import pytest

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.pipeline import Pipeline
from tests.large_programs import SHAPES, program

OPS = 300
MOST = 8
"""What is quadratic does sixteen times the work."""
SUMS = 3000
PLANNING = "plan-fusion,join-contractions,join-launches,assign-buffers"


def work(text: str, passes: str) -> int:
    module = Compilation(load_program(text), "cpu-avx2").module
    profile = cProfile.Profile()
    profile.enable()
    Pipeline(passes).run(module)
    profile.disable()
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


@pytest.mark.parametrize("shape", SHAPES)
def test_planning_four_times_as_many_ops_is_no_quadratic_work(shape: str):
    few, many = (work(program(shape, ops), PLANNING) for ops in (OPS, 4 * OPS))
    assert many <= MOST * few, f"{many / few:.2f} times the work"


@pytest.mark.parametrize("other", ["x{last}", "%y"])
def test_what_makes_the_operand_of_a_contraction_is_not_followed_far(other: str):
    """Sums of themselves, whose ways to the first are 2 ** 3000; and more ops in a row than Python's stack has room for."""
    kind = "tensor<8x8xf32>"
    lines = [f"%x{n + 1} = stablehlo.add %x{n}, %{other.format(last=n).lstrip('%')} : {kind}" for n in range(SUMS)]
    text = f"""func.func @main(%x0: {kind}, %y: {kind}) -> {kind} {{
    {chr(10).join(lines)}
    %0 = stablehlo.dot_general %x{SUMS}, %y, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}
    return %0 : {kind}
  }}"""
    assert work(text, "multiply-in-integers") < 100 * SUMS
