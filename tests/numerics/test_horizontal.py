"""Small independent kernels in one launch: what they compute, on CPUs and on simulated GPUs, and how many launches are left."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_mlir import ir

import hloom
from hloom.compiler.target import resolve
from hloom.dialects.context import make_context
from hloom.dialects.target import attach_target
from hloom.passes.errors import CompileError
from hloom.passes.fused.join_launches import join_launches
from hloom.passes.fused.plan_fusion import plan_fusion

SIX = [(1000,), (64, 48), (33,), (7, 5, 3), (4096,), (128, 10)]


def tensor(shape) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>"


def update(name, shape) -> tuple[str, tuple[str, ...]]:
    """p - 0.5 g."""
    kind = tensor(shape)
    return (
        f"""
      %{name}_h = stablehlo.constant dense<0.5> : {kind}
      %{name}_s = stablehlo.multiply %{name}_1, %{name}_h : {kind}
      %{name} = stablehlo.subtract %{name}_0, %{name}_s : {kind}""",
        (kind, kind, kind),
    )


def moments(name, shape) -> tuple[str, tuple[str, ...]]:
    """What an optimiser keeps of gradients: (p + g) / (sqrt(|g|) + 1)."""
    kind = tensor(shape)
    return (
        f"""
      %{name}_a = stablehlo.abs %{name}_1 : {kind}
      %{name}_r = stablehlo.sqrt %{name}_a : {kind}
      %{name}_o = stablehlo.constant dense<1.0> : {kind}
      %{name}_d = stablehlo.add %{name}_r, %{name}_o : {kind}
      %{name}_s = stablehlo.add %{name}_0, %{name}_1 : {kind}
      %{name} = stablehlo.divide %{name}_s, %{name}_d : {kind}""",
        (kind, kind, kind),
    )


def row_sums(name, shape) -> tuple[str, tuple[str, ...]]:
    """The sums of the rows of p g."""
    kind, sums = tensor(shape), tensor(shape[:-1])
    return (
        f"""
      %{name}_p = stablehlo.multiply %{name}_0, %{name}_1 : {kind}
      %{name}_z = stablehlo.constant dense<0.0> : tensor<f32>
      %{name} = stablehlo.reduce(%{name}_p init: %{name}_z) applies stablehlo.add across dimensions = [{len(shape) - 1}]
        : ({kind}, tensor<f32>) -> {sums}""",
        (kind, kind, sums),
    )


def centred(name, shape) -> tuple[str, tuple[str, ...]]:
    """p less the largest of its row of g: a row stays in the tile."""
    kind, rows, dims = tensor(shape), tensor(shape[:-1]), list(range(len(shape) - 1))
    return (
        f"""
      %{name}_z = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %{name}_m = stablehlo.reduce(%{name}_1 init: %{name}_z) applies stablehlo.maximum across dimensions = [{len(shape) - 1}]
        : ({kind}, tensor<f32>) -> {rows}
      %{name}_b = stablehlo.broadcast_in_dim %{name}_m, dims = {dims} : ({rows}) -> {kind}
      %{name} = stablehlo.subtract %{name}_0, %{name}_b : {kind}""",
        (kind, kind, kind),
    )


NUMPY = {
    update: lambda p, g: p - np.float32(0.5) * g,
    moments: lambda p, g: (p + g) / (np.sqrt(np.abs(g)) + 1),
    row_sums: lambda p, g: (p.astype(np.float64) * g).sum(-1),
    centred: lambda p, g: p - g.max(-1, keepdims=True),
}


def program(members) -> str:
    """A program of the members (what, shape), none of which needs another's result."""
    parts = [what(f"m{number}", shape) for number, (what, shape) in enumerate(members)]
    arguments = ", ".join(f"%m{n}_{i}: {kinds[i]}" for n, (_, kinds) in enumerate(parts) for i in range(2))
    results = ", ".join(kinds[2] for _, kinds in parts)
    body = "".join(text for text, _ in parts)
    returned = ", ".join(f"%m{n}" for n in range(len(parts)))
    return f"func.func @main({arguments}) -> ({results}) {{{body}\n      return {returned} : {results}\n}}"


def listed(results) -> list:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def checked(exe, members) -> None:
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal(shape).astype(np.float32) for _, shape in members for _ in range(2)]
    for (what, _), p, g, found in zip(members, inputs[::2], inputs[1::2], listed(exe(*inputs)), strict=True):
        np.testing.assert_allclose(np.asarray(found), NUMPY[what](p, g), rtol=1e-5, atol=1e-4)


def launches_of(text: str) -> str:
    """The program with its launches planned for an H100."""
    module = ir.Module.parse(text, make_context()).operation
    attach_target(module, resolve("sm_90a"))
    plan_fusion(module)
    join_launches(module)
    return str(module)


SHAPES = st.lists(st.integers(1, 70), min_size=1, max_size=3).map(tuple)
MEMBERS = st.lists(st.tuples(st.sampled_from([update, moments, row_sums, centred]), SHAPES), min_size=2, max_size=9)


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(MEMBERS)
def test_members_of_any_shapes_on_a_gpu(members):
    checked(hloom.compile(program(members), target="sim:sm_90a"), members)


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(MEMBERS)
def test_members_of_any_shapes_on_a_cpu(members):
    checked(hloom.compile(program(members), policy={"fuse": [{"action": "launch"}]}), members)  # few are worth a parallel region


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_six_updates_of_different_shapes_are_one_kernel(target):
    members = [(update, shape) for shape in SIX]
    exe = hloom.compile(program(members), target=f"sim:{target}")
    checked(exe, members)
    (group,) = exe.report.data["groups"]
    assert (group["name"], group["kind"], group["ops"]["subtract"]) == ("launch_0", "horizontal", 6)
    (made,) = [each for each in exe.report.data["decisions"] if each["code"] == "FUSED_HORIZONTAL"]
    assert made["groups"] == [f"fusion_{number}" for number in range(6)]
    assert made["figures"]["gain_ps"] == 5 * 2_500_000


def test_a_launch_has_so_many_kernels():
    exe = hloom.compile(program([(update, (n + 1,)) for n in range(70)]), target="sim:sm_90a")
    (group,) = exe.report.data["groups"]  # three launches, which follow each other in one kernel
    assert (group["kind"], group["ops"]["subtract"]) == ("chain", 70)
    assert [each["code"] for each in exe.report.data["decisions"]].count("ARG_LIMIT") == 2
    checked(exe, [(update, (n + 1,)) for n in range(70)])


def test_on_a_cpu_kernels_that_are_worth_a_region_share_one():
    members = [(moments, (100, n)) for n in (300, 1000, 77, 640)]
    exe = hloom.compile(program(members))
    (group,) = exe.report.data["groups"]
    assert group["kind"] == "horizontal" and group["grain"]
    before = hloom.get_threads()
    try:
        for threads in (1, 2, 7):
            hloom.set_threads(threads)
            checked(exe, members)
    finally:
        hloom.set_threads(before)
    small = hloom.compile(program([(update, (n,)) for n in (30, 40, 50)])).report.data
    assert len(small["groups"]) == 3 and "NO_GAIN" in [each["code"] for each in small["decisions"]]


def test_a_policy_decides():
    text = program([(update, (50,)), (moments, (60,)), (moments, (70,))])

    def launched(*rules):
        exe = hloom.compile(text, target="sim:sm_90a", policy={"fuse": list(rules)})
        return sorted(len(group["ops"]) for group in exe.report.data["groups"] if group["kind"] == "horizontal"), exe.report.data

    assert len(launched()[1]["groups"]) == 1
    assert len(launched({"op": "sqrt", "action": "alone"})[1]["groups"]) == 3
    assert len(launched({"op": "subtract", "with": "sqrt", "action": "forbid"})[1]["groups"]) == 2
    data = launched({"op": "subtract", "with": "cosine", "action": "launch"})[1]
    assert "POLICY_UNMET" in [each["code"] for each in data["decisions"]]
    with pytest.raises(CompileError, match="fuse 1"):
        launched({"op": "subtract", "with": "cosine", "action": "launch", "require": True})


HASHED = """
import sys
sys.path.insert(0, {folder!r})
from numerics.test_horizontal import *
print(launches_of(program([(what, (n + 3, 5)) for n in range(5) for what in (update, moments, row_sums, centred)])))
"""


def test_the_launches_are_the_same_in_every_process():
    source = HASHED.format(folder=os.path.dirname(os.path.dirname(__file__)))
    texts = set()
    for seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        texts.add(subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(texts) == 1 and "FUSED_HORIZONTAL" in texts.pop()
