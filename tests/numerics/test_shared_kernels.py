"""Kernels that are equal but for numbers are compiled once (share-kernels): they compute the same bits as kernels of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

import hloom
from hloom.compiler import pipeline
from hloom.compiler.compile import Compilation
from hloom.compiler.passmanager import Step
from hloom.passes.common.rewriting import top_level
from hloom.passes.llvm import share_kernels

DEPTHS = (320, 352, 416, 448)
"""Of panels that the first cache does not hold: what a step prefetches of others is other code. So is a number of one kernel that meets
another, as those of 224 and 240 do."""


def products(depths: Sequence[int]) -> str:
    """Each product reads the first columns of %x, some more than the one before; tanh keeps them apart."""
    whole = depths[-1]
    weights = [f"%w{n}: tensor<{depth}x64xf32>" for n, depth in enumerate(depths)]
    lines = [f"func.func @main(%x: tensor<48x{whole}xf32>, {', '.join(weights)}) -> ({', '.join(['tensor<48x64xf32>'] * len(depths))}) {{"]
    for n, depth in enumerate(depths):
        lines += [
            f"  %s{n} = stablehlo.slice %x [0:48, 0:{depth}] : (tensor<48x{whole}xf32>) -> tensor<48x{depth}xf32>",
            f"  %t{n} = stablehlo.tanh %s{n} : tensor<48x{depth}xf32>",
            f"  %y{n} = stablehlo.dot_general %t{n}, %w{n}, contracting_dims = [1] x [0]",
            f"    : (tensor<48x{depth}xf32>, tensor<{depth}x64xf32>) -> tensor<48x64xf32>",
        ]
    kinds = ", ".join(["tensor<48x64xf32>"] * len(depths))
    return "\n".join([*lines, f"  return {', '.join(f'%y{n}' for n in range(len(depths)))} : {kinds}", "}"])


def bodies(source: str) -> int:
    """The kernels that LLVM gets."""
    compilation = Compilation.of(source, target="cpu")
    compilation.to("llvm")
    functions = top_level(compilation.module, "llvm.func")
    return sum("internal" in str(op.attributes["linkage"]) for op in functions if "linkage" in op.attributes)


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kernel has a function of its own."""
    run_steps = pipeline.run_steps

    def others(module: ir.Operation, steps: Sequence[Step], *more: Any, **named: Any) -> None:
        run_steps(module, [step for step in steps if step.name != "share-kernels"], *more, **named)

    monkeypatch.setattr(pipeline, "run_steps", others)


def inputs() -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.standard_normal((48, DEPTHS[-1]), np.float32), *(random.standard_normal((depth, 64), np.float32) for depth in DEPTHS)]


def test_shared_kernels_compute_the_same(request: pytest.FixtureRequest) -> None:
    x, *weights = inputs()
    source = products(DEPTHS)
    shared, kernels = hloom.compile(source, target="cpu"), bodies(source)
    request.getfixturevalue("apart")
    alone = hloom.compile(source, target="cpu")
    assert kernels <= bodies(source) - (len(DEPTHS) - 2)
    for depth, weight, result, own in zip(DEPTHS, weights, shared(x, *weights), alone(x, *weights)):
        assert result.tobytes() == own.tobytes()
        np.testing.assert_allclose(result, np.tanh(x[:, :depth]) @ weight, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("numbers", [[(1, 2), (3, 6)], [(4, 8, 12), (9, 17, 25)], [(0, 5, 5), (7, -3, -3)]])
def test_numbers_on_a_line_are_computed(numbers):
    assert len(share_kernels._independent(numbers)) == 1


@pytest.mark.parametrize("numbers", [[(1, 2, 3), (1, 2, 4)], [(2, 4, 6), (1, 2, 4)], [(2, 4, 6), (3, 4, 5)]])
def test_numbers_off_a_line_are_given(numbers):
    assert len(share_kernels._independent(numbers)) == 2
