"""Stages: their order, dumps, and what must hold at each."""

import pytest

from hloom.compiler import pipeline
from hloom.compiler.parsing import parse_module
from hloom.compiler.pipeline import STAGE_NAMES, run_stages, stage_number
from hloom.compiler.stage_rules import StageError, verify_stage
from hloom.dialects.context import make_context
from hloom.passes.errors import CompileError, PipelineError

INPUT = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

FUSED = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @fusion(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @fusion(%a: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def parse(text):
    return parse_module(text, make_context())


def test_stages_are_in_the_documented_order():
    assert STAGE_NAMES == ("input", "stablehlo", "fused", "lhlo", "linalg", "tiled", "vector", "gpu", "thunk", "llvm", "nvvm")


def test_running_dumps_each_stage_and_a_dump_can_be_started_from(tmp_path):
    module = parse(INPUT)
    run_stages(module.operation, "input", "fused", dump_dir=tmp_path / "a")
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["00-input.mlir", "01-stablehlo.mlir", "02-fused.mlir"]
    again = parse((tmp_path / "a" / "01-stablehlo.mlir").read_text())
    run_stages(again.operation, "stablehlo", "fused", dump_dir=tmp_path / "b")
    assert (tmp_path / "b" / "02-fused.mlir").read_text() == (tmp_path / "a" / "02-fused.mlir").read_text()


def test_debug_variable_dumps_and_times_by_stage(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HLOOM_DEBUG", f"dump={tmp_path},timing")
    run_stages(parse(INPUT).operation, "input", "stablehlo")
    assert (tmp_path / "01-stablehlo.mlir").exists()
    err = capsys.readouterr().err
    assert "stablehlo  verify the stage" in err


def test_unknown_and_reversed_stages_are_refused():
    with pytest.raises(PipelineError, match="no stage 'nosuch'"):
        stage_number("nosuch")
    with pytest.raises(PipelineError, match="comes after"):
        run_stages(parse(INPUT).operation, "fused", "stablehlo")


def test_a_dump_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match="cannot write the dump"):
        run_stages(parse(INPUT).operation, "input", "input", dump_dir=tmp_path / "file")


@pytest.mark.parametrize(
    ("stage", "text"),
    [("stablehlo", INPUT.replace("call @callee(%a) : (tensor<4xf32>)", "stablehlo.negate %a : (tensor<4xf32>)")), ("fused", FUSED)],
)
def test_what_holds_is_accepted(stage, text):
    verify_stage(parse(text).operation, stage)


@pytest.mark.parametrize(
    ("stage", "text", "op"),
    [
        ("stablehlo", INPUT, "func.call"),
        ("fused", INPUT, "stablehlo.negate"),
        ("stablehlo", FUSED, "func.call"),
        ("fused", FUSED.replace('"loop"', '"nosuch"'), "func.func"),
        ("lhlo", FUSED, "func.call"),
        ("tiled", FUSED, "func.call"),
        ("llvm", FUSED, "func.func"),
        ("fused", "module {}", None),
    ],
)
def test_what_does_not_hold_is_refused_naming_the_op(stage, text, op):
    with pytest.raises(StageError) as caught:
        run_stages(parse(text).operation, stage, stage)
    assert (caught.value.op, caught.value.stage, caught.value.code) == (op, stage, "HL107")


def test_an_error_within_a_stage_names_it(monkeypatch):
    stages = (pipeline.STAGES[0], pipeline.Stage("stablehlo", "", ("cse", "one-shot-bufferize")), *pipeline.STAGES[2:])
    monkeypatch.setattr(pipeline, "STAGES", stages)
    with pytest.raises(CompileError) as caught:
        run_stages(parse(INPUT).operation, "input", "fused")
    assert (caught.value.stage, caught.value.op.partition("(")[0]) == ("stablehlo", '%0 = "stablehlo.negate"')
