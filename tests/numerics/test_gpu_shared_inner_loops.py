"""Products on GPUs whose warps share the inner loop: every such schedule, on odd shapes, against numpy; and when which is chosen."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_gpu_matmul import TARGET, Case, run

from hloom.compiler.target import load_target
from hloom.passes.tiled.schedules import gpu_contraction
from hloom.passes.tiled.schedules.gpu_contraction import Sizes, TileSchedule, simt_schedule, tensor_core_schedule, warpgroup_schedule

HOPPER = load_target("sm_90a")
ROOMY = replace(TARGET, shared_bytes_per_block=232448, shared_bytes_per_multiprocessor=233472)
TYPES = [
    {"element": "f32"},
    {"element": "f32", "tf32": True},
    {"element": "bf16"},
    {"element": "f16", "result": "f16"},
    {"element": "f64", "accumulator": "f64", "result": "f64"},
    {"element": "i8", "accumulator": "i32", "result": "i32"},
    {"element": "i32", "accumulator": "i32", "result": "i32"},
]


class Chosen:
    """Takes the `number`th of the schedules whose warps share the inner loop, for the fastest."""

    def __init__(self, number: int):
        self.number = number

    def __call__(self, schedules: list[TileSchedule]) -> TileSchedule:
        found = [each for each in schedules if each.warp_inner > 1 and each.stages > 1]
        return found[self.number % len(found)]


@settings(max_examples=6, deadline=None)
@given(
    rows=st.integers(9, 40),
    cols=st.integers(9, 50),
    inner=st.integers(1, 200),
    transposed=st.tuples(st.booleans(), st.booleans()),
    types=st.sampled_from(TYPES),
    batch=st.integers(1, 2),
    number=st.integers(0, 20),
)
def test_sums_of_warps(rows, cols, inner, transposed, types, batch, number):
    case = Case(rows, cols, inner, batch=batch, left_transposed=transposed[0], right_transposed=transposed[1], **types)
    with patch.object(gpu_contraction, "_fastest", Chosen(number)):
        _, printed = run(case, ROOMY)
    assume("gpu.barrier" in printed)  # a thread computes a result of few, which are no tile then
    assert "of which share the inner loop" in printed


@pytest.mark.parametrize("transposed", [(a, b) for a in (False, True) for b in (False, True)])
@pytest.mark.parametrize("number", range(6))
def test_staged_sums_lie_in_different_banks(number, transposed):
    case = Case(64, 64, 128, "f32", left_transposed=transposed[0], right_transposed=transposed[1])
    with patch.object(gpu_contraction, "_fastest", Chosen(number)):
        counters, _ = run(case, ROOMY)
    assert counters.bank_conflicts == 1.0


def blocks(schedule: TileSchedule, sizes: Sizes) -> int:
    return sizes.batch * -(-sizes.rows // schedule.rows) * -(-sizes.cols // schedule.cols)


@pytest.mark.parametrize("sizes", [Sizes(1, 64, 512, 256), Sizes(1, 16, 128, 64), Sizes(1, 32, 256, 2048)])
def test_few_results_have_many_warps(sizes):
    schedule = simt_schedule(sizes, 4, HOPPER)
    assert schedule.warp_inner == 8 and schedule.threads == 256
    assert blocks(schedule, sizes) <= HOPPER.multiprocessors  # so that they may be part of a chain


def test_few_rows_read_much_at_once():
    schedule = tensor_core_schedule(Sizes(1, 16, 4096, 4096), 2, HOPPER)
    ahead = (schedule.rows + schedule.cols) * schedule.depth * 2 * (schedule.stages - 1)
    assert schedule.warp_inner == 8 and ahead >= 64 << 10


def test_many_results_have_large_tiles():
    sizes = Sizes(1, 4096, 4096, 4096)
    shared = [simt_schedule(sizes, 4, HOPPER), tensor_core_schedule(sizes, 2, HOPPER), warpgroup_schedule(sizes, 2, HOPPER)]
    assert [(each.rows, each.cols, each.warp_inner) for each in shared] == [(128, 128, 1), (128, 128, 1), (128, 256, 1)]
    assert all(each.estimate.bound == "issue" for each in shared)
