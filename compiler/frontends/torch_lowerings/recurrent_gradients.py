"""Recurrent layers where gradients are asked for: a loop over time that keeps its gates, and one back in time for their gradients.

Before, of one direction of a layer, 32 steps of 8 rows:
    out, h, c = aten.lstm(x, [h0, c0], [w_ih, w_hh, b_ih, b_hh], …)
After, in the forward:
    out, h, c, *kept = hloom.recurrent_kept("lstm", x, [h0, c0], [w_ih, w_hh, b_ih, b_hh], …)
in the backward, where d are gradients:
    d_gates, d_h0, d_c0 = hloom.recurrent_back("lstm", kept, d_out, [d_h, d_c], w_hh, …)              # d_gates: 32×8×4·hidden
    d_w_ih = d_gatesᵀ · x;  d_w_hh = d_gatesᵀ · [h0, *out[:-1]];  d_x = d_gates · w_ih                # of the 256 rows of all steps
    d_b_ih = d_b_hh = sum(d_gates)

So no gradient of a weight is summed up in the loop, which carries those of the state alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_mlir import ir

from hloom.passes.common.rewriting import element_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering
from .recurrent_cells import CELLS
from .recurrent_loops import Values, Weights, backward, forward


def differentiated(kind: str, x: Tensor, states: Sequence[Tensor], weights: Sequence[Tensor], biases: bool, both: bool) -> list[Tensor]:
    """A layer's results of all steps, and its states at the end."""
    each = len(weights) // len(states[0])
    lasting, ends = [], []
    for way in range(2 if both else 1):
        own = [state[way] for state in states]
        out, *end = _Direction.apply(kind, biases, way == 1, len(states), x, *own, *weights[way * each : (way + 1) * each])
        lasting.append(out)
        ends.append(end)
    return [torch.cat(lasting, 2) if both else lasting[0], *map(torch.stack, zip(*ends))]


class _Direction(torch.autograd.Function):
    """Of a layer: its results, and the state at the end."""

    @staticmethod
    def forward(ctx: Any, kind: str, biases: bool, backwards: bool, states: int, x: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        begin, weights = tensors[:states], tensors[states:]
        out, *made = torch.ops.hloom.recurrent_kept(kind, x, begin, weights, biases, backwards)
        ctx.kind, ctx.biases, ctx.backwards = kind, biases, backwards
        ctx.save_for_backward(x, begin[0], weights[0], weights[1], out, *made[states:])
        return out, *made[:states]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, begin, of_input, of_state, out, *kept = ctx.saved_tensors
        cell, (of_out, *of_ends) = CELLS[ctx.kind], gradients
        before = torch.cat([out[1:], begin.unsqueeze(0)] if ctx.backwards else [begin.unsqueeze(0), out[:-1]])
        kept += [out] * cell.reads_result + [before] * cell.reads_before
        made = torch.ops.hloom.recurrent_back(ctx.kind, kept, of_out, of_ends, of_state, ctx.backwards)
        gates, of_begin = [each.flatten(0, 1) for each in made[: cell.gates]], made[cell.gates :]
        of_x = (gates[0] @ of_input).unflatten(0, x.shape[:2]) if ctx.needs_input_grad[4] else None
        of_weights = [each.T @ rows.flatten(0, 1) for each, rows in zip((gates[0], gates[-1]), (x, before))]
        of_biases = [each.sum(0) for each in (gates[0], gates[-1])] if ctx.biases else []
        return None, None, None, None, of_x, *of_begin, *of_weights, *of_biases


@torch.library.custom_op("hloom::recurrent_kept", mutates_args=())
def over_time_kept(
    kind: str, x: Tensor, states: Sequence[Tensor], weights: Sequence[Tensor], biases: bool, backwards: bool
) -> list[Tensor]:
    """The results of all steps, the state at the end, and what the gradients read, of all steps."""
    of_input, of_state, *rest = weights
    input_bias, state_bias = rest or (None, None)
    given, state = F.linear(x, of_input, input_bias), list(states)
    made: list[Any] = [None] * len(x)
    for number in _order(len(x), backwards):
        state, kept = CELLS[kind].step(F.linear(state[0], of_state, state_bias), given[number], state)
        made[number] = [state[0], *kept]
    out, *stacked = map(torch.stack, zip(*made))
    return [out, *(each.clone() for each in state), *stacked]


@over_time_kept.register_fake
def _(kind: str, x: Tensor, states: Sequence[Tensor], *rest: Any) -> list[Tensor]:
    lasting = [*x.shape[:2], states[0].shape[1]]
    return [x.new_empty(each) for each in (lasting, *(state.shape for state in states), *[lasting] * CELLS[kind].kept)]


@torch.library.custom_op("hloom::recurrent_back", mutates_args=())
def over_time_back(
    kind: str, kept: Sequence[Tensor], of_out: Tensor, of_ends: Sequence[Tensor], of_state: Tensor, backwards: bool
) -> list[Tensor]:
    """The gradients of the gates of all steps, by what the input gives them and, where that is another, by what the state gives them; and
    those of the first state."""
    hidden, *others = of_ends
    made: list[Any] = [None] * len(of_out)
    for number in _order(len(of_out), not backwards):
        back = CELLS[kind].back([each[number] for each in kept], hidden + of_out[number], others)
        made[number], others, hidden = back.gates, back.others, back.gates[-1] @ of_state
        hidden = hidden if back.hidden is None else hidden + back.hidden
    return [*map(torch.stack, zip(*made)), hidden, *others]


@over_time_back.register_fake
def _(kind: str, kept: Any, of_out: Tensor, of_ends: Sequence[Tensor], of_state: Tensor, backwards: bool) -> list[Tensor]:
    gates = [*of_out.shape[:2], of_state.shape[0]]
    return [of_out.new_empty(each) for each in (*[gates] * CELLS[kind].gates, *(end.shape for end in of_ends))]


def _order(steps: int, backwards: bool) -> Sequence[int]:
    return range(steps)[:: -1 if backwards else 1]


@torch_lowering("hloom.recurrent_kept")
def recurrent_kept(op: TorchOp, kind: str, x: ir.Value, states: Values, weights: Values, biases: bool, backwards: bool) -> Values:
    end, (out, *kept) = forward(CELLS[kind], x, states, Weights.of(weights, biases), backwards, keep=True)
    return [out, *(build.convert(each, element_of(x)) for each in end), *kept]


@torch_lowering("hloom.recurrent_back")
def recurrent_back(op: TorchOp, kind: str, kept: Values, of_out: ir.Value, of_ends: Values, of_state: ir.Value, backwards: bool) -> Values:
    begin, gates = backward(CELLS[kind], kept, of_out, of_ends, of_state, backwards)
    return [*gates, *(build.convert(each, element_of(of_out)) for each in begin)]
