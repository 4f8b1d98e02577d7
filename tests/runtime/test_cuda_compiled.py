"""Compiled programs on the CUDA runtime: their graphs on the fake driver, each kernel launch on the simulator, against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cuda_programs import again
from fake_driver import FakeDriver, at
from fake_libraries import CublasLt, fake_libraries
from torch_mlir import ir
from while_program import HOST, WHILE

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.parsing import parse_module
from hloom.compiler.simulator import Kernels
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import symbol_name, walk
from hloom.runtime.cuda.device import CudaDevice
from hloom.runtime.executable import Executable


def on_simulator(artifact) -> FakeDriver:
    """A fake driver whose kernels are those of the artifact, simulated."""
    module = parse_module(bytes(artifact.blobs["module"]).decode(), make_context())
    kernels = Kernels(module)

    def function(op: ir.Operation):
        name = symbol_name(op)
        inputs = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs
        types = [ir.MemRefType(kind) for kind in inputs if isinstance(kind, ir.MemRefType)]
        sizes, dtypes = [math.prod(kind.shape) for kind in types], kernels.argument_types(name)
        return lambda *addresses: kernels.launch(name, [at(*each) for each in zip(addresses, dtypes, sizes)])

    return FakeDriver({symbol_name(op): function(op) for op in walk(module.operation, "gpu.func")})


def run(text: str, *inputs: np.ndarray, bind: dict | None = None):
    artifact = Compilation(load_program(text), target="sm_90a", bound=list(bind or {}), policy=HOST, simulated="gpu").artifact()
    artifact.blobs["cubin"] = b"simulated"
    driver = on_simulator(artifact)
    exe = Executable(again(artifact), lambda program: CudaDevice(program, driver, fake_libraries(cublasLt=CublasLt())))
    if bind:
        exe.bind(bind)
    return exe(*inputs), driver


def test_elementwise():
    text = """func.func @main(%x: tensor<40x50xf32>, %b: tensor<50xf32>) -> tensor<40x50xf32> {
      %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<50xf32>) -> tensor<40x50xf32>
      %1 = stablehlo.add %x, %0 : tensor<40x50xf32>
      %2 = stablehlo.tanh %1 : tensor<40x50xf32>
      return %2 : tensor<40x50xf32>
    }"""
    rng = np.random.default_rng(0)
    x, b = rng.standard_normal((40, 50), np.float32), rng.standard_normal(50, np.float32)
    found, driver = run(text, x, b)
    np.testing.assert_allclose(found, np.tanh(x + b), rtol=1e-5)
    assert [node[0] for node in driver.graphs[0].nodes] == ["launch"]


def test_the_launch_table_is_what_the_kernels_say():
    text = """func.func @main(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
      %0 = stablehlo.exponential %x : tensor<4096x64xf32>
      return %0 : tensor<4096x64xf32>
    }"""
    artifact = Compilation(load_program(text), target="sm_80", simulated="gpu").artifact()
    (name,) = artifact.manifest["kernels"]
    launch = artifact.manifest["kernels"][name]
    kernel = next(op for op in walk(parse_module(bytes(artifact.blobs["module"]).decode(), make_context()).operation, "gpu.func"))
    assert launch["grid"] == list(ir.DenseI32ArrayAttr(kernel.attributes["known_grid_size"])) and launch["grid"][0] > 1
    assert launch["block"] == list(ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"]))
    assert launch["noalias"] == [True, True]
    (thunk,) = artifact.manifest["programs"]["main"]["body"]
    assert (thunk["op"], thunk["callee"], thunk["reads"]) == ("kernel", name, [[0, 0, 4096 * 64 * 4]])
    assert artifact.manifest["target"]["kind"] == "cuda" and artifact.manifest["target"]["features"] == []


def test_a_loop_whose_length_is_an_input():
    for trips in (0, 7):
        (found, count), driver = run(WHILE, np.ones(64, np.float32), np.int32(trips))
        assert found.tolist() == [2.0**trips] * 64 and count == trips
    assert "loop" in [node[0] for node in driver.graphs[0].nodes] and len(driver.calls("launch")) == 1


@pytest.mark.parametrize("index", [0, 1, 5])
def test_branches(index):
    text = """func.func @main(%i: tensor<i32>, %x: tensor<64xf32>) -> tensor<64xf32> {
      %0 = "stablehlo.case"(%i) ({
        %1 = stablehlo.negate %x : tensor<64xf32>
        stablehlo.return %1 : tensor<64xf32>
      }, {
        %1 = stablehlo.add %x, %x : tensor<64xf32>
        stablehlo.return %1 : tensor<64xf32>
      }) : (tensor<i32>) -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }"""
    found, driver = run(text, np.int32(index), np.ones(64, np.float32))
    assert found.tolist() == [-1.0 if index == 0 else 2.0] * 64
    assert "switch" in [node[0] for node in driver.graphs[0].nodes]


def test_bound_weights():
    text = """func.func @main(%x: tensor<16x32xf32>, %w: tensor<32x24xf32>) -> tensor<16x24xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x24xf32>) -> tensor<16x24xf32>
      return %0 : tensor<16x24xf32>
    }"""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((16, 32), np.float32), rng.standard_normal((32, 24), np.float32)
    found, _ = run(text, x, bind={1: w})
    np.testing.assert_allclose(found, x @ w, rtol=1e-4, atol=1e-5)


PRODUCT = """func.func @main(%x: tensor<64x72xf16>, %w: tensor<72x64xf16>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x72xf16>, tensor<72x64xf16>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}"""


def test_tensor_maps_are_encoded_with_the_addresses_of_a_call():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((64, 72)).astype(np.float16), rng.standard_normal((72, 64)).astype(np.float16)
    found, driver = run(PRODUCT, x, w)
    np.testing.assert_allclose(found, np.tanh(x.astype(np.float32) @ w.astype(np.float32)), rtol=1e-4, atol=1e-5)
    (launch,) = [node for node in driver.graphs[0].nodes if node[0] == "launch"]
    addresses, maps = launch[-1][:3], launch[-1][3:]
    assert [address for _, address in maps] == [addresses[0], addresses[1]]
    left, right = (tensor for tensor, _ in maps)
    assert (left.extents, left.strides, left.box, left.swizzle) == ((64, 72), (144, 2), (64, 64), 128)
    assert (right.extents, right.strides, right.dtype) == ((72, 64), (128, 2), "f16")
