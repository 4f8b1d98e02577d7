"""What distribute-tiles takes back of an attempt: nothing that it knew of values outlives them."""

from __future__ import annotations

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.passes.common.rewriting import walk
from hloom.passes.gpu.tile.distribute import _Distribution

TRANSPOSED = """
  func.func @main(%x: tensor<2x5x4x4xf32>, %b: tensor<4xf32>) -> tensor<2x4x5x4xf32> {
    %0 = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<2x5x4x4xf32>) -> tensor<2x4x5x4xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<2x4x5x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x4x5x4xf32>
    return %2 : tensor<2x4x5x4xf32>
  }"""


def test_divisors_of_erased_values_are_forgotten(monkeypatch):
    take_back, taken = _Distribution._take_back, []

    def checked(self, mark):
        known = set(self.memory.indices.multiple_of)
        take_back(self, mark)
        block = self.memory.kernel.regions[0].blocks[0]
        alive = {value for op in walk(self.memory.kernel) for value in op.results} | set(block.arguments)
        taken.append((known - alive, set(self.memory.indices.multiple_of) - alive))

    monkeypatch.setattr(_Distribution, "_take_back", checked)
    Compilation(load_program(TRANSPOSED), target="sm_90a").text("gpu")
    assert taken and any(gone for gone, _ in taken), "nothing was taken back of which a divisor was known"
    assert not any(left for _, left in taken)
