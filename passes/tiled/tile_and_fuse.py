"""tile-and-fuse: makes each group function one loop over tiles, every linalg op of the group computed for the tile inside it.

Before:
    %f = linalg.fill ins(%zero) outs(%empty : tensor<256x1024xf32>)
    %c = linalg.generic {parallel, parallel, reduction} ins(%x, %w) outs(%f) { mulf, addf }
    %r = linalg.generic {parallel, parallel} ins(%b) outs(%c) { addf, maximumf }
    return %r
After:
    %r = scf.forall (%n, %m) = (0, 0) to (1024, 256) step (64, 96) shared_outs(%o = %empty) {
      %s = affine.min … : the rows left
      %d = tensor.extract_slice %o[%m, %n] [%s, 64]
      fill, contraction, epilogue on %d; operands are extract_slices
      scf.forall.in_parallel { tensor.parallel_insert_slice … into %o }
    }

common/axes.py finds which axes can be tiled, schedules/tile_sizes.py chooses their tile sizes. A chain of ops that update one buffer
(destination-passing style) up to a result updates the result's slice: no allocation and no copy. An input read along a tiled axis by an
expression that no slice has (reversal, floordiv, mod) is read by tensor.extract in the body instead. docs/cpu.md says why upstream's tiling
is not used.

Must hold: the linalg stage (docs/architecture.md). Declined: library groups, and what stays as it is for a pass of its own: sorts
(sort-rows), Fourier transforms (fourier-kernels), scatters (distribute-scatters). A group without a tileable axis becomes a forall of one
tile.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.axes import Axes, read_tile_op
from ..common.edge import AT_EDGE, RESHAPES, before_edge, edge
from ..common.rewriting import create, defining_op, element_of, erase_unused, functions, i64_array, ops_in, value_of, walk
from ..common.winograd import is_transformed
from ..errors import PassFailure
from ..registry import register_pass
from .emission.row_loop_body import RowLoopBody
from .emission.tile_body import TileBody
from .emission.whole_ops import whole_ops
from .schedules.chained import live_axis
from .schedules.row_loop import live_columns, row_loop
from .schedules.tile_sizes import choose_tile_sizes
from .tiles_told import tell_tiles

_BETWEEN = (*RESHAPES, "tensor.extract_slice")
"""What may not stand between two ops of a group."""
_LINALG = ("linalg.generic", "linalg.fill")
_ELSEWHERE = ("scf.forall", "stablehlo.sort", "stablehlo.scatter", "stablehlo.custom_call")
"""Ops that have their tiles already, or get them where their kernels are made."""


@register_pass("tile-and-fuse", "makes each group one scf.forall over tiles, by the schedule of its hero")
def tile_and_fuse(module: ir.Operation) -> None:
    target = target_of(module)
    for function in functions(module):
        if "hloom.library" in function.attributes or walk(function, _is_tiled_elsewhere):
            continue
        if "hloom.kind" not in function.attributes and not walk(function, lambda op: op.name in _LINALG):
            continue
        with module.context, function.location:
            _tile(function, target)


def _is_tiled_elsewhere(op: ir.Operation) -> bool:
    return op.name in _ELSEWHERE and not any(map(is_transformed, op.results))


def _tile(function: ir.Operation, target: TargetView) -> None:
    block = function.regions[0].blocks[0]
    returned = ops_in(block)[-1]
    _materialise_results(returned)
    heads = [before_edge(v) for v in returned.operands]
    ops = [op for op in ops_in(block) if op.name in _LINALG]
    _refuse_views_between(ops)
    axes = Axes([read_tile_op(op) for op in ops], heads)
    sizes = choose_tile_sizes(axes, target)
    tell_tiles(function, axes, target)

    distinct: list[ir.Value] = []
    for head in heads:
        if head not in distinct:
            distinct.append(head)
    with ir.InsertionPoint(ops[-1]) if ops else ir.InsertionPoint(returned):
        inits = [value_of("tensor.empty", head.type) for head in distinct]
        forall = _forall(axes, sizes, inits)
    whole = whole_ops(axes) if target.kind == "cpu" else frozenset()
    if (loop := row_loop(function, axes, target)) is not None:
        tile: TileBody = RowLoopBody(axes, sizes, forall, distinct, loop, live_columns(function, axes, loop))
    else:
        tile = TileBody(axes, sizes, forall, distinct, live_axis(function, axes, sizes), whole)
    tile.emit()
    _return_forall(function, returned, heads, distinct, forall)
    for op in reversed(ops):
        op.erase()
    erase_unused(walk(function, "tensor.empty"))


def _refuse_views_between(ops: list[ir.Operation]) -> None:
    made = {result for op in ops for result in op.results}
    for op in ops:
        for operand in op.operands:
            view = defining_op(operand)
            if view is not None and view.name in _BETWEEN and before_edge(operand, _BETWEEN) in made:
                where = {"op": view.name, "loc": str(view.location), "stage": "tiled"}
                raise PassFailure("a view stands between two ops of a group", remedy="run fold-views first", **where)


def _materialise_results(returned: ir.Operation) -> None:
    """A result that is an argument or a constant becomes a copy, so that every result is made by an op of the group."""
    for number, value in enumerate(returned.operands):
        head = before_edge(value)
        owner = defining_op(head)
        if owner is not None and owner.name in _LINALG:
            continue
        rank = len(ir.RankedTensorType(value.type).shape)
        identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))
        element = element_of(value)
        with ir.InsertionPoint(returned):
            empty = value_of("tensor.empty", value.type)
            copy = create(
                "linalg.generic",
                [value.type],
                [value, empty],
                regions=1,
                indexing_maps=ir.ArrayAttr.get([identity, identity]),
                iterator_types=ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank),
                operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 1]),
            )
            body = copy.regions[0].blocks.append(element, element)
            with ir.InsertionPoint(body):
                create("linalg.yield", [], [body.arguments[0]])
        returned.operands[number] = copy.results[0]


def _forall(axes: Axes, sizes: dict[int, int], inits: list[ir.Value]) -> ir.Operation:
    upper = [axes.extent[a] for a in sizes] or [1]
    steps = list(sizes.values()) or [1]
    forall = create(
        "scf.forall",
        [v.type for v in inits],
        inits,
        regions=1,
        staticLowerBound=i64_array([0] * len(upper)),
        staticUpperBound=i64_array(upper),
        staticStep=i64_array(steps),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([0, 0, 0, len(inits)]),
    )
    forall.regions[0].blocks.append(*[ir.IndexType.get()] * len(upper), *[v.type for v in inits])
    return forall


def _return_forall(
    function: ir.Operation, returned: ir.Operation, heads: list[ir.Value], distinct: list[ir.Value], forall: ir.Operation
) -> None:
    """Lets the function return the forall's results, through the views that stood at its edge."""
    for number, head in enumerate(heads):
        result = forall.results[distinct.index(head)]
        with ir.InsertionPoint(returned):
            for view in reversed(edge(returned.operands[number])):
                clone = view.clone()
                clone.operands[0] = result
                result = clone.results[0]
        returned.operands[number] = result
    erase_unused(walk(function, lambda op: op.name in AT_EDGE))
