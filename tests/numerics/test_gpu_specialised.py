"""Products on sm_90a of blocks in which a warp fetches for the others (specialised.py): as PTX on the simulator, against numpy; faults."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
import test_gpu_matmul
from test_gpu_matmul import LAYOUTS, Case, kernel_of, run
from torch_mlir import ir

import hloom
from hloom.compiler.cuda.assemble import assembler, parse_report
from hloom.compiler.cuda.ptx import emit_ptx
from hloom.compiler.simulator import Kernels, SimulationError
from hloom.compiler.simulator.ptx_kernels import PtxKernels
from hloom.compiler.target import load_target
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import walk
from hloom.passes.gpu.contraction.choose_kernel import try_distribute

TARGET = load_target("sm_90a")
TWO_PROCESSORS = replace(TARGET, multiprocessors=2, shared_bytes_per_block=132 << 10)
"""With fewer stages than there are steps."""


@dataclass(frozen=True)
class Asked(Case):
    """A product of which a policy says that a warp fetches, or for two blocks of a cluster."""

    asked: str = "producer"

    def text(self) -> str:
        rule = f'hloom.blocks = {{{self.asked} = 1 : i64}}, hloom.tile_rule = "tile 1"'
        return super().text().replace('hloom.kind = "matmul"', f'hloom.kind = "matmul", {rule}')

    __str__ = Case.__str__


def _bf16(rows: int, cols: int, inner: int, **more) -> Asked:
    return Asked(rows, cols, inner, "bf16", result="bf16", bias_relu=True, **more)


@pytest.mark.parametrize("transposed", LAYOUTS)
def test_tiles_that_follow_each_other(transposed):
    """Two tiles of a block, whose steps are more than there are stages; results of two bytes, and those of four."""
    result = "f32" if transposed[0] else "f16"
    case = Asked(384, 72, 328, "f16", result=result, left_transposed=transposed[0], right_transposed=transposed[1])
    _, printed = run(case, TWO_PROCESSORS)
    assert "known_block_size = array<i32: 288, 1, 1>, known_grid_size = array<i32: 2, 1, 1>" in printed and "producer = 1" in printed


@pytest.mark.parametrize(
    "case",
    [
        _bf16(300, 200, 72),  # tiles and steps past the end
        _bf16(130, 90, 40, batch=3, right_transposed=True),  # one step; columns that vectors straddle, an odd number of tiles
        Asked(200, 100, 160, "i8", "i32", "i32", right_transposed=True),
        Asked(130, 60, 72, "f32", tf32=True, right_transposed=True),
    ],
    ids=str,
)
def test_odd_sizes(case):
    _, printed = run(case, TWO_PROCESSORS)
    assert "producer = 1" in printed


@pytest.mark.parametrize("transposed", LAYOUTS)
def test_two_blocks_fetch_the_right_operand_together(transposed):
    """Four rows of tiles, two a cluster; steps of which each block fetches every other, more than there are stages."""
    case = Asked(512, 72, 328, "f16", left_transposed=transposed[0], right_transposed=transposed[1], asked="cluster")
    counters, printed = run(case, TWO_PROCESSORS)
    assert "known_cluster_size = array<i32: 2, 1, 1>" in printed and "known_grid_size = array<i32: 2, 1, 1>" in printed
    alone, _ = run(replace(case, asked="producer"), TWO_PROCESSORS)
    assert counters.global_read_bytes < 0.8 * alone.global_read_bytes


@pytest.mark.parametrize(
    "case",
    [
        _bf16(250, 200, 72, batch=3, asked="cluster"),
        _bf16(300, 304, 200, asked="cluster"),  # three rows of tiles and two columns: the left operand
        Asked(200, 100, 160, "i8", "i32", "i32", right_transposed=True, asked="cluster"),
    ],
    ids=str,
)
def test_clusters_of_odd_sizes(case):
    _, printed = run(case, replace(TWO_PROCESSORS, multiprocessors=4))
    shares = "left" if case.rows == 300 else "right"
    assert "known_cluster_size" in printed and f"two blocks of a cluster share the {shares} operand" in printed


def test_addresses_in_a_cluster(monkeypatch):
    """By PTX, where an address of shared memory has the block's rank above what a descriptor takes of it."""
    monkeypatch.setattr(test_gpu_matmul, "Kernels", PtxKernels)
    run(Asked(256, 128, 128, "f16", asked="cluster"), TWO_PROCESSORS)


@pytest.mark.parametrize(
    ("case", "target"),
    [
        (Asked(300, 100, 64, "f16", asked="cluster"), TARGET),  # three rows of tiles, one column
        (Asked(128, 132, 66, "f16"), TARGET),  # rows that TMA does not fetch
        (Asked(128, 128, 64, "f16"), load_target("sm_80")),
    ],
    ids=["odd", "no TMA", "sm_80"],
)
def test_others_take_another_way(case, target):
    _, printed = run(case, target)
    assert "hloom.layouts" in printed and "known_cluster_size" not in printed and "POLICY_UNMET" in printed


def test_without_a_policy_it_must_be_much_faster():
    """By the price: of few steps the pipeline's filling is a large part, where memory does not take as long anyway."""
    case = Case(8192, 4096, 128, "i8", "i32", "i32", right_transposed=True)
    assert "producer = 1" in kernel_of(case.text(), TARGET)[1]
    by_memory = case.text().replace('hloom.kind = "matmul"', 'hloom.kind = "matmul", hloom.cost_ps = 60000000 : i64')
    assert "producer = 1" not in kernel_of(by_memory, TARGET)[1]
    assert "producer = 1" not in kernel_of(Case(4096, 4096, 4096, "bf16", result="bf16", bias_relu=True).text(), TARGET)[1]


def _waits(printed: str, which: int) -> str:
    """The text without the wait for a stage that is full (0), or for one that is empty (1)."""
    return printed.replace(re.findall(r" *nvgpu\.mbarrier\.try_wait.*\n", printed)[which], "")


def test_a_program_that_is_simulated():
    """A kernel whose warps wait for each other runs as PTX, though the others do not."""
    text = """func.func @main(%x: tensor<150x72xf16>, %w: tensor<72x72xf16>) -> tensor<150x72xf16> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<150x72xf16>, tensor<72x72xf16>) -> tensor<150x72xf16>
      return %0 : tensor<150x72xf16>
    }"""
    policy = {"kernel": [{"use": "generated"}], "tile": [{"producer": True, "require": True}]}
    x, w = (np.random.default_rng(1).standard_normal(shape).astype(np.float16) for shape in ((150, 72), (72, 72)))
    exe = hloom.compile(text, target="sim:sm_90a", policy=policy)
    np.testing.assert_allclose(exe(x, w).astype(np.float32), x.astype(np.float32) @ w.astype(np.float32), rtol=1e-2, atol=2e-2)


FAULTS = {
    "products that go on": (
        lambda printed: printed.replace("wait.group.sync.aligned 1", "wait.group.sync.aligned 2"),
        "is overwritten while wgmma reads it",
    ),
    "no wait for a full stage": (lambda printed: _waits(printed, 0), "uninitialised|still writing"),
    "no wait for an empty stage": (lambda printed: _waits(printed, 1), "waits for ever|still writing|overwritten"),
    "no arrivals": (lambda printed: re.sub(r"%\d+ = nvgpu\.mbarrier\.arrive %.*\n", "", printed), "waits for ever"),
}


OF_CLUSTERS = {
    "no arrivals at the other block": (lambda printed: re.sub(r"nvvm\.mbarrier\.arrive .*\n", "", printed), "waits for ever"),
    "arrivals at the own block": (
        lambda printed: re.sub(r"arith\.xori (%\S+), %\S+ : i32", r"arith.ori \1, \1 : i32", printed),
        "still writing",
    ),
    "copies for one block": (lambda printed: printed.replace("constant 3 : i16", "constant 1 : i16"), "waits for ever"),
    "copies for three blocks": (lambda printed: printed.replace("constant 3 : i16", "constant 7 : i16"), "a cluster of 2"),
}


@pytest.mark.parametrize("fault", OF_CLUSTERS)
def test_faults_of_clusters(fault):
    case, (put, message) = Asked(256, 128, 512, "f16", asked="cluster"), OF_CLUSTERS[fault]
    printed = kernel_of(case.text(), TWO_PROCESSORS)[1]
    faulty = put(printed)
    assert faulty != printed
    with pytest.raises(SimulationError, match=message):
        Kernels(faulty).launch("k", [*(x.reshape(-1) for x in case.operands()), np.zeros(256 * 128, np.float32)])


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault):
    case, (put, message) = Asked(256, 128, 512, "f16"), FAULTS[fault]
    printed = kernel_of(case.text(), replace(TARGET, multiprocessors=1, shared_bytes_per_block=100 << 10))[1]
    faulty = put(printed)
    assert faulty != printed
    with pytest.raises(SimulationError, match=message):
        Kernels(faulty).launch("k", [*(x.reshape(-1) for x in case.operands()), np.zeros(256 * 128, np.float32)])


@pytest.mark.parametrize(
    "case",
    [
        _bf16(4096, 4096, 4096),
        _bf16(4096, 4096, 4096, asked="cluster"),
        _bf16(8192, 1024, 4096, right_transposed=True),
        Asked(2048, 1024, 1024, left_transposed=True),
        Asked(4096, 4096, 4096, "i8", "i32", "i32", right_transposed=True),
    ],
    ids=str,
)
def test_nothing_spills_or_is_serialised(case):
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(case.text())
        assert try_distribute(module.body.operations[0].operation, TARGET)
        assert walk(module.operation, "nvgpu.mbarrier.arrive")
        ptx = emit_ptx(module.operation, TARGET)
    _, report = assembler().run(ptx, TARGET.cpu)
    used = parse_report(report)["k"]
    assert not used.spills and not used.stack and used.registers <= 224 and "(C75" not in report
