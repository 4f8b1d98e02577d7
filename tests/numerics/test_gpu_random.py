"""Random programs (tests/compiler/test_linalg_random.py) as GPU kernels on the simulator, group by group, against the interpreter."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numerics.gpu_groups import check_program, random_array

from hloom.compiler.interpreter import Interpreter

sys.path.append(str(Path(__file__).parents[1] / "compiler"))
from test_linalg_random import Program


class Wide(Program):
    """Extents that take more than one register, lane or block."""

    extents = (1, 5, 32, 64, 100)
    most = 60_000


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter() as process:
        yield process


def integers(tensor, rng):
    """So that any order of sums is exact."""
    if str(tensor.element_type) != "f32":
        return random_array(tensor, rng)
    return rng.integers(-4, 5, tuple(tensor.shape)).astype(np.float32)


@pytest.mark.parametrize("seed", range(16))
def test_random_program(seed, interpreter):
    check_program(Wide(seed).text(14), interpreter, make=integers)
