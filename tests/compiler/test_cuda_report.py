"""hloom-explain for a GPU: traffic read off a kernel beside what the simulator counts, the roofline, and the report's tables."""

import json

import numpy as np
import pytest
from torch_mlir import ir

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.cuda.roofline import kernel_row, kernels_of, roofline
from hloom.compiler.cuda.traffic import traffic
from hloom.compiler.frontend import load_program
from hloom.compiler.parsing import parse_module
from hloom.compiler.simulator import Kernels
from hloom.compiler.target import resolve
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import symbol_name, walk
from hloom.runtime.report import Report

H100 = resolve("sm_90a")

SOFTMAX = """
func.func @main(%x: tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<ROWSxCOLUMNSxf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
       : (tensor<ROWSxCOLUMNSxf32>, tensor<f32>) -> tensor<ROWSxf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<ROWSxf32>) -> tensor<ROWSxCOLUMNSxf32>
  %3 = stablehlo.divide %0, %2 : tensor<ROWSxCOLUMNSxf32>
  return %3 : tensor<ROWSxCOLUMNSxf32>
}"""

DOT = """func.func @main(%x: tensor<MxKxTYPE>, %w: tensor<KxNxTYPE>) -> tensor<MxNxTYPE> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<MxKxTYPE>, tensor<KxNxTYPE>) -> tensor<MxNxTYPE>
  return %0 : tensor<MxNxTYPE>
}"""

TRANSPOSE = """func.func @main(%x: tensor<70x45xf32>) -> tensor<45x70xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<70x45xf32>) -> tensor<45x70xf32>
  return %0 : tensor<45x70xf32>
}"""

BRANCHES = """module {
  gpu.module @kernels {
    gpu.func @halves(%a: memref<4096xf32>, %o: memref<4096xf32>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c48 = arith.constant 48 : index
      %c1024 = arith.constant 1024 : index
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %start = arith.muli %b, %c1024 : index
      scf.for %i = %c0 to %c16 step %c1 {
        %few = arith.cmpi ult, %t, %c48 : index
        scf.if %few {
          %row = arith.muli %i, %c16 : index
          %in = arith.addi %row, %t : index
          %at = arith.addi %in, %start : index
          %v = memref.load %a[%at] : memref<4096xf32>
          %late = arith.cmpi uge, %i, %c1 : index
          scf.if %late {
            memref.store %v, %o[%at] : memref<4096xf32>
          }
        }
      }
      gpu.return
    }
  }
}"""


def softmax(rows: int, columns: int) -> str:
    return SOFTMAX.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))


def dot(m: int, n: int, k: int, kind: str) -> str:
    return DOT.replace("MxK", f"{m}x{k}").replace("KxN", f"{k}x{n}").replace("MxN", f"{m}x{n}").replace("TYPE", kind)


SORT = """func.func @main(%x: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8x256xf32>) -> tensor<8x256xf32>
  return %0 : tensor<8x256xf32>
}"""

SCATTER = """func.func @main(%x: tensor<64xi32>, %at: tensor<500x1xi32>, %u: tensor<500xi32>) -> tensor<64xi32> {
  %0 = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<64xi32>, tensor<500x1xi32>, tensor<500xi32>) -> tensor<64xi32>
  return %0 : tensor<64xi32>
}"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path))


def artifact(source: str, simulated: str = "gpu"):
    return Compilation(load_program(source), target="sm_90a", simulated=simulated).artifact()


def module_of(source: str):
    return parse_module(bytes(artifact(source).blobs["module"]).decode(), make_context())


@pytest.mark.parametrize(
    "source",
    [softmax(6, 256), softmax(3, 333), dot(64, 64, 256, "f16"), dot(33, 65, 48, "f32"), dot(2, 70, 96, "bf16"), TRANSPOSE],
    ids=["softmax", "odd softmax", "f16 dot", "odd f32 dot", "gemv", "transpose"],
)
def test_traffic_is_what_the_simulator_counts(source):
    module = module_of(source)
    simulated = Kernels(module)
    kernels = kernels_of(module.operation)
    assert kernels
    for kernel in kernels:
        name = symbol_name(kernel)
        shapes = [a.type.shape[0] for a in kernel.regions[0].blocks[0].arguments if isinstance(a.type, ir.MemRefType)]
        arrays = [np.zeros(size, kind) for size, kind in zip(shapes, simulated.argument_types(name))]
        counted, found = simulated.launch(name, arrays, checks=False), traffic(kernel)
        assert sum(found.read.values()) == counted.global_read_bytes
        assert sum(found.written.values()) == counted.global_written_bytes


@pytest.mark.parametrize(("source", "least"), [(SORT, 2 * 8 * 256 * 4), (SCATTER, 2 * 64 * 4 + 2 * 500 * 4)], ids=["sort", "scatter"])
def test_the_least_is_all_that_a_sort_or_a_scatter_reads(source, least):
    module = module_of(source)
    assert [kernel_row(kernel, "f32", H100)["least"] for kernel in kernels_of(module.operation)] == [least]


def test_loops_and_branches_weigh_accesses():
    module = parse_module(BRANCHES, make_context())
    (kernel,) = kernels_of(module.operation)
    found = traffic(kernel)
    assert found.read == {0: 4 * 16 * 48 * 4}
    assert found.written == {1: 4 * 15 * 48 * 4}


def test_what_the_cache_holds_moves_once():
    module = parse_module(BRANCHES, make_context())
    (kernel,) = kernels_of(module.operation)
    row = kernel_row(kernel, "f32", H100)
    assert row["moved"] == 4 * 16 * 48 * 4 + 4 * 15 * 48 * 4  # less than the buffers
    small = kernel_row(kernel, "f32", H100.with_entries({"l2_bytes": 1024}))
    assert small["moved"] == row["read"] + row["written"]


def test_the_roofline_takes_the_longest():
    assert roofline(3_350_000, 0, "f32", H100) == {"roofline_ps": H100.launch_ps + 1_000_000, "bound": "launch"}
    assert roofline(33_500_000_000, 0, "f32", H100)["bound"] == "memory"
    flops = 989_400_000_000_000
    assert roofline(1, flops, "f16", H100) == {"roofline_ps": H100.launch_ps + 10**12, "bound": "arithmetic"}
    assert roofline(1, flops, "f32", H100)["roofline_ps"] > 14 * 10**12


def test_a_kernel_keeps_the_planned_figures():
    module = module_of(softmax(64, 1024)).operation
    (kernel,), (thunk,) = kernels_of(module), walk(module, "thunk.kernel")
    assert {"hloom.bytes", "hloom.cost_ps", "hloom.flops"} <= set(kernel.attributes.keys())
    assert thunk.attributes["cost_ps"] == kernel.attributes["hloom.cost_ps"]


def test_softmax_reads_its_input_once():
    report = artifact(softmax(64, 1024)).manifest["report"]
    (kernel,) = report["kernels"]
    assert kernel["read"] == kernel["written"] == 64 * 1024 * 4
    assert kernel["moved"] == kernel["least"] == 2 * 64 * 1024 * 4
    assert kernel["ops"]["reduce"] == 1 and kernel["calls"] == 1


def test_a_compiled_kernel_tells_its_resources():
    pytest.importorskip("cuda.core")
    report = Report(artifact(softmax(64, 1024), simulated="").manifest["report"])
    (kernel,) = report.data["kernels"]
    assert kernel["registers"] > 0 and kernel["spills"] == 0 and kernel["wide"] == 100
    assert kernel["widths"]["loads"].keys() == {"16"} and 0 < kernel["occupancy"] <= 100
    assert json.loads(report.json())["kernels"] == report.data["kernels"]
    for told in (report.text(), report.html()):
        assert kernel["name"] in told and f"{kernel['occupancy']}%" in told and "roofline" in told and "128-bit" in told


def test_the_simulator_alone_tells_no_registers():
    exe = hloom.compile(softmax(4, 64), target="sim:sm_90a")
    (kernel,) = exe.report.data["kernels"]
    assert "registers" not in kernel
    assert "fusion_0" in exe.report.text() and "registers" in exe.report.text()


def test_library_calls_say_why():
    report = Report(artifact(dot(2048, 2048, 2048, "f16")).manifest["report"])
    (call,) = report.data["libraries"]
    assert call["call"] == "gemm 1x2048x2048x2048 f16" and call["flops"] == 2 * 2048**3 and call["bound"] == "arithmetic"
    assert call["groups"] and "the generated kernel" in call["reason"]
    assert "library calls (1)" in report.text() and call["reason"] in report.html()


def test_a_cpu_program_has_no_kernels_section():
    report = Compilation(load_program(TRANSPOSE), target="cpu-avx2").artifact().manifest["report"]
    assert "kernels" not in report and "libraries" not in report
