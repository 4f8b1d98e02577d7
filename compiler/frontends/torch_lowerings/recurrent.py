"""Recurrent layers (LSTM, GRU, RNN) as loops over time: a step is compiled once, however many there are.

Before:
    aten.lstm(x, [h0, c0], [w_ih, w_hh, b_ih, b_hh], …)        x: 32×8×256
After:
    while (step < 32) { gates = dot_general(h, w_hh) + dot_general(x[step], w_ih) + b_ih; c = …; h = …; %out[step] = h }

Where gradients are asked for, each direction of a layer is an op, which keeps its gates (recurrent_gradients.py), but a projected state:
autograd differentiates its steps, each an op of the program's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch_mlir import ir

from hloom.passes.common.rewriting import element_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering
from .recurrent_cells import CELLS
from .recurrent_gradients import differentiated
from .recurrent_loops import Values, Weights, forward


@torch.library.custom_op("hloom::lstm", mutates_args=())
def lstm_over_time(
    x: Tensor, states: Sequence[Tensor], weights: Sequence[Tensor], biases: bool, layers: int, both: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Of all layers; `x` is an array of steps. So is the first result, the others are the states at the end."""
    return torch.ops.aten.lstm.input(x, states, weights, biases, layers, 0.0, False, both, False)


@lstm_over_time.register_fake
def _(x: Tensor, states: Sequence[Tensor], *rest: Any) -> tuple[Tensor, ...]:
    return _lasting(x, states[0], *rest), *(state.new_empty(state.shape) for state in states)


@torch.library.custom_op("hloom::recurrent", mutates_args=())
def over_time(
    kind: str, x: Tensor, state: Tensor, weights: Sequence[Tensor], biases: bool, layers: int, both: bool
) -> tuple[Tensor, Tensor]:
    """The same of those that have one state, by the name of torch's op."""
    return getattr(torch.ops.aten, kind).input(x, state, weights, biases, layers, 0.0, False, both, False)


@over_time.register_fake
def _(kind: str, x: Tensor, state: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    return _lasting(x, state, *rest), state.new_empty(state.shape)


def _lasting(x: Tensor, state: Tensor, weights: Any, biases: bool, layers: int, both: bool) -> Tensor:
    return x.new_empty(*x.shape[:2], state.shape[-1] * (2 if both else 1))


def _decomposed(kind: str) -> None:
    """Registers the decomposition of torch's op."""
    steps = getattr(torch.ops.aten, kind).input.py_kernels[DispatchKey.Autograd]

    @torch_decomposition(f"aten.{kind}.input")
    def decomposition(
        x: Tensor, state: Any, weights: Any, biases: bool, layers: int, dropout: float, train: bool, both: bool, first: bool
    ) -> tuple[Tensor, ...]:
        states = [state] if isinstance(state, Tensor) else list(state)
        drops = dropout if train else 0.0
        learns = torch.is_grad_enabled() and any(each.requires_grad for each in (x, *weights, *states))
        if layers > 1 and (learns or drops):
            return _one_by_one(decomposition, x, state, weights, biases, layers, drops, both, first)
        if learns and states[0].shape != states[-1].shape:
            return steps(x, state, weights, biases, layers, 0.0, train, both, first)
        x = x.transpose(0, 1) if first else x
        rest = (x, state, weights, biases, layers, both)
        if learns:
            out, *ends = differentiated(kind, x, states, weights, biases, both)
        else:
            out, *ends = torch.ops.hloom.lstm(*rest) if kind == "lstm" else torch.ops.hloom.recurrent(kind, *rest)
        return (out.transpose(0, 1) if first else out, *ends)


def _one_by_one(
    one: Callable[..., Any], x: Tensor, state: Any, weights: Any, biases: bool, layers: int, dropout: float, both: bool, first: bool
) -> tuple[Tensor, ...]:
    """The layers, with elements dropped between them. torch's own decomposition of all layers drops none (2.13)."""
    states = [state] if isinstance(state, Tensor) else list(state)
    ways, each = (2 if both else 1), len(weights) // layers
    ends = []
    for layer in range(layers):
        x = torch.dropout(x, dropout, train=True) if layer and dropout else x
        own = [value[layer * ways : (layer + 1) * ways] for value in states]
        of_layer = weights[layer * each : (layer + 1) * each]
        x, *end = one(x, own[0] if isinstance(state, Tensor) else own, of_layer, biases, 1, 0.0, True, both, first)
        ends.append(end)
    return (x, *(torch.cat(parts) for parts in zip(*ends)))


for _kind in CELLS:
    _decomposed(_kind)


@torch_lowering("hloom.lstm")
def lstm(op: TorchOp, x: ir.Value, states: Values, *rest: Any) -> Values:
    return _layers("lstm", x, states, *rest)


@torch_lowering("hloom.recurrent")
def recurrent(op: TorchOp, kind: str, x: ir.Value, state: ir.Value, *rest: Any) -> Values:
    return _layers(kind, x, [state], *rest)


def _layers(kind: str, x: ir.Value, states: Values, weights: Values, biases: bool, layers: int, both: bool) -> Values:
    """The results of the last layer, and the states of all at the end."""
    ways = 2 if both else 1
    each = len(weights) // (layers * ways)
    ends: list[Values] = []
    for layer in range(layers):
        lasting = []
        for way in range(ways):
            number = layer * ways + way
            own = Weights.of(weights[number * each : (number + 1) * each], biases)
            begin = [build.reshape(build.slice_dim(state, 0, number, number + 1), build.shape_of(state)[1:]) for state in states]
            end, (made,) = forward(CELLS[kind], x, begin, own, backwards=way == 1)
            lasting.append(made)
            ends.append(end)
        x = build.concatenate(lasting, 2)
    stacked = [build.concatenate([build.reshape(end, [1, *build.shape_of(end)]) for end in kind], 0) for kind in zip(*ends)]
    return [x, *(build.convert(end, element_of(state)) for state, end in zip(states, stacked))]
