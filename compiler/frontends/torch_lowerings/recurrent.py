"""Recurrent layers (LSTM, GRU, RNN) as a loop over time: a step is compiled once, however many there are.

Before:
    aten.lstm(x, [h0, c0], [w_ih, w_hh, b_ih, b_hh], …)        x: 32×8×256
After:
    while (step < 32) { gates = dot_general(h, w_hh) + dot_general(x[step], w_ih) + b_ih; c = …; h = …; %out[step] = h }

Whether the inputs of all steps are multiplied at once, before the loop, is a question of price (hoist-products). Of a few steps there is
no loop. Where gradients are asked for, autograd differentiates the steps, each an op of the program's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch_mlir import ir

from hloom.passes.common.rewriting import element_of, value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering

_FEW = 3
"""Steps that are no loop."""
Values = list[ir.Value]


class _Weights(NamedTuple):
    """A layer's, of one direction. Those of the gates lie one behind the other."""

    of_input: ir.Value
    of_state: ir.Value
    input_bias: ir.Value | None = None
    state_bias: ir.Value | None = None
    projection: ir.Value | None = None


_Step = Callable[[_Weights, ir.Value, Values], Values]
"""The state after a step, the layer's result first, of what the input gives the gates, and of the state before."""


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
    """Registers the decomposition of torch's op: its steps, where gradients are asked for."""
    steps = getattr(torch.ops.aten, kind).input.py_kernels[DispatchKey.Autograd]

    @torch_decomposition(f"aten.{kind}.input")
    def decomposition(
        x: Tensor, state: Any, weights: Any, biases: bool, layers: int, dropout: float, train: bool, both: bool, first: bool
    ) -> tuple[Tensor, ...]:
        if train and dropout and layers > 1:
            return _dropping(decomposition, x, state, weights, biases, layers, dropout, both, first)
        tensors = [x, *weights, *([state] if isinstance(state, Tensor) else state)]
        if torch.is_grad_enabled() and any(each.requires_grad for each in tensors):
            return steps(x, state, weights, biases, layers, 0.0, train, both, first)
        x = x.transpose(0, 1) if first else x
        rest = (x, state, weights, biases, layers, both)
        out, *ends = torch.ops.hloom.lstm(*rest) if kind == "lstm" else torch.ops.hloom.recurrent(kind, *rest)
        return (out.transpose(0, 1) if first else out, *ends)


def _dropping(
    one: Callable[..., Any], x: Tensor, state: Any, weights: Any, biases: bool, layers: int, dropout: float, both: bool, first: bool
) -> tuple[Tensor, ...]:
    """One layer after the other, with elements dropped between them. torch's own decomposition of all layers drops none (2.13)."""
    states = [state] if isinstance(state, Tensor) else list(state)
    ways, each = (2 if both else 1), len(weights) // layers
    ends = []
    for layer in range(layers):
        x = torch.dropout(x, dropout, train=True) if layer else x
        own = [value[layer * ways : (layer + 1) * ways] for value in states]
        of_layer = weights[layer * each : (layer + 1) * each]
        x, *end = one(x, own[0] if isinstance(state, Tensor) else own, of_layer, biases, 1, 0.0, True, both, first)
        ends.append(end)
    return (x, *(torch.cat(parts) for parts in zip(*ends)))


for _kind in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    _decomposed(_kind)


@torch_lowering("hloom.lstm")
def lstm(op: TorchOp, x: ir.Value, states: Values, *rest: Any) -> Values:
    return _layers(_lstm_step, x, states, *rest)


@torch_lowering("hloom.recurrent")
def recurrent(op: TorchOp, kind: str, x: ir.Value, state: ir.Value, *rest: Any) -> Values:
    return _layers(_gru_step if kind == "gru" else _step_of(kind.removeprefix("rnn_")), x, [state], *rest)


# Steps. Of narrow elements the gates and the cell are f32, as torch's own kernels have them; what is multiplied by weights is narrow.


def _lstm_step(weights: _Weights, given: ir.Value, state: Values) -> Values:
    hidden, cell = state
    enters, stays, new, leaves = _parts(build.add(_linear(hidden, weights.of_state, weights.state_bias), given), 4)
    cell = build.add(build.multiply(_sigmoid(stays), cell), build.multiply(_sigmoid(enters), build.elementwise("tanh", new)))
    after = _like(hidden, build.multiply(_sigmoid(leaves), build.elementwise("tanh", cell)))
    return [after if weights.projection is None else _like(hidden, _linear(after, weights.projection)), cell]


def _gru_step(weights: _Weights, given: ir.Value, state: Values) -> Values:
    (hidden,) = state
    own = _parts(_linear(hidden, weights.of_state, weights.state_bias), 3)
    reset, update, new = _parts(given, 3)
    reset, update = _sigmoid(build.add(own[0], reset)), _sigmoid(build.add(own[1], update))
    new = build.elementwise("tanh", build.add(new, build.multiply(own[2], reset)))
    change = build.subtract(build.convert(hidden, element_of(new)), new)
    return [_like(hidden, build.add(build.multiply(change, update), new))]


def _step_of(function: str) -> Callable[[_Weights, ir.Value, Values], Values]:
    def step(weights: _Weights, given: ir.Value, state: Values) -> Values:
        total = build.add(_linear(state[0], weights.of_state, weights.state_bias), given)
        if function == "relu":
            return [_like(state[0], build.elementwise("maximum", total, build.full_like(total, 0)))]
        return [_like(state[0], build.elementwise(function, total))]

    return step


# Layers.


def _layers(cell: _Step, x: ir.Value, states: Values, weights: Values, biases: bool, layers: int, both: bool) -> Values:
    """The results of the last layer, and the states of all at the end."""
    ways = 2 if both else 1
    each = len(weights) // (layers * ways)
    ends: list[Values] = []
    for layer in range(layers):
        lasting = []
        for way in range(ways):
            number = layer * ways + way
            own = _weights(weights[number * each : (number + 1) * each], biases)
            hidden, *cells = (build.reshape(build.slice_dim(state, 0, number, number + 1), build.shape_of(state)[1:]) for state in states)
            begin = [hidden, *(build.convert(state, _wide(state)) for state in cells)]
            made, end = _over_time(cell, own, x, begin, backwards=way == 1)
            lasting.append(made)
            ends.append(end)
        x = build.concatenate(lasting, 2)
    stacked = [build.concatenate([build.reshape(end, [1, *build.shape_of(end)]) for end in kind], 0) for kind in zip(*ends)]
    return [x, *(_like(state, end) for state, end in zip(states, stacked))]


def _weights(values: Sequence[ir.Value], biases: bool) -> _Weights:
    if biases:
        return _Weights(*values)
    return _Weights(values[0], values[1], projection=values[2] if len(values) > 2 else None)


def _over_time(cell: _Step, weights: _Weights, x: ir.Value, begin: Values, backwards: bool) -> tuple[ir.Value, Values]:
    """The result of each step, stacked, and the state after the last."""
    steps, *one = build.shape_of(x)
    if steps <= _FEW:
        return _unrolled(cell, weights, _linear(x, weights.of_input, weights.input_bias), begin, backwards)
    index = ir.IntegerType.get_signless(32)
    origin = build.zero([], index)

    def stepped(number: ir.Value, out: ir.Value, *state: ir.Value) -> Values:
        place = build.subtract(build.full_like(number, steps - 1), number) if backwards else number
        at = [place, origin, origin]
        row = build.reshape(build.dynamic_slice(x, at, [1, *one]), one)
        after = cell(weights, _linear(row, weights.of_input, weights.input_bias), list(state))
        return [build.dynamic_update_slice(out, build.reshape(after[0], [1, *build.shape_of(after[0])]), at), *after]

    out = build.zero([steps, *build.shape_of(begin[0])], element_of(x))
    out, *end = build.count_loop(steps, [out, *begin], stepped, index)
    return out, end


def _unrolled(cell: _Step, weights: _Weights, given: ir.Value, state: Values, backwards: bool) -> tuple[ir.Value, Values]:
    steps, *shape = build.shape_of(given)
    made: dict[int, ir.Value] = {}
    for number in reversed(range(steps)) if backwards else range(steps):
        state = cell(weights, build.reshape(build.slice_dim(given, 0, number, number + 1), shape), state)
        made[number] = build.reshape(state[0], [1, *build.shape_of(state[0])])
    return build.concatenate([made[number] for number in range(steps)], 0), state


def _linear(x: ir.Value, weights: ir.Value, bias: ir.Value | None = None) -> ir.Value:
    """By the rows of the weights. Sums of narrow elements are f32."""
    *shape, depth = build.shape_of(x)
    width, _ = build.shape_of(weights)
    wide = _wide(x)
    kind = build.tensor([prod(shape), width], wide)
    rows, numbers = build.reshape(x, [prod(shape), depth]), build.dot_dimensions([], [], [1], [1])
    total = value_of("stablehlo.dot_general", kind, [rows, weights], dot_dimension_numbers=numbers)
    if bias is not None:
        total = build.add(total, build.broadcast(build.convert(bias, wide), kind.shape, [1]))
    return build.reshape(total, [*shape, width])


def _wide(value: ir.Value) -> ir.Type:
    """The type in which its elements are summed."""
    element = element_of(value)
    return element if element.width > 32 else ir.F32Type.get()


def _like(narrow: ir.Value, value: ir.Value) -> ir.Value:
    """Rounded to the elements of another."""
    return build.convert(value, element_of(narrow))


def _parts(value: ir.Value, count: int) -> Values:
    size = build.shape_of(value)[-1] // count
    return [build.slice_dim(value, 1, part * size, (part + 1) * size) for part in range(count)]


def _sigmoid(x: ir.Value) -> ir.Value:
    return build.elementwise("logistic", x)
