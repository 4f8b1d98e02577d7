"""On a GPU: what only one can tell, and what hloom therefore does not rely on (docs/cuda.md). An XPASS says that it could."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_programs import ELEMENTWISE, WHILE, build, made

from hloom.runtime.artifact import Artifact
from hloom.runtime.cuda.driver import default_driver
from hloom.runtime.cuda.recorder import Recorder
from hloom.runtime.executable import Executable
from hloom.runtime.manifest import made_for

pytestmark = pytest.mark.cuda
question = pytest.mark.xfail(strict=False, reason="nobody knows yet")


@question
def test_conditional_handles_of_another_recording(tmp_path, monkeypatch):
    """Does cuGraphExecUpdate take a recording's condition handles for those of the graph that is updated?"""
    update = Recorder.update

    def unguarded(self, graph):
        self._bodies.clear()
        return update(self, graph)

    monkeypatch.setattr(Recorder, "update", unguarded)
    exe = build(WHILE, tmp_path)
    exe.device._graphs._capacity = 1
    outputs = [(np.zeros(64, np.float32), np.zeros((), np.int32)) for _ in range(4)]
    for trips, (found, count) in enumerate(outputs):
        exe.run((np.ones(64, np.float32), np.int32(trips)), (found, count))
        assert found.tolist() == [2.0**trips] * 64 and count == trips


@question
def test_tensor_maps_that_are_not_aligned():
    """Does cuTensorMapEncodeTiled write where cuda-python has it write?"""
    driver = default_driver()
    api = driver.api
    with driver.current():
        place = driver.allocate(1 << 16)
        for _ in range(50):
            driver.call(
                "cuTensorMapEncodeTiled", api.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, place,
                [api.cuuint64_t(64), api.cuuint64_t(64)], [api.cuuint64_t(128)], [api.cuuint32_t(64), api.cuuint32_t(64)],
                [api.cuuint32_t(1)] * 2, api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
                api.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B, api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                api.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )  # fmt: skip


@question
def test_cusolver():
    """A factorisation, enqueued by the call."""
    changed = made(ELEMENTWISE)
    pytest.importorskip("nvmath.bindings.cusolverDn")
    matrix = np.eye(4) * 4
    slices = [[0, 0, 128], [1, 0, 128], [2, 0, 4]]
    copy = {"op": "copy", "reads": slices[:1], "writes": slices[1:2]}
    thunk = {"op": "lapack", "routine": "dpotrf", "numbers": [1, 4, 4, ord("U")], "reads": slices[:1], "writes": slices[1:], "source": []}
    tensor = {"dtype": "f64", "shape": [1, 4, 4]}
    changed.manifest.update(
        arguments=[{"name": "a", "bound": False, **tensor}],
        results=[{"name": "r", **tensor}, {"name": "info", "dtype": "i32", "shape": [1]}],
        in_tree={"tuple": ["*"]},
        out_tree={"tuple": ["*", "*"]},
        entries={"main": {"symbol": "main", "buffers": [["argument", 0], ["result", 0], ["result", 1]]}},
        programs={"main": {"op": "program", "body": [copy, thunk]}},
        kernels={},
    )
    changed.manifest["made_for"] = made_for(changed.manifest, {})
    exe = Executable(Artifact(changed.manifest, {}))
    factor, info = exe(matrix[None])
    np.testing.assert_allclose(np.tril(factor[0]), np.linalg.cholesky(matrix))
    assert info == [0]


LOOP = """func.func @main(%x: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%y = %x, %i = %zero) : tensor<64x64xf32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %t, %j : tensor<64x64xf32>, tensor<i32>
    }
  return %r#0 : tensor<64x64xf32>
}"""


@question
def test_cublaslt_in_the_body_of_a_loop():
    """May the body of a conditional node hold what cuBLASLt enqueues?"""
    artifact = made(LOOP, policy={"kernel": [{"op": "dot_general", "use": "library"}]})
    pytest.importorskip("nvmath.bindings.cublasLt")
    exe = Executable(artifact)
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32) / 8
    np.testing.assert_allclose(exe(x, np.int32(3)), np.linalg.matrix_power(x.astype(np.float64), 4), rtol=1e-4, atol=1e-5)
