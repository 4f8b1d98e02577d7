"""plan-fusion: no plan takes more memory at once than the ops would, each a kernel of its own."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from test_fusion_plan import Writer, codes, evaluate
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.dialects.target import target_of
from hloom.passes.common.rewriting import functions, symbol_name
from hloom.passes.fused.launches.host_block import peak_in_order
from hloom.passes.fused.plan_fusion import plan_fusion
from hloom.passes.fused.planner.cost import CostModel
from hloom.passes.fused.planner.grouping import Grouping
from hloom.passes.fused.planner.legality import Limits
from hloom.passes.fused.planner.memory import Memory
from hloom.passes.fused.planner.plan import Candidate, Planner
from hloom.passes.fused.planner.policy import MemoryLimitError, Policy, attach_policy
from hloom.passes.fused.planner.reader import read_program
from hloom.passes.fused.rematerialise import rematerialise


def main_block(module: ir.Module) -> ir.Block:
    return next(f for f in functions(module.operation) if symbol_name(f) == "main").regions[0].blocks[0]


def unfused_peak(module: ir.Module) -> int:
    """What the ops take, each a kernel of its own."""
    program, _ = read_program(module.operation)
    peaks: dict[int, int] = {}
    for block in sorted(program.blocks, key=lambda block: -block.depth):
        inside = {op: max(peaks[each] for each in program.ops[op].blocks) for op in block.ops if program.ops[op].blocks}
        peaks[block.id] = Memory(Grouping(program, block), inside).peak
    return peaks[0]


@pytest.mark.parametrize("seed", range(40))
def test_random_plans_take_no_more_than_the_ops_unfused(seed: int) -> None:
    module = ir.Module.parse(Writer(seed).text(60), make_context())
    before = unfused_peak(module)
    plan_fusion(module.operation)
    assert peak_in_order(main_block(module)) <= before


def test_some_plans_would_take_more_if_nothing_held_them_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above could not fail."""
    monkeypatch.setattr(Memory, "raises", lambda *given: 0)
    more = 0
    for seed in range(8, 30):
        module = ir.Module.parse(Writer(seed).text(60), make_context())
        before = unfused_peak(module)
        plan_fusion(module.operation)
        more += peak_in_order(main_block(module)) > before
    assert more


@pytest.mark.parametrize("seed", range(12))
def test_what_is_live_is_kept_as_groups_merge(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told of each merge, it knows what it would find if it looked at the groups anew."""
    apply = Planner.apply

    def checked(self: Planner, candidate: Candidate) -> None:
        apply(self, candidate)
        assert self.memory is not None
        assert self.memory.live.tolist() == Memory(self.grouping, {}).live.tolist()

    monkeypatch.setattr(Planner, "apply", checked)
    module = ir.Module.parse(Writer(seed).text(50), make_context())
    program, _ = read_program(module.operation)
    for block in program.blocks:
        grouping = Grouping(program, block)
        memory = Memory(grouping, {}, Memory(grouping, {}).peak)
        Planner(grouping, CostModel(target_of(module.operation), program), Limits(), memory=memory).run()


def test_random_programs_keep_their_values_under_a_limit() -> None:
    """Values that are made again are the ones that they stand for, wherever that is tried, met or not."""
    made = 0
    for seed in range(24):
        text = Writer(seed).text(60)
        expected = evaluate(ir.Module.parse(text, make_context()))
        module = ir.Module.parse(text, make_context())
        plan_fusion(module.operation)
        attach_policy(module.operation, Policy(memory_limit=peak_in_order(main_block(module)) // 2))
        with suppress(MemoryLimitError):
            rematerialise(module.operation)
        assert module.operation.verify()
        made += "REMATERIALISED" in codes(module)
        for before, after in zip(expected, evaluate(module), strict=True):
            np.testing.assert_array_equal(before, after)
    assert made > 5
