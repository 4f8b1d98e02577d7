"""The workloads in PyTorch: `PROGRAMS[name](weights, compiled)` gives a function or module of the inputs.

`compiled` is `torch.compile` for that peer and leaves its argument alone for eager mode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Compile = Callable[[Any], Any]
UNROLLED = 20
"""Steps of cartpole in one compiled graph: the whole loop of 1000 would take minutes to compile, one step costs a dispatch each."""


def chain(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x, b: torch.exp(torch.tanh(x + b)))


def softmax(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: torch.softmax(x, -1))


def layernorm(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x, scale, shift: F.layer_norm(x, x.shape[-1:], scale, shift, 1e-5))


def mlp(weights: Sequence[Tensor], compiled: Compile) -> Any:
    layers: list[nn.Module] = []
    for weight, bias in zip(weights[::2], weights[1::2]):
        layers += [_linear(weight.T.contiguous(), bias), nn.ReLU()]
    return compiled(nn.Sequential(*layers).eval())


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    layer.weight, layer.bias = (nn.Parameter(tensor, requires_grad=False) for tensor in (weight, bias))
    return layer


class SimpleModel(nn.Module):
    def __init__(self, weights: Sequence[Tensor]):
        super().__init__()
        pairs = list(zip(weights[::2], weights[1::2]))
        self.convolutions = nn.ModuleList(nn.Conv2d(w.shape[1], w.shape[0], 3, padding=1, dtype=w.dtype) for w, _ in pairs[:4])
        for layer, (weight, bias) in zip(self.convolutions, pairs):
            layer.weight, layer.bias = (nn.Parameter(tensor, requires_grad=False) for tensor in (weight, bias))
        self.linears: nn.ModuleList = nn.ModuleList(_linear(weight, bias) for weight, bias in pairs[4:])

    def forward(self, x: Tensor) -> Tensor:
        for convolution in self.convolutions:
            x = F.relu(convolution(x))
        x = x.view(x.size(0), -1)
        *hidden, last = self.linears
        for linear in hidden:
            x = F.relu(linear(x))
        return last(x)


def simplemodel(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(SimpleModel(weights).eval())


def encoder(weights: Sequence[Tensor], compiled: Compile) -> Any:
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True).eval()
    attention = layer.self_attn
    parts = [attention.out_proj, layer.norm1, layer.linear1, layer.linear2, layer.norm2]
    targets: list[Any] = [attention.in_proj_weight, attention.in_proj_bias, *(t for part in parts for t in (part.weight, part.bias))]
    for target, weight in zip(targets, weights):
        target.data.copy_(weight)
        target.requires_grad_(False)
    return compiled(layer)


def rmsnorm(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x, scale: F.rms_norm(x, x.shape[-1:], scale, 1e-6))


def row_sums(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: x.sum(-1))


def column_sums(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: x.sum(0))


def whole_sum(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: x.sum())


def transposed_add(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x, y: x.T + y)


def cumulative_sum(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: torch.cumsum(x, -1))


def attention(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(F.scaled_dot_product_attention)


def causal_attention(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))


def _gradients(function: Callable[..., Tensor], compiled: Compile) -> Any:
    """Of all arguments, by that of the result, which is the last argument."""
    return compiled(lambda *arguments: torch.func.vjp(function, *arguments[:-1])[1](arguments[-1]))


def attention_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return _gradients(F.scaled_dot_product_attention, compiled)


def causal_attention_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return _gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), compiled)


def layernorm_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return _gradients(lambda x, scale, shift: F.layer_norm(x, x.shape[-1:], scale, shift, 1e-5), compiled)


def linear_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return _gradients(lambda x, weight, bias: F.relu(x @ weight + bias), compiled)


def convolution_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    """Of NHWC images by HWIO filters."""

    def function(x: Tensor, weight: Tensor) -> Tensor:
        return F.relu(F.conv2d(x.permute(0, 3, 1, 2), weight.permute(3, 2, 0, 1), padding=1)).permute(0, 2, 3, 1)

    return _gradients(function, compiled)


def batchnorm_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    def function(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        return F.batch_norm(x.permute(0, 3, 1, 2), None, None, scale, shift, training=True).permute(0, 2, 3, 1)

    return _gradients(function, compiled)


def cross_entropy_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda *arguments: torch.func.grad_and_value(_cross_entropy)(*arguments)[::-1])


def _cross_entropy(logits: Tensor, classes: Tensor) -> Tensor:
    return F.cross_entropy(logits.float(), classes.long())


def decoder_step(weights: Sequence[Tensor], compiled: Compile) -> Any:
    """What it computes is told in jax_programs."""

    def step(ids: Tensor, classes: Tensor, *arrays: Tensor) -> tuple[Tensor, ...]:
        weights, moments = arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :]
        gradients, loss = torch.func.grad_and_value(lambda weights: _decoder_loss(ids, classes, *weights))(weights)
        moments = tuple(0.9 * moment + gradient for moment, gradient in zip(moments, gradients))
        return loss, *(weight - 0.01 * moment for weight, moment in zip(weights, moments)), *moments

    return compiled(step)


def _decoder_loss(ids: Tensor, classes: Tensor, embedding: Tensor, *weights: Tensor) -> Tensor:
    embedding, *weights = (weight.bfloat16() for weight in (embedding, *weights))
    x = F.embedding(ids, embedding)
    for scale1, w_in, w_out, scale2, w_gates, w_down in zip(*[iter(weights)] * 6):
        q, k, v = (_heads(part) for part in (F.rms_norm(x, x.shape[-1:], scale1, 1e-6) @ w_in).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(_rotated(q), _rotated(k), v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + mixed @ w_out
        gate, up = (F.rms_norm(x, x.shape[-1:], scale2, 1e-6) @ w_gates).chunk(2, -1)
        x = x + (F.silu(gate) * up) @ w_down
    return _cross_entropy((x @ embedding.T).flatten(0, 1), classes.flatten())


def _heads(x: Tensor) -> Tensor:
    return x.unflatten(-1, (-1, 64)).transpose(1, 2)


def _rotated(x: Tensor) -> Tensor:
    columns = x.shape[-1] // 2
    angles = torch.arange(x.shape[2])[:, None] * 10000.0 ** (-torch.arange(columns) / columns)
    sin, cos = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def convolution(weights: Sequence[Tensor], compiled: Compile) -> Any:
    """Of NHWC images by HWIO filters: torch sees them as channels_last."""
    return _convolution(weights[0], 1, compiled)


def depthwise(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return _convolution(weights[0], weights[0].shape[3], compiled)


def _convolution(weight: Tensor, groups: int, compiled: Compile) -> Any:
    weight = weight.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return compiled(lambda x: F.relu(F.conv2d(x.permute(0, 3, 1, 2), weight, padding=1, groups=groups)).permute(0, 2, 3, 1))


def depthwise_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    def function(x: Tensor, weight: Tensor) -> Tensor:
        return F.relu(F.conv2d(x.permute(0, 3, 1, 2), weight.permute(3, 2, 0, 1), padding="same", groups=x.shape[3])).permute(0, 2, 3, 1)

    return _gradients(function, compiled)


def first_convolution(weights: Sequence[Tensor], compiled: Compile) -> Any:
    weight = weights[0].permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return compiled(lambda x: F.relu(F.conv2d(x.permute(0, 3, 1, 2), weight, stride=2, padding=weight.shape[2] // 2)).permute(0, 2, 3, 1))


def _transposed(x: Tensor, weight: Tensor) -> Tensor:
    return F.conv_transpose2d(x.permute(0, 3, 1, 2), weight.permute(2, 3, 0, 1), stride=weight.shape[:2]).permute(0, 2, 3, 1)


def transposed_convolution(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: _transposed(x, weights[0]))


def transposed_convolution_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return _gradients(_transposed, compiled)


def resize(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2, mode="bilinear").permute(0, 2, 3, 1))


def _group_norm(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    return F.group_norm(x.permute(0, 3, 1, 2), 32, scale, shift).permute(0, 2, 3, 1)


def group_norm(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(_group_norm)


def group_norm_gradients(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return _gradients(_group_norm, compiled)


def channels_last(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: x.permute(0, 2, 3, 1).contiguous())


def batched_products(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(torch.bmm)


def linear_int8(weights: Sequence[Tensor], compiled: Compile) -> Any:
    """The library takes the second with its columns together."""
    weight = weights[0].T.contiguous().T
    return compiled(lambda x: torch._int_mm(x, weight))


def gelu_mlp(weights: Sequence[Tensor], compiled: Compile) -> Any:
    w_in, w_out = weights
    return compiled(lambda x: F.gelu(x @ w_in, approximate="tanh") @ w_out)


def grouped_attention(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True))


def lstm(weights: Sequence[Tensor], compiled: Compile) -> Any:
    """The library's, which has biases of its own for both products."""
    w_in, w_hidden, bias = weights
    layer = nn.LSTM(w_in.shape[0], w_hidden.shape[0], device=bias.device, dtype=bias.dtype)
    for target, weight in zip(layer.parameters(), (w_in.T, w_hidden.T, bias, torch.zeros_like(bias))):
        target.data.copy_(weight)

    def run(x: Tensor) -> tuple[Tensor, Tensor]:
        hidden, (_, cells) = layer(x)
        return hidden, cells[0]

    return compiled(run)


def adam(weights: Sequence[Tensor], compiled: Compile) -> Any:
    def steps(*arrays: Tensor) -> list[Tensor]:
        return [array for four in zip(*[iter(arrays)] * 4) for array in _adam(*four)]

    return compiled(steps)


def _adam(gradient: Tensor, parameter: Tensor, mean: Tensor, square: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient * gradient
    return parameter - 1e-3 * mean / (square.sqrt() + 1e-8), mean, square


def standardise(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: (x - x.mean()) / x.std(correction=0))


def argmax(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: x.argmax(-1))


def embedding(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda indices: F.embedding(indices, weights[0]))


def histogram(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: torch.zeros(256, dtype=torch.int32).index_add(0, x, torch.ones_like(x)))


def max_pool(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: F.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1).permute(0, 2, 3, 1))


def sort(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: torch.sort(x).values)


def argsort(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: torch.argsort(x, stable=True))


def top_k(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda x: tuple(torch.topk(x, 40)))


def embedding_gradient(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda indices, x: torch.zeros(100_000, x.shape[1]).index_add(0, indices, x))


def segment_sum(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(lambda segments, x: torch.zeros(1000, x.shape[1]).index_add(0, segments, x))


def fft(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(torch.fft.fft)


def rfft(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(torch.fft.rfft)


def solve(weights: Sequence[Tensor], compiled: Compile) -> Any:
    return compiled(torch.linalg.solve)


def _step(state: Sequence[Tensor], random: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    x, v, angle, spin = state
    force = torch.where(random > 0.5, 10.0, -10.0)
    cos, sin = torch.cos(angle), torch.sin(angle)
    push = (force + 0.05 * spin * spin * sin) / 1.1
    torque = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
    pull = push - 0.05 * torque * cos / 1.1
    x, v, angle, spin = x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * torque
    return x, v, angle, spin, (torch.abs(x) > 2.4) | (torch.abs(angle) > 12 * math.pi / 180)


def _joined(state: Tensor, ended: Tensor, random: Tensor, reset: Tensor) -> tuple[Tensor, Tensor]:
    *after, done = _step(state.unbind(), random)
    return torch.where(done, reset, torch.stack(after)), ended + done


def cartpole(weights: Sequence[Tensor], compiled: Compile) -> Any:
    def steps(state: Tensor, ended: Tensor, randoms: Tensor, reset: Tensor) -> tuple[Tensor, Tensor]:
        for random in randoms.unbind():
            state, ended = _joined(state, ended, random, reset)
        return state, ended

    run = compiled(steps)

    def loop(state: Tensor, random: Tensor, reset: Tensor) -> tuple[Tensor, Tensor]:
        ended = torch.zeros(state.shape[1])
        for randoms in random.split(UNROLLED):
            state, ended = run(state, ended, randoms, reset)
        return state, ended

    return loop


def cartpole_split(weights: Sequence[Tensor], compiled: Compile) -> Any:
    def steps(x: Tensor, v: Tensor, angle: Tensor, spin: Tensor, ended: Tensor, randoms: Tensor, reset: Tensor) -> tuple[Tensor, ...]:
        for random in randoms.unbind():
            *after, done = _step((x, v, angle, spin), random)
            x, v, angle, spin = (torch.where(done, fresh, now) for fresh, now in zip(reset.unbind(), after))
            ended = ended + done
        return x, v, angle, spin, ended

    run = compiled(steps)

    def loop(state: Tensor, random: Tensor, reset: Tensor) -> tuple[Tensor, Tensor]:
        carried = (*state.unbind(), torch.zeros(state.shape[1]))
        for randoms in random.split(UNROLLED):
            carried = run(*carried, randoms, reset)
        return torch.stack(carried[:4]), carried[4]

    return loop


def cartpole_rng(weights: Sequence[Tensor], compiled: Compile) -> Any:
    """With torch's own generator: it has no threefry, and takes no key."""

    def steps(state: Tensor, ended: Tensor) -> tuple[Tensor, Tensor]:
        for _ in range(UNROLLED):
            random, reset = torch.rand(state.shape[1]), torch.rand(state.shape) * 0.1 - 0.05
            state, ended = _joined(state, ended, random, reset)
        return state, ended

    run = compiled(steps)

    def loop(state: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        ended = torch.zeros(state.shape[1])
        for _ in range(1000 // UNROLLED):
            state, ended = run(state, ended)
        return state, ended

    return loop


PROGRAMS: dict[str, Callable[[Sequence[Tensor], Compile], Any]] = {
    builder.__name__: builder
    for builder in (
        *(chain, softmax, layernorm, mlp, simplemodel, encoder, cartpole, cartpole_split, cartpole_rng),
        *(rmsnorm, row_sums, column_sums, whole_sum, transposed_add, cumulative_sum),
        *(attention, causal_attention, convolution, depthwise, max_pool),
        *(attention_gradients, causal_attention_gradients, layernorm_gradients, linear_gradients),
        *(convolution_gradients, batchnorm_gradients, cross_entropy_gradients, decoder_step),
        *(depthwise_gradients, first_convolution, transposed_convolution, transposed_convolution_gradients, resize),
        *(group_norm, group_norm_gradients, channels_last, batched_products, linear_int8, gelu_mlp, grouped_attention),
        *(lstm, adam, standardise, argmax, embedding, histogram),
        *(sort, argsort, top_k, embedding_gradient, segment_sum, fft, rfft, solve),
    )
}
