"""plan-fusion: stage stablehlo → fused. Groups ops into fusions by price and outlines each group.

Before:
    func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
      %0 = stablehlo.exponential %x : tensor<4096x1024xf32>
      %1 = stablehlo.negate %0 : tensor<4096x1024xf32>
      return %1 : tensor<4096x1024xf32>
    }
After:
    module attributes {hloom.decisions = [{code = "FUSED_VERTICAL", verdict = "fused", groups = [@fusion_0], …}]} {
      func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
        %0 = call @fusion_0(%x) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
        return %0 : tensor<4096x1024xf32>
      }
      func.func private @fusion_0(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
          attributes {hloom.bytes = …, hloom.cost_ps = …, hloom.flops = …, hloom.kind = "loop"} { exponential; negate; return }
    }

Must hold: calls inlined, static ranked shapes, one block a function. Holds after: host functions hold calls to groups, constants,
while, case, if and returns only. On CUDA, a convolution for which a generated kernel is chosen gives up its padding, which becomes an op,
and reads its weights as they lie. What becomes one group, and why, is in docs/fusion.md; every merge made and every refusal left is a
record in `hloom.decisions`. `hloom.policy` (planner/policy.py) may say which contractions are a library's and which are not. Functions that
are groups already are left alone. Declined, with UnsupportedOpError: ops without an access map, and on CUDA those that only CPUs have
kernels for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.axes import kept_bytes
from ..common.ops import OPS
from ..errors import UnsupportedOpError
from ..registry import register_pass
from .planner.codes import Code
from .planner.cost import CostModel
from .planner.decisions import ATTRIBUTE, KERNEL_CODES, attach
from .planner.give_back import give_back
from .planner.group import Group
from .planner.grouping import Grouping
from .planner.kernels import Kernel, kernels_of
from .planner.legality import Limits
from .planner.memory import Memory
from .planner.observed import Plan, observe
from .planner.outline import Item, Outliner
from .planner.plan import Planner
from .planner.policy import policy_of
from .planner.reader import read_program
from .planner.records import Decision, Program
from .planner.tiles import Tiles
from .planner.wishes import Wishes

_COLUMN_SUMS = 10
"""Column sums that one of 512 threads of a GPU keeps in registers, eight columns each. 49 sums, for as many taps, were spilled to memory,
and an H200 took 1,259 us for 38 MB."""


@register_pass("plan-fusion", "groups ops into fusions by price, and outlines each group into a private function")
def plan_fusion(module: ir.Operation, *, max_instances: int = 1024, library_percent: int = 88) -> None:
    """`max_instances`: the largest group, counting an op once for each index it is evaluated at.
    `library_percent`: the speed of a library's contractions, in percent of the target's peak."""
    target, policy = target_of(module), policy_of(module)
    with module.context, ir.Location.unknown():
        program, handles = read_program(module)
        if target.kind == "cuda":
            _refuse_ops_of_a_cpu(program)
        cost = CostModel(target, program)
        is_gpu = target.kind == "cuda"
        columns = 0 if is_gpu else kept_bytes(target)
        limits = Limits(
            max_instances, row_bytes=target.l2_bytes, column_bytes=columns, reshaped_rows=not is_gpu, linear_epilogues=is_gpu,
            computed_updates=not is_gpu, chosen_in_lanes=not is_gpu, column_sums=_COLUMN_SUMS if is_gpu else 0,
        )  # fmt: skip
        wishes, tiles = Wishes(policy, program) if policy.fuse else None, Tiles(policy, program)
        blocks: dict[int, list[Item]] = {}
        decisions = []
        peaks: dict[int, int] = {}
        for block in sorted(program.blocks, key=lambda each: (-each.depth, each.id)):
            inside = {op: max(peaks[each] for each in program.ops[op].blocks) for op in block.ops if program.ops[op].blocks}
            once = block.function == "init"  # its gathers take less than one buffer more
            here = replace(limits, chosen_in_lanes=False) if once else limits
            planner, planned = _planned(Grouping(program, block), cost, here, wishes, inside, policy.memory_limit)
            peaks[block.id] = Memory(planner.grouping, inside).peak
            items = blocks.setdefault(block.id, [])
            notes = []
            for item in planned:
                if isinstance(item, int):
                    items.append(item)
                    continue
                kernels, chosen = kernels_of(item, cost, program, handles, library_percent, policy)
                items.extend(map(tiles.asked_of, kernels))
                notes.extend(chosen)
            made = planner.decisions()
            notes.extend(wishes.unmet(planned, made) if wishes else ())
            decisions.append((block.id, [*made, *notes]))
        kernels = [item for items in blocks.values() for item in items if isinstance(item, Kernel)]
        reasons = {each.ops[0]: each.reason for _, records in decisions for each in records if each.code in KERNEL_CODES}
        if target.kind == "cuda" and give_back(kernels, reasons, program, handles):
            return plan_fusion(module, max_instances=max_instances, library_percent=library_percent)
        outliner = Outliner(module, program, handles)
        outliner.rewrite(blocks)
        free = tuple(op.id for op in program.ops if op.free and op.operands and op.id in outliner.names)
        records = [each for _, group in sorted(decisions, key=lambda pair: pair[0]) for each in group]
        if free:
            records.append(Decision(Code.FREE_CLONED, free, "views and scalars, cloned into every group that uses them"))
        idle = [*policy.idle_rules(program.ops), *(wishes.idle() if wishes else ()), *tiles.idle()]
        records.extend(Decision(Code.POLICY_UNMET, (), reason, rule=rule) for rule, reason in idle)
        attach(module, records, program, outliner.names)
        observe(Plan(program, records, len(module.attributes[ATTRIBUTE]) - len(records), outliner.calls))


def _planned(
    grouping: Grouping, cost: CostModel, limits: Limits, wishes: Wishes | None, inside: Mapping[int, int], limit: int | None
) -> tuple[Planner, list[Group | int]]:
    """The plan of a block: the one that takes the least time, unless that takes more memory than the unfused ops, or than the policy's
    limit; then one that takes no more, if there is one."""
    most = Memory(grouping, inside).peak
    if limit is not None and grouping.block.function != "init":
        most = min(most, limit)
    planner = Planner(grouping, cost, limits, wishes)
    planned = planner.run()
    if Memory(grouping, inside).peak <= most:
        return planner, planned
    again = Grouping(grouping.program, grouping.block)
    planner = Planner(again, cost, limits, wishes, Memory(again, inside, most, limit))
    return planner, planner.run()


def _refuse_ops_of_a_cpu(program: Program) -> None:
    """Raises UnsupportedOpError for an op that no kernel for a GPU computes yet."""
    for op in program.ops:
        if op.name in OPS and OPS[op.name].cpu_only:
            message = f"hloom compiles {op.name} for CPUs alone"
            raise UnsupportedOpError(message, op=op.name, loc=op.loc, stage="fused", remedy='compile the program for a CPU (target="cpu")')
