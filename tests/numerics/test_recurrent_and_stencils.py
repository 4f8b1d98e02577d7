"""Recurrent layers and stencils in loops beside jax.jit: products before the loop, packed weights, carries that alternate."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hloom
from hloom.compiler.target import resolve
from hloom.runtime.library import get_threads

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
rng = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    return ((rng.random(shape) - 0.5) * 0.5).astype(np.float32)


def lstm(xs, w, v, b, reverse=False):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ w + h @ v + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((*xs.shape[1:-1], v.shape[0]), xs.dtype)
    return lax.scan(step, (zeros, zeros), xs, reverse=reverse)


def gru_of_lengths(xs, w, v, lengths):
    def step(h, given):
        x, turn = given
        r, z, n = jnp.split(x @ w, 3, -1)
        hr, hz, hn = jnp.split(h @ v, 3, -1)
        z = jax.nn.sigmoid(z + hz)
        new = (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn) + z * h
        h = jnp.where((turn < lengths)[:, None], new, h)
        return h, h

    return lax.scan(step, jnp.zeros((xs.shape[1], v.shape[0])), (xs, jnp.arange(xs.shape[0])))


def two_layers(xs, w, v, u, s):
    def step(carry, x):
        a, b = carry
        a = jnp.tanh(x @ w + a @ v)
        b = jnp.tanh(a @ u + b @ s)
        return (a, b), b

    zeros = jnp.zeros((xs.shape[1], v.shape[0]))
    return lax.scan(step, (zeros, zeros), xs)


def weight_first(xs, w, v):
    return lax.scan(lambda h, x: ((h := jnp.tanh(w @ x + v @ h)), h), jnp.zeros(v.shape[0]), xs)


def turns_of_the_second_dimension(xs, w, v):
    return lax.fori_loop(0, xs.shape[1], lambda i, h: jnp.tanh(xs[:, i] @ w + h @ v), jnp.zeros((xs.shape[0], v.shape[0])))


RECURRENT = {
    "one row": (lstm, (numbers(20, 1, 48), numbers(48, 256), numbers(64, 256), numbers(256))),
    "reverse": (partial(lstm, reverse=True), (numbers(9, 3, 33), numbers(33, 60), numbers(15, 60), numbers(60))),
    "many rows": (lstm, (numbers(6, 40, 64), numbers(64, 256), numbers(64, 256), numbers(256))),
    "lengths": (gru_of_lengths, (numbers(11, 4, 40), numbers(40, 96), numbers(32, 96), np.array([11, 3, 0, 7], np.int32))),
    "two layers": (two_layers, (numbers(7, 2, 32), numbers(32, 64), numbers(64, 64), numbers(64, 64), numbers(64, 64))),
    "weight first": (weight_first, (numbers(30, 64), numbers(128, 64), numbers(128, 128))),
    "batch first": (turns_of_the_second_dimension, (numbers(2, 16, 96), numbers(96, 128), numbers(128, 128))),
}


def plate(u):
    """A rim that is kept."""
    inner = u[1:-1, 1:-1] + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u.at[1:-1, 1:-1].set(inner)


def ring(u):
    return u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)


def mirrored(u):
    p = jnp.pad(u, 1, mode="reflect")
    return 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2])


def convolved(u):
    kernel = jnp.array([[0, 0.1, 0], [0.1, 0.6, 0.1], [0, 0.1, 0]])[None, None]
    return lax.conv_general_dilated(u[None, None], kernel, (1, 1), "SAME")[0, 0]


def line(u):
    return u.at[1:-1].add(0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]))


def reflecting(u):
    u = u.at[1:-1].set(0.5 * (u[2:] + u[:-2]))
    return u.at[0].set(u[1]).at[-1].set(u[-2])


def volume(u):
    inner = sum(u[1 + a : u.shape[0] - 1 + a, 1 + b : u.shape[1] - 1 + b, 1 + c : u.shape[2] - 1 + c] for a, b, c in _STAR) / 7
    return u.at[1:-1, 1:-1, 1:-1].set(inner)


_STAR = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
STENCILS = {
    "plate": (plate, (34, 41)),
    "ring": (ring, (16, 24)),
    "mirrored": (mirrored, (12, 37)),
    "convolved": (convolved, (20, 20)),
    "line": (line, (1000,)),
    "reflecting": (reflecting, (301,)),
    "volume": (volume, (9, 12, 17)),
}


def wave(u):
    def step(_, carry):
        now, before = carry
        return (2 * now - before).at[1:-1].add(0.2 * (now[2:] - 2 * now[1:-1] + now[:-2])), now

    return lax.fori_loop(0, 21, step, (u, u))


def turned(step, turns, u):
    return lax.fori_loop(0, turns, lambda i, u: step(u), u)


def check(function, inputs, tolerance=1e-5) -> hloom.Executable:
    exe = hloom.compile(function, *inputs)
    found, right = (jax.tree.leaves(f(*inputs)) for f in (exe, jax.jit(function)))
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(np.asarray(a, np.float32), np.asarray(b, np.float32), rtol=tolerance, atol=tolerance)
    return exe


def codes(exe: hloom.Executable) -> set[str]:
    return {decision["code"] for decision in exe.report.data["decisions"]}


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_layer(name):
    check(*RECURRENT[name])


@pytest.mark.parametrize("name", ["one row", "weight first", "batch first"])
def test_rows_are_multiplied_before_the_loop(name):
    function, inputs = RECURRENT[name]
    assert "LOOP_HOISTED" in codes(check(function, inputs))
    inside = hloom.compile(function, *inputs, policy={"loop": [{"products": "inside"}]})
    assert "LOOP_HOISTED" not in codes(inside)
    for a, b in zip(jax.tree.leaves(inside(*inputs)), jax.tree.leaves(jax.jit(function)(*inputs)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_one_row_is_multiplied_by_several_panels_of_a_tile():
    def layer(xs, weights):
        def step(carry, x):
            g = x + carry[1] @ weights / 2
            c = jax.nn.sigmoid(g[:, :128]) * carry[0] + jax.nn.sigmoid(g[:, 128:256]) * jnp.tanh(g[:, 256:384])
            h = jax.nn.sigmoid(g[:, 384:]) * jnp.tanh(c)
            return (c, h), h

        return lax.scan(step, (jnp.zeros((1, 128)),) * 2, xs)[1]

    inputs = numbers(64, 1, 512), numbers(128, 512)
    for cores in (1, 2, 8):  # that share the panels
        exe = hloom.compile(layer, *inputs, target=resolve("cpu").with_entries({"cores": cores}))
        np.testing.assert_allclose(exe(*inputs), jax.jit(layer)(*inputs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("region_ps", [100_000, 1_000_000_000])  # tiles are shared among threads, or not
@pytest.mark.parametrize("rows", [1, 4])
def test_weights_of_few_rows_are_read_to_and_fro(rows, region_ps):
    def layer(xs, weights):
        def step(h, x):
            g = h @ weights / 2
            a = x + g
            u = jax.nn.sigmoid(a[:, :128])
            h = (1 - u) * jnp.tanh(x[:, 256:] + jax.nn.sigmoid(a[:, 128:256]) * g[:, 256:]) + u * h
            return h, h

        return lax.scan(step, jnp.zeros((rows, 128)), xs)[1]

    inputs, entries = (numbers(40, rows, 384), numbers(128, 384)), {"cores": 2, "parallel_region_ps": region_ps}
    forwards, turning = (
        hloom.compile(layer, *inputs, target=resolve("cpu").with_entries({**entries, "l2_bytes": size})) for size in (1 << 21, 1 << 18)
    )
    before, expected = get_threads(), np.asarray(forwards(*inputs))
    np.testing.assert_allclose(expected, jax.jit(layer)(*inputs), rtol=1e-5, atol=1e-5)
    try:
        for threads in (1, 2):
            hloom.set_threads(threads)
            np.testing.assert_array_equal(turning(*inputs), expected)
    finally:
        hloom.set_threads(before)


def test_a_recurrent_layer_in_bf16():
    inputs = tuple(np.asarray(jnp.asarray(a, jnp.bfloat16)) for a in RECURRENT["one row"][1])
    check(lstm, inputs, tolerance=0.02)


@pytest.mark.parametrize(("name", "turns"), [(name, 18 + n % 2) for n, name in enumerate(STENCILS)])
def test_a_stencil(name, turns):
    step, shape = STENCILS[name]
    exe = check(partial(turned, step, turns), (numbers(*shape),))
    assert not [group for group in exe.report.data["groups"] if group["kind"] == "scatter"]
    assert ("LOOP_ALTERNATES" in codes(exe)) == (name != "reflecting")  # its ends are updated in place, at last


def test_a_carry_that_hands_another_one_on():
    assert "LOOP_ALTERNATES" in codes(check(wave, (numbers(500),)))


@pytest.mark.parametrize(
    ("function", "inputs"), [RECURRENT["one row"], RECURRENT["many rows"], (partial(turned, plate, 18), (numbers(300, 300),))]
)
def test_one_thread_and_two(function, inputs):
    exe = hloom.compile(function, *inputs)
    before, results = get_threads(), []
    try:
        for threads in (1, 2):
            hloom.set_threads(threads)
            results.append([np.array(leaf) for leaf in jax.tree.leaves(exe(*inputs))])
    finally:
        hloom.set_threads(before)
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", ["one row", "weight first"])
def test_rows_are_multiplied_before_the_loop_on_a_gpu(name):
    function, inputs = RECURRENT[name]
    inputs = (inputs[0][:6], *inputs[1:])
    exe = hloom.compile(function, *inputs, target="sim:sm_90a")
    assert "LOOP_HOISTED" in codes(exe)
    for a, b in zip(jax.tree.leaves(exe(*inputs)), jax.tree.leaves(jax.jit(function)(*inputs)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
