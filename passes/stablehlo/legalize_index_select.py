"""legalize-index-select: torch_index_select as a gather.

Before:
    %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}>
        : (tensor<2x8x3xf32>, tensor<2x5xi32>) -> tensor<2x5x3xf32>
After:
    %0 = "stablehlo.gather"(%x, %i) <{…<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
        start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}>

Must hold: nothing. Declined: nothing. An index out of bounds is clamped, as in a gather.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import integer
from ..registry import register_pass
from .support import build
from .support.driver import rewrite


@register_pass("legalize-index-select", "turns torch_index_select into gather", ops=("stablehlo.torch_index_select",))
def legalize_index_select(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.torch_index_select": [_selected]})


def _selected(op: ir.Operation) -> list[ir.Value]:
    x, indices = op.operands
    return [build.take(x, integer(op, "dim"), indices, batch=integer(op, "batch_dims"))]
