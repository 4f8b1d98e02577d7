"""How large the tensors of a tile are: a bound that is known while code is emitted, and the true size where a tile is cut at an edge."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from torch_mlir import ir

from ...common.affine import dim_position
from ...common.axes import TileOp
from ...common.divisor import divisor_of
from ...common.rewriting import DYNAMIC, defining_op, mixed
from ...common.tiled_function import size_bound
from ...errors import PassFailure
from .indices import LARGE


@dataclass(frozen=True)
class Extent:
    """At most `bound` elements along a dimension; `size` is the exact number where it differs from tile to tile. `divisor` divides both."""

    bound: int
    size: ir.Value | None = None
    divisor: int = 1

    @staticmethod
    def of(value: int | ir.Value) -> Extent:
        if isinstance(value, int):
            return Extent(value, None, value or LARGE)
        return Extent(size_bound(value), value, gcd(size_bound(value), divisor_of(value)))


def shape_of(tensor: ir.Value) -> list[Extent]:
    """The extents of a tensor of the tile."""
    sizes = list(ir.RankedTensorType(tensor.type).shape)
    if DYNAMIC not in sizes:
        return [Extent.of(n) for n in sizes]
    op = defining_op(tensor)
    if op is not None and op.name == "tensor.extract_slice":
        return [Extent.of(n) for n in mixed(op, "static_sizes", 2)]
    if op is not None and op.name == "tensor.empty":
        dynamic = iter(op.operands)
        return [Extent.of(next(dynamic) if n == DYNAMIC else n) for n in sizes]
    if op is not None and op.name in ("linalg.generic", "linalg.fill"):
        inits = list(op.operands)[-len(op.results) :]
        return shape_of(inits[ir.OpResult(tensor).result_number])
    where = {} if op is None else {"op": op.name, "loc": str(op.location)}
    raise PassFailure("a tensor of the tile has no known shape", stage="gpu", **where)


def loop_extents(op: TileOp) -> list[Extent]:
    """The extents of the loops of a linalg op of the tile."""
    extents = [Extent.of(1)] * len(op.parallel)
    for m, value in zip(reversed(op.maps), reversed([*op.inputs, *op.inits])):
        if not isinstance(value.type, ir.RankedTensorType):
            continue
        for expr, extent in zip(m.results, shape_of(value)):
            dim = dim_position(expr)
            if dim is not None:
                extents[dim] = extent
    return extents


def stored_results(op: TileOp) -> list[int]:
    """The results that have an element for each step."""
    return [n for n, m in enumerate(op.output_maps) if any(not op.parallel[d] for e in m.results if (d := dim_position(e)) is not None)]
