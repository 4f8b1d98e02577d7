"""Broken programs and files end in one of hloom's errors, or run: never in another exception, a signal or a hang.

A failure names the mutant; `python tests/robustness/worker.py KIND N N+1` tries it again, `batches.py` tries more of them.
"""

import os

import pytest
from batches import failures
from mutate import EDITS, flipped, mutant

COUNTS = {"text": 224, "bytecode": 160, "artifact": 64, "hloom": 96, "tools": 96, "stage": 64}
COUNTS |= {"file-cpu": 700, "file-cuda": 500, "file-simulator": 100}
TIMES = int(os.environ.get("HLOOM_MUTANTS", "1"))
"""So many times as many; 100 takes hours."""


@pytest.mark.parametrize("kind", COUNTS)
def test_mutants(kind):
    found = failures(kind, 0, COUNTS[kind] * TIMES)
    assert not found, "\n".join(found)


def test_mutants_are_reproducible():
    lines = "func.func @main(%x: T) -> T {", "  %0 = stablehlo.abs %x : T", "  return %0 : T", "}"
    text = "\n".join(lines).replace("T", "tensor<4x8xf32>")
    assert [mutant(text, seed) for seed in range(50)] == [mutant(text, seed) for seed in range(50)]
    assert len({mutant(text, seed) for seed in range(50)}) > 30
    assert len({flipped(text.encode(), seed) for seed in range(50)}) == 50
    assert len(EDITS) > 15
