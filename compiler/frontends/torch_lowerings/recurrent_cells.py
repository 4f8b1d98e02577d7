"""What recurrent layers compute in a step, and its gradients, element by element: of StableHLO's values and of torch's tensors alike.

The gates of a cell lie side by side in what the input gives them (`given`) and in what the state gives them (`own`), products with weights
both. A step keeps what its gradients read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hloom.passes.stablehlo.complex.numbers import Real
from hloom.passes.stablehlo.support import build

Number = Any
"""A Real or a Tensor, of rows: both know Python's operators."""
Numbers = list[Number]


class Back(NamedTuple):
    """The gradients that a step hands on."""

    gates: Numbers
    """Of what the input gives them, and, last, of what the state gives them, where that is another."""
    hidden: Number | None
    """Of the result before, but for its part in the gates; None: it has no other."""
    others: Numbers
    """Of the rest of the state."""


class Cell(NamedTuple):
    step: Callable[[Number, Number, Numbers], tuple[Numbers, Numbers]]
    """Of `own`, `given` and the state, whose first is the result: the state after, and what is kept."""
    back: Callable[[Numbers, Number, Numbers], Back]
    """Of what was kept and of the gradients of the state after."""
    kept: int = 0
    """How many the step keeps."""
    gates: int = 1
    """How many arrays of gradients `back` gives of gates."""
    reads_result: bool = False
    """Whether `back` reads the step's result, behind what was kept."""
    reads_before: bool = False
    """Whether it reads the result of the step before."""


def _lstm(own: Number, given: Number, state: Numbers) -> tuple[Numbers, Numbers]:
    before = state[1]
    enters, stays, new, leaves = _parts(own + given, 4)
    enters, stays, new, leaves = _sigmoid(enters), _sigmoid(stays), _tanh(new), _sigmoid(leaves)
    cell = stays * before + enters * new
    return [leaves * _tanh(cell), cell], [enters, stays, new, leaves, before]


def _lstm_back(kept: Numbers, hidden: Number, others: Numbers) -> Back:
    enters, stays, new, leaves, before = kept
    shown = _tanh(stays * before + enters * new)
    cell = others[0] + hidden * leaves * (1 - shown * shown)
    gates = [
        cell * new * _slope(enters),
        cell * before * _slope(stays),
        cell * enters * (1 - new * new),
        hidden * shown * _slope(leaves),
    ]
    return Back([_joined(gates)], None, [cell * stays])


def _gru(own: Number, given: Number, state: Numbers) -> tuple[Numbers, Numbers]:
    reset, update, shown = _parts(own, 3)
    reset_given, update_given, new = _parts(given, 3)
    reset, update = _sigmoid(reset + reset_given), _sigmoid(update + update_given)
    new = _tanh(new + shown * reset)
    return [(state[0] - new) * update + new], [reset, update, new, shown]


def _gru_back(kept: Numbers, hidden: Number, others: Numbers) -> Back:
    reset, update, new, shown, before = kept
    of_new = hidden * (1 - update) * (1 - new * new)
    of_update = hidden * (before - new) * _slope(update)
    of_reset = of_new * shown * _slope(reset)
    gates = [_joined([of_reset, of_update, last]) for last in (of_new, of_new * reset)]
    return Back(gates, hidden * update, [])


def _rnn_tanh(own: Number, given: Number, state: Numbers) -> tuple[Numbers, Numbers]:
    return [_tanh(own + given)], []


def _rnn_tanh_back(kept: Numbers, hidden: Number, others: Numbers) -> Back:
    (result,) = kept
    return Back([hidden * (1 - result * result)], None, [])


def _rnn_relu(own: Number, given: Number, state: Numbers) -> tuple[Numbers, Numbers]:
    total = own + given
    return [total.relu() if isinstance(total, Tensor) else total.function("maximum", 0)], []


def _rnn_relu_back(kept: Numbers, hidden: Number, others: Numbers) -> Back:
    (result,) = kept
    shows = result > 0
    return Back([torch.where(shows, hidden, 0) if isinstance(result, Tensor) else shows.pick(hidden, 0)], None, [])


CELLS = {
    "lstm": Cell(_lstm, _lstm_back, kept=5),
    "gru": Cell(_gru, _gru_back, kept=4, gates=2, reads_before=True),
    "rnn_tanh": Cell(_rnn_tanh, _rnn_tanh_back, reads_result=True),
    "rnn_relu": Cell(_rnn_relu, _rnn_relu_back, reads_result=True),
}
"""By the names of torch's ops."""


def _sigmoid(x: Number) -> Number:
    return x.sigmoid() if isinstance(x, Tensor) else x.function("logistic")


def _tanh(x: Number) -> Number:
    return x.tanh() if isinstance(x, Tensor) else x.function("tanh")


def _slope(gate: Number) -> Number:
    """Of the logistic function, where it has that value."""
    return gate * (1 - gate)


def _parts(x: Number, count: int) -> Sequence[Number]:
    if isinstance(x, Tensor):
        return x.chunk(count, 1)
    size = build.shape_of(x.value)[1] // count
    return [Real(build.slice_dim(x.value, 1, part * size, (part + 1) * size)) for part in range(count)]


def _joined(parts: Numbers) -> Number:
    return torch.cat(parts, 1) if isinstance(parts[0], Tensor) else Real(build.concatenate([part.value for part in parts], 1))
