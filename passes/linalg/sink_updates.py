"""sink-updates: what computes the updates of a scatter moves into its loops, to where an update is applied.

Before:
    %u = linalg.generic {parallel} ins(%x, %w) outs(%empty : tensor<3000x64xf32>) maps (d0, d1), (d0)  { mulf }
    scf.forall (%j) … scf.for %n … {
      %s = tensor.extract_slice %u[%n, %j] [1, 32]
      linalg.generic {parallel} ins(%s) outs(%row) { addf }
    }
After:
    scf.forall (%j) … scf.for %n … {
      %a = tensor.extract_slice %x[%n, %j] [1, 32]
      %b = tensor.extract_slice %w[%n] [1]
      linalg.generic {parallel} ins(%a, %b) outs(%row) { mulf, addf }
    }

So updates are not written before they are applied. Each is applied once, so that none is computed twice; plan-fusion decides what is.

An input that is a view is read behind it where that is along the loops: plan-fusion sees through views.

Must hold: inline-producers has run, so that one generic computes an update. Declined: generics that do more than loop, and those that read
their inputs at other places than along their loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from torch_mlir import ir

from ..common.affine import dim_position, index_at, loops_where, maps_attr, to_affine
from ..common.index_expression import loops_of
from ..common.rewriting import (
    clone_with,
    defining_op,
    erase_unused,
    integer,
    linalg_index,
    mixed,
    ops_in,
    replace,
    shape_of,
)
from ..common.scalars import Scalars
from ..common.slices import extract_slice
from ..registry import register_pass
from .inlining.inlining import SLICE, point_in_base, view_base
from .lower_to_linalg import group_functions
from .lowering import generic
from .lowering.generic import Generic, is_tensor, read_generic

Place: TypeAlias = "int | ir.Value"


@register_pass("sink-updates", "computes the updates of a scatter where they are applied")
def sink_updates(module: ir.Operation) -> None:
    for function in group_functions(module):
        with module.context, function.location:
            loops = [op for op in ops_in(function.regions[0].blocks[0]) if op.name == "linalg.generic"]
            for op in loops:
                if _readers(op.results[0]):
                    _read_behind_views(op)
            made = [op for op in loops if _sinks(read_generic(op))]
            for op in reversed(made):
                while readers := _readers(op.results[0]):
                    _compute_in(Scalars(function), readers[0], read_generic(op))
            erase_unused(made)


def _read_behind_views(op: ir.Operation) -> None:
    """What is read of a view at a place that is no loop's is read behind it: `x[16 i + j]` of rows that lie in one piece is `x[i, j]`. And
    `x[i + 2]` of a loop of one trip is `x[2]`."""
    source = read_generic(op)
    count = len(source.extents)
    loops = [ir.AffineExpr.get_constant(0) if extent == 1 else ir.AffineExpr.get_dim(i) for i, extent in enumerate(source.extents)]
    once = ir.AffineMap.get(count, 0, loops)
    maps = [m if _is_plain(m) else ir.AffineMap.get(count, 0, [e.compose(once) for e in m.results]) for m in source.maps]
    for number, value in enumerate(source.inputs):
        if _is_plain(maps[number]):
            continue
        point = point_in_base(value, tuple(index_at(e, loops_of(source.extents)) for e in maps[number].results))
        behind = generic.affine_map(count, list(map(to_affine, point)))
        if _is_plain(behind):
            op.operands[number], maps[number] = view_base(value), behind
    op.attributes["indexing_maps"] = maps_attr(maps)


def _is_plain(indexing: ir.AffineMap) -> bool:
    return all(isinstance(e, ir.AffineDimExpr | ir.AffineConstantExpr) for e in indexing.results)


def _sinks(source: Generic) -> bool:
    """Whether it is a loop over the elements of one result, each made of what lies at its place along the inputs' dims."""
    if not source.is_parallel or len(source.op.results) != 1 or any(view.operation.regions for view in source.block.operations):
        return False
    shown = sorted(dim for e in source.out_maps[0].results if (dim := dim_position(e)) is not None)
    return all(map(_is_plain, source.in_maps)) and shown == list(range(len(source.extents)))


def _readers(value: ir.Value) -> list[ir.Operation]:
    """The loops within tiles that read slices of the value, if nothing else reads it."""
    slices = [use.owner.operation for use in value.uses]
    if any(op.name != SLICE for op in slices):
        return []
    readers = [use.owner.operation for op in slices for use in op.results[0].uses]
    inside = all(op.name == "linalg.generic" and op.parent.operation.name != "func.func" for op in readers)
    return readers if inside else []


def _compute_in(scalars: Scalars, reader: ir.Operation, source: Generic) -> None:
    """Replaces a loop by one that computes the elements of `source`'s result which it reads."""
    into = read_generic(reader)
    number = next(i for i, value in enumerate(into.inputs) if _sliced(value) == source.op.results[0])
    read = into.inputs[number].owner.operation
    first = loops_where(source.out_maps[0], mixed(read, "static_offsets", 1), 0)
    sizes = loops_where(source.out_maps[0], shape_of(read.results[0]), 1)
    place = loops_where(source.out_maps[0], list(into.in_maps[number].results), ir.AffineExpr.get_constant(0))
    tensors = [(value, indexing) for value, indexing in zip(source.inputs, source.in_maps) if is_tensor(value)]
    others = [i for i in range(len(into.inputs)) if i != number]

    def body(*arguments: ir.Value) -> list[ir.Value]:
        given = iter(arguments[len(others) :])
        known = {argument: next(given) if is_tensor(v) else v for v, argument in zip(source.inputs, source.block.arguments)}
        (element,) = _emitted(source, known, lambda loop: _index(scalars, place[loop], first[loop]))
        known = {into.block.arguments[number]: element, **dict(zip(into.out_arguments, given))}
        known |= {into.block.arguments[i]: argument for i, argument in zip(others, arguments)}
        return _emitted(into, known)

    with ir.InsertionPoint(reader), reader.location:
        slices = [_slice(value, indexing, first, sizes) for value, indexing in tensors]
        maps = [generic.affine_map(len(into.extents), [_at(e, place) for e in indexing.results]) for _, indexing in tensors]
        inputs = [*(into.inputs[i] for i in others), *slices]
        made = generic.build_generic(inputs, into.outs, [*(into.in_maps[i] for i in others), *maps, *into.out_maps], into.iterators, body)
    replace(reader, list(made.results))
    erase_unused([read])


def _sliced(value: ir.Value) -> ir.Value | None:
    """What the value is a slice of."""
    op = defining_op(value)
    return op.operands[0] if op is not None and op.name == SLICE else None


def _slice(value: ir.Value, indexing: ir.AffineMap, first: Sequence[Place], sizes: Sequence[int]) -> ir.Value:
    """What loops of these extents, from `first` on, read of an input."""
    dims = [dim_position(e) for e in indexing.results]
    offsets = [e.value if dim is None else first[dim] for dim, e in zip(dims, indexing.results)]
    return extract_slice(value, offsets, [1 if dim is None else sizes[dim] for dim in dims])


def _at(expression: ir.AffineExpr, place: Sequence[ir.AffineExpr]) -> ir.AffineExpr:
    """Where a loop that reads a slice reads what one of the slice's loops does; a constant is where the slice of an input begins."""
    dim = dim_position(expression)
    return ir.AffineExpr.get_constant(0) if dim is None else place[dim]


def _index(scalars: Scalars, place: ir.AffineExpr, first: Place) -> ir.Value:
    """A loop's index, from its place in the slice."""
    dim = dim_position(place)
    start = scalars.index(first) if isinstance(first, int) else first
    if dim is None:
        return start
    return scalars.op("arith.addi", linalg_index(dim), start)


def _emitted(source: Generic, known: dict[ir.Value, ir.Value], index: Callable[[int], ir.Value] | None = None) -> list[ir.Value]:
    """The body once more, for these values of its arguments: what it yields. `index`: what stands for that of a loop."""
    for op in ops_in(source.block)[:-1]:
        if index is not None and op.name == "linalg.index":
            known[op.results[0]] = index(integer(op, "dim"))
        else:
            clone_with(op, known)
    return [known.get(value, value) for value in source.terminator.operands]
