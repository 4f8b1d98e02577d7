"""What libraries take of contractions on CUDA targets: epilogues, activations, whole programs on the simulated device."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from host_machine import interpret
from torch_mlir import ir

from hloom.compiler.parsing import parse_module
from hloom.compiler.pipeline import Pipeline, run_stages
from hloom.compiler.report import ReportBuilder
from hloom.compiler.simulator.device import SimulatedProgram
from hloom.compiler.target import attach_target, load_target
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import functions, symbol_name, walk
from hloom.passes.fused.planner.policy import KernelRule, Policy, attach_policy
from hloom.passes.library_calls.activation import read_activation

WORKLOADS = Path(os.environ.get("HLOOM_PROGRAMS", Path(__file__).parents[3] / "shared")) / "workloads"


@pytest.fixture
def context():
    with make_context() as context, ir.Location.unknown():
        yield context


def at_thunk(text: str, context: ir.Context, use: str = "library") -> ir.Module:
    """The program for an H100 at stage thunk, contractions by libraries where there is one, or not."""
    module = parse_module(text, context)
    attach_target(module.operation, load_target("sm_90a"))
    attach_policy(module.operation, Policy((KernelRule(use=use),)))
    run_stages(module.operation, to="thunk")
    return module


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("%r = stablehlo.maximum %zero, %x : !t", "relu"),
        ("%r = stablehlo.maximum %x, %one : !t", None),
        ("%r = stablehlo.clamp %zero, %x, %inf : !t", "relu"),
        ("%r = stablehlo.clamp %zero, %x, %six : !t", None),
        ("%p = stablehlo.compare GT, %x, %zero : (!t, !t) -> tensor<4xi1>\n%r = stablehlo.select %p, %x, %zero : tensor<4xi1>, !t", "relu"),
        ("%p = stablehlo.compare LE, %x, %zero : (!t, !t) -> tensor<4xi1>\n%r = stablehlo.select %p, %zero, %x : tensor<4xi1>, !t", "relu"),
        ("%p = stablehlo.compare LT, %zero, %x : (!t, !t) -> tensor<4xi1>\n%r = stablehlo.select %p, %x, %zero : tensor<4xi1>, !t", "relu"),
        ("%p = stablehlo.compare LT, %x, %zero : (!t, !t) -> tensor<4xi1>\n%r = stablehlo.select %p, %x, %zero : tensor<4xi1>, !t", None),
        ("%p = stablehlo.compare GT, %x, %one : (!t, !t) -> tensor<4xi1>\n%r = stablehlo.select %p, %x, %zero : tensor<4xi1>, !t", None),
        ("%r = stablehlo.tanh %x : !t", None),
    ],
)
def test_relu_is_known_by_its_form(context, body, name) -> None:
    values = {"zero": "0.0", "one": "1.0", "six": "6.0", "inf": "0x7F800000"}
    constants = "\n".join(f"%{name} = stablehlo.constant dense<{value}> : !t" for name, value in values.items())
    module = ir.Module.parse(f"func.func @f(%x: !t) -> !t {{\n{constants}\n{body}\nreturn %r : !t\n}}".replace("!t", "tensor<4xf32>"))
    found = read_activation(functions(module.operation)[0].regions[0].blocks[0].arguments[0])
    assert (found.name if found else None) == name


GELU = """func.func @f(%x: !t) -> !t {{
  %c = stablehlo.constant dense<{c}> : !t
  %root = stablehlo.constant dense<{root}> : !t
  %half = stablehlo.constant dense<0.5> : !t
  %one = stablehlo.constant dense<1.0> : !t
  %0 = stablehlo.multiply %x, %x : !t
  %1 = stablehlo.multiply %0, %x : !t
  %2 = stablehlo.multiply %c, %1 : !t
  %3 = stablehlo.add %x, %2 : !t
  %4 = stablehlo.multiply %root, %3 : !t
  %5 = stablehlo.tanh %4 : !t
  %6 = stablehlo.add %5, %one : !t
  %7 = stablehlo.multiply %half, %6 : !t
  %8 = stablehlo.multiply %x, %7 : !t
  return %8 : !t
}}"""


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize(
    ("c", "root", "name"), [(0.044715, 0.7978845608, "gelu"), (0.044715, 0.7, None), (0.06, 0.7978845608, None), (0.0, 0.851, None)]
)
def test_gelu_is_known_by_its_values(context, element, c, root, name) -> None:
    module = ir.Module.parse(GELU.format(c=c, root=root).replace("!t", f"tensor<4x{element}>"))
    found = read_activation(functions(module.operation)[0].regions[0].blocks[0].arguments[0])
    assert (found.name if found else None) == name


def test_what_others_use_is_no_part_of_an_activation(context) -> None:
    text = GELU.format(c=0.044715, root=0.7978845608).replace("-> !t", "-> (!t, !t)").replace("return %8 : !t", "return %8, %5 : !t, !t")
    module = ir.Module.parse(text.replace("!t", "tensor<4xf32>"))
    assert read_activation(functions(module.operation)[0].regions[0].blocks[0].arguments[0]) is None


CONV = """
func.func @main(%x: tensor<2x6x9x7xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<4xf32>, %r: tensor<2x4x5x4xf32>) -> tensor<2x4x5x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {stride = [2, 1], pad = [[1, 1], [0, 0]], rhs_dilate = [1, 3]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<2x6x9x7xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x5x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<2x4x5x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x4x5x4xf32>
  %3 = stablehlo.add %2, %r : tensor<2x4x5x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2x4x5x4xf32>
  %4 = stablehlo.maximum %3, %zero : tensor<2x4x5x4xf32>
  return %4 : tensor<2x4x5x4xf32>
}"""
PRODUCT = """
func.func @main(%x: tensor<2x3x5xf32>, %w: tensor<5x7xf32>, %b: tensor<7xf32>, %r: tensor<2x3x7xf32>) -> tensor<2x3x7xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x3x5xf32>, tensor<5x7xf32>) -> tensor<2x3x7xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<7xf32>) -> tensor<2x3x7xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x3x7xf32>
  %3 = stablehlo.add %r, %2 : tensor<2x3x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2x3x7xf32>
  %4 = stablehlo.maximum %3, %zero : tensor<2x3x7xf32>
  return %4 : tensor<2x3x7xf32>
}"""


@pytest.mark.parametrize(("text", "kind"), [(CONV, "conv"), (PRODUCT, "gemm")])
@pytest.mark.parametrize("use", ["library", "generated"])
def test_library_and_generated_kernels_agree_with_the_interpreter(context, text, kind, use) -> None:
    random = np.random.default_rng(0)
    module = ir.Module.parse(text)
    arguments = functions(module.operation)[0].regions[0].blocks[0].arguments
    values = [random.standard_normal(list(ir.RankedTensorType(each.type).shape)).astype(np.float32) for each in arguments]
    execution = SimulatedProgram(at_thunk(text, context, use)).run(values)
    assert execution.thunks.get(kind, 0) == (use == "library")
    np.testing.assert_allclose(execution.results[0], interpret(text, values)[0], rtol=1e-4, atol=1e-5)


def test_relu_before_the_residual_leaves_the_residual_to_a_kernel(context) -> None:
    text = PRODUCT.replace("stablehlo.add %r, %2", "stablehlo.add %r, %5").replace("stablehlo.maximum %3, %zero", "stablehlo.negate %3")
    zero = "  %zero = stablehlo.constant dense<0.0> : tensor<2x3x7xf32>\n"
    text = text.replace(zero, "").replace("  %3 =", f"{zero}  %5 = stablehlo.maximum %zero, %2 : tensor<2x3x7xf32>\n  %3 =")
    (gemm,) = walk(at_thunk(text, context).operation, "thunk.gemm")
    assert ir.StringAttr(gemm.attributes["epilogue"]).value == "bias_relu" and ir.IntegerAttr(gemm.attributes["accumulate"]).value == 0


@pytest.mark.skipif(not WORKLOADS.exists(), reason="the workloads are not beside the repository")
def test_simple_model_in_half_precision(context) -> None:
    module = parse_module((WORKLOADS / "simplemodel_f16.stablehlo.mlir").read_text(), context)
    attach_target(module.operation, load_target("sm_90a"))
    main = next(f for f in functions(module.operation) if symbol_name(f) == "main")
    count = len(main.regions[0].blocks[0].arguments)
    bound = ir.DictAttr.get({"hloom.bound": ir.UnitAttr.get()})
    main.attributes["arg_attrs"] = ir.ArrayAttr.get([bound if i else ir.DictAttr.get({}) for i in range(count)])

    report = ReportBuilder()
    run_stages(module.operation, to="fused")
    main = next(f for f in functions(module.operation) if symbol_name(f) == "main")
    report.fused(module.operation)
    groups = [f for f in functions(module.operation) if "hloom.kind" in f.attributes]
    types = [str(value.type) for f in groups for op in walk(f) for value in [*op.operands, *op.results]]
    assert not [kind for kind in types if "xf32>" in kind]
    moving = {symbol_name(f) for f in groups if walk(f, "stablehlo.transpose")}
    calls = [ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in walk(main, "func.call")]
    assert len([name for name in calls if name in moving]) <= 2
    notes = [each for each in report.data["decisions"] if each["code"] == "KERNEL_CHOSEN"]
    assert len(notes) == 9 and all(each["reason"].startswith(("conv:", "gemm:", "generated:")) for each in notes)

    run_stages(module.operation, from_="fused", to="lhlo")
    Pipeline("emit-thunks").run(module)
    convolutions = walk(module.operation, "thunk.conv")
    assert len(convolutions) == 3  # the first layer's windows of 27 elements have a kernel of ours
    for op in convolutions:
        flags = [ir.IntegerAttr(op.attributes[name]).value for name in ("bias", "residual", "relu")]
        assert flags == [1, 0, 1] and str(ir.TypeAttr(op.attributes["element"]).value) == "f16"
        for name in ("input", "filter", "output"):  # channels last
            assert list(ir.DenseI64ArrayAttr(op.attributes[f"{name}_strides"]))[1] == 1
    report.thunks(module.operation)
    kernels = [group["kernel"] for group in report.data["groups"]]
    assert "library conv 1x16x32x32 by 16x16x3x3 f16 bias relu" in kernels
