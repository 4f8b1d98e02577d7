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
so in the padding: the scatter drops it. Must hold: nothing. Declined: nothing.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ..common.rewriting import create, element_of, integers, padding_pairs
from ..registry import register_pass
from .support import build
from .support.driver import clone_into, rewrite

_FEW = 1 << 31


@register_pass(
    "legalize-select-and-scatter", "turns select_and_scatter into a windowed reduction and a scatter", ops=("stablehlo.select_and_scatter",)
)
def legalize_select_and_scatter(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.select_and_scatter": [_selected]})


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
    operand, shape = op.operands[0], build.shape_of(op.operands[0])
    element, rank = element_of(operand), len(shape)
    index = ir.IntegerType.get_signless(32 if build.count_of(operand) < _FEW else 64)
    places = build.reshape(build.iota([build.count_of(operand)], index, 0), shape)
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
