"""Attention as one kernel, beside eager PyTorch: masks of every kind, what a mask leaves out, rows of which nothing is left."""

from __future__ import annotations

import math

import numpy as np
import pytest
from x86_emulation import emulate

import hloom
from hloom.compiler.target import load_target

torch = pytest.importorskip("torch")
functional = torch.nn.functional
TARGETS = ("auto", "cpu-avx2")


def attention(q, k, v, mask=None, causal=False):
    return functional.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


def plain(q, k, v, mask):
    """Without torch's zeros for rows of which a mask leaves nothing: they are NaN."""
    return torch.softmax(q @ k.transpose(-1, -2) / 8 + mask, -1) @ v


def tensors(heads, rows, columns, depth=64, kind=torch.float32):
    torch.manual_seed(0)
    return [torch.randn(2, heads, n, depth).to(kind) for n in (rows, columns, columns)]


def less(rows, columns, low=-(10**6), high=0, kind=-math.inf):
    """0 where low <= column - row <= high."""
    ahead = torch.arange(columns) - torch.arange(rows)[:, None]
    return torch.where((ahead <= high) & (ahead >= low), 0.0, kind)


def looked_up(count):
    """As transformers has it: positions are looked up, and negative ones counted from the end."""
    places = torch.arange(count)
    return places[places][None, :] <= torch.where(places < 0, places + count, places)[:, None]


def decisions(exe):
    return [each for each in exe.report.data["decisions"] if each["code"] == "FUSED_ATTENTION"]


def skips(exe):
    return any("left out" in each["reason"] for each in decisions(exe))


CASES = {
    "causal": (lambda q, k, v: attention(q, k, v, causal=True), (3, 133, 133), True),
    "causal, more columns": (lambda q, k, v: attention(q, k, v, causal=True), (2, 53, 171), True),
    "causal, more rows": (lambda q, k, v: attention(q, k, v, causal=True), (2, 171, 53), True),
    "from the lower right": (lambda q, k, v: attention(q, k, v, less(40, 120, high=80)), (2, 40, 120), True),
    "window": (lambda q, k, v: attention(q, k, v, less(150, 150, -9, 3)), (2, 150, 150), True),
    "flags": (lambda q, k, v: attention(q, k, v, torch.ones(150, 150, dtype=torch.bool).tril(2)), (2, 150, 150), True),
    "places looked up": (lambda q, k, v: attention(q, k, v, looked_up(150)), (2, 150, 150), True),
    "finite": (lambda q, k, v: attention(q, k, v, less(70, 70, kind=-10000.0)), (2, 70, 70), False),
    "the other triangle": (lambda q, k, v: attention(q, k, v, less(70, 70, 0, 10**6)), (2, 70, 70), False),
    "no mask": (attention, (3, 101, 77), False),
    "one column": (attention, (3, 101, 1), None),
    "rows of nothing": (lambda q, k, v: plain(q, k, v, less(90, 90, high=-20)), (2, 90, 90), True),
    "no rows of nothing": (lambda q, k, v: attention(q, k, v, less(90, 90, high=-20)), (2, 90, 90), True),
}


def with_weights(q, k, v):
    weights = (q @ k.mT / 8 + less(q.shape[-2], k.shape[-2], kind=-3e38)).softmax(-1)
    return weights @ v, weights


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows", [64, 133])
def test_weights_that_are_returned_are_zeros_where_the_mask_leaves_them_out(rows, target):
    """All columns are computed: what a tile left out was whatever memory held."""
    inputs = tensors(3, rows, rows)
    exe = hloom.compile(with_weights, *inputs, target=target)
    assert len(decisions(exe)) == 1 and not skips(exe)
    for _ in range(2):
        for found, expected in zip(exe(*inputs), with_weights(*inputs)):
            torch.testing.assert_close(found, expected, atol=2e-6, rtol=2e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_like_eager(name, target):
    function, sizes, left_out = CASES[name]
    inputs = tensors(*sizes)
    exe = hloom.compile(function, *inputs, target=target)
    if left_out is not None:
        assert len(decisions(exe)) == 1 and skips(exe) == left_out
    torch.testing.assert_close(exe(*inputs), function(*inputs), atol=2e-6, rtol=2e-5, equal_nan=True)


@pytest.mark.parametrize("target", TARGETS)
def test_a_mask_that_is_an_argument(target):
    inputs = tensors(2, 66, 90)
    mask = torch.randn(2, 1, 66, 90).masked_fill(torch.rand(2, 1, 66, 90) < 0.3, -math.inf)
    mask[0, 0, 5] = -math.inf
    exe = hloom.compile(plain, *inputs, mask, target=target)
    assert decisions(exe) and not skips(exe)
    result = exe(*inputs, mask)
    assert result[0, :, 5].isnan().all() and not result[1].isnan().any()
    torch.testing.assert_close(result, plain(*inputs, mask), atol=2e-6, rtol=2e-5, equal_nan=True)


def test_a_causal_mask_beside_one_of_padding():
    inputs = tensors(2, 96, 96)
    padding = torch.zeros(2, 1, 1, 96).masked_fill(torch.arange(96) < 7, -math.inf)

    def function(q, k, v, padding):
        return attention(q, k, v, less(96, 96) + padding)

    exe = hloom.compile(function, *inputs, padding)
    assert skips(exe)
    torch.testing.assert_close(exe(*inputs, padding), function(*inputs, padding), atol=2e-6, rtol=2e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_grouped_heads(target):
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 6, 81, 32), torch.randn(2, 2, 81, 32), torch.randn(2, 2, 81, 32)

    def function(q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    exe = hloom.compile(function, q, k, v, target=target)
    assert skips(exe)
    torch.testing.assert_close(exe(q, k, v), function(q, k, v), atol=2e-6, rtol=2e-5)


@pytest.mark.parametrize(("tokens", "heads", "skipped"), [(16, 2, True), (17, 3, True), (16, 16, False)])
def test_rows_of_the_scores_in_another_order(tokens, heads, skipped):
    """JAX writes grouped heads so: the first product has tokens before heads, the mask goes by tokens, which are last behind it."""
    import jax
    import jax.numpy as jnp

    def program(q, k, v):
        scores = jnp.einsum("tkgd,ksd->kgts", q, k)
        scores = jnp.where(jnp.arange(64) <= jnp.arange(tokens)[:, None], scores, -jnp.inf)
        return jnp.einsum("kgts,ksd->tkgd", jax.nn.softmax(scores), v)

    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal(shape, np.float32) for shape in ((tokens, 4, heads, 32), (4, 64, 32), (4, 64, 32)))
    exe = hloom.compile(program, q, k, v)
    np.testing.assert_allclose(exe(q, k, v), jax.jit(program)(q, k, v), rtol=1e-4, atol=1e-5)
    assert skips(exe) == skipped


@pytest.mark.parametrize("target", TARGETS)
def test_heads_side_by_side(target):
    """Panels of a head are packed once for all tiles, though the first ones read a part of them alone."""
    torch.manual_seed(0)
    inputs = [torch.randn(2, 190, 16, 64) for _ in range(3)]

    def function(q, k, v):
        return attention(*(x.transpose(1, 2) for x in (q, k, v)), causal=True).transpose(1, 2)

    exe = hloom.compile(function, *inputs, target=target)
    assert skips(exe)
    torch.testing.assert_close(exe(*inputs), function(*inputs), atol=2e-6, rtol=2e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_types(kind, target):
    inputs = tensors(2, 70, 70, kind=kind)
    exe = hloom.compile(lambda q, k, v: attention(q, k, v, causal=True), *inputs, target=target)
    expected = attention(*(x.double() for x in inputs), causal=True)
    worst = {torch.bfloat16: 2**-7, torch.float16: 2**-9, torch.float64: 1e-12}[kind]
    assert skips(exe)
    assert (exe(*inputs).double() - expected).abs().max() < worst


@pytest.mark.parametrize("tokens", [96, 133])
def test_pairs_of_bf16(monkeypatch, tokens):
    """Of 96 columns a tile has a whole number of pairs, which are read where they are; of 133 the last tile has not. What is left out
    adds zeros to sums: results are as those under a mask of which nothing is known."""
    target = emulate(monkeypatch, load_target("cpu-avx512").with_entries({"bf16_dot": True}))
    inputs, mask = tensors(2, tokens, tokens, kind=torch.bfloat16), less(tokens, tokens).bfloat16()
    masked = hloom.compile(attention, *inputs, mask, target=target)
    exe = hloom.compile(lambda q, k, v: attention(q, k, v, less(tokens, tokens).bfloat16()), *inputs, target=target)
    assert skips(exe) and not skips(masked)
    assert torch.equal(exe(*inputs), masked(*inputs, mask))


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_what_is_masked_is_not_read(kind):
    inputs = tensors(2, 96, 96, kind=kind)
    exe = hloom.compile(lambda q, k, v: attention(q, k, v, causal=True), *inputs)
    before = exe(*inputs)
    inputs[1][:, :, 64:], inputs[2][:, :, 64:] = math.nan, math.nan  # a tile has 32 rows at most
    assert torch.equal(exe(*inputs)[:, :, :32], before[:, :, :32])


@pytest.mark.parametrize("target", TARGETS)
def test_weights_that_others_read_are_whole(target):
    def both(q, k, v):
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8 + torch.triu(torch.full((128, 128), -math.inf), 1), -1)
        return weights, weights @ v

    inputs = tensors(2, 128, 128)
    results = [np.full(shape, np.nan, np.float32) for shape in ((2, 2, 128, 128), (2, 2, 128, 64))]
    hloom.compile(both, *inputs, target=target).run(inputs, tuple(results))
    for found, expected in zip(results, both(*inputs)):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_constant_triangle():
    rows = np.triu(np.full((80, 80), -np.inf, np.float32), 1)
    mask = torch.from_numpy(rows)
    inputs = tensors(2, 80, 80)
    exe = hloom.compile(lambda q, k, v: plain(q, k, v, mask), *inputs)
    assert decisions(exe)
    torch.testing.assert_close(exe(*inputs), plain(*inputs, mask), atol=2e-6, rtol=2e-5)


def test_a_policy_keeps_them_apart():
    inputs = tensors(2, 70, 70)
    exe = hloom.compile(attention, *inputs, policy={"kernel": [{"op": "dot_general", "use": "apart"}]})
    assert not decisions(exe)
    assert any(each["code"] == "POLICY_FORBIDDEN" and each["figures"].get("policy_rule") for each in exe.report.data["decisions"])
    torch.testing.assert_close(exe(*inputs), attention(*inputs), atol=2e-6, rtol=2e-5)


def test_any_number_of_threads():
    inputs = tensors(5, 307, 307)
    exe = hloom.compile(lambda q, k, v: attention(q, k, v, causal=True), *inputs)
    before, found = hloom.get_threads(), []
    try:
        for threads in (1, 2, 7, 64):
            hloom.set_threads(threads)
            found.append(exe(*inputs))
    finally:
        hloom.set_threads(before)
    assert all(torch.equal(found[0], each) for each in found)


@pytest.mark.parametrize("target", TARGETS)
def test_keys_of_one_query_are_read_as_they_are(target):
    """torch scales the keys as well as the query; of few scores these are scaled instead."""
    q, k, v = tensors(3, 1, 300)
    exe = hloom.compile(attention, q, k, v, target=target)
    (found,) = exe.flat([q.numpy(), k.numpy(), v.numpy()])
    np.testing.assert_allclose(found, attention(q, k, v).numpy(), atol=2e-6)
    assert all(group["writes"] < k.nbytes for group in exe.report.data["groups"])


ODD = {
    "a NaN among keys": (1, 5, math.nan),
    "an infinity": (1, 5, math.inf),
    "scores of -inf, and a NaN": (1, slice(None), -math.inf),
    "large scores": (0, slice(None), 3e4),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ODD)
def test_what_a_relaxed_maximum_meets(name, target):
    """The maximum of a row does not see a NaN, and starts from a finite number: results are what they were."""
    operand, place, value = ODD[name]
    inputs = [t.abs() for t in tensors(1, 40, 70)]
    inputs[operand][:, :, place] = value
    if "a NaN" in name and operand == 1 and value == -math.inf:
        inputs[0][:, :, 7, 3] = math.nan
    exe = hloom.compile(attention, *inputs, target=target)
    assert len(decisions(exe)) == 1
    torch.testing.assert_close(exe(*inputs), attention(*inputs), atol=2e-6, rtol=2e-5, equal_nan=True)


@pytest.mark.parametrize("depth", [64, 80])
def test_scores_that_are_huge(depth):
    """What one rounding more or less makes of them is larger than any exponent: of each row one weight is 1."""
    inputs = [t.to(torch.bfloat16) for t in tensors(1, 40, 70, depth)]
    inputs[0] *= 2.0**50
    exe = hloom.compile(attention, *inputs)
    torch.testing.assert_close(exe(*inputs), attention(*inputs), atol=0, rtol=0)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_panels_that_are_not_whole(kind):
    """197 keys are three panels of 64 and a part of one; 300, of a head 80 wide, are some more."""
    for sizes in ((1, 50, 197), (1, 24, 300, 80)):
        inputs = tensors(*sizes, kind=kind)
        exe = hloom.compile(attention, *inputs)
        tolerance = {"atol": 2e-6, "rtol": 2e-5} if kind == torch.float32 else {"atol": 4e-3, "rtol": 1e-2}
        torch.testing.assert_close(exe(*inputs), attention(*inputs), **tolerance)
