"""fold-views: views between two ops of a group disappear into their loops and maps; views are left at the function's edge alone.

Before (a packed right operand):
    %c = generic (m, o, i, k) ins(%x (m, k), %w (o, k, i)) outs(tensor<256x16x64xf32>)   { mulf, addf }
    %v = tensor.collapse_shape %c : tensor<256x16x64xf32> into tensor<256x1024xf32>
    %r = generic (m, n) ins(%v (m, n)) outs(tensor<256x1000xf32>)
After:
    %c = generic (m, n, k) ins(%x (m, k), %w (n floordiv 64, k, n mod 64)) outs(tensor<256x1000xf32>)
    %r = generic (m, n) ins(%c (m, n))

A contraction without windows whose result is read through a collapse alone computes in the collapsed shape, and only as much of it as is
read. For a CPU one whose rows are read by several loops, `c[196 * b + r, n]`, computes in their shape (lowering/split_result.py). Any other
view between two generics is composed into its reader's map: through a collapse by floordiv and mod, through an expansion by a sum, through
a slice by stride and offset. A loop that then stands alone in no map takes its extent from an operand that lends its shape.

Upstream's fold-tensor-subset-ops folds views into other views and vector transfers, not into the maps of generics.

Must hold: the linalg stage before destination-passing-style. Declined: a view of an argument stays, and so does one that is returned, for
the return alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.affine import index_at, maps_attr, read_maps, to_affine, used_dims
from ..common.edge import RESHAPES, before_edge, reassociation
from ..common.index_expression import Expr, loops_of
from ..common.rewriting import (
    defining_op,
    element_of,
    erase_unused,
    has_one_use,
    index_constant,
    is_used,
    replace,
    shape_of,
    value_of,
    walk,
)
from ..registry import register_pass
from .inlining.inlining import VIEWS, point_in_source, view_base, view_source
from .lower_to_linalg import group_functions
from .lowering.generic import Generic, affine_map, lend_extents, read_generic
from .lowering.shown_collapses import show_collapses
from .lowering.split_result import split_result
from .lowering.views import collapse, expand

_LINALG = ("linalg.generic", "linalg.fill")


@register_pass("fold-views", "folds reshapes between the ops of a group into loops and maps")
def fold_views(module: ir.Operation) -> None:
    for function in group_functions(module):
        with module.context, function.location:
            for reader in walk(function, "linalg.generic"):
                show_collapses(reader)
            for view in walk(function, lambda op: op.name in RESHAPES):
                _cancel(view)
            for view in reversed(walk(function, lambda op: op.name in VIEWS)):
                if is_used(view.results[0]) and not _collapse_contraction(view):
                    _compose_into_readers(view)
                if not is_used(view.results[0]):
                    view.erase()  # a dead view is no reader of its source
            for extract in walk(function, "tensor.extract"):
                _extract_from_base(extract)
            for producer in walk(function, "linalg.generic") if target_of(module).kind == "cpu" else ():
                split_result(producer)
            for view in walk(function, lambda op: op.name in RESHAPES):
                _cancel(view)
            erase_unused(walk(function, lambda op: op.name in (*VIEWS, *_LINALG, "tensor.empty")))


def _cancel(view: ir.Operation) -> None:
    """A chain of views from one op's result is one view, or none where the last has the type of what is viewed first."""
    source = view.operands[0]
    inner = defining_op(source)
    if inner is None or inner.name not in RESHAPES:
        return
    while inner is not None and inner.name in RESHAPES:
        source = inner.operands[0]
        inner = defining_op(source)
    if source.type == view.results[0].type:
        view.results[0].replace_all_uses_with(source)
        return
    shape, wanted = shape_of(source), shape_of(view.results[0])
    with ir.InsertionPoint(view), view.location:
        if groups := _grouping(shape, wanted):
            direct = collapse(source, groups)
        elif groups := _grouping(wanted, shape):
            direct = expand(source, groups, wanted)
        else:
            return
    view.results[0].replace_all_uses_with(direct)


def _grouping(fine: list[int], coarse: list[int]) -> list[list[int]] | None:
    """Which neighbouring dimensions of `fine` make each one of `coarse`, or None if they do not."""
    if len(fine) <= len(coarse) or not coarse:
        return None
    groups: list[list[int]] = []
    position = 0
    for size in coarse:
        group, product = [position], fine[position] if position < len(fine) else 0
        position += 1
        while product != size and position < len(fine):
            group.append(position)
            product *= fine[position]
            position += 1
        if product != size:
            return None
        groups.append(group)
    while position < len(fine) and fine[position] == 1:
        groups[-1].append(position)
        position += 1
    return groups if position == len(fine) else None


def _readers(view: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """(generic, input number) of every use as an input of a generic."""
    uses = [(use.owner.operation, use.operand_number) for use in view.results[0].uses]
    return [(op, number) for op, number in uses if op.name == "linalg.generic" and number < len(op.operands) - len(op.results)]


def _collapse_contraction(view: ir.Operation) -> bool:
    source = view.operands[0]
    producer, readers = defining_op(source), _readers(view)
    if view.name != "tensor.collapse_shape" or producer is None or producer.name != "linalg.generic":
        return False
    if len(readers) != len(list(view.results[0].uses)):
        return False
    iterators = list(ir.ArrayAttr(producer.attributes["iterator_types"]))
    maps = read_maps(producer)
    out = maps[-1]
    fill = defining_op(producer.operands[len(producer.operands) - 1])
    plain = all(isinstance(e, ir.AffineDimExpr) for e in out.results) and len(producer.results) == 1
    indexed = walk(producer, "linalg.index") or walk(producer, "tensor.extract")
    if not plain or indexed or not has_one_use(source) or fill is None or fill.name != "linalg.fill" or len(iterators) == len(out.results):
        return False
    extents = _read_extents(view, readers)
    if extents is None or _has_windows(maps[:-1], {ir.AffineDimExpr(e).position for e in out.results}):
        return False
    replaced, dims = _collapsed_loops(out, reassociation(view), shape_of(source), len(iterators))
    substitution = ir.AffineMap.get(dims, 0, replaced)
    new_maps = [ir.AffineMap.get(dims, 0, [e.compose(substitution) for e in m.results]) for m in maps[:-1]]
    new_maps.append(ir.AffineMap.get(dims, 0, [ir.AffineDimExpr.get(i) for i in range(len(extents))]))
    kept = [iterators[ir.AffineDimExpr(out.results[group[0]]).position] for group in reassociation(view)]
    inner = [i for i in range(len(iterators)) if i not in {ir.AffineDimExpr(e).position for e in out.results}]
    element = element_of(source)
    kind = ir.RankedTensorType.get(extents, element)
    with ir.InsertionPoint(producer), producer.location:
        empty = value_of("tensor.empty", kind)
        init = fill.clone(ir.InsertionPoint(producer))
        init.operands[1] = empty
        init.results[0].set_type(kind)
        clone = producer.clone(ir.InsertionPoint(producer))
    clone.operands[len(clone.operands) - 1] = init.results[0]
    clone.results[0].set_type(kind)
    clone.attributes["indexing_maps"] = maps_attr(new_maps)
    clone.attributes["iterator_types"] = ir.ArrayAttr.get([*kept, *(iterators[i] for i in inner)])
    view.results[0].replace_all_uses_with(clone.results[0])
    return True


def _has_windows(maps: Sequence[ir.AffineMap], shown: set[int]) -> bool:
    """Whether an operand is read at the sum of a loop that the result shows and another: `w floordiv 8 + tap` would be no window."""
    return any(len(used_dims(e)) > 1 and used_dims(e) & shown for m in maps for e in m.results)


def _read_extents(view: ir.Operation, readers: list[tuple[ir.Operation, int]]) -> list[int] | None:
    """How far the readers read along each dimension of the view: from 0, by plain loops, or all of one that is no collapsed one; None where
    one reads otherwise."""
    shape, groups = shape_of(view.results[0]), reassociation(view)
    extents = [0] * len(shape)
    for reader, number in readers:
        maps = read_maps(reader)
        out = maps[-1]
        outer = shape_of(reader.results[len(reader.results) - 1])
        for position, expr in enumerate(maps[number].results):
            places = [p for p, e in enumerate(out.results) if e == expr] if isinstance(expr, ir.AffineDimExpr) else []
            if not places and len(groups[position]) > 1:
                return None
            extents[position] = max(extents[position], outer[places[0]] if places else shape[position])
    return extents


def _collapsed_loops(out: ir.AffineMap, groups: list[list[int]], shape: list[int], loops: int) -> tuple[list[ir.AffineExpr], int]:
    """The old loops as functions of the new ones: one loop a dimension of the view, then the loops that the result does not show."""
    replaced: list[ir.AffineExpr | None] = [None] * loops
    for new, group in enumerate(groups):
        rest = ir.AffineDimExpr.get(new)
        for position in group:
            inside = prod(shape[p] for p in group if p > position)
            loop = ir.AffineDimExpr(out.results[position]).position
            value = rest if inside == 1 else ir.AffineExpr.get_floor_div(rest, inside)
            if position != group[0]:
                value = ir.AffineExpr.get_mod(value, shape[position])
            replaced[loop] = value
    dims = len(groups)
    for loop in range(loops):
        if replaced[loop] is None:
            replaced[loop] = ir.AffineDimExpr.get(dims)
            dims += 1
    return replaced, dims


def _compose_into_readers(view: ir.Operation) -> None:
    source = view.operands[0]
    base = defining_op(view_base(source))
    if base is None or base.name not in _LINALG or view_source(view.results[0]) is None:
        return
    while readers := _readers(view):  # found anew: an op that is lent extents is another one
        op, number = readers[0]
        reader = read_generic(op)
        point = tuple(index_at(e, loops_of(reader.extents)) for e in reader.maps[number].results)
        point = point_in_source(view.results[0], source, point)
        maps = list(reader.maps)
        maps[number] = affine_map(len(reader.extents), [_partly(index, size, reader) for index, size in zip(point, shape_of(source))])
        op.operands[number] = source
        op.attributes["indexing_maps"] = maps_attr(maps)
        with ir.InsertionPoint(op), op.location:
            lend_extents(op, reader.extents)


def _partly(index: Expr, extent: int, reader: Generic) -> ir.AffineExpr:
    """The expression of an index. linalg takes a bare loop to run over all of the dimension: one that does not is given as a remainder."""
    expression = to_affine(index)
    partly = index.dim is not None and reader.extents[index.dim] < extent
    return ir.AffineExpr.get_mod(expression, extent) if partly else expression


def _extract_from_base(extract: ir.Operation) -> None:
    """An element of a reshape of what another op makes is extracted from that, at the digits of its row-major address."""
    view, base = extract.operands[0], before_edge(extract.operands[0], RESHAPES)
    producer = defining_op(base)
    if base == view or producer is None or producer.name not in _LINALG or 0 in shape_of(base):
        return

    def index(name: str, x: ir.Value, number: int) -> ir.Value:
        return value_of(f"arith.{name}", x.type, [x, index_constant(number)])

    shape, wanted = shape_of(view), shape_of(base)
    with ir.InsertionPoint(extract), extract.location:
        address = index_constant(0)
        for position, extent in zip(list(extract.operands)[1:], shape):
            address = value_of("arith.addi", address.type, [index("muli", address, extent), position])
        point = [index("remui", index("divui", address, prod(wanted[d + 1 :])), extent) for d, extent in enumerate(wanted)]
        replace(extract, [value_of("tensor.extract", extract.results[0].type, [base, *point])])
