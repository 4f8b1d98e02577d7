"""simplify-stablehlo: algebra, data movement, constants and dead code, to a fixed point.

Before:
    %one = stablehlo.convert %c1 : (tensor<i64>) -> tensor<f32>                      // %c1 = dense<1>
    %b = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %0 = stablehlo.multiply %x, %b : tensor<8x4xf32>
    %1 = stablehlo.reshape %s : (tensor<8xf32>) -> tensor<8x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x4xf32>
After:
    %2 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>      // and %x for %0

The rules stand in rules/: algebra, convolutions that are dots, dots, shapes (canonical forms of data movement), dynamic (ops with constant
indices), control (known branches), reductions (of one element; all(x == -inf) is max(x) == -inf), scatter (of nothing, of wider elements),
indices (of gathers and scatters, which say less than they hold) and fold (constants up to `max-elements`, splats of any size).
None changes a result by more than rounding, most not at all; upstream's stablehlo-aggressive-simplification is not used because it turns
x + 0.0 into x and reads unsigned start indices as signed.
Must hold: nothing. Declined: constants in resource blobs, division of constants by zero, anything with effects.
"""

from __future__ import annotations

from torch_mlir import ir

from ..registry import register_pass
from .rules.algebra import ALGEBRA
from .rules.control import CONTROL
from .rules.convolutions import CONVOLUTIONS
from .rules.dots import DOTS
from .rules.dynamic import DYNAMIC
from .rules.empty import empty_rules
from .rules.fold import folding_rules
from .rules.indices import INDICES
from .rules.reductions import REDUCTIONS
from .rules.scatter import SCATTERS
from .rules.shapes import SHAPES, elementwise_rules
from .support.driver import drop_dead, merged, rewrite


@register_pass("simplify-stablehlo", "algebraic simplification, data movement, constant folding and dead code of StableHLO")
def simplify_stablehlo(module: ir.Operation, *, max_elements: int = 1024) -> bool:
    dropped = drop_dead(module)
    tables = (empty_rules(), SHAPES, elementwise_rules(), folding_rules(max_elements), DYNAMIC, CONTROL, ALGEBRA)
    return rewrite(module, merged(*tables, CONVOLUTIONS, DOTS, REDUCTIONS, SCATTERS, INDICES)) or dropped
