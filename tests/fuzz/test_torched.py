"""PyTorch programs of fixed seeds are right on the CPU; one that fails is cut down to the lines that do.

`python -m tests.fuzz --front torch` tries as many more as you like.
"""

from __future__ import annotations

import pytest
import torch

from fuzz.__main__ import Run, parsed
from fuzz.judge import Verdict
from fuzz.torched import worker
from fuzz.torched.builder import RECIPES, Line
from fuzz.torched.judge import cut_down
from fuzz.torched.programs import TorchProgram, copied, program

PROGRAMS = 4


def test_random_programs():
    run = Run(parsed(["--front", "torch", "--programs", str(PROGRAMS), "--seed", "2026", "--cut", "0"]))
    run.work()
    assert run.counts["right"] == PROGRAMS, run.counts


def test_programs_are_reproducible_and_differ():
    texts = [program(7, n % 3).text() for n in range(6)]
    assert texts[:3] == texts[3:] and len(set(texts)) == 3


def test_families_make_lines():
    assert {"write_view", "index_write", "attention", "interpolate", "layers", "cond", "fourier"} <= set(RECIPES)
    made = [program(1, n, ("argument", "scatter", "unary")) for n in range(6)]
    assert {"argument", "scatter"} <= {line.recipe for each in made for line in each.lines}


def test_a_failing_program_is_cut_down_to_the_lines_that_fail():
    def judge(candidate, target):
        return Verdict("wrong" if "sort(" in candidate.text() else "right")

    few = ("sorted_values", "unary", "binary", "view", "write")
    whole = next(p for n in range(50) if judge(p := program(5, n, few), "cpu").bad and len(p.lines) > 4)
    small = cut_down(whole, judge(whole, "cpu"), judge, "cpu", 60)
    assert judge(small, "cpu").bad and len(small.lines) <= 2


def made(text: str, *inputs: torch.Tensor, road: str = "compile") -> worker.Request:
    whole = TorchProgram(road, (), (Line(text, ("v0",), ""),), ("v0",), (inputs,))
    return worker.Request(whole.text(), whole.data(), road, "cpu")


FAULTS = {
    "a value": lambda x: [x * 1.01],
    "a type": lambda x: [x.double()],
    "an input that is written": lambda x: [x.mul_(2) / 2],
    "what an earlier call gave": lambda x, kept=torch.zeros(3): [kept.copy_(x)],  # noqa: B008
    "an input instead of a copy": lambda x: [x],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_differs_is_seen(fault):
    request = made("v0 = a0 * 1", torch.tensor([1.0, 2.0, 3.0]))
    wanted = worker.outcomes(request, worker.eager)
    assert worker.compared(request, worker.outcomes(request, worker.eager), wanted, 0).kind == "right"
    assert worker.compared(request, worker.outcomes(request, lambda module: FAULTS[fault]), wanted, 0).kind == "wrong"


def test_inputs_are_copied_as_they_lie():
    x = torch.arange(12.0).reshape(3, 4).T[1:, ::2]
    assert copied(x).stride() == x.stride() and torch.equal(copied(x), x) and copied(x).data_ptr() != x.data_ptr()
