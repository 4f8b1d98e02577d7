"""Attention on a GPU of whose result a part is read: a row, the first elements, all of it and a part beside it."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import hloom  # noqa: E402

PARTS = {
    "the first elements": lambda out: out.reshape(out.shape[0], -1)[:, :2],
    "of a row": lambda out: out[:, :, 0, :2],
    "of a row of a head": lambda out: out[:, 0, 3, 4:6],
    "a row": lambda out: out[:, :, -1],
    "one element": lambda out: out[0, 0, 0, 0],
    "all, and rows": lambda out: (out, out[:, :, :9] * 2, out[:, :, 0]),
}


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) / 4
    return jax.nn.softmax(scores).astype(q.dtype) @ v


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(("target", "rows"), [("sim:sm_80", 17), ("sim:sm_90a", 70)])
def test_parts_of_a_result(name, target, rows):
    def program(*operands):
        return PARTS[name](attention(*operands))

    rng = np.random.default_rng(0)
    operands = [rng.normal(size=(2, 2, rows, 16)).astype(np.float16) for _ in range(3)]
    got = hloom.compile(program, *operands, target=target)(*operands)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(jax.jit(program)(*operands)), strict=True):
        np.testing.assert_allclose(np.float32(one), np.float32(other), atol=5e-3)
