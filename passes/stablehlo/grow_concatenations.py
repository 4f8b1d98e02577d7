"""grow-concatenations: concatenations of which each begins, ends or lies within the next become one buffer that grows in place.

Before (what each layer of a dense block reads):
    %c1 = stablehlo.concatenate %x0, %x1, dim = 1                    // tensor<1x64x7x7xf32>
    %c2 = stablehlo.concatenate %x0, %x1, %x2, dim = 1
    …
    %c5 = stablehlo.concatenate %x0, %x1, %x2, %x3, %x4, %x5, dim = 1
After:
    %c1 = stablehlo.concatenate %x0, %x1, dim = 1
    %b1 = stablehlo.pad %c1, %zero, low = [0, 0, 0, 0], high = [0, 128, 0, 0], interior = [0, 0, 0, 0]
    %b2 = stablehlo.dynamic_update_slice %b1, %x2, %0, %64, %0, %0 {hloom.grows}
    %c2 = stablehlo.slice %b2 [0:1, 0:96, 0:7, 0:7]
    …
    %b5 = stablehlo.dynamic_update_slice %b4, %x5, %0, %160, %0, %0 {hloom.grows}

A kernel that reads n pieces asks for each element in which of them it lies: a block of n layers took code and time that grow with n². An op
that grows a buffer has a kernel of its own (plan-fusion), which writes the new piece into the buffer that the former ones lie in.
Must hold: nothing. Declined: concatenations that none of the same block holds as a run of its pieces, and those of few pieces in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from torch_mlir import ir

from ..common.rewriting import create, defining_op, integer, replace, walk
from ..fused.planner.access import GROWS
from ..registry import register_pass
from .support import build

FEW = 4
"""So many pieces are read where they are."""


@register_pass("grow-concatenations", "one buffer grows in place of concatenations that hold one another", ops=("stablehlo.concatenate",))
def grow_concatenations(module: ir.Operation) -> None:
    pieces: dict[ir.Operation, tuple[ir.Value, ...]] = {}
    inner: dict[ir.Operation, ir.Operation] = {}
    latest: dict[tuple[ir.Value, int], ir.Operation] = {}
    found = walk(module, "stablehlo.concatenate")
    for op in found:
        axis = integer(op, "dimension")
        pieces[op] = tuple(piece for value in op.operands for piece in _pieces(value, op, pieces))
        runs = (latest[piece, axis] for piece in dict.fromkeys(pieces[op]) if (piece, axis) in latest)
        held = [run for run in runs if run.block == op.block and _place(pieces[run], pieces[op]) is not None]
        if held:
            inner[op] = max(held, key=lambda run: len(pieces[run]))
            del latest[pieces[inner[op]][0], axis]
        latest[pieces[op][0], axis] = op
    outer = set(inner.values())
    for op in found:
        if op in inner and op not in outer and len(pieces[op]) > FEW:
            chain = [op]
            while chain[-1] in inner:
                chain.append(inner[chain[-1]])
            _grow(chain[::-1], pieces)


def _pieces(value: ir.Value, user: ir.Operation, pieces: dict[ir.Operation, tuple[ir.Value, ...]]) -> tuple[ir.Value, ...]:
    """Those of a concatenation along the same dimension that was met before; else the value itself."""
    op = defining_op(value)
    return pieces[op] if op in pieces and integer(op, "dimension") == integer(user, "dimension") else (value,)


def _place(run: Sequence[ir.Value], pieces: Sequence[ir.Value]) -> int | None:
    """Where the run begins among the pieces."""
    starts = (at for at, piece in enumerate(pieces) if piece == run[0])
    return next((at for at in starts if tuple(pieces[at : at + len(run)]) == tuple(run)), None)


def _grow(chain: list[ir.Operation], pieces: dict[ir.Operation, tuple[ir.Value, ...]]) -> None:
    """`chain`: each holds the one before it."""
    axis, last = integer(chain[0], "dimension"), pieces[chain[-1]]
    bounds = [0, *accumulate(build.shape_of(piece)[axis] for piece in last)]
    first = 0  # the piece of `last` that a concatenation of the chain begins with
    begins = [first]
    for small, large in zip(reversed(chain[:-1]), reversed(chain)):
        first += _place(pieces[small], pieces[large]) or 0
        begins.append(first)
    held, *runs = (range(begin, begin + len(pieces[op])) for op, begin in zip(chain, reversed(begins)))
    buffer = _begin(chain[0], axis, bounds[held.start], bounds[-1])
    for op, run in zip(chain[1:], runs):
        with op.location, ir.InsertionPoint(op):
            for number in run:
                if number not in held:
                    buffer = _written(buffer, last[number], axis, bounds[number])
            whole = build.slice_dim(buffer, axis, bounds[run.start], bounds[run.stop])
        replace(op, [whole])
        held = run


def _begin(op: ir.Operation, axis: int, low: int, size: int) -> ir.Value:
    """The first concatenation in a buffer of `size` along the axis."""
    value = op.results[0]
    lows, highs = [0] * len(build.shape_of(value)), [0] * len(build.shape_of(value))
    lows[axis], highs[axis] = low, size - low - build.shape_of(value)[axis]
    after = list(op.block.operations)
    with op.location, ir.InsertionPoint(after[after.index(op) + 1]):
        return build.pad_with_zeros(value, lows, highs)


def _written(buffer: ir.Value, piece: ir.Value, axis: int, start: int) -> ir.Value:
    index = ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))
    starts = [build.full(index, start if d == axis else 0) for d in range(len(build.shape_of(buffer)))]
    op = create("stablehlo.dynamic_update_slice", [buffer.type], [buffer, piece, *starts])
    op.attributes[GROWS] = ir.UnitAttr.get()
    return op.results[0]
