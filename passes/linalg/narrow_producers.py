"""narrow-producers: of a value that is read through a window alone, only the window is computed.

Before (the window is a slice of a row sum; an expression may say it, or a tensor.extract_slice):
    %r = generic (d0, d1) ins(%x (d0, d1)) outs(%f (d0) : tensor<4096xf32>)   { addf }
    %t = generic (d0) ins(%r (d0 + 500)) outs(%e : tensor<16xf32>)            { math.tanh }
After:
    %r = generic (d0, d1) ins(%x (d0 + 500, d1)) outs(%g (d0) : tensor<16xf32>)   { addf }
    %t = generic (d0) ins(%r (d0)) outs(%e : tensor<16xf32>)                      { math.tanh }

Consumers come before producers, so that windows go up to the arguments; several windows count as the least that holds them all. Without
this a tile would compute all of what it reads a part of, for windows follow no tiles.

Of a grouped convolution, which reads its input at quotients of the loop over features, a window that is not within one group grows to whole
groups: split-loops splits the loop at them, and no kernel for windows reads at a quotient. The transform of a filter in groups is read at
its groups, not through the view that joins their features: blocks of which a group fills a part do not lie in one piece.

Must hold: inline-producers has run. Declined: values that are returned, reshaped, or read at computed indices; dims read otherwise than by
one loop at unit stride; empty tensors; of a convolution whose filter is in memory as Winograd's transform, parts of the pixels and of the
features of a group.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.affine import dim_position, index_at, maps_attr, to_affine, used_dims
from ..common.index_expression import Expr, loops_of
from ..common.rewriting import erase_unused, integer, shape_of, walk
from ..common.scalars import Scalars
from ..common.winograd import is_transformed
from ..registry import register_pass
from .inlining.inlining import SLICE, point_in_base, view_base, view_source
from .lower_to_linalg import group_functions
from .lowering import generic
from .lowering.generic import Generic, is_contraction, is_tensor, quotients, read_generic
from .lowering.views import fitted, window

Box = list[tuple[int, int]]
"""A dimension's first index and the one after its last, for each dimension or loop."""


@register_pass("narrow-producers", "computes only the window of a value that is read")
def narrow_producers(module: ir.Operation) -> None:
    for function in group_functions(module):
        with module.context, function.location:
            for op in reversed(walk(function, "linalg.generic")):
                _narrow(function, read_generic(op))
            erase_unused(walk(function, lambda o: o.name in (SLICE, "linalg.fill", "tensor.empty")))


def _narrow(function: ir.Operation, source: Generic) -> None:
    whole = [(0, extent) for extent in source.extents]
    box = _grown(source, _loops_read(source))
    if box == whole:
        return
    extents = [stop - start for start, stop in box]
    inside = [loop + start for loop, (start, _) in zip(loops_of(extents), box)]
    operands, maps = [], []
    with ir.InsertionPoint(source.op), source.op.location:
        for value, indexing in zip(source.inputs, source.in_maps):
            point = tuple(index_at(e, inside) for e in indexing.results)
            if is_tensor(value) and is_transformed(base := view_base(value)):
                value, point = base, point_in_base(value, point)
            operands.append(fitted(value, point, extents) if is_tensor(value) else value)
            maps.append(generic.affine_map(len(extents), [to_affine(index) for index in point]))
        outs = [_out(value, _of_dims(indexing, box)) for value, indexing in zip(source.outs, source.out_maps)]
        new = generic.new_generic(operands, outs, [*maps, *source.out_maps], source.iterators, source.op)
    _shift_indices(function, source, box)
    source.block.append_to(new.regions[0])
    for old, result, indexing in zip(source.op.results, new.results, source.out_maps):
        _move_readers(old, result, _of_dims(indexing, box))
    source.op.erase()


def _loops_read(source: Generic) -> Box:
    """How far each loop has to run for what is read of the results."""
    box: list[tuple[int, int] | None] = [None] * len(source.extents)
    for result, indexing in zip(source.op.results, source.out_maps):
        for expression, dim in zip(indexing.results, _dims_read(result)):
            loop = dim_position(expression)
            if loop is not None and dim is not None:
                box[loop] = _hull(box[loop], dim)
    return [
        (0, extent) if wanted is None else (wanted[0] if kind == generic.PARALLEL else 0, wanted[1])  # a scan begins at its first element
        for wanted, extent, kind in zip(box, source.extents, source.iterators)
    ]


def _grown(source: Generic, box: Box) -> Box:
    """The box with whole groups of loops that an operand of a product is read at quotients of; of a transformed filter all features and all
    pixels, whose blocks begin at the first."""
    if not is_contraction(source):
        return box
    groups = dict(quotients(source))
    blocked = {
        loop
        for value, indexing in zip(source.inputs, source.in_maps)
        if is_tensor(value) and is_transformed(view_base(value))
        for expression in indexing.results
        for loop in used_dims(expression)
    }
    grown = [wanted if loop in blocked or not blocked else (0, source.extents[loop]) for loop, wanted in enumerate(box)]
    for loop in blocked | groups.keys():
        extent = source.extents[loop]
        for step in sorted(groups.get(loop, {extent})):
            start, stop = grown[loop]
            if loop in blocked or start // step < (stop - 1) // step:
                grown[loop] = start // step * step, min(extent, -(-stop // step) * step)
    return grown


def _dims_read(value: ir.Value) -> list[tuple[int, int] | None]:
    """The window of each dimension that readers see; None where there are no readers."""
    shape = shape_of(value)
    whole = [(0, extent) for extent in shape]
    box: list[tuple[int, int] | None] = [None] * len(shape)
    for use in value.uses:
        op, number = use.owner.operation, use.operand_number
        if 0 in shape:
            return list(whole)
        if op.name == "linalg.generic":
            reader = read_generic(op)
            window = [_span(index_at(e, loops_of(reader.extents)), all_) for e, all_ in zip(reader.maps[number].results, whole)]
        elif op.name == SLICE and view_source(op.results[0]) is not None:
            window = [(start, start + size) if step == 1 else all_ for (start, size, step), all_ in zip(_slice(op), whole)]
        else:
            return list(whole)
        box = [_hull(b, w) for b, w in zip(box, window)]
    return box


def _span(index: Expr, whole: tuple[int, int]) -> tuple[int, int]:
    terms = [(atom, coefficient) for atom, coefficient in index.terms if atom.extent != 1]
    window = all(atom.kind == "dim" and coefficient == 1 for atom, coefficient in terms) and len(terms) <= 1
    return (index.low, index.high + 1) if window and index.low <= index.high else whole


def _hull(x: tuple[int, int] | None, y: tuple[int, int]) -> tuple[int, int]:
    return y if x is None else (min(x[0], y[0]), max(x[1], y[1]))


def _slice(op: ir.Operation) -> list[tuple[int, int, int]]:
    return list(zip(*(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides"))))


def _of_dims(indexing: ir.AffineMap, box: Box) -> Box:
    return [box[ir.AffineDimExpr(e).position] for e in indexing.results]


def _out(value: ir.Value, box: Box) -> ir.Value:
    """What a generic starts from, of the box's shape."""
    shape = [stop - start for start, stop in box]
    if not is_tensor(value) or shape == shape_of(value):
        return value
    start = generic.resized_start(value, shape)
    return window(value, [low for low, _ in box], shape) if start is None else start


def _shift_indices(function: ir.Operation, source: Generic, box: Box) -> None:
    scalars = Scalars(function)
    for op in walk(source.op, "linalg.index"):
        start = box[integer(op, "dim")][0]
        if not start:
            continue
        with ir.InsertionPoint.after(op), op.location:
            shifted = scalars.op("arith.addi", op.results[0], scalars.index(start))
        op.results[0].replace_all_uses_except(shifted, shifted.owner.operation)


def _move_readers(old: ir.Value, new: ir.Value, box: Box) -> None:
    """Readers of `old` read `new`, which is the box of it."""
    if old.type == new.type:
        old.replace_all_uses_with(new)
        return
    for op, number in [(use.owner.operation, use.operand_number) for use in old.uses]:
        with ir.InsertionPoint(op), op.location:
            if op.name == SLICE:
                offsets, sizes, _ = zip(*_slice(op))
                op.results[0].replace_all_uses_with(window(new, [o - start for o, (start, _) in zip(offsets, box)], list(sizes)))
                op.erase()
                continue
            reader = read_generic(op)
            point = tuple(index_at(e, loops_of(reader.extents)) - start for e, (start, _) in zip(reader.maps[number].results, box))
            op.operands[number] = fitted(new, point, reader.extents)
            maps = list(reader.maps)
            maps[number] = generic.affine_map(len(reader.extents), [to_affine(index) for index in point])
            op.attributes["indexing_maps"] = maps_attr(maps)
