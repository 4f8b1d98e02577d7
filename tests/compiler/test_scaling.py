"""The estimates of a call on several threads."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import hloom
from hloom.compiler.scaling import COUNTS, scaling
from hloom.compiler.target import load_target

TARGET = load_target("cpu-avx512")
MS = 10**9


def _group(**other):
    return {"entry": "main", "calls": 1, "cost_ps": 64 * MS, "tiles": 64, "grain": 1, "reads": 0, "writes": 0, "flops": 0} | other


def _times(*groups):
    return [row["cost_ps"] for row in scaling(groups, TARGET)]


def test_tiles_are_shared():
    region = TARGET.parallel_region_ps
    assert _times(_group()) == [64 * MS, *(region + 64 * MS // count for count in COUNTS[1:])]


@pytest.mark.parametrize(("group", "most"), [({"grain": 0}, 1), ({"tiles": 8}, 8), ({"grain": 16}, 4)])
def test_no_more_threads_than_there_is_work_for(group, most):
    times = _times(_group(**group))
    assert len(set(times)) == COUNTS.index(most) + 1


def test_the_thread_with_most_tiles_ends_last():
    one, two, four, *_ = _times(_group(tiles=3))
    assert two - TARGET.parallel_region_ps == one * 2 // 3
    assert four - TARGET.parallel_region_ps == one // 3


def test_all_threads_share_the_memory():
    moved = TARGET.memory_bytes_per_second * 8 // 1000  # eight milliseconds
    assert _times(_group(reads=moved))[-1] == TARGET.parallel_region_ps + 8 * MS


def test_what_is_bound_costs_no_call_anything():
    assert _times(_group(entry="init")) == [0] * len(COUNTS)


def test_of_a_program():
    exe = hloom.compile(lambda x, w: jnp.tanh(x @ w), *(np.ones((512, 512), np.float32) for _ in range(2)), target="cpu-avx2")
    first, *_, last = exe.report.data["threads"]
    assert last["cost_ps"] * 4 < first["cost_ps"]
    assert "64" in next(line for line in exe.report.text().splitlines() if line.strip().startswith("64 "))
