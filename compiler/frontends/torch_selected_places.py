"""Rules for what a mask selects, and for reading and writing at places that it tells (torch_selections.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from .torch_selected import Builder, Mark, Selected, aten, dtype_of, rank
from .torch_selected_ops import Args, _none, again, aligned, joined, marks_of, nodes_of, reduced_marks, rule, selected, tensor_rank, without

_INDEXED = (aten.index.Tensor, aten._unsafe_index.Tensor)


def sourced(op: Any, args: Any) -> bool:
    """Whether the op's result has a size that depends on data."""
    if op in _INDEXED:
        return any(isinstance(each, Node) and each.meta["val"].dtype == torch.bool for each in args[1])
    return op in (aten.nonzero.default, aten.masked_select.default)


# What is selected.


@rule("masked_select")
def masked_select(b: Builder, node: Node, args: Args) -> Any:
    value, mask = args["self"], args["mask"]
    marks = joined(b, [value, mask], max(tensor_rank(value), tensor_rank(mask)))
    shape = b.shape(b.call(aten.where.self, nodes_of(mask), nodes_of(value), b.constant(0, dtype_of(nodes_of(value)))))
    mask = _known(b, Selected(b.expand(nodes_of(mask), shape), marks))
    return Selected(b.flat(b.expand(nodes_of(value), shape)), {0: Mark(b.flat(mask))})


@rule("masked_scatter")
def masked_scatter(b: Builder, node: Node, args: Args) -> Any:
    value, mask, source = args["self"], args["mask"], args["source"]
    if isinstance(value, Selected) or isinstance(mask, Selected) or not isinstance(source, Selected) or rank(source.node) != 1:
        _none(b, node, args)
    shape = b.shape(value)
    flat = b.flat(b.expand(mask, shape))
    return b.view(_put(b, b.flat(value), flat, 0, source, False), shape)


def _known(b: Builder, mask: Any) -> Node:
    """A mask that is true only where what it stands at counts."""
    return b.filled(mask, False)  # type: ignore[no-any-return]


@rule("nonzero")
def nonzero(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    of, count = nodes_of(value), tensor_rank(value)
    shape = b.shape(of)
    mask = of if dtype_of(of) == torch.bool else b.call(aten.ne.Scalar, of, 0)
    columns = []
    for dim in range(count):
        mark = marks_of(value).get(dim)
        places = b.positions(mark) if mark else b.arange(shape[dim])
        spread = b.expand(b.view(places, [shape[d] if d == dim else 1 for d in range(count)]), shape)
        columns.append(b.call(aten.unsqueeze.default, b.flat(spread), 1))
    marks = {0: Mark(b.flat(_known(b, Selected(mask, marks_of(value)))))}
    if not columns:  # of a number: a row without places, or none
        columns.append(b.call(aten.full.default, [1, 0], 0, dtype=torch.int64, device=b.device))
    return Selected(b.call(aten.cat.default, columns, 1) if count > 1 else columns[0], marks)


@rule("index _unsafe_index")
def index(b: Builder, node: Node, args: Args) -> Any:
    value, indices = args["self"], list(args["indices"])
    mask = _mask_among(b, indices)
    if mask is not None:
        return _by_mask(b, value, indices.index(mask), mask)
    given = {dim: each for dim, each in enumerate(indices) if each is not None}
    for dim in given:
        if dim in marks_of(value):
            value = b.compact(value, dim)
    shape = max(map(tensor_rank, given.values()))
    places = list(given)
    begin = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    marks = {dim + begin: mark for dim, mark in joined(b, list(given.values()), shape).items()}
    kept = [dim for dim in range(tensor_rank(value)) if dim not in given]
    for place, dim in enumerate(kept):
        if dim in marks_of(value):
            marks[place + (shape if place >= begin else 0)] = value.marks[dim]
    return selected(b.call(aten.index.Tensor, nodes_of(value), nodes_of(indices)), marks)


def _mask_among(b: Builder, indices: Sequence[Any]) -> Any:
    """The mask, where one selects."""
    masks = [each for each in indices if each is not None and dtype_of(nodes_of(each)) in (torch.bool, torch.uint8)]
    if masks and sum(each is not None for each in indices) > 1:
        b.refused("an index of a mask and of other tensors")
    return masks[0] if masks else None


def _by_mask(b: Builder, value: Any, begin: int, mask: Any) -> Selected:
    count = tensor_rank(mask)
    own = {dim: mark for dim, mark in marks_of(value).items() if begin <= dim < begin + count}
    if marks_of(mask) != {dim - begin: mark for dim, mark in own.items()}:
        b.refused("elements that two masks select, side by side")
    marks = {dim - (count - 1 if dim > begin else 0): mark for dim, mark in marks_of(value).items() if dim not in own}
    return Selected(b.flat(nodes_of(value), begin, count), {**marks, begin: Mark(b.flat(_known(b, mask)))})


# What is read at places.


@rule("index_select")
def index_select(b: Builder, node: Node, args: Args) -> Any:
    value, rows = args["self"], args["index"]
    dim = args["dim"] % tensor_rank(value)
    value = b.compact(value, dim) if dim in marks_of(value) else value
    marks = without(marks_of(value), dim)
    if isinstance(rows, Selected):
        marks[dim] = rows.marks[0]
    return selected(b.call(aten.index_select.default, nodes_of(value), dim, nodes_of(rows)), marks)


@rule("gather")
def gather(b: Builder, node: Node, args: Args) -> Any:
    value, places = args["self"], args["index"]
    dim = args["dim"] % tensor_rank(places)
    value = b.compact(value, dim) if dim in marks_of(value) else value
    _alike(b, dim, value, places)
    return selected(again(b, node.target, {**args, "self": nodes_of(value), "index": nodes_of(places)}), marks_of(places))


def _alike(b: Builder, dim: int, *operands: Any) -> None:
    """Refuses operands that are not marked alike along other dimensions."""
    first, *others = (without(marks_of(each), dim) for each in operands)
    if any(other != first for other in others):
        b.refused("elements that two masks select, side by side")


@rule("embedding")
def embedding(b: Builder, node: Node, args: Args) -> Any:
    if isinstance(args["weight"], Selected):
        _none(b, node, args)
    return Selected(again(b, node.target, nodes_of(args)), marks_of(args["indices"]))


# What is written.


@rule("index_put _unsafe_index_put")
def index_put(b: Builder, node: Node, args: Args) -> Any:
    value, indices, new, adds = args["self"], list(args["indices"]), args["values"], args["accumulate"]
    mask = _mask_among(b, indices)
    if mask is not None:
        begin, count = indices.index(mask), tensor_rank(mask)
        if isinstance(value, Selected) or isinstance(mask, Selected):
            return _put_among(b, value, mask, begin, new, adds)
        made = _put(b, b.flat(value, begin, count), b.flat(mask), begin, new, adds)
        return b.view(made, b.shape(value))
    given = [dim for dim, each in enumerate(indices) if each is not None]
    if given != list(range(given[0], len(indices))) or set(marks_of(value)) - set(given):
        b.refused("a write at places among what a mask selects")
    for dim, mark in marks_of(value).items():
        at = b.call(aten.index.Tensor, b.places(mark), [nodes_of(indices[dim])])
        indices[dim] = selected(at, marks_of(indices[dim]))
    begin, places, among = given[0], [indices[dim] for dim in given], marks_of(value)
    value = nodes_of(value)
    shape = max(map(tensor_rank, places))
    marks = {dim + begin: mark for dim, mark in joined(b, places, shape).items()}
    whole = begin + shape + rank(value) - len(indices)
    joined(b, [Selected(node, marks), new] if rank(node) == whole else [new], whole)
    where = Selected(b.expand(nodes_of(places[0]), b.shape(nodes_of(max(places, key=tensor_rank)))), joined(b, places, shape))
    wide, rows = _with_row_for_others(b, value, begin, where) if where.marks else (value, where.node)
    op, others = node.target, [*indices[:begin], rows, *nodes_of(places[1:])]
    return selected(_cut(b, b.call(op, wide, others, nodes_of(new), adds), begin, value), among)


def _put(b: Builder, value: Node, mask: Node, dim: int, new: Any, adds: bool) -> Node:
    """Rows of `new`, one for each place of the mask that is true, at these places along a dimension."""
    along = dim - (rank(value) - tensor_rank(new))
    if set(marks_of(new)) != {along}:
        b.refused("elements that a mask selects, at places of another shape")
    node = new.node
    if new.marks[along] != Mark(mask):
        compact = b.compact(new, along)
        rows = b.call(aten.clamp.default, b.positions(Mark(mask)), 0)
        rows = b.call(aten.minimum.default, rows, b.call(aten.amax.default, b.arange(b.length(compact.marks[along])), [0]))
        node = b.call(aten.index_select.default, compact.node, along, rows)
    where = b.along(Mark(mask), dim, rank(value))
    if not adds:
        return b.call(aten.where.self, where, b.cast(node, dtype_of(value)), value)
    added = b.call(aten.where.self, where, node, b.constant(0, dtype_of(node)))
    return b.call(aten.add.Tensor, value, added)


def _put_among(b: Builder, value: Any, mask: Any, dim: int, new: Any, adds: bool) -> Any:
    """A write among what another mask selects."""
    at, behind = Mark(b.flat(_known(b, mask))), tensor_rank(value) - tensor_rank(new)
    alike = {each + behind: mark for each, mark in without(marks_of(new), dim - behind).items()}
    if tensor_rank(mask) != 1 or marks_of(mask).get(0) != marks_of(value).get(dim) or marks_of(new).get(dim - behind, at) != at:
        b.refused("elements that two masks select, side by side")
    if isinstance(new, Selected) and alike != without(marks_of(value), dim):
        b.refused("elements that two masks select, side by side")
    before, after = nodes_of(value), nodes_of(new)
    where = b.along(Mark(nodes_of(mask)), dim, rank(before))
    written = b.call(aten.add.Tensor, before, after) if adds else after
    return selected(b.call(aten.where.self, where, written, before), marks_of(value))


@rule("select_scatter")
def select_scatter(b: Builder, node: Node, args: Args) -> Any:
    value, source, dim, index = args["self"], args["src"], args["dim"] % tensor_rank(args["self"]), args["index"]
    if not isinstance(value, Selected) or reduced_marks(value, [dim], False) != marks_of(source):
        b.refused("elements that two masks select, side by side")
    if dim not in value.marks:
        return Selected(again(b, node.target, nodes_of(args)), value.marks)
    mark, row = value.marks[dim], b.constant(index, torch.int64)
    row = b.call(aten.add.Tensor, row, b.count(mark)) if index < 0 else row
    rows = b.call(aten.bitwise_and.Tensor, b.call(aten.eq.Tensor, b.positions(mark), row), b.mask(mark))
    there = b.along(Mark(rows), dim, rank(value.node))
    return Selected(b.call(aten.where.self, there, b.call(aten.unsqueeze.default, nodes_of(source), dim), value.node), value.marks)


@rule("index_add index_copy index_reduce index_fill")
def rows_written(b: Builder, node: Node, args: Args) -> Any:
    value, rows, source = args["self"], args["index"], args.get("source")
    dim = args["dim"] % tensor_rank(value)
    alike = without(marks_of(value), dim)
    told = alike | ({dim: marks_of(rows)[0]} if isinstance(rows, Selected) else {})
    if source is not None and marks_of(source) != told:
        b.refused("elements that two masks select, side by side")
    return _written(b, node, args, dim, rows, marks_of(rows))


@rule("scatter scatter_add scatter_reduce")
def elements_written(b: Builder, node: Node, args: Args) -> Any:
    value, places, source = args["self"], args["index"], args.get("src")
    dim = args["dim"] % tensor_rank(value)
    if source is not None:
        places, source = aligned(b, [places, source], tensor_rank(places))
        if marks_of(source) != marks_of(places):
            b.refused("elements that two masks select, side by side")
        args = {**args, "src": source}
    alike = without(marks_of(value), dim)
    if alike and alike != without(marks_of(places), dim):
        b.refused("elements that two masks select, side by side")
    dropped = {d: mark for d, mark in marks_of(places).items() if d not in alike}
    return _written(b, node, args, dim, places, dropped)


def _written(b: Builder, node: Node, args: Args, dim: int, places: Any, dropped: dict[int, Mark]) -> Any:
    """The op, at places of which some do not count by their marks `dropped`."""
    value, given = args["self"], nodes_of(args)
    at = nodes_of(places)
    if dim in marks_of(value):  # which row it is becomes where that is
        at = b.call(aten.index.Tensor, b.places(value.marks[dim]), [at])
    if not dropped:
        return selected(again(b, node.target, {**given, "index": at}), marks_of(value))
    wide, rows = _with_row_for_others(b, nodes_of(value), dim, Selected(at, dropped))
    made = again(b, node.target, {**given, "self": wide, "index": rows})
    return selected(_cut(b, made, dim, nodes_of(value)), marks_of(value))


def _with_row_for_others(b: Builder, value: Node, dim: int, places: Selected) -> tuple[Node, Node]:
    """With one row more, and the places with that row for those that do not count."""
    count = b.call(aten.scalar_tensor.default, b.size(value, dim), dtype=dtype_of(places.node), device=b.device)
    wide = b.call(aten.cat.default, [value, b.call(aten.slice.Tensor, value, dim, 0, 1)], dim)
    zero = b.constant(0, dtype_of(places.node))
    above = b.call(aten.add.Tensor, places.node, count)
    node = b.call(aten.where.self, b.call(aten.lt.Tensor, places.node, zero), above, places.node)
    for at, mark in places.marks.items():
        node = b.call(aten.where.self, b.along(mark, at, rank(node)), node, count)
    return wide, node


def _cut(b: Builder, wide: Node, dim: int, value: Node) -> Node:
    return b.call(aten.slice.Tensor, wide, dim, 0, b.size(value, dim))
