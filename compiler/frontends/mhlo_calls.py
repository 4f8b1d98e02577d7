"""Ops of MHLO as custom calls: JAX's top_k before 0.10, and what PyTorch/XLA and XLA's own tools write of ops that StableHLO lacks.

    %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64}
    %1 = stablehlo.custom_call @mhlo.erf(%y) {mhlo.attributes = {}, mhlo.version = 1 : i64}

become

    %0:2 = chlo.top_k(%x, k = 3)
    %1 = chlo.erf %y

Refused: the smallest ones (`largest = false`), which JAX does not write; functions that change the type.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.passes.common.custom_calls import MHLO_FUNCTIONS, MHLO_TOP_K, target_of_call
from hloom.passes.common.rewriting import create, i64_attr, replace, walk
from hloom.passes.errors import InvalidProgramError


def replace_mhlo_calls(module: ir.Module) -> None:
    """Raises InvalidProgramError where a call says no k, wants the smallest, or is no function of each element."""
    for op in walk(module.operation, "stablehlo.custom_call"):
        target = target_of_call(op)
        if target == MHLO_TOP_K:
            _replace_top_k(op)
        elif target in MHLO_FUNCTIONS:
            _replace_function(op, target)


def _replace_top_k(op: ir.Operation) -> None:
    given = op.attributes.get("mhlo.attributes")
    said = {each.name: each.attr for each in given} if isinstance(given, ir.DictAttr) else {}
    k, largest = said.get("k"), said.get("largest", True)
    is_largest = largest is True or getattr(largest, "value", False)
    if len(op.operands) != 1 or not isinstance(k, ir.IntegerAttr) or not is_largest or not _are_of(op, k.value):
        raise _refused(op, "is not the k largest of one operand", "write it as chlo.top_k or as a sort")
    with op.location, ir.InsertionPoint(op):
        made = create("chlo.top_k", [value.type for value in op.results], list(op.operands), k=i64_attr(k.value))
        replace(op, list(made.results))


def _are_of(op: ir.Operation, k: int) -> bool:
    """Whether the results are values and places, k in each row."""
    rows = [*ir.RankedTensorType(op.operands[0].type).shape][:-1]
    return len(op.results) == 2 and all([*ir.RankedTensorType(value.type).shape] == [*rows, k] for value in op.results)


def _replace_function(op: ir.Operation, target: str) -> None:
    name = MHLO_FUNCTIONS[target]
    types = [value.type for value in op.results]
    if len(op.operands) != 1 or [op.operands[0].type] != types:
        raise _refused(op, "does not give a value of its one operand's type", f"write it as {name}")
    with op.location, ir.InsertionPoint(op):
        replace(op, list(create(name, types, list(op.operands)).results))


def _refused(op: ir.Operation, message: str, remedy: str) -> InvalidProgramError:
    return InvalidProgramError(f"@{target_of_call(op)} {message}", op=op.name, loc=str(op.location), stage="input", remedy=remedy)
