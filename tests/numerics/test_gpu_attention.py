"""Attention as one kernel of a GPU: on the simulator like torch in f32, and what the assembler says of its machine code."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.cuda.assemble import assembler
from hloom.compiler.frontend import load_program
from hloom.passes.gpu.attention import warpgroups

torch = pytest.importorskip("torch")
functional = torch.nn.functional

attention = functional.scaled_dot_product_attention
SIMULATED = "sim:sm_90a"


def causal(q, k, v):
    return attention(q, k, v, is_causal=True)


def grouped(q, k, v):
    return attention(q, k, v, is_causal=True, enable_gqa=True)


def capped(q, k, v):
    scores = torch.tanh((q @ k.transpose(-1, -2)).float() * 0.01) * 30.0
    return torch.softmax(scores, -1).to(q.dtype) @ v


def ahead(q, k, v):
    """The last row sees all columns; others as many fewer as they are before it. Few rows see nothing but the number of what is masked."""
    rows, columns = (torch.arange(x.shape[2]) for x in (q, k))
    seen = rows[:, None] + (len(columns) - len(rows)) >= columns
    scores = torch.where(seen, (q @ k.transpose(-1, -2)).float() / 7.3, torch.finfo(torch.float32).min)
    return torch.softmax(scores, -1).to(q.dtype) @ v


def dropped(q, k, v, kept):
    """Dropout: weights that are no longer summed to 1."""
    weights = torch.softmax((q @ k.transpose(-1, -2)).float() * 0.125, -1)
    return torch.where(kept, weights, 0.0).to(q.dtype) @ v


def heads_behind_tokens(q, k, v):
    return attention(*(x.transpose(1, 2) for x in (q, k, v))).transpose(1, 2)


def numbers(*shape, kind=torch.float16):
    return torch.randn(*shape).to(kind)


def joined(exe):
    return [each for each in exe.report.data["decisions"] if each["code"] == "FUSED_ATTENTION"]


def same(function, *inputs, tolerance=2e-3, target=SIMULATED):
    """Runs on the simulator, like torch in f32; returns the executable."""
    exe = hloom.compile(function, *inputs, target=target)
    assert len(joined(exe)) == 1
    expected = function(*(x.float() if x.is_floating_point() else x for x in inputs))
    torch.testing.assert_close(exe(*inputs).float(), expected, atol=tolerance, rtol=2e-2, equal_nan=True)
    assert exe.device.last.counters.mma  # as tiles, the group multiplies without tensor cores
    return exe


CASES = {
    "two batches": (attention, [(2, 2, 64, 64)] * 3, {}),
    "an odd number of tokens": (causal, [(1, 2, 77, 64)] * 3, {}),
    "bf16, heads of 128": (causal, [(1, 1, 96, 128)] * 3, {"kind": torch.bfloat16}),
    "heads of 80": (attention, [(1, 1, 40, 80)] * 3, {}),
    "more columns than rows": (attention, [(1, 2, 20, 32), (1, 2, 130, 32), (1, 2, 130, 32)], {}),
    "grouped heads": (grouped, [(2, 4, 64, 32), (2, 2, 64, 32), (2, 2, 64, 32)], {}),
    "capped scores": (capped, [(1, 2, 70, 64)] * 3, {}),
    "a diagonal that begins later": (ahead, [(1, 2, 70, 64), (1, 2, 200, 64), (1, 2, 200, 64)], {}),
    "a diagonal that begins earlier": (ahead, [(1, 2, 200, 64), (1, 2, 150, 64), (1, 2, 150, 64)], {}),
    "heads behind tokens": (heads_behind_tokens, [(2, 66, 3, 32)] * 3, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_like_torch(name):
    function, shapes, options = CASES[name]
    torch.manual_seed(0)
    same(function, *(numbers(*shape, **options) for shape in shapes), tolerance=2e-2 if options else 2e-3)


@pytest.mark.parametrize("name", ["two batches", "an odd number of tokens", "bf16, heads of 128", "a diagonal that begins later"])
def test_before_wgmma(name):
    function, shapes, options = CASES[name]
    torch.manual_seed(0)
    same(function, *(numbers(*shape, **options) for shape in shapes), tolerance=2e-2 if options else 2e-3, target="sim:sm_80")


@pytest.fixture
def large_blocks(monkeypatch):
    """Blocks of as many warp groups as there may be, which few rows do not get."""
    monkeypatch.setattr(warpgroups, "_groups", lambda rows, batches, choices, target: max(choices))


@pytest.mark.parametrize("target", [SIMULATED, f"{SIMULATED}+ptx"])
@pytest.mark.parametrize(("function", "tokens", "depth", "threads"), [(causal, 330, 64, 256), (attention, 200, 128, 256)])
@pytest.mark.usefixtures("large_blocks")
def test_warp_groups(function, tokens, depth, threads, target):
    torch.manual_seed(0)
    exe = same(function, *(numbers(1, 2, tokens, depth) for _ in range(3)), target=target)
    assert [each["block"] for each in exe.report.data["kernels"] if each["name"].startswith("attention")] == [[threads, 1, 1]]


@pytest.mark.parametrize("target", [SIMULATED, "sim:sm_80"])
def test_logarithms_of_sums_are_results_too(target):
    """As training has it: the backward pass reads them."""
    torch.manual_seed(0)
    inputs = [numbers(1, 2, tokens, 64) for tokens in (77, 130, 130)]

    def function(q, k, v):
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True)

    exe = hloom.compile(function, *inputs, target=target)
    assert len(joined(exe)) == len(exe.report.data["kernels"]) == 1
    for found, expected in zip(exe(*inputs), function(*(x.float() for x in inputs))):
        torch.testing.assert_close(found.float(), expected, atol=2e-3, rtol=2e-2)
    assert exe.device.last.counters.mma


def test_masks_that_are_arguments():
    """Columns that the first steps leave out whole, and a row without any."""
    torch.manual_seed(0)
    mask = torch.zeros(2, 1, 70, 150)
    mask[0, :, :, :100] = -math.inf
    mask[1, :, 3] = -math.inf

    def plain(q, k, v, mask):
        return torch.softmax((q @ k.transpose(-1, -2)).float() * 0.125 + mask, -1).to(q.dtype) @ v

    exe = same(plain, numbers(2, 2, 70, 64), numbers(2, 2, 150, 64), numbers(2, 2, 150, 64), mask)
    assert exe(*(numbers(2, 2, n, 64) for n in (70, 150, 150)), mask)[1, :, 3].isnan().all()


def test_scores_of_any_size():
    """What differs by more than a float has bits for is one column's weight; equal ones share it."""
    torch.manual_seed(0)
    q, k, v = (numbers(1, 1, 130, 64, kind=torch.bfloat16) for _ in range(3))
    k[:, :, 7] = k[:, :, 5]
    same(causal, q * 3e4, k * 3e4, v, tolerance=2e-2)


def test_dropout_and_padding():
    torch.manual_seed(0)
    same(dropped, *(numbers(2, 2, 64, 32) for _ in range(3)), torch.rand(2, 2, 64, 64) < 0.8)
    padding = torch.arange(80)[None, None, None] < torch.tensor([50, 71])[:, None, None, None]
    same(lambda q, k, v, padding: attention(q, k, v, attn_mask=padding), *(numbers(2, 2, 80, 32) for _ in range(3)), padding)


def test_columns_that_a_causal_mask_leaves_out_are_not_multiplied():
    torch.manual_seed(0)
    inputs = [numbers(1, 1, 256, 32) for _ in range(3)]
    steps = {}
    for function in (attention, causal):
        exe = same(function, *inputs)
        steps[function] = exe.device.last.counters.mma
    assert steps[causal] * 16 == steps[attention] * 10  # of four by four tiles


def text(tokens, depth, kind="bf16"):
    """Causal attention of 16 heads in StableHLO."""
    q, s, r = f"tensor<16x{tokens}x{depth}x{kind}>", f"16x{tokens}x{tokens}", f"tensor<16x{tokens}xf32>"
    counts, seen = f"tensor<{tokens}x{tokens}xi32>", f"tensor<{tokens}x{tokens}xi1>"
    return f"""
    func.func @main(%q: {q}, %k: {q}, %v: {q}) -> {q} {{
      %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : ({q}, {q}) -> tensor<{s}xf32>
      %scale = stablehlo.constant dense<0.125> : tensor<{s}xf32>
      %scaled = stablehlo.multiply %s, %scale : tensor<{s}xf32>
      %row = stablehlo.iota dim = 0 : {counts}
      %column = stablehlo.iota dim = 1 : {counts}
      %one = stablehlo.compare GE, %row, %column : ({counts}, {counts}) -> {seen}
      %seen = stablehlo.broadcast_in_dim %one, dims = [1, 2] : ({seen}) -> tensor<{s}xi1>
      %least = stablehlo.constant dense<0xFF800000> : tensor<{s}xf32>
      %x = stablehlo.select %seen, %scaled, %least : tensor<{s}xi1>, tensor<{s}xf32>
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<{s}xf32>, tensor<f32>) -> {r}
      %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : ({r}) -> tensor<{s}xf32>
      %d = stablehlo.subtract %x, %ms : tensor<{s}xf32>
      %e = stablehlo.exponential %d : tensor<{s}xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<{s}xf32>, tensor<f32>) -> {r}
      %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : ({r}) -> tensor<{s}xf32>
      %w = stablehlo.divide %e, %ls : tensor<{s}xf32>
      %p = stablehlo.convert %w : (tensor<{s}xf32>) -> tensor<{s}x{kind}>
      %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<{s}x{kind}>, {q}) -> {q}
      return %o : {q}
    }}"""


@pytest.mark.parametrize(("target", "tokens", "depth"), [("sm_90a", 128, 64), ("sm_90a", 2048, 128), ("sm_80", 2048, 64)])
def test_one_kernel_without_spills_and_no_bytes_of_scores(target, tokens, depth):
    report = hloom.compile(text(tokens, depth), target=target).report.data
    kernels = [kernel for kernel in report["kernels"] if kernel["name"].startswith("attention")]
    assert len(kernels) == 1 and not report["libraries"]
    assert not kernels[0]["spills"] and not kernels[0]["stack"]
    assert report["memory"]["arena"] == 0
    tensor = 16 * tokens * depth * 2
    assert kernels[0]["written"] == tensor
    assert kernels[0]["least"] <= 4 * tensor + tokens * tokens  # q, k, v, the result, and at most a mask for all heads


@pytest.mark.parametrize("depth", [64, 128])
def test_wgmma_is_waited_for_where_the_program_does(depth):
    ptx = Compilation(load_program(text(2048, depth)), target="sm_90a").text("ptx")
    _, report = assembler().run(ptx, "sm_90a")
    assert "wgmma.mma_async" in ptx
    assert "(C75" not in report  # what the assembler says where it waits earlier; a division's call makes it


def test_what_keeps_kernels_of_its_own():
    def reasons(exe):
        return " ".join(each["reason"] for each in exe.report.data["decisions"])

    q = torch.randn(1, 2, 64, 64)
    exe = hloom.compile(attention, q, q, q, target=SIMULATED)
    assert not joined(exe) and "multiplies f16 or bf16, not f32" in reasons(exe)
    exe = hloom.compile(
        attention, q.half(), q.half(), q.half(), target=SIMULATED, policy={"kernel": [{"op": "dot_general", "use": "apart"}]}
    )
    assert not joined(exe) and "have kernels of their own" in reasons(exe)


@pytest.mark.parametrize("heads", [(2, 2), (4, 2)])
def test_as_jax_has_it(heads):
    """Weights on the right of the second product, heads behind tokens, groups of heads as a dimension of their own."""
    jax = pytest.importorskip("jax")

    def function(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, is_causal=heads[0] > heads[1])

    numbers = np.random.default_rng(0)
    q, k, v = (jax.numpy.asarray(numbers.standard_normal((2, 64, n, 64)), "bfloat16") for n in (heads[0], heads[1], heads[1]))
    exe = hloom.compile(jax.jit(function).lower(q, k, v).as_text(), target=SIMULATED)
    assert len(joined(exe)) == 1
    expected = function(*(x.astype("float32") for x in (q, k, v)))
    np.testing.assert_allclose(exe(*map(np.asarray, (q, k, v))).astype(np.float32), expected, atol=2e-2)
    assert exe.device.last.counters.mma
