"""Gradients of attention as two kernels of a GPU that compute scores again: on the simulator beside f64, and what the assembler says."""

from __future__ import annotations

import pytest

import hloom

torch = pytest.importorskip("torch")
forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward

SIMULATED = "sim:sm_90a"
HALF, BRAIN = torch.float16, torch.bfloat16
TOLERANCE = {HALF: 6e-4, BRAIN: 5e-3}
"""Of all elements together: torch's own kernels are off by as much."""


def saved(queries, keys, kind, causal=False):
    """What the backward pass reads: inputs in halves, the result and the logarithms of sums as forward has them."""
    torch.manual_seed(0)
    towards, q, k, v = (torch.randn(*shape).to(kind) for shape in (queries, queries, keys, keys))
    output, sums = forward(q.double(), k.double(), v.double(), 0.0, causal)
    return towards, q, k, v, output.to(kind), sums.float()


def expected(towards, q, k, v, causal=False, mask=None):
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    mask = None if mask is None else mask.double()
    torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal, attn_mask=mask).backward(towards.double())
    return [x.grad for x in leaves]


def joined(exe):
    return [each for each in exe.report.data["decisions"] if each["code"] == "FUSED_ATTENTION"]


def compare(exe, inputs, wanted):
    (record,) = joined(exe)
    assert [name.startswith("recomputed") for name in record["groups"]] == [True, True]
    for found, reference in zip(exe(*inputs), wanted):
        assert (found.double() - reference).norm() <= TOLERANCE[found.dtype] * reference.norm()
    assert exe.device.last.counters.mma
    return record


CASES = {
    "plain": ((1, 1, 100, 32), (1, 1, 100, 32), HALF, False),
    "causal, bf16, several heads": ((1, 2, 130, 64), (1, 2, 130, 64), BRAIN, True),
    "heads of 128": ((1, 1, 150, 128), (1, 1, 150, 128), BRAIN, True),
    "heads of 40, more rows": ((1, 1, 150, 40), (1, 1, 70, 40), HALF, True),
    "more columns, an odd number": ((2, 1, 70, 32), (2, 1, 149, 32), HALF, True),
}


@pytest.mark.parametrize("name", CASES)
def test_beside_f64(name):
    queries, keys, kind, causal = CASES[name]
    inputs = saved(queries, keys, kind, causal)
    exe = hloom.compile(lambda *x: backward(*x, 0.0, causal), *inputs, target=SIMULATED)
    record = compare(exe, inputs, expected(*inputs[:4], causal))
    assert ("masked" in record["reason"]) == causal


@pytest.mark.parametrize("target", ["sim:sm_80", f"{SIMULATED}+ptx"])
def test_before_wgmma_and_as_ptx(target):
    inputs = saved((1, 1, 130, 64), (1, 1, 130, 64), BRAIN, True)
    compare(hloom.compile(lambda *x: backward(*x, 0.0, True), *inputs, target=target), inputs, expected(*inputs[:4], True))


def test_a_bias_that_is_an_argument():
    inputs = saved((2, 1, 100, 32), (2, 1, 140, 32), HALF)
    bias = torch.randn(2, 1, 100, 140)
    _, q, k, v, *_ = inputs
    output, sums = forward(q.double(), k.double(), v.double(), 0.0, False, attn_mask=bias.double())
    inputs = (*inputs[:4], output.half(), sums.float(), bias)
    exe = hloom.compile(lambda *x: backward(*x[:6], 0.0, False, attn_mask=x[6]), *inputs, target=SIMULATED)
    compare(exe, inputs, expected(*inputs[:4], mask=bias))


def test_columns_that_a_causal_mask_leaves_out_are_not_multiplied():
    steps = {}
    for causal in (False, True):
        inputs = saved((1, 1, 256, 32), (1, 1, 256, 32), HALF, causal)
        exe = hloom.compile(lambda *x, causal=causal: backward(*x, 0.0, causal), *inputs, target=SIMULATED)
        exe(*inputs)
        steps[causal] = exe.device.last.counters.mma
    assert steps[True] * 16 == steps[False] * 10  # of four by four tiles


@pytest.mark.parametrize(("target", "tokens", "depth"), [("sm_90a", 2048, 64), ("sm_80", 1024, 128)])
def test_two_kernels_without_spills_and_no_bytes_of_scores(target, tokens, depth):
    shape = (1, 16, tokens, depth)
    inputs = [torch.empty(*shape, dtype=BRAIN)] * 5 + [torch.empty(*shape[:3])]
    report = hloom.compile(lambda *x: backward(*x, 0.0, True), *inputs, target=target).report.data
    kernels = [kernel for kernel in report["kernels"] if kernel["name"].startswith("recomputed")]
    assert len(kernels) == 2 and not any(kernel["spills"] or kernel["stack"] for kernel in kernels)
    tensor = 16 * tokens * depth * 2
    assert sum(kernel["moved"] for kernel in report["kernels"]) < 30 * tensor  # a matrix of scores in bf16 would be 8 or 32
    assert report["memory"]["arena"] < 5 * tensor


def test_what_keeps_kernels_of_its_own():
    def reasons(inputs, **options):
        exe = hloom.compile(lambda *x: backward(*x, 0.0, False), *inputs, target=SIMULATED, **options)
        assert not joined(exe)
        return " ".join(each["reason"] for each in exe.report.data["decisions"])

    inputs = saved((1, 2, 100, 32), (1, 2, 100, 32), HALF)
    assert "have kernels of their own" in reasons(inputs, policy={"kernel": [{"op": "dot_general", "use": "apart"}]})
    assert "multiplies f16 or bf16, not f32" in reasons([x.float() for x in inputs])


def test_forward_saves_no_scores_for_the_backward_of_torch_compile():
    """AOTAutograd parts forward and backward while both are ops of torch's."""

    def function(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    torch.manual_seed(0)
    inputs = [torch.randn(1, 2, 96, 32, dtype=HALF, requires_grad=True) for _ in range(3)]
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: saved.append(x.numel()) or x, lambda x: x):
        result = torch.compile(function, backend="hloom", fullgraph=True, options={"target": SIMULATED})(*inputs)
    assert saved and max(saved) == inputs[0].numel()
    towards = torch.randn_like(result)
    found = torch.autograd.grad(result, inputs, towards)
    for gradient, reference in zip(found, expected(towards, *(x.detach() for x in inputs), True)):
        assert (gradient.double() - reference).norm() <= TOLERANCE[HALF] * reference.norm()
