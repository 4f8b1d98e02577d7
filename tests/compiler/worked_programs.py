"""The worked examples of docs/fusion.md as JAX programs: what a reader would write down to see what the planner makes of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Program = tuple[Callable[..., Any], tuple[jax.ShapeDtypeStruct, ...]]


def array(*shape: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def residual_layernorm(x, residual, scale, shift):
    total = x + residual
    mean = total.mean(-1, keepdims=True)
    variance = ((total - mean) ** 2).mean(-1, keepdims=True)
    return (total - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift, total


def broadcast_after(count: int) -> Callable[..., Any]:
    def program(x):
        for number in range(count):
            x = x * 1.25 if number % 2 else jnp.abs(x)
        return jnp.broadcast_to(x[None], (512, x.shape[0])) * 2

    return program


def twenty_pairs(x):
    for _ in range(20):
        x = x[:-1] + x[1:]
    return x


def six_updates(*arrays):
    return tuple(parameter - 0.1 * gradient for parameter, gradient in zip(arrays[:6], arrays[6:]))


def slices_of_a_stack(*rows):
    stack = jnp.stack(rows)
    return jnp.sin(stack[0]) + stack[1], stack[2] * stack[3]


def attention(causal: bool = False, heads: int = 1) -> Callable[..., Any]:
    """`heads` of the queries share one of the keys and values."""

    def program(q, k, v):
        k, v = (jnp.repeat(each, heads, 1) for each in (k, v))
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) / 8
        if causal:
            rows, columns = (jnp.arange(extent) for extent in scores.shape[-2:])
            scores = jnp.where(rows[:, None] >= columns[None], scores, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(q.dtype), v)

    return program


def gradients_of_saved(q, k, v, output, sums, given):
    """Those of attention from its result and the logarithms of its rows' sums, as torch has them."""
    product = functools.partial(jnp.einsum, preferred_element_type=jnp.float32)
    p = jnp.exp(product("abqd,abkd->abqk", q, k) * 0.125 - sums[..., None])
    inner = (given.astype(jnp.float32) * output.astype(jnp.float32)).sum(-1, keepdims=True)
    ds = (p * (product("abqd,abkd->abqk", given, v) - inner) * 0.125).astype(q.dtype)
    return (
        product("abqk,abkd->abqd", ds, k).astype(q.dtype),
        product("abqk,abqd->abkd", ds, q).astype(q.dtype),
        product("abqk,abqd->abkd", p.astype(q.dtype), given).astype(q.dtype),
    )


def gradients(q, k, v, given):
    return jax.vjp(attention(), q, k, v)[1](given)


UPDATES = [array(*shape) for shape in ((64, 64), (64,), (128, 64), (128,), (32, 128), (32,))]
F32, BF16 = (array(4, 8, 1024, 64, dtype=dtype) for dtype in (jnp.float32, jnp.bfloat16))
TABLE = array(30000, 512)

PROGRAMS: dict[str, Program] = {
    "exp of tanh": (lambda x, b: jnp.exp(jnp.tanh(x + b)), (array(4096, 1024), array(1024))),
    "softmax": (jax.nn.softmax, (array(4096, 1024),)),
    "softmax of long rows": (jax.nn.softmax, (array(8, 1048576),)),
    "residual and layernorm": (residual_layernorm, (array(4096, 1024), array(4096, 1024), array(1024), array(1024))),
    "sums over both axes": (lambda x: (x.sum(0), x.sum(1)), (array(4096, 4096),)),
    "minus the mean of many": (lambda x: x - x.mean(), (array(4096, 4096),)),
    "minus the mean of few": (lambda x: x - x.mean(), (array(128, 128),)),
    "250 ops, then 512 rows": (broadcast_after(250), (array(65536),)),
    "2 ops, then 512 rows": (broadcast_after(2), (array(65536),)),
    "20 sums of neighbours": (twenty_pairs, (array(65536),)),
    "six updates": (six_updates, (*UPDATES, *UPDATES)),
    "slices of a stack": (slices_of_a_stack, (array(2048),) * 4),
    "few rows of exp": (lambda table, ids: jnp.exp(table)[ids], (TABLE, array(64, dtype=jnp.int32))),
    "many rows of exp": (lambda table, ids: jnp.exp(table)[ids], (TABLE, array(1_000_000, dtype=jnp.int32))),
    "attention": (attention(), (F32,) * 3),
    "attention in bf16": (attention(), (BF16,) * 3),
    "causal attention in bf16": (attention(causal=True), (array(1, 16, 2048, 64, dtype=jnp.bfloat16),) * 3),
    "grouped attention in bf16": (attention(heads=4), (BF16, *(array(4, 2, 1024, 64, dtype=jnp.bfloat16),) * 2)),
    "attention of one row": (attention(), (array(1, 8, 1, 64), array(1, 8, 1024, 64), array(1, 8, 1024, 64))),
    "gradients of attention": (gradients, (F32,) * 4),
    "gradients of attention in bf16": (gradients_of_saved, (*(BF16,) * 4, array(*BF16.shape[:3]), BF16)),
}
