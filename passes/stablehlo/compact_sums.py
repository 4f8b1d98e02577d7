"""compact-sums: few sums of half floats among the many rows of a table are made in f32 beside it, and the table stays what it is.

Before:
    %w = stablehlo.convert %t : (tensor<5000x64xbf16>) -> tensor<5000x64xf32>
    %s = "stablehlo.scatter"(%w, %i, %u) ({ stablehlo.add : f32 }) : (tensor<5000x64xf32>, tensor<80xi32>, tensor<80x64xf32>) -> …
    %r = stablehlo.convert %s : (tensor<5000x64xf32>) -> tensor<5000x64xbf16>
After:
    %n = stablehlo.iota dim = 0 : tensor<80xi32>
    %f = "stablehlo.scatter"(80, %i, %n) ({ stablehlo.minimum : i32 }) : (tensor<5000xi32>, …)     // each row's first update
    %slot = the element of %f at %i, 80 where %i is out of bounds
    %a = "stablehlo.scatter"(convert(rows of %t at %i), %slot, %u) ({ stablehlo.add : f32 }) : (tensor<80x64xf32>, …)
    %r = "stablehlo.scatter"(%t, %i where %slot is %n, else 5000, convert(%a)) ({ the new one })

The sums of a row lie where its first update does, and are added up in the same order from the same start: results are the same, bit for
bit. What was read and written twice more, at twice its size, is the table; now it is the updates. So it is for the gradient of a table of
words, most of which no text has.

Must hold: nothing. Declined: sums that anything else reads, or that start from more than half floats and zeros; windows that are no whole
rows; as many updates as half the rows, or rows so short that the slots cost more; GPUs, where updates of one row meet.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import defining_op, element_of, has_one_use, producer
from ..common.scatter_windows import Windows
from ..registry import register_pass
from .support import build
from .support.combining import combining_op
from .support.constants import splat_value
from .support.driver import rewrite

_LEAST_ROWS = 2
"""A table has so many rows an update: a row costs it two passes of f32 more, and an update in a slot three."""
_LEAST_WIDTH = 32
"""Elements of a row, beside which three steps over an index are little."""


@register_pass("compact-sums", "sums few rows of a table of half floats beside it", ops=("stablehlo.scatter",))
def compact_sums(module: ir.Operation) -> bool:
    if target_of(module).kind != "cpu":
        return False
    return rewrite(module, {"stablehlo.convert": [_compact]})


def _compact(op: ir.Operation) -> list[ir.Value] | None:
    scatter, narrow = producer(op.operands[0], "stablehlo.scatter"), element_of(op.results[0])
    if scatter is None or not _is_half(narrow) or not isinstance(element_of(op.operands[0]), ir.F32Type):
        return None
    if len(scatter.results) > 1 or not has_one_use(scatter.results[0]) or combining_op(scatter) != "stablehlo.add":
        return None
    table, indices, updates = scatter.operands
    windows = Windows.of(scatter)
    dim = _moved_dim(windows)
    start = _narrow(table, narrow)
    if dim is None or start is None:
        return None
    count = prod(windows.updates[d] for d in windows.over)
    rows, width = windows.shape[dim], prod(windows.shape) // max(windows.shape[dim], 1)
    if not count or rows < _LEAST_ROWS * count or width < _LEAST_WIDTH:
        return None
    places = build.convert(build.reshape(indices, [count]), ir.IntegerType.get_signless(64))
    return [_summed(start, dim, places, _lines(updates, windows, count))]


def _summed(table: ir.Value, dim: int, places: ir.Value, updates: ir.Value) -> ir.Value:
    """The table with the updates, an f32 line for each place along its dimension, added to it."""
    (count,), rows = build.shape_of(places), build.shape_of(table)[dim]
    numbers = build.iota([count], ir.IntegerType.get_signless(32), 0)
    firsts = build.scatter(build.full(build.tensor([rows], element_of(numbers)), count), 0, places, numbers, "minimum")
    low, high = (build.full_like(places, end) for end in (0, rows - 1))
    inside = build.elementwise("and", build.compare("GE", places, low), build.compare("LE", places, high))
    slots = build.select(inside, build.take(firsts, 0, places), build.full_like(numbers, count))
    if (number := splat_value(table)) is not None:
        start = build.full_like(updates, number)
    else:
        start = build.convert(_with_first(build.take(table, dim, places), dim), element_of(updates))
    sums = build.convert(build.scatter(start, 0, slots, updates, "add"), element_of(table))
    own = build.select(build.compare("EQ", slots, numbers), places, build.full_like(places, rows))
    return build.scatter(table, dim, own, sums, None)


def _moved_dim(windows: Windows) -> int | None:
    """The one dimension that an index moves over, where all others are whole."""
    if windows.batch or len(windows.moved) != 1:
        return None
    (dim,) = windows.moved
    if dim in windows.at:
        return None
    return dim if all(windows.window[d] == windows.shape[d] for d in windows.at) else None


def _lines(updates: ir.Value, windows: Windows, count: int) -> ir.Value:
    """The updates with all that tell an index as one first dimension."""
    inside = [windows.at[d] for d in sorted(windows.at)]
    turned = build.transpose(updates, [*windows.over, *inside])
    return build.reshape(turned, [count, *(windows.updates[d] for d in inside)])


def _with_first(value: ir.Value, dim: int) -> ir.Value:
    rank = len(build.shape_of(value))
    return build.transpose(value, [dim, *(d for d in range(rank) if d != dim)])


def _is_half(element: ir.Type) -> bool:
    return isinstance(element, (ir.BF16Type, ir.F16Type))


def _narrow(table: ir.Value, narrow: ir.Type) -> ir.Value | None:
    """What the sums start from, in the type that they end in."""
    made = defining_op(table)
    if made is not None and made.name == "stablehlo.convert" and element_of(made.operands[0]) == narrow:
        return made.operands[0]
    number = splat_value(table)
    return build.full(build.tensor(build.shape_of(table), narrow), number) if number == 0 else None
