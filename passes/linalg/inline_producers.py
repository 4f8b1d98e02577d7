"""inline-producers: rebuilds a group's generics so that elementwise and moving producers are inlined into their consumers.

Before (softmax's denominator; %max is a row reduction):
    %0 = generic ins(%max) (d0) -> (d0, d1)      { yield %in }            broadcast
    %1 = generic ins(%x, %0) identity            { subf }
    %2 = generic ins(%1) identity                { math.exp }
    %3 = generic ins(%2) outs(%zero) (d0) sum    { addf }
    %4 = generic ins(%2, broadcast of %3)        { divf }
After:
    %2 = generic ins(%x, %max) maps (d0, d1), (d0)  { subf, math.exp }    kept: dear, and used twice
    %3 = generic ins(%2) outs(%zero) sum            { addf }
    %4 = generic ins(%2, %3) maps (d0, d1), (d0)    { divf }

A parallel generic is inlined, its maps composed, wherever it is read: through reshapes, and at a tensor.extract. Kept are reductions and
contractions, what the function returns, and producers whose recomputation would cost more than storing them: those evaluated more than once
an element, over all readers, at more than a few additions. A contraction inlines only moves and extensions of its operands, as
affine maps and arith.ext*, and the bitcast by which it sees floats in bytes. For a GPU, what is read in windows is inlined whatever it
costs: a thread evaluates it where it reads it, kept or not. A function without reductions keeps nothing but its results:
one generic for all results of a shape. A returned reshape becomes a view at the function's edge, and parallel generics of equal shape are
joined into one of several results where no op between depends on them, but for those that are made of different contractions, and those of
which one reads a square value turned that the other reads as it is.

Upstream's linalg-fuse-elementwise-ops weighs no recomputation, stops at tensor.extract, and joins no siblings.

Must hold: static shapes; linalg.generic, linalg.fill, tensor.collapse_shape/expand_shape, constants. Other ops are opaque: what they read
is kept. Declined: a parallel generic whose output map is no permutation stays as it is.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.index_expression import reshape_point
from ..common.rewriting import erase_unused, ops_in
from ..registry import register_pass
from .inlining.inlining import VIEWS, Builder, Sources
from .inlining.keeping import Node, clusters, decide, read_nodes
from .lower_to_linalg import group_functions
from .lowering import generic
from .lowering.views import reshape

_REMOVABLE = ("linalg.generic", "linalg.fill", "tensor.empty", *VIEWS)


@register_pass("inline-producers", "inlines elementwise and moving producers into the generics that use them")
def inline_producers(module: ir.Operation) -> None:
    for function in group_functions(module):
        with module.context, function.location:
            _rebuild(function)


def _rebuild(function: ir.Operation) -> None:
    ops = ops_in(function.regions[0].blocks[0])
    nodes = read_nodes(ops)
    by_result = {result: node for node in nodes for result in node.generic.op.results}
    decide(nodes, by_result)
    sources = Sources(function)
    for result, node in by_result.items():
        if node.inlined:
            sources.inlined[result] = (node.generic, ir.OpResult(result).result_number)
    for cluster in clusters(nodes):
        _emit(sources, cluster)
    erase_unused([op for op in ops if op.name in _REMOVABLE])


def _emit(sources: Sources, cluster: list[Node]) -> None:
    """The generic of a cluster, at the place of its last member, and its results instead of the members' results."""
    anchor = cluster[-1].generic.op
    with ir.InsertionPoint(anchor), anchor.location:
        op = _emit_parallel(sources, cluster) if cluster[0].pure else _emit_structured(sources, cluster[0])
        results = list(op.results)
        olds = [r for node in cluster for r in node.generic.op.results]
        views = [new if new.type == old.type else reshape(new, generic.shape_of(old)) for old, new in zip(olds, results)]
    for old, new in zip(olds, views):
        sources.replace(old, new)
        _sink_views(new, anchor)  # which is still there, and comes after all of them


def _sink_views(value: ir.Value, after: ir.Operation) -> None:
    """Views of a result that is now computed later than before follow it; those within loops come later as it is."""
    for view in [use.owner.operation for use in value.uses if use.owner.operation.name in VIEWS]:
        if view.parent != after.parent:
            continue
        view.move_after(after)
        _sink_views(view.results[0], view)


def _emit_parallel(sources: Sources, cluster: list[Node]) -> ir.Operation:
    """Loops in the order of the results' dims; the members are emitted in one body and share what they have in common."""
    shape = cluster[0].shape
    results = [r for node in cluster for r in node.generic.op.results]
    members = {r: (node.generic, i) for node in cluster for i, r in enumerate(node.generic.op.results)}
    builder = Builder(sources, shape, members)
    points = [reshape_point(builder.loops, shape, generic.shape_of(r)) for r in results]
    scalars = builder.scalars_of(list(zip(results, points)))
    outs = [generic.empty(shape, generic.signless_element(r)) for r in results]
    op, _ = builder.finish(scalars, outs, [generic.identity(len(shape))] * len(outs), [generic.PARALLEL] * len(shape))
    return op


def _emit_structured(sources: Sources, node: Node) -> ir.Operation:
    """The same loops, maps of results and body, with producers inlined. Placeholders stand for the outs until their arguments exist."""
    source = node.generic
    placeholders = [_placeholder(generic.signless_element(v)) for v in source.outs]
    builder = Builder(sources, source.extents, {})
    scalars = builder.body_of(source, [p.results[0] for p in placeholders])
    outs = [sources.current(v) for v in source.outs]
    op, arguments = builder.finish(scalars, outs, source.out_maps, source.iterators, source.op)
    for placeholder, argument in zip(placeholders, arguments):
        placeholder.results[0].replace_all_uses_with(argument)
    return op


def _placeholder(kind: ir.Type) -> ir.Operation:
    return ir.Operation.create("builtin.unrealized_conversion_cast", results=[kind], operands=[], ip=False)
