"""Long sums of floats in pieces, each of which starts from zero.

    acc = init                                  total = 0
    for k in 0 to 1152: acc += a[k] * b[k]      for k0 in 0 to 1152 by 192:
                                         →        acc = 0
                                                  for k in k0 to k0 + 192: acc += a[k] * b[k]
                                                  total += acc
                                                store init + total

A chain of additions is rounded at each step, at the size of what was added so far: of n numbers that is √(n / 2) roundings of
the result, of pieces of b numbers √(b / 2 + n / b / 2), 10 in place of 24 here. The totals wait in the cache, an addition for each piece.

Must hold: the body adds a float to what it carries. Declined: sums of up to 256 steps. Loops between bounds that are not known
are not cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.control_flow import NestBody, for_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op
from .windows import Taps
from .work import Work

_LONG = 256
_PIECE = 192
_LEAST = 64
"""Steps of a piece: fewer would cost too many additions of totals."""


def float_that_is_summed(work: Work) -> ir.Type | None:
    """The type of what the work's body carries, where it adds a float to that."""
    if work.block is None or len(work.outputs) != 1:
        return None
    *_, end = work.block.operations
    last, carried = defining_op(end.operands[0]), work.block.arguments[len(work.inputs)]
    return carried.type if last is not None and last.name == "arith.addf" and carried in list(last.operands) else None


def is_long(steps: Sequence[int]) -> bool:
    """Whether a sum over loops of so many steps is worth pieces."""
    return prod(steps) > _LONG


def sum_loops(
    loops: Sequence[Taps], carried: list[ir.Value], body: NestBody, at: tuple[LinearIndex, ...] = (), together: int = 1
) -> list[ir.Value]:
    """Loops over all of `loops`, the first outermost; each piece of a list is one. `body(indices, carried)` returns what is carried on.
    So many steps of the last loop are `together`, one after the other: they divide it."""
    if not loops:
        return body(list(at), carried)
    first, *others = loops
    if not isinstance(first, tuple):
        for piece in first:
            carried = sum_loops([piece, *others], carried, body, at)
        return carried
    count = 1 if others else together

    def steps(index: LinearIndex, values: list[ir.Value]) -> list[ir.Value]:
        for step in range(count):
            values = sum_loops(others, values, body, (*at, index + step), together)
        return values

    return for_loop(*first, count, carried, steps)


def steps_together(taps: Taps, most: int, steps: int | None = None) -> int:
    """How many steps of a loop, at most `most`, are of one turn; `steps` it has in all, where its bounds do not tell."""
    if steps is None and isinstance(taps, tuple) and isinstance(taps[0], int) and isinstance(taps[1], int):
        steps = taps[1] - taps[0]
    return next(count for count in range(most, 0, -1) if steps % count == 0) if steps else 1


@dataclass(frozen=True)
class PartialSums:
    """`steps`: of each loop, at most."""

    loops: Sequence[Taps]
    steps: Sequence[int]
    body: NestBody
    zeros: list[ir.Value]
    most: int = 1
    """Steps of a turn of the last loop."""

    def total(self) -> list[ir.Value]:
        return self._pieces((), self.zeros)

    def _pieces(self, at: tuple[LinearIndex, ...], totals: list[ir.Value]) -> list[ir.Value]:
        """Adds to the totals what is below the loops that are `at`."""
        depth = len(at)
        if not is_long(self.steps[depth:]):
            return self._piece(self.loops[depth:], at, totals)
        loop, inside = self.loops[depth], prod(self.steps[depth + 1 :])
        if isinstance(loop, list) and inside < _LEAST:
            for piece in loop:
                loops, steps = list(self.loops), list(self.steps)
                loops[depth], steps[depth] = piece, piece[1] - piece[0]
                totals = replace(self, loops=loops, steps=steps)._pieces(at, totals)
            return totals
        if inside >= _LEAST:
            return sum_loops([loop], totals, lambda index, values: self._pieces((*at, *index), values))
        if not isinstance(loop, tuple) or not isinstance(loop[0], int) or not isinstance(loop[1], int):
            return self._piece(self.loops[depth:], at, totals)
        return self._split(loop[0], loop[1], ceil(_PIECE / inside), at, totals)

    def _split(self, lower: int, upper: int, wanted: int, at: tuple[LinearIndex, ...], totals: list[ir.Value]) -> list[ir.Value]:
        """Pieces of about so many steps of one loop, alike if there is a number near that divides them."""
        count, others = upper - lower, self.loops[len(at) + 1 :]
        even = [steps for steps in range(ceil(wanted / 2), 2 * wanted + 1) if count % steps == 0]
        steps = min(even, key=lambda each: (abs(each - wanted), -each), default=wanted)
        whole = lower + count // steps * steps

        def piece(start: LinearIndex, values: list[ir.Value]) -> list[ir.Value]:
            return self._piece([(start.value(), (start + steps).value()), *others], at, values, None if others else steps)

        totals = for_loop(lower, whole, steps, totals, piece)
        return self._piece([(whole, upper), *others], at, totals) if whole < upper else totals

    def _piece(
        self, loops: Sequence[Taps], at: tuple[LinearIndex, ...], totals: list[ir.Value], steps: int | None = None
    ) -> list[ir.Value]:
        """Adds the sum over `loops` to the totals; `steps` has the last, where its bounds are not known."""
        together = steps_together(loops[-1], self.most, steps) if loops else 1
        return added(totals, sum_loops(loops, self.zeros, self.body, at, together))


def added(totals: Sequence[ir.Value], sums: Sequence[ir.Value]) -> list[ir.Value]:
    return [arith.addf(a, b) for a, b in zip(totals, sums, strict=True)]
