"""Products of matrices, attention."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ..builder import Builder, Made, is_bool, is_float, is_integer, is_number, recipe

EQUATIONS = (
    ("abc,cd->abd", "cd"),
    ("abc,bd->adc", "bd"),
    ("abc,ad->dbc", "ad"),
    ("abc,abd->acd", "abd"),
    ("abc,abd->dc", "abd"),
    ("abc,dba->cd", "dba"),
    ("abc,bcd->ad", "bcd"),
    ("abc,cbd->dab", "cbd"),
    ("abc,abc->b", "abc"),
)
NARROW = (jnp.int8, jnp.uint8)


@recipe
def dot(b: Builder) -> Made:
    x = b.pick(lambda x: not is_bool(x), most=5000, full=True).value
    axis = b.axis(x)
    extent = x.shape[axis]
    if b.chance(0.3):
        y = b.pick(lambda y: y.dtype == x.dtype and extent in y.shape, most=500).value
        y_axis = y.shape.index(extent)
        if is_float(x):
            x, y = jnp.tanh(x), jnp.tanh(y)
        return Made(jnp.tensordot(x, y, ((axis,), (y_axis,))), is_integer(x))
    w = b.constant(b.one((extent, b.one(1, 3, 8, 17, 33)), (extent,)), x.dtype)
    wide = jnp.int32 if x.dtype in NARROW and b.chance(0.6) else None
    return Made(lax.dot_general(x, w, (((axis,), (0,)), ((), ())), preferred_element_type=wide), is_integer(x))


@recipe
def batched_dot(b: Builder) -> Made:
    x = b.pick(lambda x: x.ndim >= 2 and is_number(x), most=4000, full=True).value
    w = b.constant((x.shape[0], b.one(2, 5, 16), x.shape[-1]), x.dtype)
    wide = jnp.int32 if x.dtype in NARROW else None
    dims = ((x.ndim - 1,), (2,)), ((0,), (0,))
    return Made(lax.dot_general(x, w, dims, preferred_element_type=wide), is_integer(x))


@recipe
def einsum(b: Builder) -> Made:
    x = b.pick(lambda x: is_float(x) and x.ndim == 3, most=3000, full=True).value
    equation, names = b.one(*EQUATIONS)
    extents = dict(zip("abcd", (*x.shape, b.one(2, 4, 9))))
    return Made(jnp.einsum(equation, x, b.constant([extents[name] for name in names], x.dtype)))


def masks(b: Builder, rows: int, columns: int) -> jax.Array:
    i, j = jnp.arange(rows)[:, None], jnp.arange(columns)[None]
    return b.one(j <= i, j < i, (j <= i) & (j > i - 3), (i + j) % 3 == 0, j < 0, (i % 4 != 0) & (j <= i), j >= i)


@recipe
def attention(b: Builder) -> Made:
    x = b.pick(lambda x: is_float(x) and x.ndim >= 2 and x.size >= 16, most=4000).value
    depth = b.one(4, 5, 8)
    rows = x.size // depth
    q = x.reshape(-1)[: rows * depth].reshape(rows, depth)
    keys = b.constant((b.one(rows, 7, 33), depth), x.dtype)
    values = b.constant((len(keys), b.one(3, 8)), x.dtype)
    least = -1e4 if x.dtype == jnp.float16 else b.one(-1e9, -jnp.inf, -1e4)
    scores = jnp.where(masks(b, rows, len(keys)), q @ keys.T / 2, least)
    if b.chance(0.3):
        scores = jnp.where(jnp.isneginf(jnp.max(scores, -1, keepdims=True)), jnp.zeros((), scores.dtype), scores)
    weights = jax.nn.softmax(scores, -1)
    if b.chance(0.5):
        weights = jnp.where(jnp.isnan(weights), jnp.zeros((), weights.dtype), weights)
    return Made(weights @ values)


@recipe
def heads(b: Builder) -> Made:
    """Attention of several heads, of which some share keys and values."""
    dtype, head, groups = b.one("float32", "bfloat16", "float16"), b.one(4, 8, 16, 33), b.one(1, 2)
    batch, rows, columns, shared = b.number(1, 2), b.one(1, 2, 7, 17, 33), b.one(1, 3, 16, 33, 65), b.number(1, 2)
    x = like_activations(b, (batch, rows, shared * groups * head), dtype)
    q = x.reshape(batch, rows, shared, groups, head)
    k, v = (b.constant((batch, columns, shared, head), dtype) for _ in range(2))
    scores = jnp.einsum("bqsgh,bksh->bsgqk", q, k, preferred_element_type=b.one(None, jnp.float32)) * head**-0.5
    scores = jnp.where(masks(b, rows, columns), scores, -1e4) if b.chance(0.5) else scores
    weights = jax.nn.softmax(scores.astype(b.one(scores.dtype, jnp.float32)), -1).astype(dtype)
    return Made(jnp.einsum("bsgqk,bksh->bqsgh", weights, v).reshape(batch, rows, -1))


def like_activations(b: Builder, shape: tuple[int, ...], dtype: str) -> jax.Array:
    """A value of the pool, spread over the shape."""
    x = b.pick(is_float, full=True).value
    return jnp.tanh(jnp.resize(x.reshape(-1)[:2000], shape)).astype(dtype)


@recipe
def layer(b: Builder) -> Made:
    """A dense layer with what surrounds it: a bias, a norm, an activation, a residual."""
    x = b.pick(lambda x: is_float(x) and x.ndim >= 2, most=6000, full=True).value
    width = x.shape[-1]
    if b.chance(0.6):
        x = x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 0.1) * b.constant((width,), x.dtype)
    y = jnp.tanh(x) @ b.constant((width, b.one(width, 3, 16, 33)), x.dtype)
    y = b.one(jax.nn.relu, jax.nn.silu, jax.nn.gelu, lambda y: y)(y + b.constant((y.shape[-1],), y.dtype))
    return Made(y + x if y.shape == x.shape and b.chance(0.6) else y)
