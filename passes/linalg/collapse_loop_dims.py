"""collapse-loop-dims: loops of one trip go, and adjacent loops that every operand walks alike become one.

Before:
    %0 = generic {(d0, d1, d2, d3) -> (d0, d1, d2, d3), parallel x4} ins(%x : tensor<1x8x128x64xf32>) outs(%e) { math.tanh }
    return %0
After:
    %v = tensor.collapse_shape %x [[0, 1, 2, 3]] : tensor<1x8x128x64xf32> into tensor<65536xf32>
    %0 = generic {(d0) -> (d0), parallel} ins(%v) outs(%e) { math.tanh }
    %1 = tensor.expand_shape %0 [[0, 1, 2, 3]] output_shape [1, 8, 128, 64]
    return %1

Loops are joined if they are of one kind, stand side by side, in this order, in the map of every operand that has either, and no body asks
for the index of one of them: as dims, or as the digits of one (a product's rows, read by images, lines and columns at
`196 * d0 + 14 * d1 + d2`). A body may ask for such a sum, of which the joined loop's index is what it was, and may extract elements of an
argument at the loops' indices in a row (parts of a concatenation, rows of a table): the dims become one. A tensor between two generics is
joined only if both agree, and so is an argument of a group with several results. Views stand at the function's edge: at arguments,
constants and returns; fills and empties are made anew. Unit dims of every tensor go, and with them operands that lend extents alone, where
another then walks those loops by themselves (taps of 3x1, read at `d5 + d6` of packed weights). A loop of one trip in a sum, as the single
tap of a window, goes first: pixels read at `d3 + d5` are read at `d3`, but where zeros are around them.

Upstream's linalg-fold-unit-extent-dims does loops of one trip alone, and leaves views between the ops of a group. Must hold: the linalg
stage. Declined: tensors read at computed indices, or inserted into another, keep their dims (but for unit ones); dims of a slice that does
not lie in one piece.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod

from torch_mlir import ir

from ..common.affine import dim_position, index_at, maps_attr, read_maps, used_dims
from ..common.edge import RESHAPES, before_edge
from ..common.index_expression import digits_of, loops_of
from ..common.rewriting import (
    defining_op,
    erase_unused,
    i64_attr,
    integer,
    integers,
    linalg_index,
    ops_in,
    producer,
    replace,
    shape_of,
    value_of,
    walk,
)
from ..common.scalars import Scalars
from ..common.storage import row_major, strides_of_view
from ..registry import register_pass
from .lower_to_linalg import group_functions
from .lowering import generic
from .lowering.asked_indices import Form, Use, asked_indices, index_of, loop_asked
from .lowering.generic import Generic, is_tensor, read_generic
from .lowering.views import at_edge, fitted, reshape

Group = list[int]
Views = dict[tuple[ir.Value, tuple[int, ...]], ir.Value]


@register_pass("collapse-loop-dims", "joins adjacent loops that all operands walk alike, drops loops of one trip")
def collapse_loop_dims(module: ir.Operation) -> None:
    for function in group_functions(module):
        with module.context, function.location:
            _collapse_function(function)


@dataclass(frozen=True, eq=False)
class _Access:
    """A tensor that a generic reads or makes, and what its map says."""

    value: ir.Value
    walked: list[tuple[int, int | None, int | None]]
    """Of each wide dim but the last the loop that walks it, and the one that walks the next."""
    pairs: dict[tuple[int | None, int | None], int]
    """The dim of each two loops that walk two dims side by side, where nothing lies between their elements."""
    count: dict[int, int]
    """The dims that depend on each loop."""
    as_digits: set[tuple[int, int]]
    """Loops that stand side by side in a row-major address of one dim: joined, they are its index."""


@dataclass(eq=False)
class _Loops:
    """A generic, its loops of more than one trip, and which of them may be joined to the next."""

    source: Generic
    loops: list[int]
    accesses: list[_Access]
    joined: dict[int, bool] = field(default_factory=dict)  # by loop: it and the next of `loops` become one

    def groups(self) -> list[Group]:
        return _runs(self.loops, self.joined)


def _runs(numbers: list[int], joined: dict[int, bool]) -> list[Group]:
    runs: list[Group] = []
    for previous, number in zip([None, *numbers], numbers):
        if previous is not None and joined.get(previous):
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _wide_dims(value: ir.Value) -> list[int]:
    return [d for d, extent in enumerate(shape_of(value)) if extent != 1]


def _collapse_function(function: ir.Operation) -> None:
    _share_views(function)
    for op in walk(function, "linalg.generic"):
        _read_before_unit_views(op)
        _without_unit_loops(op)
    ops = ops_in(function.regions[0].blocks[0])
    nests = [_read(read_generic(op)) for op in ops if op.name == "linalg.generic"]
    between = {r for nest in nests for r in nest.source.op.results}
    if len(ops[-1].operands) > 1:  # results of different shapes can share tiles only along loops that all have
        between |= {access.value for nest in nests for access in nest.accesses if at_edge(access.value)}
    split = {(op.operands[0], d) for nest in nests for op in _extracts(nest.source) for d in _wide_dims(op.operands[0])}
    inserted = [before_edge(op.operands[0], RESHAPES) for op in ops if op.name == "tensor.insert_slice"]
    split |= {(value, d) for value in inserted for d in _wide_dims(value)}
    sweep = nests
    while _restrict(sweep, between, split):
        sweep = sweep[::-1]  # along a chain what its last op forbids reaches the first one in one sweep
    as_they_are = all(len(n.groups()) == len(n.source.extents) for n in nests)
    if as_they_are and not any(1 in shape_of(v) for n in nests for v in _tensors(n.source)):
        return
    scalars = Scalars(function)
    new: dict[ir.Value, ir.Value] = {}
    views: Views = {}  # one a tensor: loops over one tensor are seen to be the same
    for nest in nests:
        _rebuild(nest, new, views, scalars)
    for old, value in new.items():
        _reshape_back(old, value)
    erase_unused([op for op in ops if op.name in ("linalg.generic", "linalg.fill", "tensor.empty")])


def _share_views(function: ir.Operation) -> None:
    """Leaves one of equal reshapes of an argument: what two generics read of it is one tensor."""
    met: dict[tuple[ir.Value, ir.Type], ir.Operation] = {}
    for op in ops_in(function.regions[0].blocks[0]):
        if op.name not in RESHAPES or not at_edge(op.results[0]):
            continue
        first = met.setdefault((op.operands[0], op.results[0].type), op)
        if first is not op:
            replace(op, [first.results[0]])


def _read_before_unit_views(reader: ir.Operation) -> None:
    """Has a generic read what another makes, not a view of it that differs in unit dims alone: both then agree on the dims between them."""
    maps = read_maps(reader)
    for number, value in enumerate(list(reader.operands)[: len(reader.operands) - len(reader.results)]):
        view = defining_op(value)
        made = defining_op(view.operands[0]) if view is not None and view.name in RESHAPES else None
        if view is None or made is None or made.name != "linalg.generic":
            continue
        source, wide = view.operands[0], [d for d, extent in enumerate(shape_of(value)) if extent != 1]
        told = {d for other, m in enumerate(maps) if other != number for d in map(dim_position, m.results)}
        dropped = {dim_position(e) for d, e in enumerate(maps[number].results) if d not in wide} - {None}
        if [shape_of(value)[d] for d in wide] != [n for n in shape_of(source) if n != 1] or not dropped <= told:
            continue
        kept = iter(maps[number].results[d] for d in wide)
        results = [ir.AffineExpr.get_constant(0) if n == 1 else next(kept) for n in shape_of(source)]
        maps[number] = ir.AffineMap.get(maps[number].n_dims, 0, results)
        reader.operands[number] = source
    reader.attributes["indexing_maps"] = maps_attr(maps)


def _without_unit_loops(op: ir.Operation) -> None:
    """Leaves loops of one trip, as the single tap of a window is, out of sums with others, where another operand walks them alone and what
    is left is a loop over all that lies there; but of what has zeros around it, whose dims stay as they are."""
    source = read_generic(op)
    bare = {dim_position(e) for m in source.maps for e in m.results}
    single = {i for i, extent in enumerate(source.extents) if extent == 1 and i in bare}
    count, maps = len(source.extents), list(source.maps)
    zeros = [ir.AffineExpr.get_constant(0) if i in single else ir.AffineExpr.get_dim(i) for i in range(count)]
    for number, value in enumerate(source.inputs):
        if producer(value, "tensor.pad") is not None:
            continue
        found = list(maps[number].results)
        for place, (e, extent) in enumerate(zip(found, ir.RankedTensorType(value.type).shape)):
            left = e.compose(ir.AffineMap.get(count, 0, zeros))
            dim = dim_position(left)
            if dim is not None and dim_position(e) is None and source.extents[dim] == extent:
                found[place] = left
        maps[number] = ir.AffineMap.get(count, 0, found)
    if maps != list(source.maps):
        op.attributes["indexing_maps"] = maps_attr(maps)


def _tensors(source: Generic) -> list[ir.Value]:
    return [v for v in (*source.inputs, *source.outs) if is_tensor(v)]


def _extracts(source: Generic) -> list[ir.Operation]:
    return walk(source.op, "tensor.extract")


def _read(source: Generic) -> _Loops:
    loops = [i for i, extent in enumerate(source.extents) if extent != 1]
    nest = _Loops(source, loops, [_access(source, value, indexing) for value, indexing in _accesses(source)])
    asked = _asked(source, loops)
    for i, following in itertools.pairwise(loops):
        alike = source.iterators[i] == source.iterators[following]
        nest.joined[i] = alike and all(form.get(i, 0) == form.get(following, 0) * source.extents[following] for form in asked)
    return nest


def _asked(source: Generic, loops: list[int]) -> list[Form]:
    """What the body asks of its loops. Dims that it extracts at their indices, in a row, ask for the place in them."""
    forms: list[Form] = []
    told: set[Use] = set()
    for op in _extracts(source):
        for run in _walked_runs(source, loops, op):
            walked = list(run.values())
            forms.append({loop: prod(source.extents[i] for i in walked[n:]) for n, loop in enumerate(walked, 1)})
            told |= {(op, 1 + d) for d in run}
    return [*forms, *asked_indices(source, told).values()]


def _walked_runs(source: Generic, loops: list[int], extract: ir.Operation) -> list[dict[int, int]]:
    """Dims of an argument, in a row, at which a body extracts an element by the indices of adjacent loops over all of them; these loops."""
    tensor, *point = extract.operands
    shape, dims, joined = shape_of(tensor), _wide_dims(tensor) if at_edge(tensor) else [], {}
    walked = {d: loop for d in dims if (loop := loop_asked(point[d])) in loops and loop is not None}
    for dim, following in itertools.pairwise(dims):
        after = walked.get(following)
        if after is None or dim not in walked or _next(loops, walked[dim]) != after or source.extents[after] != shape[following]:
            continue
        joined[dim] = not _is_cut(tensor, dim, following)
    return [{d: walked[d] for d in run} for run in _runs(dims, joined) if len(run) > 1]


def _access(source: Generic, value: ir.Value, indexing: ir.AffineMap) -> _Access:
    dims = _wide_dims(value)
    results = [indexing.results[d] for d in dims]
    walked = [(d, dim_position(a), dim_position(b)) for d, a, b in zip(dims, results, results[1:])]
    pairs = {(loop, after): d for (d, loop, after), following in zip(walked, dims[1:]) if not _is_cut(value, d, following)}
    used = [set(used_dims(e)) for e in results]
    count = {i: sum(i in each for each in used) for i in set().union(*used)}
    return _Access(value, walked, pairs, count, _digit_pairs(source, results, [shape_of(value)[d] for d in dims]))


def _restrict(nests: list[_Loops], between: set[ir.Value], split: set[tuple[ir.Value, int]]) -> bool:
    """Forbids what some operand's map forbids; `split` collects dims of tensors between generics that stay apart from the next."""
    changed = False
    for nest in nests:
        for access in nest.accesses:
            value, count = access.value, access.count
            for pair in itertools.pairwise(nest.loops):
                first, second = (count.get(i, 0) for i in pair)
                if not nest.joined[pair[0]] or not first + second or (pair in access.as_digits and first + second == 2):
                    continue
                dim = access.pairs.get(pair)
                if dim is None or first + second > 2 or (value in between and (value, dim) in split):
                    nest.joined[pair[0]] = False
                    changed = True
        for access in (each for each in nest.accesses if each.value in between):
            for dim, loop, after in access.walked:
                together = loop is not None and nest.joined.get(loop) and _next(nest.loops, loop) == after
                if not together and (access.value, dim) not in split:
                    split.add((access.value, dim))
                    changed = True
    return changed


def _digit_pairs(source: Generic, results: list[ir.AffineExpr], extents: list[int]) -> set[tuple[int, int]]:
    point = loops_of(source.extents)
    return {pair for e, extent in zip(results, extents) for pair in itertools.pairwise(digits_of(index_at(e, point), extent))}


def _is_cut(value: ir.Value, dim: int, following: int) -> bool:
    """Whether `value` is a slice whose elements along `following` do not lie beside those of the next index of `dim`; or has zeros."""
    if (pad := producer(value, "tensor.pad")) is not None:
        around = list(zip(integers(pad, "static_low"), integers(pad, "static_high")))
        return any(map(any, around[dim : following + 1])) or _is_cut(pad.operands[0], dim, following)
    strides = _strides(value)
    return strides is None or strides[dim] != strides[following] * shape_of(value)[following]


def _strides(value: ir.Value) -> tuple[int, ...] | None:
    """How far elements lie apart along each dim of a tensor, which may be a part of another or a reshape of a part; None where that is told
    by no strides."""
    op = defining_op(value)
    if op is None or op.name not in (*RESHAPES, "tensor.extract_slice"):
        return row_major(tuple(shape_of(value)))
    source = op.operands[0]
    strides = _strides(source)
    if strides is None:
        return None
    if op.name in RESHAPES:
        return strides_of_view(shape_of(value), shape_of(source), strides)
    return tuple(map(operator.mul, strides, integers(op, "static_strides")))


def _accesses(source: Generic) -> list[tuple[ir.Value, ir.AffineMap]]:
    results = zip(source.op.results, source.out_maps)
    return [(v, m) for v, m in (*zip((*source.inputs, *source.outs), source.maps), *results) if is_tensor(v)]


def _next(loops: list[int], loop: int) -> int | None:
    position = loops.index(loop) + 1
    return loops[position] if position < len(loops) else None


def _rebuild(nest: _Loops, new: dict[ir.Value, ir.Value], views: Views, scalars: Scalars) -> None:
    source, groups = nest.source, nest.groups()
    joined = {group[-1]: n for n, group in enumerate(groups)}  # the last, which a row-major address has once
    zero = ir.AffineExpr.get_constant(0)
    substitution = ir.AffineMap.get(
        len(groups), 0, [ir.AffineExpr.get_dim(joined[i]) if i in joined else zero for i in range(len(source.extents))]
    )
    _renumber(nest, groups, new, views, scalars)
    extents = [_product(source.extents, group) for group in groups]
    accesses = list(zip((*source.inputs, *source.outs), source.maps))
    runs_of = [_operand_runs(value, indexing, nest) if is_tensor(value) else [] for value, indexing in accesses]
    maps_of = [
        ir.AffineMap.get(len(groups), 0, [indexing.results[run[-1]].compose(substitution) for run in runs])
        for (_, indexing), runs in zip(accesses, runs_of)
    ]
    idle = _idle(source, maps_of)
    operands, maps = [], []
    with ir.InsertionPoint(source.op), source.op.location:
        for number, ((value, _), runs, indexing) in enumerate(zip(accesses, runs_of, maps_of)):
            if number in idle:
                continue
            operands.append(_fitted(_operand(value, runs, new, views), indexing.results, extents) if is_tensor(value) else value)
            maps.append(indexing)
        count = len(source.inputs) - len(idle)
        op = generic.new_generic(operands[:count], operands[count:], maps, [source.iterators[group[0]] for group in groups], source.op)
    for number in reversed(idle):
        source.block.erase_argument(number)
    source.block.append_to(op.regions[0])
    new |= dict(zip(source.op.results, op.results))


def _idle(source: Generic, maps: Sequence[ir.AffineMap]) -> list[int]:
    """The inputs that only lent extents, to loops of one trip or such that another operand walks by themselves."""
    lent = [number for number, value in enumerate(source.inputs) if _lends_alone(source, number, value)]
    walked = {dim_position(e) for number, each in enumerate(maps) if number not in lent for e in each.results}
    return [number for number in lent if all(dim_position(e) in walked - {None} for e in maps[number].results)]


def _lends_alone(source: Generic, number: int, value: ir.Value) -> bool:
    return is_tensor(value) and producer(value, "tensor.empty") is not None and not list(source.block.arguments[number].uses)


def _operand_runs(value: ir.Value, indexing: ir.AffineMap, nest: _Loops) -> list[Group]:
    """The value's dims that become one: those whose loops do."""
    dims = _wide_dims(value)
    joined = {}
    for dim, following in itertools.pairwise(dims):
        loop = dim_position(indexing.results[dim])
        joined[dim] = bool(
            loop is not None and nest.joined.get(loop) and _next(nest.loops, loop) == dim_position(indexing.results[following])
        )
    return _runs(dims, joined)


def _operand(value: ir.Value, runs: list[Group], new: dict[ir.Value, ir.Value], views: Views) -> ir.Value:
    if value in new:
        return new[value]
    shape = [_product(shape_of(value), run) for run in runs]
    if shape == shape_of(value):
        return value
    if (start := generic.resized_start(value, shape)) is not None:
        return start
    key = (value, tuple(shape))
    if key not in views:
        views[key] = reshape(value, shape)
    return views[key]


def _fitted(value: ir.Value, results: Sequence[ir.AffineExpr], extents: list[int]) -> ir.Value:
    """A map's `d0 + d1`, d1 of one trip, is a bare `d0` now: linalg takes it to run over all of the dimension, so the rest is cut off."""
    point = [index_at(e, loops_of(extents)) for e in results]
    return fitted(value, point, extents)


def _product(shape: list[int], run: Group) -> int:
    return prod(shape[d] for d in run)


def _renumber(nest: _Loops, groups: list[Group], new: dict[ir.Value, ir.Value], views: Views, scalars: Scalars) -> None:
    """Gives the body's indices, and sums of those of joined loops, their new numbers and its extracts tensors without unit dims."""
    source = nest.source
    number = {loop: n for n, group in enumerate(groups) for loop in group}
    last = {group[-1]: n for n, group in enumerate(groups)}
    indices = walk(source.op, "linalg.index")
    extracts = [(op, _extracted_runs(nest, op, number)) for op in _extracts(source)]
    for value, form in asked_indices(source).items():
        if any(len(groups[number[loop]]) > 1 for loop in form):
            with _before(value.owner, source.op), value.owner.location:
                value.replace_all_uses_with(index_of(form, last, scalars))
    for op in indices:
        loop = integer(op, "dim")
        if loop in number:
            op.attributes["dim"] = i64_attr(number[loop])
        else:
            replace(op, [scalars.index(0)])
    for op, runs in extracts:
        tensor, *point = op.operands
        if tensor not in new and len(runs) == len(point):
            continue
        with ir.InsertionPoint(source.op), op.location:
            flat = _operand(tensor, [run for run, _ in runs], new, views)
        with _before(op, source.op), op.location:
            places = [point[run[0]] if joined is None else linalg_index(joined) for run, joined in runs]
        with ir.InsertionPoint(op), op.location:
            replace(op, [value_of("tensor.extract", op.results[0].type, [flat, *places])])
    erase_unused([op for op in walk(source.op) if op.name in ("linalg.index", "arith.muli", "arith.addi")])


def _before(op: ir.Operation | ir.OpView, source: ir.Operation) -> ir.InsertionPoint:
    """Before the op, or the loop around it, in the body of a generic, where alone an index is asked for."""
    while op.parent.operation != source:
        op = op.parent
    return ir.InsertionPoint(op)


def _extracted_runs(nest: _Loops, op: ir.Operation, number: dict[int, int]) -> list[tuple[Group, int | None]]:
    """The dims of an extract's tensor that become one, and the joined loop whose index is the place in them."""
    loops = {d: loop for run in _walked_runs(nest.source, nest.loops, op) for d, loop in list(run.items())[:-1]}
    runs = _runs(_wide_dims(op.operands[0]), {d: nest.joined[loop] for d, loop in loops.items()})
    return [(run, number[loops[run[0]]] if len(run) > 1 else None) for run in runs]


def _reshape_back(old: ir.Value, value: ir.Value) -> None:
    """Readers that are no generics (the return) see the old shape."""
    if old.type == value.type:
        old.replace_all_uses_with(value)
        return
    users = [use.owner.operation for use in old.uses]
    outside = [user for user in users if user.name != "linalg.generic"]
    if not outside:
        return
    with ir.InsertionPoint(_first(outside)), old.owner.location:
        view = reshape(value, shape_of(old))
    for user in outside:
        user.replace_uses_of_with(old, view)


def _first(ops: Sequence[ir.Operation]) -> ir.Operation:
    """The one that comes before the others in their block."""
    return reduce(lambda found, op: op if op.is_before_in_block(found) else found, ops)
