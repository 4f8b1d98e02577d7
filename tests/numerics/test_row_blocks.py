"""Gradients of attention as one kernel that goes through blocks of rows, beside JAX: masks, odd sizes, halves, what is returned between."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hloom

BATCH = 2, 3
"""Joined by reshapes in what torch and JAX deliver; six matrices of 440 rows and as many columns stay in no second-level cache."""


def weights(q, k, mask):
    scores = jnp.einsum("abqd,abkd->abqk", q, k) * q.shape[-1] ** -0.5
    return jax.nn.softmax(scores if mask is None else jnp.where(mask, scores, -jnp.inf), -1)


def attention(mask=None, kept=None):
    def function(q, k, v):
        p = weights(q, k, mask)
        return (p if kept is None else jnp.where(kept, p / 0.75, 0)) @ v

    return function


def gradients(function):
    def program(q, k, v, towards):
        return jax.vjp(function, q, k, v)[1](towards)

    return program


def squared(function):
    """The gradient needs the result: forward and backward are one kernel."""
    return jax.grad(lambda q, k, v, towards: (function(q, k, v) ** 2 * towards).sum(), (0, 1, 2))


def grouped(q, k, v):
    return jax.nn.dot_product_attention(*(x.swapaxes(1, 2) for x in (q, k, v)), is_causal=True).swapaxes(1, 2)


def of_numbers(mask):
    """As flash attention has it: weights by a number of each row, which nothing here is reduced to; keys could be the rows as well."""

    def program(q, k, v, towards):
        scores = jnp.where(mask, jnp.einsum("abqd,abkd->abqk", q, k) * 0.1, -jnp.inf)
        p = jnp.exp(scores - (q * q).sum(-1, keepdims=True))
        ds = p * (jnp.einsum("abqd,abkd->abqk", towards, v) - (towards * towards).sum(-1, keepdims=True))
        return ds @ k, jnp.einsum("abqk,abqd->abkd", ds, q), jnp.einsum("abqk,abqd->abkd", p, towards)

    return program


def causal(rows, columns, ahead=0):
    return np.tril(np.ones((rows, columns), bool), ahead)


def dropped(rows, columns):
    return np.random.default_rng(1).random((*BATCH, rows, columns)) < 0.75


CASES = {
    "plain": (gradients(attention()), (440, 440, 40), False),
    "causal": (gradients(attention(causal(440, 440))), (440, 440, 64), True),
    "more columns": (gradients(attention(causal(401, 517))), (401, 517, 33), True),
    "more rows": (gradients(attention(causal(517, 401))), (517, 401, 24), True),
    "from the lower right": (gradients(attention(causal(300, 720, 420))), (300, 720, 16), True),
    "dropout": (gradients(attention(causal(440, 440), dropped(440, 440))), (440, 440, 32), True),
    "by numbers of the rows": (of_numbers(causal(440, 440)), (440, 440, 32), True),
    "with a mask that begins": (of_numbers(causal(440, 440).T), (440, 440, 32), True),
    "with its forward": (squared(attention(causal(440, 440))), (440, 440, 40), True),
    "dot_product_attention": (gradients(grouped), (440, 440, 64), True),  # its mask is finite
}


def tensors(rows, columns, depth, kind=np.float32):
    random = np.random.default_rng(0)
    return [random.standard_normal((*BATCH, n, depth)).astype(kind) for n in (rows, columns, columns, rows)]


def decisions(exe):
    return [each for each in exe.report.data["decisions"] if each["code"] == "FUSED_ROWS"]


def error(found, expected):
    found, expected = (np.asarray(x, np.float64) for x in (found, expected))
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def in_f64(program, inputs):
    with jax.enable_x64(True):
        return jax.jit(program)(*(np.asarray(x, np.float64) for x in inputs))


@pytest.mark.parametrize(("name", "target"), [*((name, "auto") for name in CASES), ("more columns", "cpu-avx2")])
def test_like_jax(name, target):
    program, sizes, left_out = CASES[name]
    inputs = tensors(*sizes)
    exe = hloom.compile(program, *inputs, target=target)
    assert len(decisions(exe)) == 1 and ("left out" in decisions(exe)[0]["reason"]) == left_out
    assert exe.arena_bytes < 2 * inputs[0].nbytes, "no matrix of scores is in memory, which is seven times as large and more"
    assert max(map(error, exe(*inputs), in_f64(program, inputs))) < 1e-6


def test_one_block_has_all_rows():
    """Windows of few tokens: there is nothing to go through."""
    inputs = [np.random.default_rng(0).standard_normal((40, 6, 49, 16), np.float32) for _ in range(4)]
    program = gradients(attention())
    exe = hloom.compile(program, *inputs, target="cpu-avx2")
    assert decisions(exe)
    assert max(map(error, exe(*inputs), in_f64(program, inputs))) < 1e-6


def test_one_block_with_its_forward():
    """The gradient by the keys is summed in a part of what is copied to the result: both copies are equal loops, and share none."""
    inputs = [np.random.default_rng(0).standard_normal((2, 32, 4, 16), np.float32) for _ in range(4)]

    def program(q, k, v, towards):
        result, pull = jax.vjp(partial(jax.nn.dot_product_attention, is_causal=True), q, k, v)
        return result, *pull(towards)

    exe = hloom.compile(program, *inputs, target=str(Path(__file__).parents[1] / "targets" / "small-avx2.toml"))
    assert decisions(exe)
    assert max(map(error, exe(*inputs), in_f64(program, inputs))) < 1e-6


def test_halves():
    inputs = tensors(440, 440, 40, jnp.bfloat16)
    program = gradients(attention(causal(440, 440)))
    exe = hloom.compile(program, *inputs, target="cpu-avx2")
    assert max(map(error, exe(*inputs), in_f64(program, inputs))) < 2e-2


def test_weights_that_are_returned_are_whole():
    """What a mask leaves out is written, too."""

    def program(q, k, v, towards):
        mask = causal(440, 440)
        return weights(q, k, mask), *jax.vjp(attention(mask), q, k, v)[1](towards)

    inputs = tensors(440, 440, 40)
    exe = hloom.compile(program, *inputs)
    assert decisions(exe)
    found = exe(*inputs)
    assert not np.triu(np.asarray(found[0]), 1).any()
    assert max(map(error, found, in_f64(program, inputs))) < 1e-6


def test_weights_that_were_saved():
    """What sums over the rows of an argument shares nothing else with the others; scores are capped."""

    def program(p, s, q, k, v, towards):
        heads = [x.reshape(6, -1, x.shape[-1]) for x in (q, k, v, towards)]
        q, k, v, towards = heads
        dv = jnp.einsum("hqk,hqd->hkd", p.reshape(6, 400, 420), towards)
        dp = jnp.einsum("hqd,hkd->hqk", towards, v).reshape(p.shape) * p
        ds = (dp - p * dp.sum(-1, keepdims=True)) * (1 - jnp.tanh(s) ** 2).reshape(p.shape)
        ds = ds.reshape(6, 400, 420)
        return dv, jnp.einsum("hqk,hqd->hdk", ds, q), ds @ k

    random = np.random.default_rng(0)
    inputs = [random.random((1, 6, 400, 420)), random.standard_normal((6, 400, 420))]
    inputs = [x.astype(np.float32) for x in inputs] + [x.reshape(1, 6, *x.shape[2:]) for x in tensors(400, 420, 40)]
    exe = hloom.compile(program, *inputs)
    assert decisions(exe) and exe.arena_bytes < 2 * inputs[2].nbytes
    assert max(map(error, exe(*inputs), in_f64(program, inputs))) < 1e-6


def test_same_bits_on_any_number_of_threads():
    inputs = tensors(440, 440, 40)
    exe = hloom.compile(CASES["causal"][0], *inputs)
    before, found = hloom.get_threads(), []
    try:
        for threads in (1, 2, 7):
            hloom.set_threads(threads)
            found.append(b"".join(np.asarray(x).tobytes() for x in exe(*inputs)))
    finally:
        hloom.set_threads(before)
    assert len(set(found)) == 1


@pytest.mark.parametrize("heads", [4, 2], ids=["as many keys as queries", "heads that share keys"])
def test_a_loss_of_dot_product_attention(heads):
    """Between forward and backward there is more: no one group. Results in several orders are cut by the loops of what they read."""

    def loss(q, k, v, w):
        return jnp.sum((jax.nn.dot_product_attention(q, k, v, is_causal=True) @ w) ** 2)

    random = np.random.default_rng(0)
    shapes = [(1, 210, 4, 32), *[(1, 210, heads, 32)] * 2, (32, 32)]
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    program = jax.value_and_grad(loss, argnums=(0, 1, 2, 3))
    found, expected = hloom.compile(program, *inputs)(*inputs), in_f64(program, inputs)
    assert max(map(error, jax.tree.leaves(found), jax.tree.leaves(expected))) < 2e-6


@pytest.mark.parametrize("sizes", [(2, 2, 333), (3, 4, 450), (2, 16, 120)], ids=str)
@pytest.mark.parametrize("causal", [True, False])
def test_heads_that_share_keys(causal, sizes):
    """Rows are those of all heads that share keys: sums over both; also where these are the more."""
    heads, sharing, tokens = sizes

    def loss(q, k, v):
        return jnp.sum(jax.nn.dot_product_attention(q, k, v, is_causal=causal) ** 2)

    random = np.random.default_rng(0)
    shapes = [(2, tokens, heads * sharing, 40), *[(2, tokens, heads, 40)] * 2]
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    program = jax.value_and_grad(loss, argnums=(0, 1, 2))
    exe = hloom.compile(program, *inputs)
    assert len(decisions(exe)) == 1
    assert exe.arena_bytes < 4 * inputs[0].nbytes, "no matrix of scores is in memory"
    assert max(map(error, jax.tree.leaves(exe(*inputs)), jax.tree.leaves(in_f64(program, inputs)))) < 2e-6
