"""Programs of fixed seeds are right on the CPU and on a simulated GPU; the fuzzer sees what is wrong, and cuts it down.

`python -m tests.fuzz` tries as many more as you like.
"""

from __future__ import annotations

import argparse

import numpy as np
import pytest
from torch_mlir import ir

from fuzz.__main__ import Run, parsed
from fuzz.elements import COMMON, Data, values
from fuzz.errors import Facts, Unsuitable, checked, total
from fuzz.grow import Limits
from fuzz.judge import Judge, Verdict, close
from fuzz.known import admitted, compiles
from fuzz.minimize import minimized, weight
from fuzz.program import Argument, Program, Type, Value, walk
from fuzz.programs import random_program
from fuzz.recipes import VARIANTS, every, load
from hloom.dialects.context import make_context
from hloom.passes.common.ops import LEGALIZED, OPS

PROGRAMS = {"cpu": 20, "sim:sm_90a": 8}


@pytest.mark.parametrize("target", PROGRAMS)
def test_random_programs(target):
    run = Run(parsed(["--programs", str(PROGRAMS[target]), "--seed", "2026", "--target", target]))
    run.work()
    assert sum(run.counts.values()) == PROGRAMS[target]
    assert not any(run.counts[kind] for kind in ("wrong", "failed", "crashed", "slow", "refused")), run.counts


def test_a_target_that_is_none_is_told_at_once(capsys):
    for name, told in (("sm_12", "known targets: cpu-amx"), ("sim:cpu", "GPUs are simulated"), ("sm_90a", "as sim:sm_90a")):
        with pytest.raises(SystemExit):
            parsed(["--target", name])
        assert told in capsys.readouterr().err


def test_every_op_that_compiles_has_a_recipe():
    known = {*OPS, *LEGALIZED} - {"stablehlo.return", "stablehlo.async_start", "stablehlo.async_done", "stablehlo.collective_reduce"}
    names = {name.removeprefix("stablehlo.") for name in known if name.startswith("stablehlo.") and "@" not in name}
    assert names - set(load()) == set()
    assert not [name for name in names if not any(admitted(name, element) for element in COMMON)]


def test_variants_make_programs():
    limits = Limits(types=("f32", "i32"), empty=0)
    names = ["add", "convert", *sorted({r.name for r in every() if r in VARIANTS})]
    programs = [random_program([3, n], limits, compiles("cpu"), 12, names) for n in range(60)]
    made = {op.name for program in programs for op in walk(program.ops)}
    assert {f"stablehlo.{name}" for name in names if "." not in name} - made == set()
    assert any(len(op.results) > 1 for program in programs for op in walk(program.ops) if op.name == "stablehlo.reduce")
    for program in programs:
        ir.Module.parse(program.text(), make_context())


def test_an_element_is_right_if_one_oracle_says_so():
    x, kind = np.arange(3.0, dtype=np.float32), Type((3,), "f32")
    arguments = [Argument(Value(kind), x) for _ in range(2)]
    program = Program(arguments, [], [argument.value for argument in arguments])
    judge = Judge()
    judge.reference, judge.xla = Answers([x, x + 1]), Answers([x + 1, x])
    assert judge._compared(program, [x, x], 0).kind == "disputed"
    half = np.where(x > 0, x, 9)
    judge.reference, judge.xla = Answers([x, half]), Answers([x, np.where(x > 0, 9, x)])
    assert judge._compared(program, [x, x], 0).kind == "disputed"
    judge.xla = Answers([x + 1, x + 1])
    verdict = judge._compared(program, [x, x], 0)
    assert verdict.kind == "wrong" and verdict.wrong == (1,)
    judge.stop()


class Answers:
    """An oracle that always gives these."""

    def __init__(self, answers):
        self.ask = lambda text, inputs: answers
        self.stop = lambda: None


def test_programs_are_reproducible_and_differ():
    texts = [random_program([7, n % 10], Limits(), compiles("cpu"), 6).text() for n in range(20)]
    assert texts[:10] == texts[10:] and len(set(texts)) == 10


def test_a_failing_program_is_cut_down_to_the_op_that_fails():
    limits = Limits(types=("f32",), empty=0)
    fails = lambda p: any(op.name == "stablehlo.reverse" and op.results[0].type.size > 1 for op in walk(p.ops))  # noqa: E731
    few = "reverse transpose slice concatenate add multiply select reshape".split()
    programs = (random_program([1, n], limits, lambda name, element: name in few, 12) for n in range(100))
    program = next(p for p in programs if fails(p) and len(p.ops) > 8)
    small = minimized(program, fails, lambda p: None)
    assert fails(small) and [op.name for op in small.ops] == ["stablehlo.reverse"] and weight(small)[1] <= 4


def test_what_differs_is_seen():
    x = np.array([1, 2, np.nan, -0.0], np.float32)
    near = np.nextafter(x, np.float32(9))
    assert close(x, x, 0, 0).all() and close(x, near, 1, 0)[:3].all() and not close(x, near, 0, 0)[:2].any()
    assert not close(x, np.abs(x), 2, 0)[3] and not close(x, x[::-1], 2, 0)[2]
    assert close(x[0], x[0], 0, 0).shape == close(np.int8(1), np.int8(2), 0, 0).shape == ()
    z = values("complex<f32>", (4,), Data("tame"), [0])
    assert close(z, z * np.complex64(1 + 1e-7), 4, 0).all() and not close(z, z + np.complex64(1e-3), 4, 0).any()
    nan, pole, other, finite = (np.array([complex(*parts)]) for parts in ((np.nan, -np.inf), (-2, -np.inf), (-3, -np.inf), (2, 3)))
    assert close(nan, pole, 4, 0) and not close(pole, other, 4, 0) and not close(nan, finite, 4, 0)


def test_a_bound_that_says_nothing_is_refused():
    with pytest.raises(Unsuitable):
        checked(Facts(1.0, False, 0, 0.25), "f32")
    with pytest.raises(Unsuitable):
        total("f32", 10, Facts())
    assert total("f32", 1000, Facts(3.0, whole=True)).exact and not total("f32", 1000, Facts(3.0)).exact
    assert not total("bf16", 1000, Facts(3.0, whole=True)).exact


def test_the_kind_of_a_fault_is_kept_when_it_is_cut_down():
    failed = Verdict("failed", "PassFailure: [HL105] x broke: y\n  stage: tiled")
    assert failed.bad and failed.sign == "failed stage: tiled PassFailure"
    assert not Verdict("refused", "").bad and isinstance(parsed([]), argparse.Namespace)
