"""JAX programs of fixed seeds are right on the CPU and on a simulated GPU; one that fails is cut down to the steps that do.

`python -m tests.fuzz --front jax` tries as many more as you like.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("jax")

import hloom
from fuzz.__main__ import Run, parsed
from fuzz.judge import Verdict
from fuzz.shares import difference
from fuzz.traced.builder import RECIPES
from fuzz.traced.judge import JaxJudge, cut_down
from fuzz.traced.programs import JaxProgram, program
from fuzz.traced.trial import compiled, unsteady

PROGRAMS = {"cpu": 4, "sim:sm_90a": 4}


@pytest.mark.parametrize("target", PROGRAMS)
def test_random_programs(target):
    run = Run(parsed(["--front", "jax", "--programs", str(PROGRAMS[target]), "--seed", "2026", "--target", target]))
    run.work()
    assert run.counts["right"] + run.counts["disputed"] == PROGRAMS[target], run.counts


def test_programs_are_reproducible_and_differ():
    texts = [program(7, n % 3).text() for n in range(6)]
    assert texts[:3] == texts[3:] and len(set(texts)) == 3


@pytest.mark.parametrize("name", ["gradient", "scan", "vmap"])
def test_a_family_makes_programs(name):
    made = [JaxProgram(1, n, (name, "binary", "reduction")) for n in range(6)]
    assert any(step.startswith(name) for each in made for _, step in each.steps)


def test_there_are_families():
    assert {"attention", "convolution", "scatter", "sort", "arg_chain", "segments", "fori_loop"} <= set(RECIPES)


def test_arguments_are_given_up_for_results_of_their_type():
    made = [p for n in range(12) if (p := JaxProgram(3, n)).donated]
    assert made
    for each in made:
        results = dict(enumerate(re.findall(r"tensor<[^>]*>+ {jax.result_info", each.text())))
        arguments = re.findall(r"%arg\d+: (tensor<[^>]*>+)", each.text().split("->")[0])
        assert all(results[result].startswith(arguments[argument]) for argument, result in each.donated)


def test_bits_that_differ_between_runs_are_seen():
    class Executable:
        """Adds one with two threads."""

        def __init__(self, artifact=None):
            self.artifact = lambda: None

        def flat(self, inputs):
            return [inputs[0] + np.float32(hloom.get_threads() == 2)]

    x = np.ones(3, np.float32)
    told = list(unsteady(Executable(), [x], [x], ()))
    assert len(told) == 2 and all("2 threads" in each for each in told)
    f = "tensor<4xf32>"
    text = f"func.func @main(%x: {f}, %y: {f}) -> {f} {{%0 = stablehlo.add %x, %y : {f} return %0 : {f}}}"
    given = [np.arange(4, dtype=np.float32), np.ones(4, np.float32)]
    for donated in ((), ((0, 0),)):
        assert not list(unsteady(compiled(text, "cpu", donated), given, [given[0] + 1], donated))
    assert any("is not the memory" in told for told in unsteady(compiled(text, "cpu", ()), given, [given[0] + 1], ((0, 0),)))


def test_a_failing_program_is_cut_down_to_the_steps_that_fail():
    def judge(candidate, target):
        return Verdict("wrong" if "stablehlo.sort" in candidate.names else "right")

    few = ("sort", "unary", "binary", "reduction", "reshape")
    whole = next(p for n in range(50) if judge(p := JaxProgram(5, n, few), "cpu").bad and len(p.steps) > 4)
    small = cut_down(whole, judge(whole, "cpu"), judge, "cpu", 60)
    assert judge(small, "cpu").bad and len(small.steps) <= 2


def test_what_differs_is_seen():
    x = np.array([1, 2, np.inf, np.nan], np.float32)
    assert difference(x, x * np.float32(1 + 1e-6)) == "" and difference(x, x * 2).startswith("differs")
    z = np.array([complex(np.inf, 1)], np.complex64)
    assert difference(z, np.array([complex(np.inf, 1 + 1e-6)], np.complex64)) == "" and difference(z, z + 1j).startswith("differs")
    assert "infinities" in difference(np.nan_to_num(x), x) and "for int32" in difference(x, np.zeros(3, np.int32))


def test_a_result_is_right_if_one_oracle_says_so():
    class Answers:
        def __init__(self, answers):
            self.ask = lambda text, inputs: answers

        def stop(self):
            pass

    x, judge = np.arange(3), JaxJudge()
    judge.xla, judge.reference = Answers([x + 1, x]), Answers([x, x])
    assert judge._compared(JaxProgram(1, 0), [x, x], 0).kind == "disputed"
    judge.reference = Answers("it lacks an op")
    verdict = judge._compared(JaxProgram(1, 0), [x, x], 0)
    assert verdict.kind == "wrong" and verdict.wrong == (0,)
    judge.stop()
