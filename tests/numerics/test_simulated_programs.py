"""Whole programs for GPUs on the simulator, and their kernels' machine code: the examples, and the shared programs where they are."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numerics.test_shared_programs import MODELS, ROOT, TOLERANCE, read

import hloom
from hloom.compiler.cuda.statistics import KernelStatistics, kernel_statistics
from hloom.compiler.frontend import load_program
from hloom.compiler.pipeline import run_stages
from hloom.compiler.target import resolve
from hloom.dialects.target import attach_target
from hloom.passes.common.rewriting import walk

EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/*.mlir"))
WORKLOADS = sorted((ROOT / "workloads").glob("*.mlir"))
PROGRAMS = [*EXAMPLES, *WORKLOADS, *(ROOT / "models" / f"{model['name']}.mlir" for model in MODELS)]
SIMULATED = "sim:sm_90a"


def name_of(path) -> str:
    return path.name.partition(".")[0] if isinstance(path, Path) else path["name"]


def agree(found, expected) -> None:
    tolerance = TOLERANCE.get({"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(np.asarray(expected).dtype.name, ""), 0)
    found, expected = np.asarray(found).astype(np.float64), np.asarray(expected).astype(np.float64)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1e-30)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * largest)


def listed(results) -> list:
    return list(results) if isinstance(results, (tuple, list)) else [results]


@pytest.mark.parametrize("path", [*EXAMPLES, *WORKLOADS], ids=name_of)
def test_agrees_with_the_cpu(path):
    rng = np.random.default_rng(5)
    exe = hloom.compile(path)
    inputs = [
        (rng.standard_normal(spec.shape) * 0.1 if spec.numpy_dtype.kind not in "iub" else rng.integers(0, 2, spec.shape)).astype(
            spec.numpy_dtype
        )
        for spec in exe.signature.inputs
    ]
    for found, expected in zip(listed(hloom.compile(path, target=SIMULATED)(*inputs)), listed(exe(*inputs)), strict=True):
        agree(found, expected)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_model_gives_what_is_expected(model):
    path = ROOT / "models" / f"{model['name']}.mlir"
    archive = np.load(path.with_suffix(".npz"))
    inputs = [array for _, array in read(archive, "in", model["in_types"], model["in_shapes"])]
    results = listed(hloom.compile(path, target=SIMULATED)(*inputs))
    for found, (_, expected) in zip(results, read(archive, "out", model["out_types"], model["out_shapes"]), strict=True):
        agree(found, expected)


@cache
def statistics(path: Path, target: str) -> dict[str, KernelStatistics]:
    module = load_program(path.read_bytes()).module.operation
    described = resolve(target)
    attach_target(module, described)
    run_stages(module, "input", "thunk")
    kernels = walk(module, "gpu.module")
    return kernel_statistics(kernels[0], described) if kernels else {}


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_kernels_assemble_without_local_memory(path, target):
    for kernel in statistics(path, target).values():
        assert (kernel.resources.spills, kernel.resources.stack) == (0, 0), kernel.name


ROWS = """
func.func @main(%x: tensor<512x1024xf32>, %g: tensor<1024xf32>) -> tensor<512x1024xf32> {{
  %zero = stablehlo.constant dense<{init}> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.{combine} across dimensions = [1]
    : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x1024xf32>
  %d = stablehlo.{use} %x, %b : tensor<512x1024xf32>
  %e = stablehlo.exponential %d : tensor<512x1024xf32>
  %w = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<1024xf32>) -> tensor<512x1024xf32>
  %r = stablehlo.multiply %e, %w : tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}}
"""


@pytest.mark.parametrize(("init", "combine", "use"), [("0xFF800000", "maximum", "subtract"), ("0.0", "add", "divide")])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_rows_are_read_once_sixteen_bytes_at_a_time(init, combine, use, target, tmp_path):
    path = tmp_path / "rows.mlir"
    path.write_text(ROWS.format(init=init, combine=combine, use=use))
    (kernel,) = statistics(path, target).values()
    assert set(kernel.global_loads) == set(kernel.global_stores) == {16}
    exe = hloom.compile(path, target=f"sim:{target}")
    exe(np.ones((512, 1024), np.float32), np.ones(1024, np.float32))
    counters = exe.device.last.counters
    blocks = kernel.grid[0]
    assert counters.global_written_bytes == 512 * 1024 * 4
    assert counters.global_read_bytes <= 512 * 1024 * 4 + blocks * 8 * 1024 * 4  # x once, the row of weights once a warp at most
