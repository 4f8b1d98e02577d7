"""Contractions of bf16 by AMX tiles against numpy in f32: edges, layouts, batches, bound and unbound right operands."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import host
from hloom.runtime.executable import Executable

BF16 = ml_dtypes.bfloat16

pytestmark = [pytest.mark.host_cpu, pytest.mark.skipif(not host().amx_bf16, reason="this processor has no AMX")]


def program(a: str, b: str, result: str, numbers: str, bias: bool) -> str:
    element = result.rsplit("x", 1)[1]
    columns = result.split("x")[-2]
    tail = f"""
        %1 = stablehlo.broadcast_in_dim %c, dims = [{result.count("x") - 1}] : (tensor<{columns}x{element}>) -> tensor<{result}>
        %2 = stablehlo.add %0, %1 : tensor<{result}>
        return %2 : tensor<{result}>"""
    return f"""
      func.func @main(%a: tensor<{a}>, %b: tensor<{b}>, %c: tensor<{columns}x{element}>) -> tensor<{result}> {{
        %0 = stablehlo.dot_general %a, %b, {numbers} : (tensor<{a}>, tensor<{b}>) -> tensor<{result}>
        {tail if bias else f"return %0 : tensor<{result}>"}
      }}"""


def by_tiles(text: str, folder, bind: dict[int, np.ndarray] | None = None) -> Executable:
    """The program compiled, which must have made use of tiles."""
    exe = Compilation(load_program(text), bound=list(bind or {}), dump_dir=folder).executable()
    assert "x86.amx.tile_mulf" in next(folder.glob("*-vector.mlir")).read_text()
    if bind:
        exe.bind(bind)
    return exe


@pytest.mark.parametrize(("element", "bound"), [("f32", False), ("bf16", True)])
@pytest.mark.parametrize(
    ("m", "n", "k", "a_by_depth", "b_by_depth"),
    [
        (64, 64, 64, False, True),
        (40, 50, 70, False, False),
        (33, 65, 33, True, False),
        (100, 200, 96, True, True),
        (9, 16, 17, False, True),
        (17, 300, 31, False, False),
        (8, 70, 64, False, True),
        (31, 48, 128, False, False),
        (300, 90, 800, False, True),
        (601, 96, 2048, False, True),
        (70, 1056, 1056, False, True),
        (530, 2120, 64, False, True),
    ],
)
def test_product(m, n, k, a_by_depth, b_by_depth, element, bound, tmp_path):
    a_shape, b_shape = (k, m) if a_by_depth else (m, k), (k, n) if b_by_depth else (n, k)
    numbers = f"contracting_dims = [{0 if a_by_depth else 1}] x [{0 if b_by_depth else 1}]"
    text = program(f"{a_shape[0]}x{a_shape[1]}xbf16", f"{b_shape[0]}x{b_shape[1]}xbf16", f"{m}x{n}x{element}", numbers, bias=True)
    rng = np.random.default_rng(m * n * k)
    a, b = (rng.standard_normal(shape).astype(BF16) for shape in (a_shape, b_shape))
    c = rng.standard_normal(n).astype(BF16 if element == "bf16" else np.float32)
    result = by_tiles(text, tmp_path, {1: b} if bound else None)(*([a, c] if bound else [a, b, c]))

    exact = (a.T if a_by_depth else a).astype(np.float32) @ (b if b_by_depth else b.T).astype(np.float32) + c.astype(np.float32)
    tolerance = 2e-6 if element == "f32" else 2**-7
    np.testing.assert_allclose(np.asarray(result).astype(np.float32), exact, atol=tolerance * np.abs(exact).max(), rtol=0)


@pytest.mark.parametrize("rows", [2, 7])
def test_few_rows_of_a_bound_weight(rows, tmp_path):
    text = program(f"{rows}x96xbf16", "96x70xbf16", f"{rows}x70xf32", "contracting_dims = [1] x [0]", bias=True)
    a, b = (np.random.default_rng(n).standard_normal(s).astype(BF16) for n, s in enumerate([(rows, 96), (96, 70)]))
    result = by_tiles(text, tmp_path, {1: b})(a, np.ones(70, np.float32))
    np.testing.assert_allclose(result, a.astype(np.float32) @ b.astype(np.float32) + 1, rtol=0, atol=1e-4)


def test_a_result_without_epilogue_at_the_edge(tmp_path):
    text = program("45x64xbf16", "64x70xbf16", "45x70xf32", "contracting_dims = [1] x [0]", bias=False)
    a, b = (np.random.default_rng(n).standard_normal(s).astype(BF16) for n, s in enumerate([(45, 64), (64, 70)]))
    result = by_tiles(text, tmp_path)(a, b, np.zeros(70, np.float32))
    np.testing.assert_allclose(result, a.astype(np.float32) @ b.astype(np.float32), rtol=0, atol=1e-4)


def test_a_batch(tmp_path):
    text = program("3x40x70xbf16", "3x50x70xbf16", "3x40x50xf32", "batching_dims = [0] x [0], contracting_dims = [2] x [2]", bias=True)
    rng = np.random.default_rng(5)
    a, b, c = rng.standard_normal((3, 40, 70)).astype(BF16), rng.standard_normal((3, 50, 70)).astype(BF16), np.ones(50, np.float32)
    result = by_tiles(text, tmp_path)(a, b, c)
    np.testing.assert_allclose(result, a.astype(np.float32) @ b.astype(np.float32).swapaxes(1, 2) + c, rtol=0, atol=1e-4)


@pytest.mark.parametrize("bound", [False, True])
def test_infinities_stay_in_their_rows_and_columns(bound, tmp_path):
    """What fills up tiles never meets them: no 0 × inf where the program has none."""
    a, b = np.ones((20, 50), BF16), np.ones((50, 40), BF16)
    a[3, 49] = np.inf
    b[49, 7] = -np.inf
    text = program("20x50xbf16", "50x40xbf16", "20x40xf32", "contracting_dims = [1] x [0]", bias=True)
    result = by_tiles(text, tmp_path, {1: b} if bound else None)(*([a] if bound else [a, b]), np.zeros(40, np.float32))
    expected = np.full((20, 40), 50, np.float32)
    expected[3, :] = np.inf
    expected[:, 7] = -np.inf
    np.testing.assert_array_equal(result, expected)


def test_every_second_step_of_a_line(tmp_path):
    """As the gradient by the weights of a strided convolution reads its images: they are cut out before."""
    a_type, b_type, cut = "tensor<3x40x5x9xbf16>", "tensor<3x33x10x18xbf16>", "tensor<3x33x5x9xbf16>"
    text = f"""
      func.func @main(%a: {a_type}, %b: {b_type}) -> tensor<40x33xf32> {{
        %0 = stablehlo.slice %b [0:3, 0:33, 0:10:2, 1:18:2] : ({b_type}) -> {cut}
        %1 = stablehlo.dot_general %a, %0, contracting_dims = [0, 2, 3] x [0, 2, 3] : ({a_type}, {cut}) -> tensor<40x33xf32>
        return %1 : tensor<40x33xf32>
      }}"""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((3, 40, 5, 9), (3, 33, 10, 18)))
    expected = np.einsum("bohw,bchw->oc", a.astype(np.float32), b[:, :, ::2, 1::2].astype(np.float32))
    np.testing.assert_allclose(by_tiles(text, tmp_path)(a, b), expected, rtol=0, atol=1e-4)
