"""On a GPU: kernels, graphs with loops and branches, libraries, binding, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from chain_program import BLOCK, GENERATED, block_inputs, block_result
from gpu_programs import CASE, ELEMENTWISE, FOR, WHILE, build, capability, made, matmul

from hloom.runtime.cuda.graphs import CAPACITY
from hloom.runtime.dtypes import numpy_dtype
from hloom.runtime.errors import GpuArchitectureError
from hloom.runtime.executable import Executable, load
from hloom.runtime.manifest import made_for

pytestmark = pytest.mark.cuda

RNG = np.random.default_rng(0)


def test_a_kernel(tmp_path):
    exe = build(ELEMENTWISE, tmp_path)
    x, b = RNG.standard_normal((128, 256), np.float32), RNG.standard_normal(256, np.float32)
    for scale in (1, 2):
        np.testing.assert_allclose(exe(scale * x, b), np.tanh(scale * x + b), rtol=1e-5, atol=1e-6)


def test_kernels_that_take_turns_in_one_launch(tmp_path):
    """Their blocks meet at barriers of the whole grid: does a graph launch them together?"""
    exe, given = build(BLOCK, tmp_path, policy=GENERATED), block_inputs()
    for _ in range(20):
        np.testing.assert_allclose(exe(*given), block_result(*given), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("trips", [0, 1, 20])
def test_a_while_loop_on_the_device(tmp_path, trips):
    found, count = build(WHILE, tmp_path)(np.ones(64, np.float32), np.int32(trips))
    assert found.tolist() == [2.0**trips] * 64 and count == trips


def test_a_for_loop_on_the_device(tmp_path):
    exe = build(FOR, tmp_path)
    for start in (0, 3):
        assert exe(np.full(64, start, np.float32)).tolist() == [start + 500.0] * 64


@pytest.mark.parametrize(("index", "expected"), [(0, -3), (1, 6), (2, 9), (7, 9), (-1, 9)])
def test_a_case_on_the_device(tmp_path, index, expected):
    assert build(CASE, tmp_path)(np.int32(index), np.full(64, 3, np.float32)).tolist() == [expected] * 64


def test_graphs_are_updated_when_their_addresses_change(tmp_path):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    for text, expected in ((WHILE, lambda x: x * 8), (ELEMENTWISE, None)):
        exe = build(text, tmp_path)
        kept = []
        for value in range(2 * CAPACITY):
            if expected:
                x = torch.full((64,), float(value), device="cuda")
                kept.append((exe(x, torch.tensor(3, dtype=torch.int32, device="cuda"))[0], expected(x), x))
            else:
                x, b = torch.full((128, 256), float(value), device="cuda"), torch.ones(256, device="cuda")
                kept.append((exe(x, b), torch.tanh(x + b), (x, b)))
        assert all(torch.allclose(found, wanted) for found, wanted, _ in kept)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_bound_weights_are_kept_on_the_device(tmp_path, dtype):
    kind = np.float32 if dtype == "f32" else np.float16
    x, w = RNG.standard_normal((64, 128)).astype(kind), RNG.standard_normal((128, 96)).astype(kind)
    exe = build(matmul(dtype), tmp_path, bound=(1,))
    exe.bind({1: w})
    expected = x.astype(np.float64) @ w.astype(np.float64)
    np.testing.assert_allclose(exe(x).astype(np.float64), expected, rtol=1e-2, atol=5e-2)
    exe.save(tmp_path / "with.hloom")
    np.testing.assert_array_equal(load(tmp_path / "with.hloom")(x), exe(x))


@pytest.mark.parametrize(("m", "k", "n"), [(64, 128, 96), (256, 200, 264), (130, 66, 70), (512, 1024, 512), (65, 333, 77)])
def test_matrix_products(tmp_path, m, k, n):
    x, w = RNG.standard_normal((m, k)).astype(np.float16), RNG.standard_normal((k, n)).astype(np.float16)
    exe = build(matmul("f16", m, k, n), tmp_path)
    np.testing.assert_allclose(exe(x, w).astype(np.float64), x.astype(np.float64) @ w.astype(np.float64), rtol=1e-2, atol=1e-1)


@pytest.mark.parametrize("cluster", [False, True], ids=["alone", "two"])
@pytest.mark.parametrize(("m", "k", "n"), [(300, 72, 136), (128 * 134, 512, 256), (4096, 4096, 4096)])
def test_products_of_blocks_with_a_producer(tmp_path, m, k, n, cluster):
    """A warp fetches for the others, and for two blocks of a cluster, over the ends of tiles, in groups of rows of which the last
    has fewer."""
    if capability() != 90:
        pytest.skip("no wgmma")
    policy = {"kernel": [{"use": "generated"}], "tile": [{"producer": True, "cluster": cluster, "rows_together": 7, "require": True}]}
    x, w = RNG.standard_normal((m, k)).astype(np.float16), RNG.standard_normal((k, n)).astype(np.float16)
    exe = build(matmul("f16", m, k, n), tmp_path, policy=policy)
    for _ in range(2):
        np.testing.assert_allclose(exe(x, w).astype(np.float64), x.astype(np.float64) @ w.astype(np.float64), rtol=1e-2, atol=1e-1)


@pytest.mark.parametrize(("dtype", "result"), [("i8", "i32"), ("f8E4M3FN", "f32"), ("f8E5M2", "bf16")])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(48, 96, 80), (256, 512, 128), (65, 333, 77), (4096, 4096, 4096)])
def test_products_of_bytes(tmp_path, dtype, result, turned, m, k, n):
    """mma.sync, wgmma, the library: integers are exact; of floats tensor cores keep 13 bits behind the point at each step of 32."""
    if dtype != "i8" and capability() < 89:
        pytest.skip("no tensor cores for floats of 8 bits")
    exe = build(matmul(dtype, m, k, n, result, turned), tmp_path)
    x, w = RNG.standard_normal((m, k)), RNG.standard_normal((n, k) if turned else (k, n))
    x, w = ((30 * v).clip(-128, 127).astype(np.int8) if dtype == "i8" else v.astype(numpy_dtype(dtype)) for v in (x, w))
    found = exe(x, w)
    wanted = x.astype(np.float64) @ (w.T if turned else w).astype(np.float64)
    if dtype == "i8":
        np.testing.assert_array_equal(found, wanted.astype(np.int64))
    else:
        largest = np.abs(x.astype(np.float64)) @ np.abs(w.T if turned else w).astype(np.float64)
        truncated = -(-k // 32) * 2**-13 + (2**-8 if result == "bf16" else 2**-20)
        assert (np.abs(found.astype(np.float64) - wanted) <= 2**-12 * largest + truncated * np.abs(wanted)).all()


CONV = """func.func @main(%x: tensor<2x14x14x32xf32>, %w: tensor<64x3x3x32xf32>) -> tensor<2x14x14x64xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x14x14x32xf32>, tensor<64x3x3x32xf32>) -> tensor<2x14x14x64xf32>
  return %0 : tensor<2x14x14x64xf32>
}"""


def test_convolutions_in_f32_are_no_tf32(tmp_path):
    artifact = made(CONV, policy={"kernel": [{"op": "convolution", "use": "library"}]})
    pytest.importorskip("cudnn")
    exe = Executable(artifact)
    x, w = RNG.standard_normal((2, 14, 14, 32), np.float32), RNG.standard_normal((64, 3, 3, 32), np.float32)
    wide = np.pad(x.astype(np.float64), [(0, 0), (1, 1), (1, 1), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(1, 2))
    expected = np.einsum("nhwcij,kijc->nhwk", windows, w.astype(np.float64))
    np.testing.assert_allclose(exe(x, w), expected, rtol=1e-4, atol=2e-4)  # tf32 would be off by 1e-2


GRADIENTS = """
func.func @main(%x: tensor<2x14x14x32xf32>, %w: tensor<3x3x32x64xf32>, %dy: tensor<2x7x7x64xf32>)
    -> (tensor<2x14x14x32xf32>, tensor<3x3x32x64xf32>) {
  %r = stablehlo.reverse %w, dims = [0, 1] : tensor<3x3x32x64xf32>
  %dx = stablehlo.convolution(%dy, %r) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f],
    window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x7x7x64xf32>, tensor<3x3x32x64xf32>) -> tensor<2x14x14x32xf32>
  %dw = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
    window = {pad = [[1, 0], [1, 0]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x14x14x32xf32>, tensor<2x7x7x64xf32>) -> tensor<3x3x32x64xf32>
  return %dx, %dw : tensor<2x14x14x32xf32>, tensor<3x3x32x64xf32>
}
"""


def test_gradients_of_convolutions_are_no_tf32(tmp_path):
    """Of 3 x 3 taps and stride 2, padded by 1: by the library's own gradients, in f32, the same at each run."""
    artifact = made(GRADIENTS, policy={"kernel": [{"op": "convolution", "use": "library"}]})
    pytest.importorskip("cudnn")
    exe = Executable(artifact)
    x, w, dy = (RNG.standard_normal(shape, np.float32) for shape in ((2, 14, 14, 32), (3, 3, 32, 64), (2, 7, 7, 64)))
    dx, dw = exe(x, w, dy)
    wide = np.pad(x.astype(np.float64), [(0, 0), (1, 1), (1, 1), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(1, 2))[:, ::2, ::2]
    by_x, told = np.zeros_like(wide), np.einsum("nhwk,ijck->nhwcij", dy.astype(np.float64), w.astype(np.float64))
    for i, j in np.ndindex(3, 3):
        by_x[:, i : i + 13 : 2, j : j + 13 : 2] += told[..., i, j]
    np.testing.assert_allclose(dx, by_x[:, 1:-1, 1:-1], rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(dw, np.einsum("nhwcij,nhwk->ijck", windows, dy.astype(np.float64)), rtol=1e-4, atol=2e-4)
    for again, first in zip(exe(x, w, dy), (dx, dw), strict=True):
        assert np.array_equal(again, first)


def test_another_architecture_is_refused(tmp_path):
    exe = build(ELEMENTWISE, tmp_path)
    exe.program.manifest["target"]["cpu"] = "sm_70"
    exe.program.manifest["made_for"] = made_for(exe.program.manifest, exe.program.blobs)
    exe.save(tmp_path / "old.hloom")
    with pytest.raises(GpuArchitectureError, match="sm_70"):
        load(tmp_path / "old.hloom")


def test_many_executables_come_and_go(tmp_path):
    exe: Executable | None = None
    for value in range(20):
        exe = build(WHILE, tmp_path)
        assert exe(np.ones(64, np.float32), np.int32(value % 4))[0][0] == 2.0 ** (value % 4)
