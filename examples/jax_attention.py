"""Attention with layer norm in JAX, beside jax.jit itself; `--write` writes jax_attention.mlir, the StableHLO as JAX makes it."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import hloom
from hloom.compiler.frontend import load_program

HEADS = 4


def attention(x, weights):
    normal = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    q, k, v = (jnp.reshape(normal @ weights[name], (*x.shape[:2], HEADS, -1)) for name in ("q", "k", "v"))
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(np.float32), axis=-1)
    return x + jnp.reshape(jnp.einsum("bhqk,bkhd->bqhd", scores, v), x.shape) @ weights["o"]


def inputs():
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal((64, 64)).astype(np.float32) / 8 for name in ("q", "k", "v", "o")}
    return rng.standard_normal((2, 32, 64)).astype(np.float32), weights


def main() -> None:
    x, weights = inputs()
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".mlir").write_text(str(load_program(attention, (x, weights)).module))
        return
    compiled = hloom.compile(attention, x, weights)
    np.testing.assert_allclose(compiled(x, weights), jax.jit(attention)(x, weights), rtol=1e-4, atol=1e-5)
    print("jax_attention: agrees with JAX")


if __name__ == "__main__":
    main()
