"""The rules that a report suggests: each changes what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.report import ReportBuilder
from hloom.passes.fused.planner.policy import Policy, tomllib
from hloom.runtime.suggestions import Rule, suggestions, suggestions_text

EXAMPLES = Path(__file__).parents[2] / "examples"


def report(source: str | Path, policy: Policy | None = None, target: str = "cpu-avx512") -> dict[str, Any]:
    """What is decided by the stage fused."""
    compilation, builder = Compilation(load_program(source), target, policy=policy), ReportBuilder()
    compilation.to("fused")
    builder.fused(compilation.module)
    return builder.data


@pytest.mark.parametrize("name", ["mlp_layer", "softmax", "residual_layernorm"])
@pytest.mark.parametrize("target", ["cpu-avx512", "sm_90a"])
def test_each_rule_decides(name: str, target: str):
    source = EXAMPLES / f"{name}.mlir"
    before = report(source, target=target)
    for number, rule in suggestions(before).items():
        after = report(source, Policy.of({rule.table: [rule.entries()]}), target)["decisions"]
        decision, said = before["decisions"][number], [each for each in after if each["figures"].get("policy_rule")]
        assert said or not any((each["code"], each["ops"]) == (decision["code"], decision["ops"]) for each in after), rule
        assert all(each["ops"] or each["code"] != "POLICY_UNMET" for each in said), f"it matches nothing: {rule}"


def test_what_legality_decides_has_no_rule():
    program = """
func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4096x1024xf32>
  %r = stablehlo.subtract %x, %b : tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}"""
    data = report(program)
    refused = [number for number, decision in enumerate(data["decisions"]) if decision["code"] == "GLOBAL_DEP"]
    assert refused and not set(refused) & set(suggestions(data))


def test_the_text_is_a_policy():
    data = report(EXAMPLES / "mlp_layer.mlir")
    assert Policy.of(tomllib.loads(suggestions_text(data))).entries()
    assert suggestions_text(data, "no such words") == ""


def test_a_rule_that_quotes():
    rule = Rule("kernel", (("op", "dot_general"), ("loc", 'say "[*]"\\'), ("sizes", (1, 2))))
    assert tomllib.loads(rule.toml()) == {"kernel": [{"op": "dot_general", "loc": 'say "[*]"\\', "sizes": [1, 2]}]}


def test_a_damaged_report_has_fewer():
    assert suggestions({"ops": [{}], "decisions": [{"code": "NO_GAIN"}, {}]}) == {}
