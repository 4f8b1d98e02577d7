"""hoist-constant-groups: groups that no argument reaches are called once, in @init, and not at every call of @main.

Before:
    func.func public @main(%x: tensor<2x128xf32>) -> tensor<2x128xf32> {
      %0 = call @fusion_0() : () -> tensor<128xf32>
      %1 = call @fusion_1(%x, %0) : (tensor<2x128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
      return %1
    }
After:
    func.func public @main(%x: tensor<2x128xf32>, %0: tensor<128xf32> {hloom.init_result = 0 : i64}) -> tensor<2x128xf32> {
      %1 = call @fusion_1(%x, %0) : (tensor<2x128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
      return %1
    }
    func.func public @init() -> tensor<128xf32> {
      %0 = call @fusion_0() : () -> tensor<128xf32>
      return %0
    }

A group is constant if it reads constants and results of constant groups only, in loops and branches too. Which iotas, masks and tables stay
inside the groups that use them, where that costs less than reading them, plan-fusion has decided.

Must hold: the fused stage. Declined: groups that only returns, loops and branches read, where computing is cheaper than the copy that these
would make of an argument; calls of functions that a person registered, which a branch may guard, as one that raises.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of
from hloom.runtime.custom_calls import is_registered

from ..common.custom_calls import target_of_call
from ..common.init_function import compute_once, entry
from ..common.rewriting import callee_of, defining_op, functions, symbol_name, walk
from ..registry import register_pass
from .planner.cost import SECOND
from .planner.reader import CONSTANT


@register_pass("hoist-constant-groups", "calls groups that no argument reaches once, in @init")
def hoist_constant_groups(module: ir.Operation) -> None:
    """Moves the calls of constant groups into @init, which is made if there is none."""
    main = entry(module, "main")
    if main is None:
        return
    groups = {symbol_name(function): function for function in functions(module) if "hloom.kind" in function.attributes}
    target, calls = target_of(module), _constant_calls(main, groups)
    hoisted = [call for call in calls if _is_read_by_groups(call) or not _is_cheaper_than_a_copy(call, groups, target)]
    if not hoisted:
        return
    values = [result for call in hoisted for result in call.results if any(use.owner.operation not in hoisted for use in result.uses)]
    constants = {op: None for call in hoisted for value in call.operands if (op := defining_op(value)) is not None and op.name == CONSTANT}
    with module.context:
        compute_once(module, main, [*constants, *hoisted], values)
    for call in reversed(hoisted):
        call.erase()


def _constant_calls(main: ir.Operation, groups: dict[str, ir.Operation]) -> list[ir.Operation]:
    """The calls of constant groups, in program order."""
    found: dict[ir.Operation, None] = {}
    for call in walk(main, "func.call"):
        constant = all((op := defining_op(value)) is not None and (op.name == CONSTANT or op in found) for value in call.operands)
        if constant and not _is_registered(_group_of(call, groups)):
            found[call] = None
    return list(found)


def _group_of(call: ir.Operation, groups: dict[str, ir.Operation]) -> ir.Operation:
    return groups[callee_of(call)]


def _is_registered(group: ir.Operation) -> bool:
    return any(is_registered(target_of_call(op)) for op in walk(group, "stablehlo.custom_call"))


def _is_read_by_groups(call: ir.Operation) -> bool:
    return any(use.owner.operation.name == "func.call" for result in call.results for use in result.uses)


def _is_cheaper_than_a_copy(call: ir.Operation, groups: dict[str, ir.Operation], target: TargetView) -> bool:
    group = _group_of(call, groups)
    moved = 2 * ir.IntegerAttr(group.attributes["hloom.bytes"]).value
    copy_ps = target.launch_ps + moved * SECOND // target.dram_bytes_per_second
    return ir.IntegerAttr(group.attributes["hloom.cost_ps"]).value <= copy_ps
