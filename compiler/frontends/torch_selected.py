"""Tensors of a size that depends on data, as tensors of all places and a mask that tells which of them count.

    some = aten.index.Tensor(x, [mask])       # f32[u0]: u0 elements of the mask are true
    Selected(all, {0: Mark(where)})           # all: f32[35], where: b8[35]

Row i of `some` is the row of `all` at the i-th place that is true. What stands at other places is nobody's: it may be anything.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import torch
from torch.fx import Graph, Node
from torch.fx.node import map_arg

from hloom.passes.errors import UnsupportedOpError

from .torch_import import line_of

aten = torch.ops.aten
REMEDY = (
    "compute with all elements and choose by torch.where(mask, …, other), or let it stay with PyTorch: torch.compile without fullgraph=True"
)


class Mark(NamedTuple):
    """Which elements count along a dimension: `each` of them, side by side, for each place of the mask."""

    mask: Node
    each: Any = 1
    """A number, or a size of the program's."""


class Selected(NamedTuple):
    node: Node
    marks: Mapping[int, Mark]
    """By dimension."""


class Number(NamedTuple):
    """A number that the program computes from data, as a tensor without dimensions. `mark`: it is how many elements that marks."""

    value: Node
    mark: Mark | None = None


class Piece(NamedTuple):
    """One of what was put side by side: its size as torch knows it, all of its places, and which count if not all do."""

    size: Any
    length: Any
    mark: Mark | None


class Builder:
    """Makes ops before the node that is looked at. Equal calls of equal operands are one."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.node: Any = None
        """The op that is looked at."""
        self.known: dict[Any, Node] = {}
        self.equal: dict[Node, Node] = {}
        """Of each node the first that computes the same."""
        self.sizes: dict[Any, Node] = {}
        """The program's sizes, by what torch knows of them."""
        self.leading: set[Node] = set()
        """Masks whose true places come first."""
        self.pieces: dict[Node, list[Piece]] = {}
        """Of masks of what was put side by side."""

    def refused(self, why: str) -> NoReturn:
        op = self.node.meta.get("original_aten") or self.node.target
        raise UnsupportedOpError(why, op=str(op), loc=line_of(self.node) or None, stage="input", remedy=REMEDY)

    # Ops.

    def know(self, node: Node) -> None:
        """A node of the program's."""
        if isinstance(size := node.meta.get("val"), torch.SymInt):
            self.sizes.setdefault(size.node.expr, node)
        if (key := self._key(node.target, node.args, node.kwargs)) is not None:
            self.equal[node] = self.known.setdefault(key, node)

    def call(self, op: Any, *args: Any, **kwargs: Any) -> Node:
        key = self._key(op, args, kwargs)
        if key in self.known:
            return self.known[key]
        values, named = map_arg((args, kwargs), lambda each: each.meta["val"])
        made = self.graph.call_function(op, args, kwargs)
        made.meta = {name: told for name, told in self.node.meta.items() if name != "tensor_meta"} | {"val": op(*values, **named)}
        if key is not None:
            self.known[key] = made
        return made

    def _key(self, op: Any, args: Any, kwargs: Any) -> Any:
        """None for what may differ from call to call."""
        if isinstance(op, torch._ops.OpOverload):
            if op._schema.is_mutable or torch.Tag.nondeterministic_seeded in op.tags:
                return None
        elif op is not operator.getitem:
            return None
        return op, self._part(args), self._part(kwargs)

    def _part(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return tuple(map(self._part, value))
        if isinstance(value, Mapping):
            return tuple((name, self._part(of)) for name, of in value.items())
        return self.equal.get(value, value) if isinstance(value, Node) else (type(value), repr(value))

    def item(self, node: Node, index: int) -> Node:
        return self.call(operator.getitem, node, index)

    def constant(self, value: Any, dtype: torch.dtype) -> Node:
        return self.call(aten.full.default, [], value, dtype=dtype, device=self.device)

    @property
    def device(self) -> torch.device:
        found = [value.meta.get("val") for value in (self.node, *self.node.all_input_nodes)]
        tensors = [each for each in torch.utils._pytree.tree_leaves(found) if isinstance(each, torch.Tensor)]
        return tensors[0].device if tensors else torch.device("cpu")

    def cast(self, node: Node, dtype: torch.dtype) -> Node:
        return node if dtype_of(node) == dtype else self.call(aten._to_copy.default, node, dtype=dtype)

    # Sizes: numbers, or nodes where they are the program's.

    def size(self, node: Node, dim: int) -> Any:
        size = node.meta["val"].shape[dim]
        if isinstance(size, int):
            return size
        return self.sizes.get(size.node.expr) or self.number(aten.sym_size.int, node, dim)

    def shape(self, node: Node) -> list[Any]:
        return [self.size(node, dim) for dim in range(rank(node))]

    def product(self, sizes: Sequence[Any]) -> Any:
        total: Any = 1
        for size in sizes:
            if isinstance(size, int) and isinstance(total, int):
                total = size * total
            elif size != 1:
                total = size if total == 1 else self.number(operator.mul, total, size)
        return total

    def sum(self, sizes: Sequence[Any]) -> Any:
        first, second = sizes
        if isinstance(first, int) and isinstance(second, int):
            return first + second
        return self.number(operator.add, first, second)

    def number(self, op: Callable[..., Any], *args: Any) -> Any:
        """What an op on sizes gives."""
        value = op(*map_arg(args, lambda each: each.meta["val"]))
        if isinstance(value, int):
            return value
        if value.node.expr not in self.sizes:
            made = self.sizes[value.node.expr] = self.graph.call_function(op, args)
            made.meta = {"val": value}
        return self.sizes[value.node.expr]

    def view(self, node: Node, sizes: Sequence[Any]) -> Node:
        if self.shape(node) == list(sizes):
            return node
        try:
            return self.call(aten.view.default, node, list(sizes))
        except (RuntimeError, ValueError):
            dense = self.call(aten.clone.default, node, memory_format=torch.contiguous_format)
            return self.call(aten.view.default, dense, list(sizes))

    def flat(self, node: Node, begin: int = 0, count: int | None = None) -> Node:
        """With the dimensions from `begin` on as one."""
        shape = self.shape(node)
        end = len(shape) if count is None else begin + count
        made = self.view(node, [*shape[:begin], self.product(shape[begin:end]), *shape[end:]])
        return self.equal.get(made, made)

    def expand(self, node: Node, sizes: Sequence[Any]) -> Node:
        return node if self.shape(node) == list(sizes) else self.call(aten.expand.default, node, list(sizes))

    def arange(self, count: Any) -> Node:
        return self.call(aten.arange.start_step, 0, count, 1, dtype=torch.int64, device=self.device)

    # Marks.

    def length(self, mark: Mark) -> Any:
        """How many places there are along the dimension."""
        return self.product([self.size(mark.mask, 0), mark.each])

    def mask(self, mark: Mark) -> Node:
        """One element for each along the dimension."""
        if mark.each == 1:
            return mark.mask
        row = self.call(aten.unsqueeze.default, mark.mask, 1)
        return self.flat(self.expand(row, [self.size(mark.mask, 0), mark.each]))

    def along(self, mark: Mark, dim: int, rank: int) -> Node:
        """The mask as an operand of tensors that have so many dimensions."""
        mask = self.mask(mark)
        return self.view(mask, [1] * dim + [self.size(mask, 0)] + [1] * (rank - dim - 1))

    def count(self, mark: Mark) -> Node:
        """How many are marked."""
        return self.call(aten.sum.dim_IntList, self.cast(self.mask(mark), torch.int64), [0])

    def positions(self, mark: Mark) -> Node:
        """Of each place that is marked the row that it is."""
        rows = self.call(aten.cumsum.default, self.cast(self.mask(mark), torch.int64), 0)
        return self.call(aten.sub.Tensor, rows, self.constant(1, torch.int64))

    def filled(self, value: Any, number: Any, dims: Sequence[int] | None = None) -> Any:
        """With a number at the places that do not count, along some dimensions or all."""
        if not isinstance(value, Selected):
            return value
        node, dtype = value.node, dtype_of(value.node)
        for dim, mark in value.marks.items():
            if dims is None or dim in dims:
                node = self.call(aten.where.self, self.along(mark, dim, rank(node)), node, self.constant(number, dtype))
        return node

    def places(self, mark: Mark) -> Node:
        """Of each row the place that is marked: the other way round."""
        places = self.arange(self.length(mark))
        if mark.mask in self.leading:
            return places
        length = self.call(aten.scalar_tensor.default, self.length(mark), dtype=torch.int64, device=self.device)
        rows = self.call(aten.where.self, self.mask(mark), self.positions(mark), length)
        found = self.call(aten.scatter.src, self.call(aten.cat.default, [places, places]), 0, rows, places)
        return self.call(aten.slice.Tensor, found, 0, 0, self.length(mark))

    def compact(self, value: Selected, dim: int) -> Selected:
        """The same with what counts first."""
        mark = value.marks[dim]
        if mark.mask in self.leading:
            return value
        node = self.call(aten.index_select.default, value.node, dim, self.places(mark))
        return Selected(node, {**value.marks, dim: self.compact_mark(mark)})

    def compact_mark(self, mark: Mark) -> Mark:
        return mark if mark.mask in self.leading else self.first(self.arange(self.length(mark)), self.count(mark))

    def first(self, places: Node, count: Node) -> Mark:
        mask = self.call(aten.lt.Tensor, places, count)
        self.leading.add(mask)
        return Mark(mask)


def rank(node: Node) -> int:
    return len(node.meta["val"].shape)


def dtype_of(node: Node) -> torch.dtype:
    return node.meta["val"].dtype
