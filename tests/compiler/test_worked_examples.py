"""Which kernels the planner makes of the worked examples of docs/fusion.md, and what it tells of those that stay apart."""

from __future__ import annotations

from typing import Any

import jax
import pytest
from worked_programs import PROGRAMS

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.report import ReportBuilder
from hloom.passes.common.rewriting import functions

GPU, CPU = "sm_90a", "cpu-avx512"
EXPECTED: list[tuple[str, str, str, str]] = [
    # program, target, the groups' kinds, codes that must be among the records
    ("exp of tanh", GPU, "loop", "FUSED_VERTICAL"),
    ("exp of tanh", CPU, "loop", "FUSED_VERTICAL"),
    ("softmax", GPU, "multi_reduce", "FUSED_MULTI_REDUCE"),
    ("softmax", CPU, "multi_reduce", "FUSED_MULTI_REDUCE"),
    ("softmax of long rows", GPU, "multi_reduce loop", "FUSED_MULTI_REDUCE FUSED_REPEATED"),
    ("softmax of long rows", CPU, "multi_reduce loop", "FUSED_MULTI_REDUCE FUSED_REPEATED"),
    ("residual and layernorm", GPU, "multi_reduce", "FUSED_MULTI_OUTPUT FUSED_MULTI_REDUCE"),
    ("residual and layernorm", CPU, "multi_reduce", "FUSED_MULTI_OUTPUT FUSED_MULTI_REDUCE"),
    ("sums over both axes", GPU, "reduce reduce", "AXIS_CONFLICT"),
    ("sums over both axes", CPU, "reduce reduce", "AXIS_CONFLICT"),
    ("minus the mean of many", GPU, "reduce loop", "GLOBAL_DEP FUSED_REPEATED"),
    ("minus the mean of many", CPU, "reduce loop", "GLOBAL_DEP FUSED_REPEATED"),
    ("minus the mean of few", GPU, "multi_reduce", "FUSED_MULTI_REDUCE"),
    ("minus the mean of few", CPU, "multi_reduce", "FUSED_MULTI_REDUCE"),
    ("250 ops, then 512 rows", GPU, "loop loop", "RECOMPUTE_TOO_HIGH"),
    ("250 ops, then 512 rows", CPU, "loop loop", "RECOMPUTE_TOO_HIGH"),
    ("2 ops, then 512 rows", GPU, "loop", "FUSED_VERTICAL"),
    ("20 sums of neighbours", GPU, "loop loop loop loop loop", "INSTANCE_LIMIT"),
    ("20 sums of neighbours", CPU, "loop loop loop loop loop", "INSTANCE_LIMIT"),
    ("six updates", GPU, "loop loop loop loop loop loop", "FUSED_HORIZONTAL"),
    ("slices of a stack", GPU, "loop loop", "FUSED_HORIZONTAL"),
    ("few rows of exp", GPU, "loop", "FUSED_DEMAND"),
    ("few rows of exp", CPU, "loop loop", "FUSED_DEMAND"),
    ("many rows of exp", GPU, "loop loop loop", "RECOMPUTE_TOO_HIGH"),
    ("many rows of exp", CPU, "loop loop loop", "RECOMPUTE_TOO_HIGH"),
    ("attention", CPU, "matmul", "FUSED_ATTENTION"),
    ("attention in bf16", GPU, "matmul", "FUSED_ATTENTION"),
    ("attention in bf16", CPU, "matmul", "FUSED_ATTENTION"),
    ("causal attention in bf16", GPU, "matmul", "FUSED_ATTENTION"),
    ("causal attention in bf16", CPU, "matmul", "FUSED_ATTENTION"),
    ("grouped attention in bf16", GPU, "matmul", "FUSED_ATTENTION"),
    ("grouped attention in bf16", CPU, "matmul", "FUSED_ATTENTION"),
    ("attention of one row", GPU, "matmul multi_reduce matmul", "FUSED_MULTI_REDUCE"),
    ("attention of one row", CPU, "matmul multi_reduce matmul", "NO_GAIN"),
    ("gradients of attention", CPU, "matmul", "FUSED_ROWS"),
    ("gradients of attention in bf16", GPU, "reduce matmul matmul", "FUSED_ATTENTION"),
]


def planned(name: str, target: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The kinds of the groups in their order, and the records."""
    function, arguments = PROGRAMS[name]
    compilation, builder = Compilation(load_program(jax.jit(function).lower(*arguments).as_text()), target), ReportBuilder()
    compilation.to("fused")
    builder.fused(compilation.module)
    kinds = [str(each.attributes["hloom.kind"]).strip('"') for each in functions(compilation.module) if "hloom.kind" in each.attributes]
    return kinds, builder.data["decisions"]


@pytest.mark.parametrize(("name", "target", "kinds", "codes"), EXPECTED)
def test_the_groups_are(name: str, target: str, kinds: str, codes: str):
    found, records = planned(name, target)
    assert " ".join(found) == kinds
    assert set(codes.split()) <= {record["code"] for record in records}


def test_two_sums_of_one_array_tell_what_is_read_again():
    (record,) = [record for record in planned("sums over both axes", GPU)[1] if record["code"] == "AXIS_CONFLICT"]
    assert record["figures"]["bytes_again"] == 4 * 4096 * 4096


def test_six_updates_are_one_launch():
    (record,) = [record for record in planned("six updates", GPU)[1] if record["code"] == "FUSED_HORIZONTAL"]
    assert len(record["groups"]) == 6
