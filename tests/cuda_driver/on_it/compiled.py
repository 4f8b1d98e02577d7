"""Compiled programs through the whole of runtime/cuda, cuda-core and the driver, as cubins; their kernels as PTX."""

from __future__ import annotations

import numpy as np
import pytest
from chain_program import BLOCK, GENERATED, block_inputs, block_result
from cuda_driver.frameworks import outcome
from while_program import HOST, WHILE

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.runtime.cuda.device import CudaDevice
from hloom.runtime.cuda.recorder import Recorder
from hloom.runtime.executable import Executable
from hloom.runtime.manifest import made_for

SINE = """func.func @main(%x: tensor<40x50xf32>, %b: tensor<50xf32>) -> tensor<40x50xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<50xf32>) -> tensor<40x50xf32>
  %1 = stablehlo.add %x, %0 : tensor<40x50xf32>
  %2 = stablehlo.sine %1 : tensor<40x50xf32>
  return %2 : tensor<40x50xf32>
}"""
CASE = """func.func @main(%i: tensor<i32>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<64xf32>
    stablehlo.return %1 : tensor<64xf32>
  }, {
    %1 = stablehlo.add %x, %x : tensor<64xf32>
    stablehlo.return %1 : tensor<64xf32>
  }) : (tensor<i32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}"""
PRODUCT = """func.func @main(%x: tensor<64x72xf16>, %w: tensor<72x64xf16>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x72xf16>, tensor<72x64xf16>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}"""
RNG = np.random.default_rng(0)


def loaded(gpu, text, bind=None, policy=HOST):
    artifact = Compilation(
        load_program(text),
        target=f"sm_{gpu.capability}{'a' * (gpu.capability >= 90)}",
        bound=list(bind or {}),
        policy=policy,
    ).artifact()
    exe = Executable(artifact, CudaDevice)
    if bind:
        exe.bind(bind)
    return exe


def test_elementwise(gpu):
    x, b = RNG.standard_normal((40, 50), np.float32), RNG.standard_normal(50, np.float32)
    exe = loaded(gpu, SINE)
    for _ in range(3):
        np.testing.assert_allclose(exe(x, b), np.sin(x + b), rtol=1e-5, atol=1e-6)
    assert gpu.refusals == []


def test_a_loop_whose_length_is_an_input(gpu):
    exe = loaded(gpu, WHILE)
    for trips in (0, 7):
        found, count = exe(np.ones(64, np.float32), np.int32(trips))
        assert found.tolist() == [2.0**trips] * 64 and count == trips


@pytest.mark.parametrize("index", [0, 1, 5])
def test_branches(gpu, index):
    found = loaded(gpu, CASE)(np.int32(index), np.ones(64, np.float32))
    assert found.tolist() == [-1.0 if index == 0 else 2.0] * 64


def test_bound_weights_and_tensor_maps(gpu):
    x, w = RNG.standard_normal((64, 72)).astype(np.float16), RNG.standard_normal((72, 64)).astype(np.float16)
    expected = np.tanh(x.astype(np.float32) @ w.astype(np.float32))
    np.testing.assert_allclose(loaded(gpu, PRODUCT)(x, w), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(loaded(gpu, PRODUCT, {1: w})(x), expected, rtol=1e-4, atol=1e-5)
    assert "cuTensorMapEncodeTiled" not in [name for name, *_ in gpu.refusals]


def test_kernels_that_take_turns_in_one_launch(gpu):
    given = block_inputs()
    exe = loaded(gpu, BLOCK, policy=GENERATED)
    for _ in range(2):
        np.testing.assert_allclose(exe(*given), block_result(*given), rtol=1e-5, atol=1e-6)
    assert [group["kind"] for group in exe.report.data["groups"]] == ["chain"]
    assert gpu.refusals == []


@pytest.mark.parametrize("gpu", [0], indirect=True)
def test_blocks_that_wait_for_each_other_without_being_there_at_once(gpu, monkeypatch):
    """Launched as others are, the first of them wait for blocks that may never begin."""
    launch = Recorder.launch
    monkeypatch.setattr(Recorder, "launch", lambda self, *given: launch(self, *given[:-1]))

    def attempt():
        given = block_inputs()
        return np.allclose(loaded(gpu, BLOCK, policy=GENERATED)(*given), block_result(*given), rtol=1e-5, atol=1e-6)

    assert "waits for ever" in outcome(gpu, attempt, [0])[0]
    gpu.begin_again(0)


@pytest.mark.parametrize("gpu", [0], indirect=True)
def test_more_blocks_than_may_be_there_at_once(gpu):
    artifact = loaded(gpu, BLOCK, policy=GENERATED).artifact()
    artifact.manifest["kernels"]["chain_0"]["grid"] = [1 << 12, 1, 1]
    artifact.manifest["made_for"] = made_for(artifact.manifest, artifact.blobs)
    with pytest.raises(Exception, match="COOPERATIVE_LAUNCH_TOO_LARGE"):
        Executable(artifact, CudaDevice)(*block_inputs())
