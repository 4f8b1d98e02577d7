"""Rules for ops that move and make what has a size that depends on data (torch_selections.py)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import sympy
import torch
from torch.fx import Node

from .torch_selected import Builder, Mark, Number, Piece, Selected, aten, dtype_of, rank
from .torch_selected_numbers import tensor_of
from .torch_selected_ops import Args, again, joined, marks_of, name_of, nodes_of, reduced_marks, rule, selected, tensor_rank, without

# Dimensions that change places.


@rule("permute transpose t unsqueeze squeeze")
def moved(b: Builder, node: Node, args: Args) -> Any:
    value: Any = args.get("self", args.get("a"))
    count = rank(value.node)
    dims = list(range(count))
    name = name_of(node.target)
    if name == "permute":
        dims = [dim % count for dim in args["dims"]]
    elif name == "unsqueeze":
        dims.insert(args["dim"] % (count + 1), -1)
        return Selected(again(b, node.target, nodes_of(args)), _moved(value, dims))
    elif name == "squeeze":
        asked: Any = args.get("dimensions", args.get("dim", dims))
        asked = [dim % count for dim in (asked if isinstance(asked, (list, tuple)) else [asked])]
        gone = [dim for dim in asked if dim not in value.marks and b.size(value.node, dim) == 1]
        left = [dim for dim in dims if dim not in gone]
        return Selected(b.view(value.node, [b.size(value.node, dim) for dim in left]), _moved(value, left))
    else:
        one, two = (0, count - 1) if name == "t" else (args["dim0"] % count, args["dim1"] % count)
        if count > 1:
            dims[one], dims[two] = dims[two], dims[one]
    return Selected(b.call(aten.permute.default, value.node, dims), _moved(value, dims))


def _moved(value: Selected, dims: Sequence[int]) -> dict[int, Mark]:
    """`dims`: which dimension each of the result's was."""
    return {place: value.marks[dim] for place, dim in enumerate(dims) if dim in value.marks}


@rule("flip")
def flip(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    dims = [dim % rank(value.node) for dim in args["dims"]]
    marks = {dim: Mark(b.call(aten.flip.default, b.mask(mark), [0])) if dim in dims else mark for dim, mark in value.marks.items()}
    return Selected(b.call(aten.flip.default, value.node, dims), marks)


# Views.


@rule("view reshape _unsafe_view")
def view(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    if "dtype" in args:
        return Selected(again(b, node.target, nodes_of(args)), value.marks)
    asked: Any = args.get("size", args.get("shape"))
    source: Any = node.args[0]
    sizes, marks = [], {}
    for before, after in _groups(_terms(source), _terms(node)):
        here = {dim: value.marks[dim] for dim in before if dim in value.marks}
        wide = [dim for dim in after if _terms(node)[dim] != 1]
        new = _regrouped(b, value, before, here, [_terms(node)[dim] for dim in wide]) if here else None
        for dim in after:
            if new is not None and wide and dim == wide[0]:
                marks[dim] = new
                sizes.append(b.length(new))
            else:
                sizes.append(_size(node.meta["val"].shape[dim], asked[dim]))
    return Selected(b.view(value.node, sizes), marks)


def _size(size: Any, asked: Any) -> Any:
    return size if isinstance(size, int) else asked


def _terms(node: Node) -> list[sympy.Expr]:
    """The sizes of a tensor."""
    return [_term(size) for size in node.meta["val"].shape]


def _term(size: Any) -> sympy.Expr:
    size = size.meta["val"] if isinstance(size, Node) else size
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)


def _groups(before: list[sympy.Expr], after: list[sympy.Expr]) -> list[tuple[list[int], list[int]]]:
    """The least groups of dimensions that hold as many elements before and after."""

    def products(sizes: list[sympy.Expr]) -> list[sympy.Expr]:
        return [sympy.expand(sympy.prod([sympy.Integer(1), *sizes[:count]])) for count in range(len(sizes) + 1)]

    ends = [(0, 0)]
    of_after = products(after)
    for i, product in enumerate(products(before)[1:], 1):
        j = next((j for j in range(ends[-1][1] + 1, len(of_after)) if of_after[j] == product), None)
        if j is not None and i < len(before):
            ends.append((i, j))
    ends.append((len(before), len(after)))
    return [(list(range(i, k)), list(range(j, m))) for (i, j), (k, m) in itertools.pairwise(ends)]


def _regrouped(b: Builder, value: Selected, before: list[int], marks: dict[int, Mark], after: list[sympy.Expr]) -> Mark:
    """The mark of the first of `after`, the sizes that are not 1 into which dimensions are taken apart or put together."""
    wide = [dim for dim in before if dim in marks or b.size(value.node, dim) != 1]
    if len(marks) == 1 and wide[0] in marks and after:
        (mark,) = marks.values()
        inner = b.product([mark.each, *(b.size(value.node, dim) for dim in wide[1:])])
        left = _term(inner) / sympy.prod([sympy.Integer(1), *after[1:]])
        if left.is_Integer or len(after) == 1:
            return Mark(mark.mask, int(left) if left.is_Integer else inner)
    if len(after) != 1:
        b.refused("rows that a mask selects, taken apart")
    sizes = [b.size(value.node, dim) for dim in wide]
    masks = [b.expand(b.along(mark, wide.index(dim), len(wide)), sizes) for dim, mark in marks.items()]
    for other in masks[1:]:
        masks[0] = b.call(aten.bitwise_and.Tensor, masks[0], other)
    return Mark(b.flat(masks[0]))


@rule("expand")
def expand(b: Builder, node: Node, args: Args) -> Any:
    value, asked = args["self"], list(args["size"])
    behind = len(asked) - tensor_rank(value)
    marks = {dim + behind: mark for dim, mark in marks_of(value).items()}
    sizes, marks = _sizes(b, asked, marks)
    return selected(b.call(aten.expand.default, nodes_of(value), sizes), marks)


def _sizes(b: Builder, asked: Sequence[Any], marks: dict[int, Mark] | None = None) -> tuple[list[Any], dict[int, Mark]]:
    """Sizes with all places for numbers of what is selected, and the marks."""
    marks, sizes = dict(marks or {}), list(asked)
    for dim, size in enumerate(asked):
        if isinstance(size, Number) and dim not in marks:
            if size.mark is None:
                b.refused("a size that is computed from data")
            marks[dim] = size.mark
        if dim in marks:
            sizes[dim] = b.length(marks[dim])
    return sizes, marks


# Parts.


@rule("select")
def select(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    if not isinstance(value, Selected):  # by a number of data
        dim = args["dim"] % rank(value)
        return b.call(aten.index.Tensor, value, [*[None] * dim, tensor_of(b, args["index"])])
    dim, index = args["dim"] % rank(value.node), args["index"]
    left = reduced_marks(value, [dim], False)
    if dim not in value.marks and isinstance(index, int):
        return Selected(b.call(aten.select.int, value.node, dim, index), left)
    compact = b.compact(value, dim) if dim in value.marks else value
    row = tensor_of(b, index)
    if dim in value.marks and isinstance(index, int) and index < 0:
        row = b.call(aten.add.Tensor, b.count(value.marks[dim]), row)
    return selected(b.call(aten.index.Tensor, compact.node, [*[None] * dim, row]), left)


@rule("slice")
def part(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    count, begin, end, step = tensor_rank(value), args["start"] or 0, args["end"], args["step"]
    dim = args["dim"] % count
    size = node.meta["val"].shape[dim]
    if isinstance(begin, Number) and step == 1 and isinstance(size, int):  # a window of a known size
        whole = b.compact(value, dim) if dim in marks_of(value) else value
        places = b.call(aten.add.Tensor, b.arange(size), begin.value)
        return selected(b.call(aten.index_select.default, nodes_of(whole), dim, places), without(marks_of(value), dim))
    if isinstance(value, Selected) and (piece := _piece(b, node, value, dim)) is not None:
        return piece
    if not isinstance(value, Selected) or not all(isinstance(each, int) for each in (begin, end or 0, step)):
        b.refused("a part between places that are computed from data")
    if dim not in value.marks:
        return Selected(b.call(aten.slice.Tensor, value.node, dim, begin, end, step), value.marks)
    if begin == 0 and step == 1 and (end is None or end >= sys.maxsize):
        return value
    if begin < 0 or (end is not None and end < 0):
        b.refused("a part that begins or ends so many rows before the end of what a mask selects")
    compact = b.compact(value, dim)
    mask = b.call(aten.slice.Tensor, b.mask(compact.marks[dim]), 0, begin, end, step)
    b.leading.add(mask)
    return Selected(b.call(aten.slice.Tensor, compact.node, dim, begin, end, step), {**compact.marks, dim: Mark(mask)})


def _piece(b: Builder, node: Node, value: Selected, dim: int) -> Any:
    """One of what was put side by side, as gradients ask for it; None where the part is none of these."""
    known = dict(enumerate(node.args))
    first, last = (_term(0 if known.get(n) is None else known[n]) for n in (2, 3))
    begin, place = sympy.Integer(0), 0
    for size, length, mark in b.pieces.get(value.marks[dim].mask, ()) if dim in value.marks else ():
        end, next_place = begin + size, b.sum([place, length])
        if first == begin and (last == end or last == sys.maxsize) and known.get(4, 1) == 1:
            marks = without(marks_of(value), dim) | ({dim: mark} if mark else {})
            return selected(b.call(aten.slice.Tensor, value.node, dim, place, next_place), marks)
        begin, place = end, next_place
    return None


@rule("unbind")
def unbind(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    dim = args["dim"] % rank(value.node)
    if dim in value.marks:
        b.refused("a list of as many tensors as a mask selects")
    marks = reduced_marks(value, [dim], False)
    return tuple(Selected(b.call(aten.select.int, value.node, dim, n), marks) for n in range(b.size(value.node, dim)))


@rule("split split_with_sizes chunk")
def split(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    if args["dim"] % rank(value.node) in value.marks:
        b.refused("parts of what a mask selects")
    made = again(b, node.target, nodes_of(args))
    return tuple(Selected(b.item(made, n), value.marks) for n in range(len(made.meta["val"])))


@rule("cat")
def cat(b: Builder, node: Node, args: Args) -> Any:
    tensors = args["tensors"]
    dim = args["dim"] % rank(node)
    made = b.call(aten.cat.default, nodes_of(tensors), dim)
    if not any(dim in marks_of(each) for each in tensors):
        return selected(made, joined(b, tensors, rank(made)))
    masks = [b.mask(each.marks[dim]) if dim in marks_of(each) else _all(b, b.size(nodes_of(each), dim)) for each in tensors]
    others = [marks_of(each) for each in tensors]
    of_pieces = [marks.pop(dim, None) for marks in others]
    if any(marks != others[0] for marks in others):
        b.refused("elements that two masks select, side by side")
    mark = Mark(b.call(aten.cat.default, masks))
    lengths = [b.size(nodes_of(each), dim) for each in tensors]
    sizes = [_terms(each)[dim] for each in node.args[0]]  # type: ignore[union-attr, arg-type]
    b.pieces[mark.mask] = [Piece(*each) for each in zip(sizes, lengths, of_pieces)]
    return Selected(made, {**others[0], dim: mark})


def _all(b: Builder, count: Any) -> Node:
    return b.call(aten.full.default, [count], True, dtype=torch.bool, device=b.device)


# What is made.


@rule("zeros ones empty full rand randn new_zeros new_ones new_empty new_full scalar_tensor")
def made(b: Builder, node: Node, args: Args) -> Any:
    given = dict(args)
    fill = next((name for name in ("fill_value", "s") if isinstance(args.get(name), Number)), None)
    sizes, marks = _sizes(b, args.get("size", []))
    if fill is not None:
        of_number = b.cast(args[fill].value, dtype_of(node))
        return selected(b.call(aten.expand.default, of_number, sizes), marks)
    if "self" in given:
        given["self"] = nodes_of(given["self"])
    return selected(again(b, node.target, {**given, "size": sizes}), marks)


@rule("arange")
def arange(b: Builder, node: Node, args: Args) -> Any:
    end, begin, step = args["end"], args.get("start", 0), args.get("step", 1)
    if not isinstance(end, Number) or end.mark is None or begin != 0 or step != 1:
        b.refused("a range of as many numbers as are computed from data")
    return Selected(b.cast(b.positions(end.mark), dtype_of(node)), {0: end.mark})


@rule("sym_size")
def size(b: Builder, node: Node, args: Args) -> Any:
    return _count(b, args["self"], args["dim"] % tensor_rank(args["self"]))


def _count(b: Builder, value: Selected, dim: int) -> Any:
    mark = value.marks.get(dim)
    return b.size(value.node, dim) if mark is None else Number(b.count(mark), mark)


@rule("sym_numel")
def numel(b: Builder, node: Node, args: Args) -> Any:
    value, total = args["self"], b.constant(1, torch.int64)
    for dim in range(rank(value.node)):
        total = b.call(aten.mul.Tensor, total, tensor_of(b, _count(b, value, dim)))
    (first, mark), *more = value.marks.items()
    others = b.product([b.size(value.node, dim) for dim in range(rank(value.node)) if dim != first])
    return Number(total, None if more or not isinstance(others, int) else Mark(mark.mask, mark.each * others))
