"""Frames of kernels: what LLVM spills of registers to them lies in one cache line each."""

from __future__ import annotations

import re

import pytest

from hloom.compiler.codegen import emit_assembly
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import load_target

PRODUCT = """
func.func @main(%a: tensor<48x512xf32>, %b: tensor<512x64xf32>) -> tensor<48x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<48x512xf32>, tensor<512x64xf32>) -> tensor<48x64xf32>
  return %0 : tensor<48x64xf32>
}
"""


@pytest.mark.parametrize(("name", "register"), [("cpu-avx512", "zmm"), ("cpu-avx2", "ymm")])
def test_spilled_registers_lie_in_one_cache_line(name, register):
    compilation = Compilation(load_program(PRODUCT), target=load_target(name))
    compilation.to("llvm")
    spills = re.findall(rf"(vmov\w+)\s+%{register}\d+, \d*\(%rsp\)", emit_assembly(compilation.module))
    assert spills and set(spills) == {"vmovaps"}
