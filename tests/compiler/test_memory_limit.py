"""A policy's memory limit: values are made again for late readers, results stay what they were, and what cannot be is an error."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import hloom
from hloom.passes.fused.planner.policy import MemoryLimitError, Policy, PolicyError

jax = pytest.importorskip("jax")
jnp = jax.numpy
TOKENS, WIDTH, HEADS, LAYERS = 64, 32, 2, 2


def block(x: Any, p: dict[str, Any]) -> Any:
    def norm(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    q, k, v = (t.reshape(TOKENS, HEADS, -1).swapaxes(0, 1) for t in jnp.split(norm(x) @ p["qkv"], 3, -1))
    scores = jax.nn.softmax(q @ k.swapaxes(1, 2) / np.sqrt(WIDTH // HEADS), -1)
    x = x + (scores @ v).swapaxes(0, 1).reshape(TOKENS, WIDTH) @ p["out"]
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def training_step(params: list[dict[str, Any]], x: Any, y: Any) -> Any:
    def loss(params: list[dict[str, Any]]) -> Any:
        h = x
        for p in params:
            h = block(h, p)
        return ((h - y) ** 2).mean()

    value, gradients = jax.value_and_grad(loss)(params)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)


def arguments() -> tuple[Any, ...]:
    numbers = np.random.default_rng(0)
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    params = [{k: 0.1 * numbers.standard_normal(s, np.float32) for k, s in shapes.items()} for _ in range(LAYERS)]
    return params, *(numbers.standard_normal((TOKENS, WIDTH), np.float32) for _ in range(2))


def compiled(**policy: Any) -> hloom.Executable:
    return hloom.compile(jax.jit(training_step), *arguments(), policy=policy or None)


def test_a_training_step_runs_in_less_than_it_takes_by_itself() -> None:
    """A small transformer's, under a limit 30% below what its plan takes."""
    free = compiled()
    limit = free.arena_bytes * 7 // 10
    small = compiled(memory_limit=limit)
    assert small.arena_bytes <= limit < free.arena_bytes < free.report.data["memory"]["unfused"]
    told = small.report.data["memory"]
    assert told["arena"] <= told["limit"] == limit < told["planned"] <= told["unfused"]
    made = [record for record in small.report.data["decisions"] if record["code"] == "REMATERIALISED"]
    assert made and all(record["figures"]["t_after_ps"] > 0 < record["figures"]["bytes_saved"] for record in made)
    again = sum(record["figures"]["t_after_ps"] for record in made)
    assert again < sum(group["calls"] * group.get("cost_ps", 0) for group in small.report.data["groups"]) // 3
    for a, b in zip(jax.tree.leaves(free(*arguments())), jax.tree.leaves(small(*arguments())), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_limit_that_cannot_be_met_says_what_could() -> None:
    with pytest.raises(MemoryLimitError, match="the policy's memory_limit is 1024") as found:
        compiled(memory_limit="1 KiB")
    assert found.value.remedy is not None
    reached = re.match(r"raise memory_limit beyond (\d+), which is what was reached", found.value.remedy)
    assert reached and 1024 < int(reached[1]) < 500_000


@pytest.mark.parametrize(("given", "size"), [(4096, 4096), ("4096 B", 4096), ("1.5 KiB", 1536), ("3MiB", 3 << 20), ("2 GiB", 2 << 30)])
def test_sizes(given: int | str, size: int) -> None:
    policy = Policy.of({"memory_limit": given})
    assert policy.memory_limit == size
    assert Policy.of(policy.entries()) == policy


@pytest.mark.parametrize("given", [-1, True, 1.5, "12", "1 MB", "many", ["1 KiB"]])
def test_what_is_no_size(given: Any) -> None:
    with pytest.raises(PolicyError, match='memory_limit is a number of bytes or a text such as "200 MiB"'):
        Policy.of({"memory_limit": given})
