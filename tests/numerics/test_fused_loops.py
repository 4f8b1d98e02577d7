"""Loops that are kernels beside jax.jit, on a CPU and on the simulator; what a kernel cannot be stays a loop and is right too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

import hloom

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

IN_KERNEL = {"loop": [{"turns_in": "kernel"}]}
IN_HOST = {"loop": [{"turns_in": "host"}]}
rng = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    return rng.random(shape, np.float32)


def scan(xs):
    def body(c, x):
        c = jnp.tanh(c * 0.9 + x)
        return c, c * 2

    return lax.scan(body, jnp.zeros(xs.shape[1:]), xs)


def scan_of_pairs(xs):
    def body(c, x):
        a, b = c
        a, b = a * 0.5 + b, b + x
        return (a, b), (a, b.astype(jnp.int32))

    return lax.scan(body, (xs[0], xs[1]), xs)


def scan_without_carries(xs):
    return lax.scan(lambda c, x: (c, jnp.sin(x)), 0, xs)[1]


def scan_of_scalars(xs):
    return lax.scan(lambda c, x: (c * 0.5 + x, c), jnp.float32(0), xs)


def scan_of_keys(xs, key):
    def body(c, x):
        s, k = c
        k, u = jax.random.split(k)
        s = s + jax.random.uniform(u, s.shape) * x
        return (s, k), s

    return lax.scan(body, (xs[0], key), xs)


def reverse_scan(xs):
    return lax.scan(lambda c, x: (c * 0.5 + x, (c, jnp.sin(c))), xs[0], xs, reverse=True)


def scan_of_a_small_state(xs, w):
    """A row is the state as it was, of which the next turn reads all: no next value has the row's own slot."""
    return lax.scan(lambda h, x: (jnp.tanh(w @ h + x), h), jnp.zeros(4), xs)


def gradient_of_a_scan(xs):
    return jax.grad(lambda xs: lax.scan(lambda c, x: (jnp.tanh(c * x), c), xs[0], xs)[0].sum())(xs)


def keys(x, key):
    def body(i, c):
        s, k = c
        k, u = jax.random.split(k)
        return s + jax.random.uniform(u, s.shape), k

    return lax.fori_loop(0, 20, body, (x, key))


def newton(x):
    return lax.while_loop(lambda s: s[1] < 20, lambda s: (s[0] - (s[0] ** 2 - 2) / (2 * s[0]), s[1] + 1), (x, 0))


def turns_at_run_time(x, n):
    return lax.fori_loop(0, n, lambda i, s: s * 1.01 + i.astype(jnp.float32), x)


def while_large(x):
    return lax.while_loop(lambda s: s > 1.0, lambda s: s * 0.7, x)


def collatz(n):
    return lax.while_loop(lambda s: s[0] > 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]


def nested(x):
    def inner(j, s):
        return s * 0.99 + j.astype(jnp.float32)

    return lax.fori_loop(0, 17, lambda i, s: lax.fori_loop(0, 30, inner, jnp.sin(s)) + i.astype(jnp.float32), x)


def nested_at_run_time(x, n):
    return lax.fori_loop(0, n, lambda i, s: lax.fori_loop(0, i + 1, lambda j, t: t * 0.9 + 0.1, s) + 1, x)


def short_rows(x):
    return lax.fori_loop(0, 19, lambda i, s: s / jnp.sum(jnp.abs(s), 1, keepdims=True) + 0.1, x)


def small_matrices(x, w):
    return lax.fori_loop(0, 19, lambda i, s: jnp.tanh(s @ w), x)


def pairs_side_by_side(x):
    turned = lambda v: lax.fori_loop(0, 20, lambda i, s: jnp.array([s[1], -s[0]]) * 0.5 + s * 0.5, v)  # noqa: E731
    return jax.vmap(turned)(x)


def halves(x):
    return lax.fori_loop(0, 19, lambda i, s: s * jnp.bfloat16(0.9) + jnp.bfloat16(0.1), x)


def integers(x):
    return lax.fori_loop(0, 23, lambda i, s: (s * 7 + i) % 31, x)


def booleans(x):
    return lax.fori_loop(0, 18, lambda i, s: (s[0] ^ (s[1] > 0.5), s[1] * 0.8), (x > 0.3, x))


def rows_read(x, t):
    return lax.fori_loop(0, 18, lambda i, s: s + t[i], x)


def columns_read(x, t):
    return lax.fori_loop(0, 18, lambda i, s: s + t[:, i], x)


def flat_read(x, t):
    return lax.fori_loop(0, 18, lambda i, s: s + t.reshape(-1)[i], x)


def two_shapes(x, y):
    return lax.fori_loop(0, 18, lambda i, s: (s[0] * 0.5 + 1, s[1] + 2), (x, y))


KEY = np.array([0, 3], np.uint32)
PROGRAMS: dict[str, tuple[Any, ...]] = {
    "scan": (scan, numbers(40, 77)),
    "scan of two dimensions": (scan, numbers(20, 5, 33)),
    "scan of pairs": (scan_of_pairs, numbers(19, 50)),
    "scan without carries": (scan_without_carries, numbers(30, 41)),
    "scan of scalars": (scan_of_scalars, numbers(50)),
    "scan of keys": (scan_of_keys, numbers(18, 40), KEY),
    "reverse scan": (reverse_scan, numbers(20, 61)),
    "scan of a small state": (scan_of_a_small_state, numbers(20, 4), numbers(4, 4)),
    "gradient of a scan": (gradient_of_a_scan, numbers(20, 61)),
    "keys": (keys, numbers(65), KEY),
    "newton": (newton, numbers(100) + 1),
    "newton of three dimensions": (newton, numbers(3, 5, 37) + 1),
    "turns at run time": (turns_at_run_time, numbers(33), np.int32(11)),
    "no turns": (turns_at_run_time, numbers(33), np.int32(-4)),
    "while large": (while_large, np.float32(1000)),
    "collatz": (collatz, np.int32(27)),
    "nested": (nested, numbers(130)),
    "nested at run time": (nested_at_run_time, numbers(40), np.int32(6)),
    "short rows": (short_rows, numbers(70, 6)),
    "small matrices": (small_matrices, numbers(50, 4), numbers(4, 4)),
    "pairs side by side": (pairs_side_by_side, numbers(150, 2)),
    "halves": (halves, numbers(70).astype(jnp.bfloat16)),
    "integers": (integers, rng.integers(0, 50, 70).astype(np.int32)),
    "booleans": (booleans, numbers(70)),
    "rows read": (rows_read, numbers(9), numbers(18, 9)),
    "columns read": (columns_read, numbers(9), numbers(9, 18)),
    "flat read": (flat_read, np.float32(0.5), numbers(3, 9)),
    "two shapes": (two_shapes, numbers(70), numbers(9, 3)),
}
SIMULATED = [
    "scan",
    "scan without carries",
    "scan of pairs",
    "scan of keys",
    "reverse scan",
    "keys",
    "newton of three dimensions",
    "turns at run time",
    "nested",
    "short rows",
    "pairs side by side",
    "booleans",
]


def codes(exe: Any) -> list[str]:
    return [decision["code"] for decision in exe.report.data["decisions"]]


def check(function: Callable[..., Any], *inputs: Any, target: str) -> Any:
    exe = hloom.compile(function, *inputs, target=target, policy=IN_KERNEL)
    halves = any(np.asarray(each).dtype == jnp.bfloat16 for each in inputs)
    with jax.disable_jit(halves):  # XLA's loops leave some roundings of halves out, on some processors
        expected = jax.tree.leaves(jax.jit(function)(*inputs))
    for found, right in zip(jax.tree.leaves(exe(*inputs)), expected, strict=True):
        if np.asarray(right).dtype.kind in "iub":
            np.testing.assert_array_equal(found, right)
        else:
            np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(right, np.float64), rtol=2e-5, atol=2e-5)
    return exe


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loop_is_a_kernel(name):
    assert "FUSED_LOOP" in codes(check(*PROGRAMS[name], target="cpu"))


@pytest.mark.parametrize("name", SIMULATED)
def test_a_loop_is_a_kernel_of_a_gpu(name):
    assert "FUSED_LOOP" in codes(check(*PROGRAMS[name], target="sim:sm_90a"))


def cartpole(state, key):
    def body(carry, _):
        (x, v, angle, spin), key, ended = carry
        key, for_action, for_reset = jax.random.split(key, 3)
        force = jnp.where(jax.random.uniform(for_action, x.shape) > 0.5, 10.0, -10.0)
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        push = (force + 0.05 * spin * spin * sin) / 1.1
        torque = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
        after = jnp.stack([x + 0.02 * v, v + 0.02 * (push - 0.05 * torque * cos / 1.1), angle + 0.02 * spin, spin + 0.02 * torque])
        done = (jnp.abs(after[0]) > 2.4) | (jnp.abs(after[2]) > 0.2)
        reset = jax.random.uniform(for_reset, after.shape, minval=-0.05, maxval=0.05)
        return (jnp.where(done[None], reset, after), key, ended + done), None

    return lax.scan(body, (state, key, jnp.zeros(state.shape[1])), None, length=STEPS_OF_CARTPOLE)[0][::2]


STEPS_OF_CARTPOLE = 20


def test_cartpole_is_a_kernel_of_a_warp_a_block():
    exe = check(cartpole, numbers(4, 2048) * 0.1 - 0.05, KEY, target="sim:sm_90a")
    (kernel,) = (each for each in exe.report.data["kernels"] if each["name"].startswith("loop"))
    assert (kernel["grid"], kernel["block"], kernel["calls"]) == ([64, 1, 1], [32, 1, 1], 1)
    assert kernel["read"] == 4 * 2048 * 4 + 2048 * 8 and kernel["written"] == 5 * 2048 * 4  # the state and the key; state and counts


def heat(u):
    return lax.fori_loop(0, 18, lambda i, u: u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)), u)


def reads_what_it_writes(ys):
    return lax.fori_loop(1, 20, lambda i, ys: lax.dynamic_update_index_in_dim(ys, ys[i - 1] * 0.5 + 1, i, 0), ys)


@pytest.mark.parametrize(
    ("function", "inputs", "code"),
    [
        (heat, numbers(64), "LOOP_CROSS_TILE"),
        (short_rows, numbers(7, 60), "LOOP_CROSS_TILE"),
        (reads_what_it_writes, numbers(20, 30), "LOOP_ALIAS"),
    ],
)
def test_other_loops_stay_outside(function, inputs, code):
    found = codes(check(function, inputs, target="cpu"))
    assert code in found and "FUSED_LOOP" not in found


STEPS: dict[str, Callable[..., Any]] = {
    "half": lambda a, b, t: a * 0.5 + b,
    "turn": lambda a, b, t: a + t.astype(jnp.float32) * 0.01,
    "sine": lambda a, b, t: jnp.sin(a) - b,
    "choose": lambda a, b, t: jnp.where(a > b, a * 0.75, b + 0.25),
    "divide": lambda a, b, t: a / (1 + jnp.abs(b)),
}


@settings(max_examples=12, deadline=None)
@given(
    shape=st.lists(st.integers(1, 40), max_size=3).map(tuple),
    turns=st.integers(17, 25),
    steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4),
    writes=st.booleans(),
)
@example(shape=(), turns=17, steps=["turn"], writes=False)  # the counter alone is read, at an index of its own
def test_any_body(shape, turns, steps, writes):
    def body(carry, t):
        a, b = carry
        for step in steps:
            a, b = STEPS[step](a, b, t), a
        return (a, b), (a if writes else None)

    def program(x, y):
        return lax.scan(body, (x, y), jnp.arange(turns))

    inputs = (numbers(*shape), numbers(*shape))
    kernel, host = (hloom.compile(program, *inputs, policy=policy) for policy in (IN_KERNEL, IN_HOST))
    assert "FUSED_LOOP" in codes(kernel)
    for found, right in zip(jax.tree.leaves(kernel(*inputs)), jax.tree.leaves(host(*inputs)), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 5, 64, 100, 257])
@pytest.mark.parametrize("kept", ["all", "two", "last dimension"])
def test_trajectories_of_stacked_states(columns, kept):
    """A state that the body stacks anew at each turn, kept at all of them."""

    def velocity(s):
        return jnp.stack([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])

    def step(state, _):
        after = state + 0.01 * velocity(state + 0.005 * velocity(state))
        return after, state if kept != "two" else jnp.stack([state[2], after[0] * 2])

    def trajectory(state):
        last, kept_states = jax.lax.scan(step, state, None, length=50)
        return last, jnp.moveaxis(kept_states, 1, -1) if kept == "last dimension" else kept_states

    state = np.random.default_rng(columns).standard_normal((3, columns)).astype(np.float32)
    for got, wanted in zip(hloom.compile(trajectory, state)(state), trajectory(state)):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4)


def test_a_loop_in_a_loop_that_a_sum_ends():
    """What turns the outer one comes from the inner one, which carries each element beside it."""

    def inner(state):
        return lax.while_loop(lambda s: jnp.sum(s[0] ** 2) > 1, lambda s: (s[0] * 0.5, s[1] * 0.7), state)

    def body(carry):
        y, size, turn = carry
        return *inner((y * 3, size)), turn + 1

    def program(x):
        return lax.while_loop(lambda c: (c[1] > 0.1) & (c[2] < 50), body, (x, jnp.float32(1), 0))[0]

    x = np.arange(1, 6, dtype=np.float32)
    compiled = hloom.compile(program, x, policy=IN_KERNEL)
    assert "FUSED_LOOP" in codes(compiled)
    np.testing.assert_allclose(compiled(x), program(x), rtol=1e-6)
