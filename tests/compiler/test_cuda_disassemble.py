"""Machine code of GPUs as text: in the explorer, and what is said where NVIDIA's disassembler is missing."""

from __future__ import annotations

import pytest

from hloom.compiler.compile import ASSEMBLY, Compilation
from hloom.compiler.cuda import disassemble as disassembly
from hloom.compiler.cuda.errors import ToolchainError
from hloom.compiler.explorer.explore import explore
from hloom.compiler.frontend import load_program

pytest.importorskip("cuda.core")
ROWS = """
  func.func @main(%x: tensor<64x256xf32>) -> tensor<64xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x256xf32>, tensor<f32>) -> tensor<64xf32>
    return %r : tensor<64xf32>
  }"""


def compilation():
    return Compilation(load_program(ROWS), target="sm_90a")


@pytest.mark.skipif(not disassembly.has_disassembler(), reason="nvdisasm is not installed")
def test_the_explorer_has_each_kernels_instructions():
    texts = explore(compilation()).texts["fusion_0"]
    assert ".entry fusion_0" in texts["ptx"] and "SHFL.BFLY" in texts["assembly"] and "EXIT" in texts["assembly"]


def test_without_the_disassembler(monkeypatch):
    monkeypatch.setattr(disassembly, "_nvdisasm", lambda: None)
    with pytest.raises(ToolchainError, match=r"(?s)nvdisasm is not installed.*cuda-compile"):
        compilation().text(ASSEMBLY)
    assert "assembly" not in explore(compilation()).texts["fusion_0"]
