"""A pass of one's own in a few lines, and pipelines run from Python."""

import pytest
from torch_mlir import ir

import hloom
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import walk

TEXT = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}"""


def test_a_pass_of_ones_own_runs_between_upstreams():
    @hloom.register_pass("test-drop-double-negation", "x = -(-x)")
    def drop(module, *, limit: int = 10):
        for outer in walk(module, "stablehlo.negate")[:limit]:
            inner = outer.operands[0].owner
            if not isinstance(inner, ir.Block) and inner.operation.name == "stablehlo.negate":
                outer.results[0].replace_all_uses_with(inner.operation.operands[0])

    with make_context():
        module = ir.Module.parse(TEXT)
        hloom.Pipeline("cse,test-drop-double-negation{limit=4},canonicalize").run(module)
        assert not walk(module.operation, "stablehlo.negate")


def test_unknown_passes_are_named():
    with make_context():
        module = ir.Module.parse(TEXT)
        with pytest.raises(hloom.CompileError, match="no-such-pass"):
            hloom.Pipeline("cse,no-such-pass").run(module)
