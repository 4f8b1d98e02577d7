"""concatenate-windows: what is computed of an array's neighbours and written into most of it is the middle of a concatenation.

Before, as x.at[1:-1].set(x[2:] + x[:-2]) writes it:
    %0 = stablehlo.add %above, %below : tensor<6xf32>                // slices of %x
    %1 = stablehlo.dynamic_update_slice %x, %0, %c1 : tensor<8xf32>
After:
    %a = stablehlo.slice %x [0:1]
    %b = stablehlo.slice %x [7:8]
    %1 = stablehlo.concatenate %a, %0, %b, dim = 0

While an array is read at other places it cannot be updated in place: the window would be computed into a buffer, and copied from there. A
concatenation is one kernel with what computes its pieces, which writes another array.

Must hold: nothing. Declined: windows at places that are not constant; those of less than half the array; what nothing else reads, which is
updated in place; windows that are no elementwise op's result, whose kernels end with it.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ops import is_elementwise
from ..common.rewriting import defining_op, has_one_use, replace, walk
from ..fused.planner.access import GROWS
from ..registry import register_pass
from .support import build, constants

PART = 2
"""A window of at least one element in so many of its array."""


@register_pass("concatenate-windows", "large windows written into an array that is read elsewhere", ops=("stablehlo.dynamic_update_slice",))
def concatenate_windows(module: ir.Operation) -> None:
    for op in walk(module, "stablehlo.dynamic_update_slice"):
        array, window, *places = op.operands
        starts = [start for place in places if (start := constants.constant_index(place)) is not None]
        if GROWS in op.attributes or has_one_use(array) or len(starts) < len(places):
            continue
        if PART * build.count_of(window) < build.count_of(array):
            continue
        made = defining_op(window)
        if made is not None and is_elementwise(made) and has_one_use(window):
            with op.location, ir.InsertionPoint(op):
                replace(op, [_around(array, window, starts)])


def _around(array: ir.Value, window: ir.Value, starts: list[int]) -> ir.Value:
    """The array with the window at `starts`, which are brought into bounds; the last dimension is put together first."""
    shape, sizes = build.shape_of(array), build.shape_of(window)
    at = [min(max(start, 0), whole - size) for start, whole, size in zip(starts, shape, sizes)]
    for d in reversed(range(len(shape))):
        low, high = list(at), [start + size for start, size in zip(at, sizes)]
        low[d + 1 :], high[d + 1 :] = [0] * (len(shape) - d - 1), shape[d + 1 :]
        pieces = [window]
        if at[d]:
            pieces.insert(0, build.slice_(array, [*low[:d], 0, *low[d + 1 :]], [*high[:d], at[d], *high[d + 1 :]]))
        if high[d] < shape[d]:
            pieces.append(build.slice_(array, [*low[:d], high[d], *low[d + 1 :]], [*high[:d], shape[d], *high[d + 1 :]]))
        window = pieces[0] if len(pieces) == 1 else build.concatenate(pieces, d)
    return window
