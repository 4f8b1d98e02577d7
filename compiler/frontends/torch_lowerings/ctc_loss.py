"""CTC loss: how probable all ways are to spread a target over time, with blanks between; a loop over time, in logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.errors import UnsupportedOpError
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering


@torch.library.custom_op("hloom::ctc_losses", mutates_args=())
def ctc_losses(scores: Tensor, targets: Tensor, lengths: Tensor, target_lengths: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    """aten._ctc_loss, of which torch does not know the shapes without values: those of targets in a matrix do not depend on them."""
    losses, ways = torch.ops.aten._ctc_loss(scores, targets, lengths, target_lengths, blank)
    return losses, ways


@ctc_losses.register_fake
def _(scores: Tensor, targets: Tensor, lengths: Tensor, target_lengths: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    steps, batch, _ = scores.shape
    if targets.dim() != 2:
        why, remedy = "the sizes of targets one after the other are data", "give them as a matrix, a row each"
        raise UnsupportedOpError(why, op="aten.ctc_loss", stage="input", remedy=remedy)
    return scores.new_empty([batch]), scores.new_empty([batch, steps, 2 * targets.shape[1] + 1])


_MEAN, _SUM = 1, 2


@torch_decomposition("aten.ctc_loss.Tensor", for_shapes=True)
def ctc_loss_of_lengths(
    scores: Tensor,
    targets: Tensor,
    lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: int = _MEAN,
    zero_infinity: bool = False,
) -> Tensor:
    if alone := scores.dim() == 2:
        scores, targets, lengths, target_lengths = scores.unsqueeze(1), targets.unsqueeze(0), lengths.reshape(1), target_lengths.reshape(1)
    loss = torch.ops.hloom.ctc_losses(scores, targets, lengths, target_lengths, blank)[0]
    if zero_infinity:
        loss = torch.where(loss == math.inf, 0.0, loss)
    if reduction == _MEAN:
        return (loss / target_lengths.clamp(min=1)).mean()
    return loss.sum() if reduction == _SUM else loss.squeeze(0) if alone else loss


@torch_decomposition("aten.ctc_loss.IntList", for_shapes=True)
def ctc_loss_of_numbers(scores: Tensor, targets: Tensor, lengths: Sequence[int], target_lengths: Sequence[int], *rest: Any) -> Tensor:
    first, last = (torch.cat([torch.full([1], each, dtype=torch.int64) for each in numbers]) for numbers in (lengths, target_lengths))
    return ctc_loss_of_lengths(scores, targets, first, last, *rest)


@torch_lowering("aten._ctc_loss.Tensor", "hloom.ctc_losses")
def ctc_loss(
    op: TorchOp,
    scores: ir.Value,
    targets: ir.Value,
    lengths: ir.Value,
    target_lengths: ir.Value,
    blank: int = 0,
    zero_infinity: bool = False,
) -> list[ir.Value]:
    """The losses, and by time the logarithms of the ways to be at each place of a target with its blanks, which its gradient reads."""
    if len(build.shape_of(targets)) != 2:
        raise op.refused("targets one after the other, whose sizes depend on data", "give them as a matrix, a row each")
    steps, batch, _ = build.shape_of(scores)
    width = 2 * build.shape_of(targets)[1] + 1
    index = ir.IntegerType.get_signless(32)
    lengths, ends = (_counts(each, batch) for each in (lengths, target_lengths))
    if not steps:
        raise op.refused("no time at all")
    labels = _with_blanks(build.convert(targets, index), blank)
    chosen = build.take(build.transpose(scores, [1, 0, 2]), 2, labels, batch=1)
    place = build.iota([batch, width], index, 1)
    last = build.broadcast(build.add(ends, ends), [batch, width], [0])
    reached = build.compare("LE", place, last)
    never = build.full(build.tensor([batch, width], build.element_of(scores)), -math.inf)
    two_before = _shifted(labels, 2, build.full(build.tensor([], index), blank))
    skips = build.compare("NE", labels, two_before)
    begins = build.elementwise("and", build.compare("LE", place, build.full_like(place, 1)), reached)
    first = build.select(begins, _row(chosen, build.zero([], index)), never)
    zero, lowest = build.zero([], index), build.full(build.tensor([], build.element_of(scores)), -math.inf)

    def step(number: ir.Value, ways: ir.Value, before: ir.Value) -> list[ir.Value]:
        at = build.add(number, build.full_like(number, 1))
        skipped = build.select(skips, _shifted(before, 2, lowest), never)
        now = build.add(_sum_of_powers([before, _shifted(before, 1, lowest), skipped]), _row(chosen, at))
        now = build.select(reached, now, never)
        return [build.dynamic_update_slice(ways, build.reshape(now, [batch, 1, width]), [zero, at, zero]), now]

    ways = build.full(build.tensor([batch, steps, width], build.element_of(scores)), -math.inf)
    ways = build.dynamic_update_slice(ways, build.reshape(first, [batch, 1, width]), [zero, zero, zero])
    ways, _ = build.count_loop(steps - 1, [ways, first], step, index)
    return [_losses(ways, lengths, ends), ways]


def _losses(ways: ir.Value, lengths: ir.Value, ends: ir.Value) -> ir.Value:
    """Of the last place and the blank behind it, at the end of each row's time; of no time, nothing is certain but for no target."""
    batch, steps, width = build.shape_of(ways)
    index = build.element_of(lengths)
    row = _clamped(build.subtract(lengths, build.full_like(lengths, 1)), steps)
    final = build.reshape(build.take(ways, 1, build.reshape(row, [batch, 1]), batch=1), [batch, width])
    place = build.iota([batch, width], index, 1)
    blank = build.broadcast(build.add(ends, ends), [batch, width], [0])
    at_end = build.compare("EQ", place, blank)
    before = build.compare("EQ", place, build.subtract(blank, build.full_like(blank, 1)))
    never = build.full_like(final, -math.inf)
    lowest = build.full(build.tensor([], build.element_of(ways)), -math.inf)

    def picked(mask: ir.Value) -> ir.Value:
        values = build.select(mask, final, never)
        return build.reduce([values], [lowest], [1], lambda x, y: [build.elementwise("maximum", x, y)])[0]

    loss = build.elementwise("negate", _sum_of_powers([picked(at_end), picked(before)]))
    nothing = build.full_like(lengths, 0)
    of_no_time = build.select(build.compare("EQ", ends, nothing), build.full_like(loss, 0), build.full_like(loss, math.inf))
    return build.select(build.compare("EQ", lengths, nothing), of_no_time, loss)


def _sum_of_powers(values: Sequence[ir.Value]) -> ir.Value:
    """The logarithm of the sum of e to each."""
    most = values[0]
    for value in values[1:]:
        most = build.elementwise("maximum", most, value)
    most = build.select(build.compare("EQ", most, build.full_like(most, -math.inf)), build.full_like(most, 0), most)
    total = build.full_like(most, 0)
    for value in values:
        total = build.add(total, build.elementwise("exponential", build.subtract(value, most)))
    return build.add(build.elementwise("log", total), most)


def _with_blanks(targets: ir.Value, blank: int) -> ir.Value:
    """A blank, the first label, a blank, the second one, to a blank behind the last."""
    filling = build.full(build.tensor([], build.element_of(targets)), blank)
    count = build.shape_of(targets)[1]
    return build.pad(targets, filling, [0, 1], [0, 1 if count else 0], [0, 1])


def _shifted(x: ir.Value, by: int, filling: ir.Value) -> ir.Value:
    """Each element `by` places further along the row."""
    return build.pad(x, filling, [0, by], [0, -by])


def _row(chosen: ir.Value, at: ir.Value) -> ir.Value:
    batch, _, width = build.shape_of(chosen)
    zero = build.zero([], build.element_of(at))
    return build.reshape(build.dynamic_slice(chosen, [zero, at, zero], [batch, 1, width]), [batch, width])


def _clamped(x: ir.Value, size: int) -> ir.Value:
    least, most = build.full_like(x, 0), build.full_like(x, size - 1)
    return build.elementwise("minimum", build.elementwise("maximum", x, least), most)


def _counts(lengths: ir.Value, batch: int) -> ir.Value:
    return build.convert(build.reshape(lengths, [batch]), ir.IntegerType.get_signless(32))
