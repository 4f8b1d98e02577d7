"""drop-annotations: custom calls that only tell a partitioner something, and optimisation barriers, give way to their operands.

Before:
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>
After:
    // %x

Must hold: nothing. Declined: every other custom call, and one whose results are not its operands' types.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ops import ANNOTATIONS
from ..registry import register_pass
from .support.driver import Rule, rewrite


@register_pass(
    "drop-annotations",
    "drops partitioning annotations and optimisation barriers",
    ops=("stablehlo.custom_call", "stablehlo.optimization_barrier"),
)
def drop_annotations(module: ir.Operation) -> None:
    rules: dict[str, list[Rule]] = {
        "stablehlo.custom_call": [_annotation],
        "stablehlo.optimization_barrier": [lambda op: list(op.operands)],
    }
    rewrite(module, rules)


def is_annotation(op: ir.Operation) -> bool:
    """Whether a custom call does nothing but give back its operands."""
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    return target in ANNOTATIONS and [v.type for v in op.operands] == [v.type for v in op.results]


def _annotation(op: ir.Operation) -> list[ir.Value] | None:
    return list(op.operands) if is_annotation(op) else None
