"""evaluate-init: groups of copies and simple arithmetic that @init alone calls are interpreted, and not compiled, on a CPU.

Before:
    func.func public @init(%w: tensor<64x32xf32> {hloom.argument = 1 : i64}) -> tensor<32x64xf32> {
      %0 = call @fusion_1(%w) : (tensor<64x32xf32>) -> tensor<32x64xf32>
      return %0
    }
    func.func private @fusion_1(%w: tensor<64x32xf32>) -> tensor<32x64xf32> attributes {hloom.kind = "transpose", …} {
      %0 = stablehlo.transpose %w, dims = [1, 0]
      return %0
    }
After:
    func.func public @init(…) { as before }
    func.func private @fusion_1(…) attributes {hloom.kind = "evaluate", hloom.numbers = array<i64: 1, 22, 2, 0, …>, …} { as before }

@init runs once, where values are bound: packing of weights, batch norms folded into them, transforms of filters. There is a group for each
shape, two in three of those of a network of convolutions, and to compile one takes longer than to run it. The numbers are the programs that
the native library interprets (dialects/evaluation.py). assign-buffers makes an lhlo.evaluate of each call; the group is gone then.

Must hold: the fused stage, hoist-constant-groups done. Declined: groups that @main calls, too; ops but transposes, reshapes, broadcasts,
slices and pads (around all else), sums of few products, and the four operations, negation, magnitude and square roots of f32 and f64;
reshapes that no strides express; large arrays that are written in short lines; GPUs.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.evaluation import encoded
from hloom.dialects.target import target_of

from ..common.init_function import entry
from ..common.ops import Kind
from ..common.rewriting import callee_of, functions, i64_array, kind_of, symbol_name, walk
from ..registry import register_pass
from .evaluation.programs import programs_of
from .evaluation.views import Declined

KIND = "evaluate"
_WHOLE = {Kind.CALL.label, "library"}
"""Groups that other code does."""


@register_pass("evaluate-init", "has groups that @init alone calls interpreted")
def evaluate_init(module: ir.Operation) -> None:
    init = entry(module, "init")
    if init is None or target_of(module).kind != "cpu":
        return
    groups = {symbol_name(function): function for function in functions(module) if "hloom.kind" in function.attributes}
    hosts = [function for function in functions(module) if "hloom.kind" not in function.attributes]
    elsewhere = {name for host in hosts if host != init for name in _called(host)}
    with module.context:
        for name in dict.fromkeys(_called(init)):
            group = groups.get(name)
            if group is None or name in elsewhere or kind_of(group) in _WHOLE:
                continue
            try:
                numbers = encoded(programs_of(group))
            except Declined:
                continue
            group.attributes["hloom.kind"] = ir.StringAttr.get(KIND)
            group.attributes["hloom.numbers"] = i64_array(numbers)


def _called(host: ir.Operation) -> list[str]:
    return [callee_of(call) for call in walk(host, "func.call")]
