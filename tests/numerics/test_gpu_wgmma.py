"""Contractions on the tensor cores of sm_90a (wgmma) on the simulator, against numpy; and what the simulator says of faulty ones."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from test_gpu_matmul import DTYPES, LAYOUTS, PROLOGUE, WIDEN, Case, kernel_of, run
from torch_mlir import ir

from hloom.compiler.cuda.assemble import assembler, parse_report
from hloom.compiler.cuda.ptx import emit_ptx
from hloom.compiler.cuda.statistics import split_entries
from hloom.compiler.simulator import Kernels, SimulationError
from hloom.compiler.target import load_target
from hloom.dialects.context import make_context
from hloom.passes.gpu.contraction.choose_kernel import try_distribute

TARGET = load_target("sm_90a")
ONE_PROCESSOR = replace(TARGET, multiprocessors=1)
"""Where few blocks cost nothing, tiles are as large as they can be."""


def _tile(printed: str) -> str:
    return re.findall(r'tile = "([\dx]+)"', printed)[0]


@pytest.mark.parametrize("transposed", LAYOUTS)
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_operands_lie_either_way(element, transposed):
    case = Case(128, 128, 80, element, result=element, left_transposed=transposed[0], right_transposed=transposed[1], bias_relu=True)
    counters, printed = run(case, ONE_PROCESSOR)
    assert "nvvm.wgmma.mma_async" in printed and _tile(printed) == "128x128x64"
    # two warp groups of four warps, two steps of four instructions; boxes: one where lines run along k, else two panels
    assert counters.mma == 2 * 4 * 2 * 4 and counters.bank_conflicts == 1.0 and not counters.ldmatrix
    boxes = (2 if transposed[0] else 1) + (1 if transposed[1] else 2)
    assert counters.async_copies == 2 * boxes and "nvgpu.device_async_copy" not in printed


@pytest.mark.parametrize(
    ("case", "tile"),
    [
        (Case(64, 32, 64), "64x32x64"),
        (Case(65, 33, 31, "bf16", result="bf16", bias_relu=True), "64x32x64"),
        (Case(70, 77, 200, right_transposed=True), "64x32x64"),
        (Case(129, 250, 65, left_transposed=True), "64x32x64"),
    ],
    ids=str,
)
def test_odd_sizes(case, tile):
    _, printed = run(case, TARGET)
    assert "nvvm.wgmma" in printed and _tile(printed) == tile


@pytest.mark.parametrize(
    ("case", "tile"),
    [
        (Case(128, 256, 130, "bf16", result="bf16", bias_relu=True), "128x256x64"),
        (Case(100, 256, 64, right_transposed=True), "128x256x64"),
        (Case(128, 64, 320, left_transposed=True), "128x64x64"),
        (Case(64, 128, 70, result="f16"), "64x128x64"),
        (Case(128, 96, 130, "bf16", result="bf16", bias_relu=True), "128x96x64"),
        (Case(128, 96, 130, "bf16", result="bf16", right_transposed=True), "128x96x64"),
    ],
    ids=str,
)
def test_tiles(case, tile):
    counters, printed = run(case, ONE_PROCESSOR)
    assert _tile(printed) == tile and counters.bank_conflicts <= 1.0


@pytest.mark.parametrize("transposed", LAYOUTS)
def test_batches(transposed):
    case = Case(70, 48, 72, "bf16", batch=3, left_transposed=transposed[0], right_transposed=transposed[1])
    _, printed = run(case, TARGET)
    assert "nvvm.wgmma" in printed
    # 70 columns of the left operand are no multiple of 16 bytes
    assert ("nvgpu.device_async_copy" in printed) == transposed[0] and "nvgpu.tma.async.load" in printed


SCORES = """
func.func private @k(%q: tensor<2x66x3x32xbf16>, %kv: tensor<2x40x3x80xbf16>) -> tensor<2x3x66x40xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %k = tensor.extract_slice %kv[0, 0, 0, 48] [2, 40, 3, 32] [1, 1, 1, 1] : tensor<2x40x3x80xbf16> to tensor<2x40x3x32xbf16>
  %e = tensor.empty() : tensor<2x3x66x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x66x40xf32>) -> tensor<2x3x66x40xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, i, h, d)>, affine_map<(b, h, i, j, d) -> (b, j, h, d)>,
      affine_map<(b, h, i, j, d) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x66x3x32xbf16>, tensor<2x40x3x32xbf16>) outs(%f : tensor<2x3x66x40xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x3x66x40xf32>
  return %c : tensor<2x3x66x40xf32>
}"""


def test_heads_and_slices_are_dimensions_and_offsets_of_tensor_maps():
    kernels, printed = kernel_of(SCORES, TARGET)
    assert "argument = 0 : i64, extents = array<i64: 2, 3, 66, 32>, offset = 0 : i64, strides = array<i64: 12672, 64, 192, 2>" in printed
    assert "argument = 1 : i64, extents = array<i64: 2, 3, 40, 32>, offset = 96 : i64, strides = array<i64: 19200, 160, 480, 2>" in printed
    random = np.random.default_rng(3)
    q, kv = (random.standard_normal(s).astype(DTYPES["bf16"]) for s in ((2, 66, 3, 32), (2, 40, 3, 80)))
    out = np.zeros((2, 3, 66, 40), np.float32)
    counters = kernels.launch("k", [x.reshape(-1) for x in (q, kv, out)])
    expected = np.einsum("bihd,bjhd->bhij", q.astype(np.float64), kv[..., 48:].astype(np.float64))
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-4)
    assert counters.mma and "nvgpu.device_async_copy" not in printed


def test_tf32_where_both_operands_are_contiguous_along_the_inner_loop():
    _, printed = run(Case(64, 40, 50, "f32", tf32=True, right_transposed=True), TARGET)
    assert "A[<tf32>" in printed
    _, printed = run(Case(64, 40, 50, "f32", tf32=True), TARGET)
    assert "nvgpu.mma.sync" in printed


def test_prologue():
    kernels, printed = kernel_of(PROLOGUE.format(m=80, t="f16", widen=WIDEN), TARGET)
    random = np.random.default_rng(2)
    x, scale, weights = (random.standard_normal(s).astype(np.float16) for s in ((80, 40), (40,), (40, 48)))
    out = np.zeros((80, 48), np.float32)
    kernels.launch("k", [a.reshape(-1) for a in (x, scale, weights, out)])
    assert "nvvm.wgmma" in printed
    np.testing.assert_allclose(out, (x * scale + np.float16(1)).astype(np.float64) @ weights.astype(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("case", "target"),
    [
        (Case(63, 128, 64), TARGET),
        (Case(64, 64, 64), load_target("sm_80")),
        (Case(64, 64, 64), load_target("sm_100a")),
        (Case(64, 64, 64), replace(TARGET, cpu="sm_90")),
        (Case(64, 64, 64, "f32"), TARGET),
        (Case(64, 64, 64, "f64", "f64", "f64"), TARGET),
    ],
    ids=["few rows", "sm_80", "sm_100a", "sm_90", "f32", "f64"],
)
def test_others_take_another_way(case, target):
    _, printed = run(case, target)
    assert "wgmma" not in printed


FOUR_STAGES = replace(TARGET, shared_bytes_per_block=48 << 10)
"""Fewer than the steps of the inner loop, so that stages are filled again."""
BY_TMA = Case(64, 32, 320)
BY_THREADS = Case(64, 36, 320, left_transposed=True)
"""The right operand's rows are no multiples of 16 bytes apart."""
FAULTS = [
    (BY_TMA, r"nvvm\.wgmma\.wait\.group\.sync\.aligned 1", "nvvm.wgmma.wait.group.sync.aligned 3", "is overwritten while wgmma reads it"),
    (
        BY_TMA,
        r"nvvm\.wgmma\.wait\.group\.sync\.aligned 0",
        "nvvm.wgmma.wait.group.sync.aligned 1",
        "accumulators are read while wgmma works",
    ),
    (BY_TMA, r"nvvm\.wgmma\.commit\.group\.sync\.aligned", "", "accumulators are read while wgmma works"),
    (BY_TMA, r"nvvm\.wgmma\.fence\.aligned", "", "wgmma before wgmma.fence"),
    (BY_TMA, r"nvgpu\.mbarrier\.try_wait.*", "", "uninitialised|still writing"),
    (BY_TMA, r"gpu\.barrier", "", "race: writes what another thread"),
    (
        BY_THREADS,
        r"nvvm\.wgmma\.wait\.group\.sync\.aligned 1",
        "nvvm.wgmma.wait.group.sync.aligned 3",
        "is overwritten while wgmma reads it",
    ),
    (BY_THREADS, "numGroups = 1", "numGroups = 2", "uninitialised|still writing"),
    (BY_THREADS, r"gpu\.barrier", "", "race: reads what another thread"),
]


@pytest.mark.parametrize(("case", "pattern", "by", "message"), FAULTS)
def test_faults(case, pattern, by, message):
    _, printed = kernel_of(case.text(), FOUR_STAGES)
    faulty = re.sub(pattern, by, printed)
    assert faulty != printed
    with pytest.raises(SimulationError, match=message):
        Kernels(faulty).launch("k", [*(x.reshape(-1) for x in case.operands()), np.zeros(64 * case.cols, np.float32)])


def test_descriptors_are_read_as_they_stand():
    """The leading offset, from panel to panel of the right operand: with a wrong one the product is another."""
    case = Case(64, 128, 64, bias_relu=True)
    _, printed = kernel_of(case.text(), ONE_PROCESSOR)
    fields = 512 << 16 | 64 << 32 | 1 << 62
    assert f"{fields} : i64" in printed
    out = np.zeros((64, 128), np.float32)
    wrong = printed.replace(f"{fields} : i64", f"{fields - (256 << 16)} : i64")
    operands = case.operands()
    Kernels(wrong).launch("k", [*(x.reshape(-1) for x in operands), out.reshape(-1)])
    expected = case.expected(*operands)[0]
    np.testing.assert_allclose(out[:, :64], expected[:, :64], atol=1e-3)
    assert np.abs(out[:, 64:] - expected[:, 64:]).max() > 1


@pytest.mark.parametrize(
    "case",
    [
        Case(4096, 4096, 4096, "bf16", result="bf16", bias_relu=True),
        Case(2048, 1024, 1024, left_transposed=True),
        Case(3001, 2777, 333, "bf16"),
        Case(512, 64, 256, batch=16, right_transposed=True),
        Case(128, 128, 64, "bf16", batch=12, right_transposed=True),  # one step: LLVM knows that there is nothing more to fetch
        Case(128, 64, 128, "bf16", batch=12),
        Case(4096, 4096, 4096, "i8", "i32", "i32", right_transposed=True),
    ],
    ids=str,
)
def test_nothing_spills_or_is_serialised(case):
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(case.text())
        assert try_distribute(module.body.operations[0].operation, TARGET)
        ptx = emit_ptx(module.operation, TARGET)
    _, report = assembler().run(ptx, TARGET.cpu)
    used = parse_report(report)["k"]
    assert not used.spills and not used.stack
    # (C7510), (C7517), …: what the assembler says where it has to wait for wgmma earlier than the program does
    assert "(C75" not in report
    body = split_entries(ptx)["k"]  # whole, although inline assembly has braces too
    assert "wgmma.mma_async" in body and "st.global" in body
    assert case.result != "bf16" or ("st.global.v4.b32" in body and "st.global.v2" not in body)  # 16 bytes at a time
