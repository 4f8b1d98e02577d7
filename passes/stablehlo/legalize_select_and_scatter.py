"""legalize-select-and-scatter: a windowed reduction that finds the element selected in each window, and a scatter to it.

Before:
    %0 = "stablehlo.select_and_scatter"(%x, %source, %init) ({ GE }, { add }) <{window_dimensions = array<i64: 2, 2>, …}>
        : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
After:
    %places = reshape (iota : tensor<24xi32>) : tensor<4x6xi32>
    %1:2 = "stablehlo.reduce_window"(%x, %places, 0, -1) ({ the value and place selected so far, or those of the next element })
    %2 = "stablehlo.scatter"(broadcast(%init) : tensor<24xf32>, %1#1, %source) ({ add })
    %0 = reshape %2 : tensor<4x6xf32>

The first element of a window that lies in the operand is selected until the selection prefers another; the place is -1 where none is, and
so in the padding: the scatter drops it.

A GPU adds floats to places that may meet only once they are sorted. There each element asks the windows that hold it, of which there are
few: windows of 3 that are 2 apart are two along a dimension, the last that begins before the element and the one before that.

    %0 = init + Σ over j of select(%1#1 = %places, %source, 0), of %1#1 and %source each window w - j, w the element's place / stride

Must hold: nothing. Declined: asking, on CPUs, of more than `_MOST_ASKED` windows, for other bodies than a sum, and where padding is
negative; the scatter takes what is left.
"""

from __future__ import annotations

from itertools import product
from math import prod

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.target import target_of

from ..common.rewriting import create, element_of, integers, padding_pairs
from ..registry import register_pass
from .support import build
from .support.driver import clone_into, rewrite

_FEW = 1 << 31
_MOST_ASKED = 16


@register_pass(
    "legalize-select-and-scatter", "turns select_and_scatter into a windowed reduction and a scatter", ops=("stablehlo.select_and_scatter",)
)
def legalize_select_and_scatter(module: ir.Operation) -> None:
    rules = [_asked, _selected] if target_of(module).kind == "cuda" else [_selected]
    rewrite(module, {"stablehlo.select_and_scatter": rules})


def _asked(op: ir.Operation) -> list[ir.Value] | None:
    """Each element's sum over the windows that hold it, of those whose place is the element's."""
    operand, source, init = op.operands
    shape, counts = build.shape_of(operand), build.shape_of(source)
    window, strides = (integers(op, name, [1] * len(shape)) for name in ("window_dimensions", "window_strides"))
    pairs = padding_pairs(op, len(shape))
    holding = [-(-size // stride) for size, stride in zip(window, strides)]
    if not _adds(op.regions[1].blocks[0]) or prod(holding) > _MOST_ASKED or any(min(pair) < 0 for pair in pairs) or 0 in (*shape, *counts):
        return None
    chosen, starts = _places(op), [low for low, _ in pairs]
    lengths = [(low + extent - 1) // stride + 1 for low, extent, stride in zip(starts, shape, strides)]

    def of_windows(value: ir.Value, nothing: ir.Value, before: tuple[int, ...]) -> ir.Value:
        """For each element, what `value` has for the window so many before the last one that begins at it or before."""
        high = [length - count - step for length, count, step in zip(lengths, counts, before)]
        there = build.pad(value, nothing, list(before), high, [0] * len(shape))
        spread = [extent for pair in zip(lengths, strides) for extent in pair]
        there = build.broadcast(there, spread, list(range(0, len(spread), 2)))
        there = build.reshape(there, [length * stride for length, stride in zip(lengths, strides)])
        return build.slice_(there, starts, [low + extent for low, extent in zip(starts, shape)])

    none = build.full(build.tensor([], element_of(chosen)), -1)
    zero, here = build.zero([], element_of(source)), _numbers(operand)
    total = build.broadcast(init, shape, [])
    for before in product(*(range(count - 1, -1, -1) for count in holding)):
        told = build.compare("EQ", of_windows(chosen, none, before), here)
        total = build.add(total, build.select(told, of_windows(source, zero, before), build.zero(shape, element_of(source))))
    return [total]


def _adds(body: ir.Block) -> bool:
    first = body.operations[0].operation
    return first.name == "stablehlo.add" and {*first.operands} == {*body.arguments} and [*body.operations[1].operands] == [first.results[0]]


def _numbers(operand: ir.Value) -> ir.Value:
    """The place of each element, counted in row-major order."""
    count, shape = build.count_of(operand), build.shape_of(operand)
    index = ir.IntegerType.get_signless(32 if count < _FEW else 64)
    return build.reshape(build.iota([count], index, 0), shape)


def _selected(op: ir.Operation) -> list[ir.Value]:
    operand, source, init = op.operands
    places = _places(op)
    count, updates = build.count_of(operand), build.count_of(source)
    flat = build.tensor([count], element_of(op.results[0]))
    scatter = create(
        "stablehlo.scatter",
        [flat],
        [build.broadcast(init, [count], []), build.reshape(places, [updates, 1]), build.reshape(source, [updates])],
        regions=1,
        scatter_dimension_numbers=_stablehlo.ScatterDimensionNumbers.get(
            update_window_dims=[],
            inserted_window_dims=[0],
            input_batching_dims=[],
            scatter_indices_batching_dims=[],
            scattered_dims_to_operand_dims=[0],
            index_vector_dim=1,
        ),
    )
    _clone_region(op.regions[1].blocks[0], scatter)
    return [build.reshape(scatter.results[0], build.shape_of(operand))]


def _places(op: ir.Operation) -> ir.Value:
    """The place that each window selects, counted in row-major order, or -1."""
    operand = op.operands[0]
    element, rank = element_of(operand), len(build.shape_of(operand))
    places = _numbers(operand)
    index = element_of(places)
    starts = [build.zero([], element), build.full(build.tensor([], index), -1)]
    prefers = op.regions[0].blocks[0]

    def select(value: ir.Value, place: ir.Value, other: ir.Value, there: ir.Value) -> list[ir.Value]:
        (keeps,) = clone_into(prefers, dict(zip(prefers.arguments, (value, other))))
        zero = build.zero([], index)
        stays = build.elementwise("and", build.compare("GE", place, zero), keeps)
        stays = build.elementwise("or", stays, build.compare("LT", there, zero))
        return [build.select(stays, value, other), build.select(stays, place, there)]

    ones = [1] * rank
    window, strides = (integers(op, name, ones) for name in ("window_dimensions", "window_strides"))
    return build.reduce_window([operand, places], starts, window, strides, ones, padding_pairs(op, rank), select)[1]


def _clone_region(source: ir.Block, op: ir.Operation) -> None:
    block = op.regions[0].blocks.append(*[argument.type for argument in source.arguments])
    with ir.InsertionPoint(block):
        create("stablehlo.return", [], clone_into(source, dict(zip(source.arguments, block.arguments))))
