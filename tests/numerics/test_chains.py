"""Tiny kernels that take turns in one launch: what they compute on simulated GPUs, by the dialect and by PTX, and faults put into them."""

import re
from pathlib import Path

import numpy as np
import pytest
from chain_program import BLOCK, GENERATED, block_inputs, block_result

import hloom
from benchmarks.gpu.cases import random_inputs
from hloom.compiler.compile import Compilation
from hloom.compiler.interpreter import interpret
from hloom.compiler.simulator import SimulatedProgram, SimulationError


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def expected():
    return block_result(*block_inputs())


@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80+ptx"])
def test_an_attention_block_is_one_launch(target, expected):
    exe = hloom.compile(BLOCK, target=target, policy=GENERATED)
    for _ in range(2):  # the word at which blocks meet is what it was
        agree(exe(*block_inputs()), expected)
    (group,) = exe.report.data["groups"]
    assert (group["name"], group["kind"], group["calls"]) == ("chain_0", "chain", 1)
    assert exe.device.last.counters.launches == 1
    assert "FUSED_GRID" in [each["code"] for each in exe.report.data["decisions"]]


def test_in_a_loop_of_the_host_program():
    body = BLOCK.replace("@main", "private @block")
    text = (
        body
        + """
func.func @main(%x: tensor<4x64xf32>, %w: tensor<64x192xf32>, %v: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<4x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4x64xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = func.call @block(%y, %w, %v) : (tensor<4x64xf32>, tensor<64x192xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<4x64xf32>
  }
  return %0#1 : tensor<4x64xf32>
}"""
    )
    given = [*block_inputs(), np.int32(3)]
    exe = hloom.compile(text, target="sim:sm_90a", policy=GENERATED)
    agree(exe(*given), interpret(text, given)[0])
    assert any(group["kind"] == "chain" for group in exe.report.data["groups"])


def test_a_policy_keeps_kernels_alone():
    rules = {**GENERATED, "fuse": [{"op": "exponential", "action": "alone"}]}
    groups = hloom.compile(BLOCK, target="sim:sm_90a", policy=rules).report.data["groups"]
    assert [group["kind"] for group in groups if "exponential" in group["ops"]] == ["matmul"]
    assert [group["kind"] for group in groups] == ["matmul", "matmul", "chain"]


def test_without_the_barrier_blocks_race(expected):
    text = Compilation.of(BLOCK, (), target="sim:sm_90a", policy=GENERATED).text("thunk")
    agree(SimulatedProgram(text).run(block_inputs()).results[0], expected)
    broken, count = re.subn(r'"grid\.barrier"\(\) : \(\) -> \(\)', "gpu.barrier", text, count=1)
    assert count == 1
    with pytest.raises(SimulationError, match="race"):
        SimulatedProgram(broken).run(block_inputs())


FAULTS = {
    "nobody waits": (
        r"(ld\.acquire\.gpu\.global\.u32\s+%r\d+, \[%rd\d+\];.*?setp\.gt\.s32\s+%p\d+, %r\d+), -1;",
        r"\1, 2147483647;",
        "race",
    ),
    "one block does not arrive": (r"(atom\.acq_rel\.gpu\.global\.add\.u32[^;]*), %r\d+;", r"\1, 1;", "waits for ever"),
    "arrivals order nothing": (r"atom\.acq_rel\.", "atom.relaxed.", "race"),
    "looks order nothing": (r"ld\.acquire\.gpu", "ld.relaxed.gpu", "race"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_ptx_is_named(name, monkeypatch):
    from hloom.compiler.cuda import ptx as backend

    pattern, replacement, message = FAULTS[name]
    emit = backend.emit_ptx

    def broken(*given):
        text, count = re.subn(pattern, replacement, emit(*given), count=1, flags=re.S)
        assert count == 1
        return text

    monkeypatch.setattr(backend, "emit_ptx", broken)
    exe = hloom.compile(BLOCK, target="sim:sm_90a+ptx", policy=GENERATED)
    with pytest.raises(SimulationError, match=message):
        exe(*block_inputs())


def test_blocks_that_come_to_a_barrier_one_after_the_other():
    """Some kernels of this chain have fewer blocks, and some blocks more turns."""
    path = Path(__file__).parents[2] / "examples" / "jax_attention.mlir"
    low, high = hloom.compile(path, target="sim:sm_90a+ptx", policy=GENERATED), hloom.compile(path)
    given = [np.float32(0.1) * x for x in random_inputs(high.signature.inputs, seed=0)]
    np.testing.assert_allclose(low(*given), high(*given), rtol=1e-4, atol=1e-5)
    assert any(group["kind"] == "chain" for group in low.report.data["groups"])
