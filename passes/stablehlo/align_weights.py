"""align-weights: bound weights of halves whose lines are no multiples of 16 bytes apart are padded once, and read as a slice.

Before (%w is bound):
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<333x1000xbf16>, tensor<1000x777xbf16>) -> tensor<333x777xf32>
After:
    %p = stablehlo.pad %w, %zero, low = [0, 0], high = [0, 7], interior = [0, 0] : … -> tensor<1000x784xbf16>
    %b = stablehlo.optimization_barrier %p
    %s = stablehlo.slice %b [0:1000, 0:777]
    %0 = stablehlo.dot_general %x, %s, contracting_dims = [1] x [0] : …

TMA, cp.async and vector loads take 16 bytes at multiples of 16; else a kernel loads 2 bytes at a time. split-init, which comes after, moves
the padding into @init and leaves the slice, which is only another way to count. The weight is in memory twice then.

Must hold: bound arguments carry `hloom.bound`. Declined: targets other than CUDA's; other types; weights that are no bound argument, or
whose lines run along what is summed, which the other operand's do too; lines shorter than 64 elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.init_function import bound_values, entry
from ..common.rewriting import value_of, walk
from ..registry import register_pass
from .support import build
from .support.dimensions import DotDims

_HALVES = {"f16", "bf16"}
_ALIGNED = 8
"""Elements of 16 bytes."""
_SHORTEST = 64


@register_pass("align-weights", "pads bound weights of halves to lines of 16 bytes, on CUDA", ops=("stablehlo.dot_general",))
def align_weights(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None or target_of(module).kind != "cuda" or not (bound := bound_values(main)):
        return
    for op in walk(main, "stablehlo.dot_general"):
        for side in (0, 1):
            weight = op.operands[side]
            if weight in bound and _is_uneven(weight, DotDims.of(op).contracting[side]):
                with ir.InsertionPoint(op), op.location:
                    op.operands[side] = _aligned(weight)


def _is_uneven(weight: ir.Value, contracting: Sequence[int]) -> bool:
    shape = build.shape_of(weight)
    last = len(shape) - 1
    return str(build.element_of(weight)) in _HALVES and last not in contracting and shape[last] >= _SHORTEST and shape[last] % _ALIGNED != 0


def _aligned(weight: ir.Value) -> ir.Value:
    shape = build.shape_of(weight)
    none = [0] * len(shape)
    padded = build.pad_with_zeros(weight, none, [*none[:-1], -shape[-1] % _ALIGNED])
    kept = value_of("stablehlo.optimization_barrier", padded.type, [padded])
    return build.slice_(kept, none, shape)
