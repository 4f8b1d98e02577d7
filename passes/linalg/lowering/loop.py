"""while: one generic for each part of its results, whose body holds the loop over scalars.

    %r = linalg.generic {parallel} ins(%x, %y) outs(%e) {
      %l = scf.for %t = 0 to 1000 iter_args(%s = %in_x) { %0 = math.sin %s; %1 = arith.addf %0, %in_y; scf.yield %1 }
      linalg.yield %l
    }

What the body computes is what fused/loops/trace.py finds; a loop of unknown turns is an scf.while. What is read at the tile's own index
before the loop is an input, all else a tensor.extract. Where something is written turn by turn, the turns are a loop of the nest
(sequential.py). A result with dimensions that are none of the tile's is put together by a generic of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.affine import to_affine
from ...common.rewriting import linalg_index
from ...fused.loops.nodes import Element
from ...fused.loops.parts import Part, parts_of
from ...fused.loops.trace import Obstacle
from . import generic
from .loop_scalars import Emitter
from .lowering import Lowering, Read, unsupported
from .sequential import lower_sequential


def _while(low: Lowering, op: ir.Operation) -> None:
    try:
        parts = parts_of(op)
    except Obstacle as obstacle:
        raise unsupported(op, f"a loop that is not scalar code: {obstacle.reason}") from None
    for part in parts:
        made = iter((lower_sequential if part.streams else _lower_parallel)(low, part))
        for number in part.roots:
            pieces = [next(made) for _ in part.roots[number]]
            low.set(op.results[number], _assembled(low, op.results[number], part, number, pieces))


def _lower_parallel(low: Lowering, part: Part) -> list[ir.Value]:
    """A tensor over the tile's loops for each root."""
    rank, nodes = len(part.extents), [node for number in part.roots for _, node in part.roots[number]]
    inputs = [node for node in part.tracer.nodes if isinstance(node, Element) and _is_input(node)]
    reads: list[Read] = [(node.value, generic.affine_map(rank, [to_affine(index) for index in node.point])) for node in inputs]
    outs = [generic.empty(part.extents, generic.signless_element(part.outer.op.results[n])) for n in part.roots for _ in part.roots[n]]

    def body(scalars: list[ir.Value], _: list[ir.Value]) -> list[ir.Value]:
        dims = [linalg_index(d) for d in range(rank)]
        return Emitter(low, dims, dict(zip(inputs, scalars))).values(nodes)

    return low.structured(reads, outs, [generic.identity(rank)] * len(outs), [generic.PARALLEL] * rank, body)


def _is_input(node: Element) -> bool:
    return not node.scope.depth and all(index.is_linear and not index.depends_on("value") for index in node.point)


def _assembled(low: Lowering, result: ir.Value, part: Part, number: int, pieces: Sequence[ir.Value]) -> ir.Value:
    """The result, from its pieces: one for each index of the dimensions that are none of the tile's."""
    shape, axes = generic.shape_of(result), part.axes[number]
    turns = len(part.extents)
    order = [*([turns] if number in part.streams else []), *range(turns)]
    if axes == order:
        return pieces[0]
    s, rank = low.scalars, len(shape)
    dims = [ir.AffineExpr.get_dim(axes.index(axis)) for axis in order]
    apart = [d for d, axis in enumerate(axes) if axis is None and shape[d] > 1]

    def body(*scalars: ir.Value) -> list[ir.Value]:
        chosen = scalars[len(pieces) - 1]
        for piece, (point, _) in reversed(list(zip(scalars[: len(pieces) - 1], part.roots[number]))):
            here = None
            for d in apart:
                same = s.cmpi("eq", linalg_index(d), s.index(point[d].constant))
                here = same if here is None else s.op("arith.andi", here, same)
            chosen = piece if here is None else s.select(here, piece, chosen)
        return [chosen]

    maps = [*[generic.affine_map(rank, dims)] * len(pieces), generic.identity(rank)]
    out = generic.empty(shape, generic.signless_element(result))
    return generic.build_generic(pieces, [out], maps, [generic.PARALLEL] * rank, body).results[0]


LOWERINGS = {"stablehlo.while": _while}
