"""Attention in bf16 whose products go by AMX tiles, keys and values packed once a head: edges, masks, heads that share keys, beside f32."""

from __future__ import annotations

import math

import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.target import host

torch = pytest.importorskip("torch")
functional = torch.nn.functional

pytestmark = [pytest.mark.host_cpu, pytest.mark.skipif(not host().amx_bf16, reason="this processor has no AMX")]


def plain(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v)


def causal(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def shared(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def from_the_lower_right(q, k, v):
    """As a prompt that goes on behind a cache has it: the last row reads all columns."""
    rows, columns = q.shape[-2], k.shape[-2]
    mask = torch.arange(columns)[None, :] <= torch.arange(rows)[:, None] + (columns - rows)
    return functional.scaled_dot_product_attention(q, k, v, mask)


def biased(q, k, v):
    bias = torch.sin(torch.arange(q.shape[-2])[:, None] * 0.3 + torch.arange(k.shape[-2])).to(q.dtype)
    return functional.scaled_dot_product_attention(q, k, v, bias)


CASES = {
    "whole blocks": (plain, 3, 3, 128, 96, 64),
    "as many rows as a tile": (plain, 3, 3, 16, 64, 64),
    "the last rows": (plain, 2, 2, 33, 64, 32),
    "197 tokens": (plain, 3, 3, 197, 197, 64),
    "columns and steps that fill no tile": (plain, 2, 2, 60, 45, 40),
    "narrow heads": (plain, 2, 2, 64, 64, 16),
    "wide heads": (plain, 2, 2, 64, 80, 80),
    "fewer columns than a block": (plain, 2, 2, 49, 27, 24),
    "causal": (causal, 2, 2, 160, 160, 64),
    "causal, at edges": (causal, 2, 2, 133, 133, 64),
    "causal, more columns": (causal, 2, 2, 53, 171, 32),
    "from the lower right": (from_the_lower_right, 2, 2, 40, 121, 64),
    "a bias": (biased, 2, 2, 65, 65, 64),
    "heads that share keys": (shared, 6, 2, 96, 96, 64),
}
TILES = {"as many rows as a tile": 4, "narrow heads": 6}
"""Of the blocks of both products, where these are not two by two."""


@pytest.mark.parametrize("name", CASES)
def test_like_f32(name):
    function, heads, keys, rows, columns, depth = CASES[name]
    torch.manual_seed(0)
    shapes = [(2, heads, rows, depth), (2, keys, columns, depth), (2, keys, columns, depth)]
    q, k, v = (torch.randn(shape).to(torch.bfloat16) for shape in shapes)
    text = Compilation.of(function, (q, k, v)).text("vector")
    assert text.count("x86.amx.tile_mulf") == TILES.get(name, 8), "both products go by tiles"
    exe = hloom.compile(function, q, k, v)
    assert [each["code"] for each in exe.report.data["decisions"]].count("FUSED_ATTENTION") == 1
    expected = function(*(each.float() for each in (q, k, v)))
    for _ in range(2):
        torch.testing.assert_close(exe(q, k, v).float(), expected, atol=2**-7 * expected.abs().max().item(), rtol=0)


def test_each_head_has_panels_of_its_own():
    """Keys and values of the head before are not taken for those of the next one, nor those of the call before."""
    exe = hloom.compile(plain, *(torch.randn(1, 4, 64, 64).to(torch.bfloat16) for _ in range(3)))
    for seed in range(3):
        torch.manual_seed(seed)
        given = [torch.randn(1, 4, 64, 64).to(torch.bfloat16) for _ in range(3)]
        expected = plain(*(each.float() for each in given))
        torch.testing.assert_close(exe(*given).float(), expected, atol=0.03, rtol=0)


def test_what_fills_up_tiles_meets_no_infinity():
    """The zeros behind 45 weights of a row, and the rows behind 45 of the values."""
    q, k, v = (torch.ones(1, 2, n, 40).to(torch.bfloat16) for n in (37, 45, 45))
    v[0, 1, 44, 7] = math.inf
    found = hloom.compile(plain, q, k, v)(q, k, v).float()
    expected = torch.ones(1, 2, 37, 40)
    expected[0, 1, :, 7] = math.inf
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(("depth", "features"), [(32, 32), (16, 32), (64, 48)])
def test_heads_that_are_parts_of_one_product(depth, features):
    """Queries, keys and values of a head lie side by side: a panel has the part of one alone, of all tiles of rows."""

    def together(x):
        q, k, v = (part.transpose(0, 1) for part in x.split([depth, depth, features], dim=-1))
        return (q @ k.transpose(1, 2) * depth**-0.5).softmax(-1) @ v

    torch.manual_seed(0)
    x = torch.randn(49, 4, 2 * depth + features).to(torch.bfloat16)
    assert Compilation.of(together, (x,)).text("vector").count("x86.amx.tile_mulf") == 8
    expected = together(x.float())  # of scores that are not rounded, which those in bf16 are twice
    torch.testing.assert_close(hloom.compile(together, x)(x).float(), expected, atol=2**-6 * expected.abs().max().item(), rtol=0)


FORMS = {
    "no heads": (plain, (64, 40), (45, 40), (45, 40)),
    "one dimension of heads": (plain, (3, 64, 64), (3, 80, 64), (3, 80, 64)),
    "two before the heads": (causal, (2, 2, 3, 48, 32), (2, 2, 3, 48, 32), (2, 2, 3, 48, 32)),
    "values wider than keys": (plain, (1, 2, 64, 32), (1, 2, 64, 32), (1, 2, 64, 64)),
    "a bias": (biased, (2, 65, 64), (2, 65, 64), (2, 65, 64)),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_torch_has_no_kernel_for(name):
    """Torch computes these in f32; they are the same products of halves."""
    function, *shapes = FORMS[name]
    torch.manual_seed(0)
    given = [torch.randn(shape).to(torch.bfloat16) for shape in shapes]
    assert Compilation.of(function, given).text("vector").count("x86.amx.tile_mulf") == 8, "both products go by tiles"
    expected = function(*(each.double() for each in given))
    found = hloom.compile(function, *given)(*given).double()
    assert torch.linalg.norm(found - expected) < 2**-8 * torch.linalg.norm(expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradients_of_what_torch_has_no_kernel_for(dtype):
    torch.manual_seed(0)
    given = [torch.randn(3, 64, 32, dtype=dtype) for _ in range(3)]
    towards = torch.randn(3, 64, 32, dtype=dtype)

    def gradients(function, type_):
        inputs = [each.to(type_).requires_grad_() for each in given]
        return torch.autograd.grad(function(*inputs), inputs, towards.to(type_))

    found = gradients(torch.compile(causal, backend="hloom", fullgraph=True), dtype)
    most = 2**-7 if dtype == torch.bfloat16 else 2**-20
    for gradient, expected in zip(found, gradients(causal, torch.float64)):
        assert torch.linalg.norm(gradient.double() - expected) < most * torch.linalg.norm(expected)
