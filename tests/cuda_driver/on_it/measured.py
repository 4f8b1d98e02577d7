"""hloom's own times where there is no torch: memory, calls and events through the whole of runtime/cuda."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.gpu import alone
from benchmarks.gpu.cases import Case, checksum, random_inputs
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.runtime.executable import load

TANH = """func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.tanh %x : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}"""


@pytest.mark.parametrize("gpu", [0, 1, 2], indirect=True)
def test_copies_take_turns(gpu, tmp_path):
    Compilation(load_program(TANH), target="sm_90a").artifact().save(tmp_path / "tanh.hloom")
    inputs = random_inputs(load(tmp_path / "tanh.hloom").signature.inputs, seed=0)
    results, launches = alone.copies_ready(Case("tanh", checksum=checksum(inputs, {})), 2, tmp_path)
    np.testing.assert_allclose(results[0], np.tanh(inputs[0]), rtol=1e-5, atol=1e-6)
    on_device, calls = alone.device_times(launches, 0.01), alone.times_of_calls(launches, 0.01)
    assert len(launches) == 2 and on_device.samples >= 5 and on_device.median > 0 and calls.median > 0
    assert alone.facts()["l2_bytes"] > 0 and gpu.refusals == []
