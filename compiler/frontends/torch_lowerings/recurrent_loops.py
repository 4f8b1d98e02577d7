"""Loops over the time of recurrent layers, in StableHLO, forward and backward. Of a few steps there is none.

Of narrow elements the gates and the cell are f32, as torch's own kernels have them; what is multiplied by weights is narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from torch_mlir import ir

from hloom.passes.common.rewriting import element_of, value_of
from hloom.passes.stablehlo.complex.numbers import Real
from hloom.passes.stablehlo.support import build

from .recurrent_cells import Cell

_FEW = 3
"""Steps that are no loop."""
Values = list[ir.Value]
_Step = Callable[[Values, Values], tuple[Values, Values]]
"""Of a step's rows and the state before: the state after, and the rows that the step gives."""


class Weights(NamedTuple):
    """A layer's, of one direction. Those of the gates lie one behind the other."""

    of_input: ir.Value
    of_state: ir.Value
    input_bias: ir.Value | None = None
    state_bias: ir.Value | None = None
    projection: ir.Value | None = None

    @classmethod
    def of(cls, values: Sequence[ir.Value], biases: bool) -> Weights:
        if biases:
            return cls(*values)
        return cls(values[0], values[1], projection=values[2] if len(values) > 2 else None)


def forward(cell: Cell, x: ir.Value, begin: Values, weights: Weights, backwards: bool, keep: bool = False) -> tuple[Values, Values]:
    """The state after the last step; and of all steps the result and, where it is to be kept, what the gradients read.

    Whether the inputs of all steps are multiplied at once, before the loop, is a question of price (hoist-products).
    """
    at_once = _product(x, weights.of_input, weights.input_bias).value if build.shape_of(x)[0] <= _FEW else None

    def step(rows: Values, state: Values) -> tuple[Values, Values]:
        given = _product(rows[0], weights.of_input, weights.input_bias) if at_once is None else Real(rows[0])
        own = _product(state[0], weights.of_state, weights.state_bias)
        after, kept = cell.step(own, given, [_wide(each) for each in state])
        result = _like(x, after[0])
        if weights.projection is not None:
            result = _like(x, _product(result, weights.projection))
        return [result, *(each.value for each in after[1:])], [result, *(_like(x, each) for each in kept if keep)]

    begin = [begin[0], *(_wide(each).value for each in begin[1:])]
    made = build.tensor([build.shape_of(x)[0], *build.shape_of(begin[0])], element_of(x))
    return _over_time([x if at_once is None else at_once], begin, [made] * (1 + cell.kept * keep), step, backwards)


def backward(cell: Cell, kept: Values, results: ir.Value, ends: Values, of_state: ir.Value, backwards: bool) -> tuple[Values, Values]:
    """From the gradients of the results and of the last state those of the first one; and of all steps those of the gates."""

    def step(rows: Values, state: Values) -> tuple[Values, Values]:
        result, *known = map(_wide, rows)
        hidden, *others = map(Real, state)
        back = cell.back(known, hidden + result, others)
        gates = [_like(results, each) for each in back.gates]
        before = _product(gates[-1], of_state, along=0)
        if back.hidden is not None:
            before = before + back.hidden
        return [before.value, *(each.value for each in back.others)], gates

    steps, batch, _ = build.shape_of(results)
    made = build.tensor([steps, batch, build.shape_of(of_state)[0]], element_of(results))
    return _over_time([results, *kept], [_wide(end).value for end in ends], [made] * cell.gates, step, not backwards)


def _over_time(arrays: Values, begin: Values, made: Sequence[ir.Type], step: _Step, backwards: bool) -> tuple[Values, Values]:
    """The state after the last step, and what the steps give, stacked, of the types `made`. A step reads a row of each array."""
    steps, count = build.shape_of(arrays[0])[0], len(begin)
    if steps <= _FEW:
        return _unrolled(arrays, begin, step, backwards)
    index = ir.IntegerType.get_signless(32)
    origin = build.zero([], index)

    def stepped(number: ir.Value, *values: ir.Value) -> Values:
        place = build.subtract(build.full_like(number, steps - 1), number) if backwards else number
        at = [place, origin, origin]
        rows = [_row(build.dynamic_slice(each, at, [1, *build.shape_of(each)[1:]])) for each in arrays]
        after, given = step(rows, list(values[:count]))
        return [*after, *(build.dynamic_update_slice(old, _stacked([row]), at) for old, row in zip(values[count:], given))]

    results = build.count_loop(steps, [*begin, *(build.full(kind, 0) for kind in made)], stepped, index)
    return results[:count], results[count:]


def _unrolled(arrays: Values, state: Values, step: _Step, backwards: bool) -> tuple[Values, Values]:
    steps = build.shape_of(arrays[0])[0]
    made: list[Values] = []
    for number in reversed(range(steps)) if backwards else range(steps):
        state, given = step([_row(build.slice_dim(each, 0, number, number + 1)) for each in arrays], state)
        made.append(given)
    return state, [_stacked(each[::-1] if backwards else each) for each in map(list, zip(*made))]


def _product(x: ir.Value, weights: ir.Value, bias: ir.Value | None = None, along: int = 1) -> Real:
    """By weights, of whose dimensions `along` is summed. Sums of narrow elements are f32."""
    *shape, depth = build.shape_of(x)
    rows, width = prod(shape), build.shape_of(weights)[1 - along]
    kind, numbers = build.tensor([rows, width], _wider(x)), build.dot_dimensions([], [], [1], [along])
    total = value_of("stablehlo.dot_general", kind, [build.reshape(x, [rows, depth]), weights], dot_dimension_numbers=numbers)
    if bias is not None:
        total = build.add(total, build.broadcast(_wide(bias).value, kind.shape, [1]))
    return Real(build.reshape(total, [*shape, width]))


def _wide(value: ir.Value) -> Real:
    """In the type in which its elements are summed."""
    return Real(build.convert(value, _wider(value)))


def _wider(value: ir.Value) -> ir.Type:
    element = element_of(value)
    return element if element.width > 32 else ir.F32Type.get()


def _like(narrow: ir.Value, value: Real) -> ir.Value:
    """Rounded to the elements of another."""
    return build.convert(value.value, element_of(narrow))


def _row(value: ir.Value) -> ir.Value:
    return build.reshape(value, build.shape_of(value)[1:])


def _stacked(rows: Values) -> ir.Value:
    return build.concatenate([build.reshape(row, [1, *build.shape_of(row)]) for row in rows], 0)
