"""legalize-broadcast-select: chlo.broadcast_select as broadcasts and a select.

Before:
    %0 = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
After:
    %0 = stablehlo.select (broadcast_in_dim %p), (broadcast_in_dim %x), %y : tensor<2x3xi1>, tensor<2x3xf32>

Upstream's legalization of CHLO computes the shape of this op's result, though it is known, in ops that complex numbers do not have.
Must hold: shapes are known. Declined: nothing.
"""

from __future__ import annotations

from torch_mlir import ir

from ..registry import register_pass
from .support import build
from .support.driver import rewrite
from .support.spread import spread

_OP = "chlo.broadcast_select"


@register_pass("legalize-broadcast-select", "turns chlo.broadcast_select into broadcasts and a select", ops=(_OP,))
def legalize_broadcast_select(module: ir.Operation) -> None:
    rewrite(module, {_OP: [_select]})


def _select(op: ir.Operation) -> list[ir.Value]:
    return [build.select(*spread(op))]
