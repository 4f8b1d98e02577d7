"""Contractions as GPU kernels on the simulator, against numpy: types, layouts, odd sizes, batches, epilogues, few rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

from hloom.compiler.cuda.assemble import assemble
from hloom.compiler.cuda.ptx import emit_ptx
from hloom.compiler.simulator import Counters, Kernels, SimulationError
from hloom.compiler.target import load_target
from hloom.dialects.context import make_context
from hloom.dialects.target import TargetView
from hloom.passes.gpu.contraction.choose_kernel import try_distribute

TARGET = TargetView(name="sm_80", kind="cuda", cpu="sm_80", compute_capability=80, multiprocessors=108)
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}
BIAS_RELU = """%s = arith.addf %acc, %bias_in : f32
    %y = arith.maximumf %s, %zero : f32"""
RELATIVE = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-5, "f64": 1e-13, "i32": 0.0}


@dataclass(frozen=True)
class Case:
    """A batched matrix product: its sizes, types, and which operands are transposed in memory."""

    rows: int
    cols: int
    inner: int
    element: str = "f16"
    accumulator: str = "f32"
    result: str = "f32"
    batch: int = 1
    left_transposed: bool = False
    right_transposed: bool = False
    bias_relu: bool = False
    tf32: bool = False

    def __str__(self) -> str:
        flags = "".join(t for t, on in (("_ta", self.left_transposed), ("_tb", self.right_transposed), ("_epi", self.bias_relu)) if on)
        return f"{self.batch}x{self.rows}x{self.cols}x{self.inner}_{'tf32' if self.tf32 else self.element}_{self.result}{flags}"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        left = (self.inner, self.rows) if self.left_transposed else (self.rows, self.inner)
        right = (self.cols, self.inner) if self.right_transposed else (self.inner, self.cols)
        return (self.batch, *left), (self.batch, *right), (self.cols,), (self.batch, self.rows, self.cols)

    def text(self) -> str:
        left, right, bias, out = ("x".join(map(str, s)) for s in self.shapes)
        is_float = self.accumulator.startswith("f")
        extend = "arith.extf" if is_float else "arith.extsi"
        widen = (
            ""
            if self.element == self.accumulator
            else "\n".join(f"    %{side}w = {extend} %{side} : {self.element} to {self.accumulator}" for side in "ab")
        )
        suffix = "w" if widen else ""
        multiply, add = ("arith.mulf", "arith.addf") if is_float else ("arith.muli", "arith.addi")
        left_map = "(d0, d3, d1)" if self.left_transposed else "(d0, d1, d3)"
        right_map = "(d0, d2, d3)" if self.right_transposed else "(d0, d3, d2)"
        body = BIAS_RELU if self.bias_relu else f"%y = {add} %acc, %bias_in : {self.accumulator}"
        body = body.replace("f32", self.accumulator)
        if self.result != self.accumulator:
            body += f"\n    %t = arith.truncf %y : {self.accumulator} to {self.result}"
        value = "%t" if self.result != self.accumulator else "%y"
        return f"""
func.func private @k(%l: tensor<{left}x{self.element}>, %r: tensor<{right}x{self.element}>, %bias: tensor<{bias}x{self.accumulator}>)
    -> tensor<{out}x{self.result}> attributes {{hloom.kind = "matmul"{", hloom.allow_tf32" if self.tf32 else ""}}} {{
  %zero = arith.constant {"0.0" if is_float else "0"} : {self.accumulator}
  %e = tensor.empty() : tensor<{out}x{self.accumulator}>
  %f = linalg.fill ins(%zero : {self.accumulator}) outs(%e : tensor<{out}x{self.accumulator}>) -> tensor<{out}x{self.accumulator}>
  %c = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2, d3) -> {left_map}>, affine_map<(d0, d1, d2, d3) -> {right_map}>,
      affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%l, %r : tensor<{left}x{self.element}>, tensor<{right}x{self.element}>) outs(%f : tensor<{out}x{self.accumulator}>) {{
  ^bb0(%a: {self.element}, %b: {self.element}, %o: {self.accumulator}):
{widen}
    %p = {multiply} %a{suffix}, %b{suffix} : {self.accumulator}
    %q = {add} %o, %p : {self.accumulator}
    linalg.yield %q : {self.accumulator}
  }} -> tensor<{out}x{self.accumulator}>
  %e2 = tensor.empty() : tensor<{out}x{self.result}>
  %g = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>,
      affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%c, %bias : tensor<{out}x{self.accumulator}>, tensor<{bias}x{self.accumulator}>) outs(%e2 : tensor<{out}x{self.result}>) {{
  ^bb0(%acc: {self.accumulator}, %bias_in: {self.accumulator}, %o: {self.result}):
    {body}
    linalg.yield {value} : {self.result}
  }} -> tensor<{out}x{self.result}>
  return %g : tensor<{out}x{self.result}>
}}"""

    def operands(self) -> list[np.ndarray]:
        random = np.random.default_rng(self.rows * 7 + self.cols)
        kinds = [self.element, self.element, self.accumulator]
        if self.accumulator.startswith("f"):
            return [random.standard_normal(s).astype(DTYPES[k]) for s, k in zip(self.shapes, kinds)]
        return [random.integers(-9, 9, s).astype(DTYPES[k]) for s, k in zip(self.shapes, kinds)]

    def expected(self, left: np.ndarray, right: np.ndarray, bias: np.ndarray) -> np.ndarray:
        wide = np.float64 if self.accumulator.startswith("f") else np.int64
        if self.tf32:
            left, right = (_as_tf32(x) for x in (left, right))
        left = left.swapaxes(1, 2) if self.left_transposed else left
        right = right.swapaxes(1, 2) if self.right_transposed else right
        total = np.matmul(left.astype(wide), right.astype(wide)) + bias.astype(wide)
        return np.maximum(total, 0) if self.bias_relu else total


def _as_tf32(values: np.ndarray) -> np.ndarray:
    """Values with the 10 bits of mantissa that tensor cores take of f32."""
    return (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def kernel_of(text: str, target: TargetView = TARGET) -> tuple[Kernels, str]:
    """The text's first function as the kernel it becomes, and the module it is in."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        assert try_distribute(module.body.operations[0].operation, target)
        module.operation.verify()
        printed = str(module)
        assert "func.func" not in printed
        return Kernels(printed), printed


def run(case: Case, target: TargetView = TARGET) -> tuple[Counters, str]:
    kernels, printed = kernel_of(case.text(), target)
    operands = case.operands()
    out = np.zeros(case.shapes[3], DTYPES[case.result])
    counters = kernels.launch("k", [*(x.reshape(-1) for x in operands), out.reshape(-1)])
    expected = case.expected(*operands)
    error = np.abs(out.astype(np.float64) - expected).max() / np.abs(expected).max()
    assert error <= (2e-3 if case.tf32 else RELATIVE[case.result]), f"relative error {error}"
    return counters, printed


LAYOUTS = [(ta, tb) for ta in (False, True) for tb in (False, True)]


@pytest.mark.parametrize("transposed", LAYOUTS)
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_tensor_cores(element, transposed):
    case = Case(96, 64, 80, element, result=element, left_transposed=transposed[0], right_transposed=transposed[1], bias_relu=True)
    counters, printed = run(case)
    assert counters.mma and counters.ldmatrix and counters.bank_conflicts == 1.0
    assert "nvgpu.mma.sync" in printed


@pytest.mark.parametrize("transposed", LAYOUTS)
def test_tf32_where_allowed(transposed):
    counters, printed = run(Case(64, 48, 24, "f32", left_transposed=transposed[0], right_transposed=transposed[1], tf32=True))
    assert counters.mma and counters.bank_conflicts == 1.0
    assert "tf32Enabled" in printed


@pytest.mark.parametrize("transposed", LAYOUTS)
def test_f32_stays_f32(transposed):
    counters, printed = run(Case(48, 64, 40, "f32", left_transposed=transposed[0], right_transposed=transposed[1], bias_relu=True))
    assert not counters.mma and counters.bank_conflicts == 1.0
    assert "math.fma" in printed


@pytest.mark.parametrize(
    "case",
    [Case(34, 40, 24, "f64", "f64", "f64"), Case(33, 40, 20, "i8", "i32", "i32"), Case(40, 24, 12, "i32", "i32", "i32")],
    ids=str,
)
def test_other_types(case):
    run(case)


@pytest.mark.parametrize(
    "case",
    [
        Case(65, 33, 31, "bf16", result="bf16", bias_relu=True),
        Case(33, 77, 50, "f16", right_transposed=True),
        Case(41, 35, 17, "f32", left_transposed=True),
        Case(50, 40, 9, "f32", tf32=True),
    ],
    ids=str,
)
def test_odd_sizes(case):
    run(case)


@pytest.mark.parametrize(
    "case",
    [
        Case(128, 128, 64, "f16", result="f16", bias_relu=True),
        Case(128, 128, 32, "f32", tf32=True, right_transposed=True),
        Case(128, 128, 24, "f32", result="f16", left_transposed=True),
    ],
    ids=str,
)
def test_largest_tiles(case):
    counters, printed = run(case, replace(TARGET, multiprocessors=1))
    assert "128x128x" in printed and counters.bank_conflicts == 1.0


def test_deep_steps_where_there_is_shared_memory():
    hopper = replace(TARGET, multiprocessors=1, shared_bytes_per_block=232448, shared_bytes_per_multiprocessor=233472)
    counters, printed = run(Case(128, 128, 250, "bf16", result="bf16", right_transposed=True, bias_relu=True), hopper)
    assert "128x128x64" in printed and "gpu.dynamic_shared_memory" in printed and counters.bank_conflicts == 1.0


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_batches(element):
    run(Case(32, 48, 40, element, batch=3, right_transposed=True))


@pytest.mark.parametrize(
    "case",
    [
        Case(1, 256, 512, "f16", result="f16", right_transposed=True),
        Case(1, 256, 512, "bf16"),
        Case(8, 72, 328, "bf16", right_transposed=True, bias_relu=True),
        Case(5, 77, 50, "f16"),
        Case(100, 3, 64, "f32"),
        Case(60, 4, 33, "f32", left_transposed=True, right_transposed=True),
        Case(2, 33, 40, "f64", "f64", "f64", batch=2),
        Case(3, 50, 40, "i8", "i32", "i32"),
        Case(1, 2500, 72, "bf16", right_transposed=True, batch=2),  # short lines, several a warp, and as many a lane
        Case(2, 2500, 40, "f32", right_transposed=True, batch=2),
    ],
    ids=str,
)
def test_few_rows(case):
    counters, _ = run(case)
    assert counters.shuffles and not counters.mma


def test_few_rows_read_the_weights_once_in_their_type():
    counters, printed = run(Case(1, 64, 1024, "f16", right_transposed=True))
    assert "vector<8xf16>" in printed
    weights, row = 64 * 1024 * 2, 1024 * 2
    assert counters.global_read_bytes <= weights + 64 * row + 64 * 4


CONVOLUTION = """
func.func private @k(%x: tensor<2x10x9x24xf16>, %w: tensor<3x3x24x40xf16>) -> tensor<2x8x7x40xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x7x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x7x40xf32>) -> tensor<2x8x7x40xf32>
  %c = linalg.generic {indexing_maps = [
      affine_map<(n, h, w, o, i, j, c) -> (n, h + i, w + j, c)>, affine_map<(n, h, w, o, i, j, c) -> (i, j, c, o)>,
      affine_map<(n, h, w, o, i, j, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x10x9x24xf16>, tensor<3x3x24x40xf16>) outs(%f : tensor<2x8x7x40xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<2x8x7x40xf32>
  return %c : tensor<2x8x7x40xf32>
}"""


def test_convolution_is_an_implicit_matrix_product():
    kernels, printed = kernel_of(CONVOLUTION)
    random = np.random.default_rng(0)
    x, w = random.standard_normal((2, 10, 9, 24)).astype(np.float16), random.standard_normal((3, 3, 24, 40)).astype(np.float16)
    out = np.zeros((2, 8, 7, 40), np.float32)
    counters = kernels.launch("k", [x.reshape(-1), w.reshape(-1), out.reshape(-1)])
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (1, 2))
    expected = np.einsum("nhwcij,ijco->nhwo", windows, w.astype(np.float64))
    assert counters.mma and "nvgpu.device_async_copy" in printed
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-4)


PROLOGUE = """
func.func private @k(%x: tensor<{m}x40x{t}>, %s: tensor<40x{t}>, %w: tensor<40x48x{t}>) -> tensor<{m}x48xf32>
    attributes {{hloom.kind = "matmul"}} {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : {t}
  %e = tensor.empty() : tensor<{m}x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x48xf32>) -> tensor<{m}x48xf32>
  %c = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %s, %w : tensor<{m}x40x{t}>, tensor<40x{t}>, tensor<40x48x{t}>) outs(%f : tensor<{m}x48xf32>) {{
  ^bb0(%a: {t}, %g: {t}, %b: {t}, %o: f32):
    %p = arith.mulf %a, %g : {t}
    %q = arith.addf %p, %one : {t}
    {widen}
    %z = arith.mulf %qw, %bw : f32
    %y = arith.addf %o, %z : f32
    linalg.yield %y : f32
  }} -> tensor<{m}x48xf32>
  return %c : tensor<{m}x48xf32>
}}"""
WIDEN = """%qw = arith.extf %q : f16 to f32
    %bw = arith.extf %b : f16 to f32"""


@pytest.mark.parametrize("rows", [3, 33])
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_prologue(element, rows):
    text = PROLOGUE.format(m=rows, t=element, widen=WIDEN if element == "f16" else "")
    kernels, _ = kernel_of(text if element == "f16" else text.replace("%qw, %bw", "%q, %b"))
    random, dtype = np.random.default_rng(2), DTYPES[element]
    x, scale, weights = (random.standard_normal(s).astype(dtype) for s in ((rows, 40), (40,), (40, 48)))
    out = np.zeros((rows, 48), np.float32)
    counters = kernels.launch("k", [a.reshape(-1) for a in (x, scale, weights, out)])
    expected = (x * scale + dtype(1)).astype(np.float64) @ weights.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    assert bool(counters.mma) == (element == "f16" and rows == 33)


def test_a_removed_barrier_is_a_race():
    _, printed = kernel_of(Case(64, 64, 96, "f16").text())
    operands = [x.reshape(-1) for x in Case(64, 64, 96, "f16").operands()]
    with pytest.raises(SimulationError, match="race|barrier"):
        Kernels(re.sub(r"\n *gpu\.barrier", "", printed)).launch("k", [*operands, np.zeros(64 * 64, np.float32)])


MASKED_SCORES = """
func.func private @k(%q: tensor<2x24x16xf32>, %k: tensor<2x20x16xf32>) -> (tensor<2x24x20xf32>, tensor<2x24x20xi1>)
    attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e9 : f32
  %e = tensor.empty() : tensor<2x24x20xf32>
  %b = tensor.empty() : tensor<2x24x20xi1>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x24x20xf32>) -> tensor<2x24x20xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>,
      affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x24x16xf32>, tensor<2x20x16xf32>) outs(%f : tensor<2x24x20xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x24x20xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%c, %b : tensor<2x24x20xf32>, tensor<2x24x20xi1>) {
  ^bb0(%x: f32, %o: i1):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %keep = arith.cmpi ule, %n, %m : index
    %v = arith.select %keep, %x, %low : f32
    linalg.yield %v, %keep : f32, i1
  } -> (tensor<2x24x20xf32>, tensor<2x24x20xi1>)
  return %r#0, %r#1 : tensor<2x24x20xf32>, tensor<2x24x20xi1>
}"""


def test_epilogue_with_indices_and_two_results():
    kernels, _ = kernel_of(MASKED_SCORES)
    random = np.random.default_rng(1)
    q, k = random.standard_normal((2, 24, 16)).astype(np.float32), random.standard_normal((2, 20, 16)).astype(np.float32)
    out, kept = np.zeros((2, 24, 20), np.float32), np.zeros((2, 24, 20), np.int8)
    kernels.launch("k", [x.reshape(-1) for x in (q, k, out, kept)])
    mask = np.arange(20)[None, :] <= np.arange(24)[:, None]
    expected = np.where(mask, np.matmul(q.astype(np.float64), k.swapaxes(1, 2)), -1e9)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    assert (kept == mask).all()


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize(
    ("case", "most"),
    [
        (Case(12544, 96, 16, "f32", right_transposed=True, bias_relu=True), 168),
        (Case(4096, 4096, 1024, "f32", bias_relu=True), 168),
        (Case(784, 32, 192, "f32", right_transposed=True), 128),
        (Case(784, 32, 192, "f32", left_transposed=True), 128),
        (Case(2048, 2048, 256, "f64", "f64", "f64", right_transposed=True), 255),
    ],
    ids=str,
)
def test_multiply_adds_do_not_spill(case, most, target):
    """The inner steps are a loop: whole, they let the assembler load far ahead of what registers hold."""
    view = load_target(target)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(case.text())
        assert try_distribute(module.body.operations[0].operation, view)
        used = assemble(emit_ptx(module.operation, view), view).statistics["k"]
    assert not used.spills and not used.stack and used.registers <= most
