"""JAX's top_k before 0.10, and XLA's own: a custom call that stands for chlo.top_k.

    %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64}

becomes

    %0:2 = chlo.top_k(%x, k = 3)

Refused: the smallest ones (`largest = false`), which JAX does not write.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.passes.common.custom_calls import target_of_call
from hloom.passes.common.rewriting import create, i64_attr, replace, walk
from hloom.passes.errors import InvalidProgramError

TARGET = "mhlo.topk"


def replace_mhlo_top_k(module: ir.Module) -> None:
    """Raises InvalidProgramError where a call says no k, or wants the smallest."""
    for op in walk(module.operation, lambda op: op.name == "stablehlo.custom_call" and target_of_call(op) == TARGET):
        given = op.attributes.get("mhlo.attributes")
        said = {each.name: each.attr for each in given} if isinstance(given, ir.DictAttr) else {}
        k, largest = said.get("k"), said.get("largest", True)
        is_largest = largest is True or getattr(largest, "value", False)
        if len(op.operands) != 1 or not isinstance(k, ir.IntegerAttr) or not is_largest or not _are_of(op, k.value):
            message, remedy = f"@{TARGET} is not the k largest of one operand", "write it as chlo.top_k or as a sort"
            raise InvalidProgramError(message, op=op.name, loc=str(op.location), stage="input", remedy=remedy)
        with op.location, ir.InsertionPoint(op):
            made = create("chlo.top_k", [value.type for value in op.results], list(op.operands), k=i64_attr(k.value))
            replace(op, list(made.results))


def _are_of(op: ir.Operation, k: int) -> bool:
    """Whether the results are values and places, k in each row."""
    rows = [*ir.RankedTensorType(op.operands[0].type).shape][:-1]
    return len(op.results) == 2 and all([*ir.RankedTensorType(value.type).shape] == [*rows, k] for value in op.results)
