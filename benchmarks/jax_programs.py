"""The workloads in JAX: functions of (inputs…, weights…)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def chain(x: Any, b: Any) -> Any:
    return jnp.exp(jnp.tanh(x + b))


def softmax(x: Any) -> Any:
    return jax.nn.softmax(x, axis=-1)


def layernorm(x: Any, scale: Any, shift: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * lax.rsqrt(variance + 1e-5) * scale + shift


def mlp(x: Any, *weights: Any) -> Any:
    for weight, bias in zip(weights[::2], weights[1::2]):
        x = jax.nn.relu(x @ weight + bias)
    return x


def simplemodel(x: Any, *weights: Any) -> Any:
    pairs = list(zip(weights[::2], weights[1::2]))
    for weight, bias in pairs[:4]:
        x = lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        x = jax.nn.relu(x + bias[None, :, None, None])
    x = x.reshape(x.shape[0], -1)
    for weight, bias in pairs[4:-1]:
        x = jax.nn.relu(_linear(x, weight, bias))
    return _linear(x, *pairs[-1])


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    return jnp.einsum("...i,oi->...o", x, weight) + bias


def encoder(x: Any, *weights: Any) -> Any:
    w_in, b_in, w_out, b_out, scale1, shift1, w1, b1, w2, b2, scale2, shift2 = weights
    batch, tokens, width = x.shape
    heads = 8

    def split(y: Any) -> Any:
        return y.reshape(batch, tokens, heads, width // heads).transpose(0, 2, 1, 3)

    q, k, v = map(split, jnp.split(_linear(x, w_in, b_in), 3, axis=-1))
    attention = softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(width // heads))
    mixed = jnp.einsum("bhqk,bhkd->bhqd", attention, v).transpose(0, 2, 1, 3).reshape(batch, tokens, width)
    x = layernorm(x + _linear(mixed, w_out, b_out), scale1, shift1)
    return layernorm(x + _linear(jax.nn.relu(_linear(x, w1, b1)), w2, b2), scale2, shift2)


def rmsnorm(x: Any, scale: Any) -> Any:
    wide = x.astype(jnp.float32)
    return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def row_sums(x: Any) -> Any:
    return x.sum(-1)


def column_sums(x: Any) -> Any:
    return x.sum(0)


def whole_sum(x: Any) -> Any:
    return x.sum()


def transposed_add(x: Any, y: Any) -> Any:
    return x.T + y


def cumulative_sum(x: Any) -> Any:
    return jnp.cumsum(x, -1)


def attention(q: Any, k: Any, v: Any) -> Any:
    return _attend(q, k, v, None)


def causal_attention(q: Any, k: Any, v: Any) -> Any:
    return _attend(q, k, v, jnp.tril(jnp.ones((q.shape[2], k.shape[2]), bool)))


def _attend(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Of batch × heads × tokens × width; scores and softmax in f32."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) / math.sqrt(q.shape[-1])
    scores = scores if mask is None else jnp.where(mask, scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(q.dtype), v)


def _gradients(function: Callable[..., Any], arguments: Sequence[Any], gradient: Any) -> Any:
    """Of all arguments, by that of the result."""
    return jax.vjp(function, *arguments)[1](gradient)


def attention_gradients(q: Any, k: Any, v: Any, gradient: Any) -> Any:
    return _gradients(attention, (q, k, v), gradient)


def causal_attention_gradients(q: Any, k: Any, v: Any, gradient: Any) -> Any:
    return _gradients(causal_attention, (q, k, v), gradient)


def layernorm_gradients(x: Any, scale: Any, shift: Any, gradient: Any) -> Any:
    return _gradients(layernorm, (x, scale, shift), gradient)


def linear_gradients(x: Any, weight: Any, bias: Any, gradient: Any) -> Any:
    return _gradients(mlp, (x, weight, bias), gradient)


def convolution_gradients(x: Any, weight: Any, gradient: Any) -> Any:
    return _gradients(convolution, (x, weight), gradient)


def batchnorm_gradients(x: Any, scale: Any, shift: Any, gradient: Any) -> Any:
    """Of images with the channels last, in training."""
    return _gradients(_batchnorm, (x, scale, shift), gradient)


def _batchnorm(x: Any, scale: Any, shift: Any) -> Any:
    wide = x.astype(jnp.float32)
    centred = wide - wide.mean((0, 1, 2))
    return (centred * lax.rsqrt((centred * centred).mean((0, 1, 2)) + 1e-5) * scale + shift).astype(x.dtype)


def cross_entropy_gradients(logits: Any, classes: Any) -> Any:
    """With the loss."""
    return jax.value_and_grad(cross_entropy)(logits, classes)


def cross_entropy(logits: Any, classes: Any) -> Any:
    """The mean over rows, in f32."""
    wide = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.take_along_axis(wide, classes[:, None], 1).mean()


def decoder_step(ids: Any, classes: Any, *arrays: Any) -> Any:
    """The loss, the weights (in f32) and their moments after a step of SGD of a decoder that computes in bf16."""
    weights, moments = arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :]
    loss, gradients = jax.value_and_grad(lambda weights: _decoder_loss(ids, classes, *weights))(weights)
    moments = [0.9 * moment + gradient for moment, gradient in zip(moments, gradients)]
    return loss, *(weight - 0.01 * moment for weight, moment in zip(weights, moments)), *moments


def _decoder_loss(ids: Any, classes: Any, embedding: Any, *weights: Any) -> Any:
    embedding, *weights = (weight.astype(jnp.bfloat16) for weight in (embedding, *weights))
    x = embedding[ids]
    for scale1, w_in, w_out, scale2, w_gates, w_down in zip(*[iter(weights)] * 6):
        q, k, v = (_heads(part) for part in jnp.split(rmsnorm(x, scale1) @ w_in, 3, -1))
        mixed = causal_attention(_rotated(q), _rotated(k), v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + mixed @ w_out
        gate, up = jnp.split(rmsnorm(x, scale2) @ w_gates, 2, -1)
        x = x + (jax.nn.silu(gate) * up) @ w_down
    return cross_entropy((x @ embedding.T).reshape(-1, embedding.shape[0]), classes.reshape(-1))


def _heads(x: Any) -> Any:
    """Of 64 columns, batch x heads x tokens x columns."""
    return x.reshape(*x.shape[:2], -1, 64).transpose(0, 2, 1, 3)


def _rotated(x: Any) -> Any:
    """Halves of a head's columns, turned by an angle of the token's place."""
    columns = x.shape[-1] // 2
    angles = jnp.arange(x.shape[2])[:, None] * 10000.0 ** (-jnp.arange(columns) / columns)
    sin, cos = jnp.sin(angles).astype(x.dtype), jnp.cos(angles).astype(x.dtype)
    first, second = jnp.split(x, 2, -1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def convolution(x: Any, weight: Any) -> Any:
    """Of NHWC images by HWIO filters."""
    return jax.nn.relu(lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


def depthwise(x: Any, weight: Any) -> Any:
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.nn.relu(lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=layout, feature_group_count=x.shape[-1]))


def depthwise_gradients(x: Any, weight: Any, gradient: Any) -> Any:
    return _gradients(depthwise, (x, weight), gradient)


def first_convolution(x: Any, weight: Any) -> Any:
    """Of stride 2, with padding for odd windows on both sides."""
    edges = [(size // 2, size // 2) for size in weight.shape[:2]]
    return jax.nn.relu(lax.conv_general_dilated(x, weight, (2, 2), edges, dimension_numbers=("NHWC", "HWIO", "NHWC")))


def transposed_convolution(x: Any, weight: Any) -> Any:
    """By windows side by side, whose filters are turned round."""
    return lax.conv_transpose(x, weight[::-1, ::-1], weight.shape[:2], "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def transposed_convolution_gradients(x: Any, weight: Any, gradient: Any) -> Any:
    return _gradients(transposed_convolution, (x, weight), gradient)


def resize(x: Any) -> Any:
    """Bilinear, to twice the size."""
    return jax.image.resize(x, (x.shape[0], 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "bilinear")


def group_norm(x: Any, scale: Any, shift: Any) -> Any:
    """Of 32 groups of channels, which are last."""
    wide = x.astype(jnp.float32).reshape(*x.shape[:-1], 32, -1)
    centred = wide - wide.mean((1, 2, 4), keepdims=True)
    normal = centred * lax.rsqrt((centred * centred).mean((1, 2, 4), keepdims=True) + 1e-5)
    return (normal.reshape(x.shape) * scale + shift).astype(x.dtype)


def group_norm_gradients(x: Any, scale: Any, shift: Any, gradient: Any) -> Any:
    return _gradients(group_norm, (x, scale, shift), gradient)


def channels_last(x: Any) -> Any:
    return x.transpose(0, 2, 3, 1)


def batched_products(a: Any, b: Any) -> Any:
    return a @ b


def linear_int8(a: Any, b: Any) -> Any:
    return lax.dot(a, b, preferred_element_type=jnp.int32)


def gelu_mlp(x: Any, w_in: Any, w_out: Any) -> Any:
    return jax.nn.gelu(x @ w_in) @ w_out


def grouped_attention(q: Any, k: Any, v: Any) -> Any:
    """Heads of q in turn share one of k and v."""
    batch, heads, tokens, width = q.shape
    grouped = q.reshape(batch, k.shape[1], -1, width)
    return attention(grouped, k, v).reshape(batch, heads, tokens, width)


def lstm(x: Any, w_in: Any, w_hidden: Any, bias: Any) -> Any:
    """Of steps × rows × columns; gates in PyTorch's order. The hidden states of all steps, and the last cells."""

    def step(state: Any, now: Any) -> Any:
        hidden, cells = state
        enter, forget, new, leave = jnp.split(now + hidden @ w_hidden + bias, 4, -1)
        cells = jax.nn.sigmoid(forget) * cells + jax.nn.sigmoid(enter) * jnp.tanh(new)
        hidden = jax.nn.sigmoid(leave) * jnp.tanh(cells)
        return (hidden, cells), hidden

    nothing = jnp.zeros((x.shape[1], w_hidden.shape[0]), x.dtype)
    (_, cells), hidden = lax.scan(step, (nothing, nothing), x @ w_in)
    return hidden, cells


def adam(*arrays: Any) -> Any:
    """A step for gradients, parameters and both moments of each, in turn."""
    steps = [_adam(*four) for four in zip(*[iter(arrays)] * 4)]
    return [array for step in steps for array in step]


def _adam(gradient: Any, parameter: Any, mean: Any, square: Any) -> tuple[Any, Any, Any]:
    mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient * gradient
    return parameter - 1e-3 * mean / (jnp.sqrt(square) + 1e-8), mean, square


def standardise(x: Any) -> Any:
    """By the mean and deviation of all elements."""
    centred = x - x.mean()
    return centred * lax.rsqrt((centred * centred).mean())


def argmax(x: Any) -> Any:
    return jnp.argmax(x, -1)


def embedding(indices: Any, table: Any) -> Any:
    return table[indices]


def histogram(x: Any) -> Any:
    return jnp.zeros(256, jnp.int32).at[x].add(1)


def max_pool(x: Any) -> Any:
    lowest = jnp.array(-jnp.inf, x.dtype)
    return lax.reduce_window(x, lowest, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))


def sort(x: Any) -> Any:
    return jnp.sort(x)


def argsort(x: Any) -> Any:
    return jnp.argsort(x, stable=True)


def top_k(x: Any) -> Any:
    return lax.top_k(x, 40)


def embedding_gradient(indices: Any, gradients: Any) -> Any:
    return jnp.zeros((100_000, gradients.shape[1])).at[indices].add(gradients)


def segment_sum(segments: Any, x: Any) -> Any:
    return jax.ops.segment_sum(x, segments, num_segments=1000)


def fft(x: Any) -> Any:
    return jnp.fft.fft(x)


def rfft(x: Any) -> Any:
    return jnp.fft.rfft(x)


def solve(a: Any, b: Any) -> Any:
    return jnp.linalg.solve(a, b)


def _step(state: Any, random: Any) -> tuple[Any, Any, Any, Any, Any]:
    """One step of every environment: the state after it, and which have ended."""
    x, v, angle, spin = state
    force = jnp.where(random > 0.5, 10.0, -10.0)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    push = (force + 0.05 * spin * spin * sin) / 1.1
    torque = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
    pull = push - 0.05 * torque * cos / 1.1
    x, v, angle, spin = x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * torque
    return x, v, angle, spin, (jnp.abs(x) > 2.4) | (jnp.abs(angle) > 12 * math.pi / 180)


def cartpole(state: Any, random: Any, reset: Any) -> Any:
    def body(carry: Any, random_now: Any) -> Any:
        state, ended = carry
        *after, done = _step(state, random_now)
        return (jnp.where(done[None], reset, jnp.stack(after)), ended + done), None

    return lax.scan(body, (state, jnp.zeros(state.shape[1])), random)[0]


def cartpole_split(state: Any, random: Any, reset: Any) -> Any:
    def body(carry: Any, random_now: Any) -> Any:
        state, ended = carry
        *after, done = _step(state, random_now)
        return (tuple(jnp.where(done, fresh, now) for fresh, now in zip(reset, after)), ended + done), None

    state, ended = lax.scan(body, (tuple(state), jnp.zeros(state.shape[1])), random)[0]
    return jnp.stack(state), ended


def cartpole_rng(state: Any, key: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        state, key, ended = carry
        key, for_action, for_reset = jax.random.split(key, 3)
        random = jax.random.uniform(for_action, state.shape[1:])
        reset = jax.random.uniform(for_reset, state.shape, minval=-0.05, maxval=0.05)
        *after, done = _step(state, random)
        return (jnp.where(done[None], reset, jnp.stack(after)), key, ended + done), None

    state, _, ended = lax.scan(body, (state, key, jnp.zeros(state.shape[1])), None, length=1000)[0]
    return state, ended
