"""Bags of embeddings: bags that are known to be all as long are reduced as they lie; else each row is added to its bag, whose number is a
cumulative sum of where bags begin."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch_mlir import ir

from hloom.passes.common.rewriting import defining_op, integer
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_differentiated, torch_lowering

_SUM, _MEAN, _MAX = range(3)


@torch_lowering("aten._embedding_bag", "aten._embedding_bag_forward_only")
def embedding_bag(
    op: TorchOp,
    table: ir.Value,
    indices: ir.Value,
    offsets: ir.Value,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    weights: ir.Value | None,
    include_last_offset: bool,
    padding_index: int,
) -> list[ir.Value | None]:
    """The rows at `indices[offsets[i]:offsets[i + 1]]` as their sum, mean or largest elements; 0 for an empty bag."""
    if any(op.used[1:]):
        raise op.refused("only the bags are computed, and its gradients by this form read more", _remedy(scale_grad_by_freq, sparse))
    bags, width = op.results[0].shape
    (count,) = build.shape_of(indices)
    if not count:
        return [build.zero([bags, width], op.results[0].element_type), None, None, None]
    half = op.results[0].element_type.width < 32
    element = ir.F32Type.get() if half else op.results[0].element_type
    rows = build.convert(build.take(table, 0, indices), element)
    if weights is not None:
        rows = build.elementwise("multiply", rows, build.broadcast(build.convert(weights, element), [count, width], [0]))
    if build.shape_of(offsets) == [bags] and _step(offsets) == count // bags and count % bags == 0:
        made, held = _alike(rows, indices, bags, mode, padding_index)
    else:
        made, held = _scattered(rows, indices, offsets, bags, mode, padding_index)
    if held is not None:
        held = build.broadcast(held, [bags, width], [0])
        if mode == _MEAN:
            made = build.divide(made, build.elementwise("maximum", held, build.full_like(held, 1)))
        else:
            zero = build.full_like(made, 0)
            made = build.select(build.compare("EQ", held, zero), zero, made)
    return [build.convert(made, op.results[0].element_type), None, None, None]


def _remedy(scale_grad_by_freq: bool, sparse: bool) -> str:
    if sparse:
        return "use sparse=False, whose gradients compile"
    return "use scale_grad_by_freq=False" if scale_grad_by_freq else "use nn.functional.embedding_bag"


def _scattered(
    rows: ir.Value, indices: ir.Value, offsets: ir.Value, bags: int, mode: int, padding_index: int
) -> tuple[ir.Value, ir.Value | None]:
    """The sums, or the largest elements, of bags that begin anywhere, and how many rows each holds, if that matters."""
    (count, width), element = build.shape_of(rows), build.element_of(rows)
    bag = _bags(indices, offsets, bags, padding_index)
    start = build.full(build.tensor([bags, width], element), build.extreme(element, -1) if mode == _MAX else 0)
    made = build.scatter(start, 0, bag, rows, "maximum" if mode == _MAX else "add")
    if mode == _SUM:
        return made, None
    ones = build.full(build.tensor([count], element), 1)
    return made, build.scatter(build.zero([bags], element), 0, bag, ones, "add")


def _alike(rows: ir.Value, indices: ir.Value, bags: int, mode: int, padding_index: int) -> tuple[ir.Value, ir.Value | None]:
    """The same of bags of as many rows each, which are reduced as they are."""
    (count, width), element = build.shape_of(rows), build.element_of(rows)
    each = count // bags
    start = build.extreme(element, -1) if mode == _MAX else 0
    held = build.full(build.tensor([bags], element), each) if mode == _MEAN else None
    if padding_index >= 0:
        counts = build.compare("NE", indices, build.full(indices.type, padding_index))
        rows = build.select(build.broadcast(counts, [count, width], [0]), rows, build.full_like(rows, start))
        held = build.sum_along(build.reshape(build.convert(counts, element), [bags, each]), [1]) if mode != _SUM else None
    combine = "maximum" if mode == _MAX else "add"
    first = build.full(build.tensor([], element), start)
    rows = build.reshape(rows, [bags, each, width])
    return build.reduce([rows], [first], [1], lambda x, y: [build.elementwise(combine, x, y)])[0], held


@torch_differentiated("aten._embedding_bag")
def with_gradients(
    table: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_index: int = -1,
) -> Any:
    """Declined: gradients by the rows' frequencies, sparse ones, bags without rows."""
    if scale_grad_by_freq or sparse or not len(indices):
        return NotImplemented
    if is_functorch_wrapped_tensor(table) or (weights is not None and is_functorch_wrapped_tensor(weights)):
        if mode == _MAX:
            return _largest(table, indices, offsets, len(offsets) - include_last_offset, padding_index)
        return _added(table, weights, indices, offsets, mode, len(offsets) - include_last_offset, padding_index)
    return _Bags.apply(table, weights, indices, offsets, mode, include_last_offset, padding_index)


def _added(
    table: Tensor, weights: Tensor | None, indices: Tensor, offsets: Tensor, mode: int, bags: int, padding: int
) -> tuple[Tensor, ...]:
    """The bags by ops that each have derivatives of any order."""
    bag, counts = _numbers(indices, offsets), (indices != padding).unsqueeze(1).to(table.dtype)
    rows = table.index_select(0, indices) * (counts if weights is None else counts * weights.unsqueeze(1))
    made = rows.new_zeros([bags, table.shape[1]]).index_add(0, bag, rows)
    if mode == _MEAN:
        made = made / counts.new_zeros([bags, 1]).index_add(0, bag, counts).clamp(min=1)
    return made, bag, torch.zeros_like(offsets), torch.zeros_like(offsets)


def _largest(table: Tensor, indices: Tensor, offsets: Tensor, bags: int, padding: int) -> tuple[Tensor, ...]:
    """The same of the largest elements of bags."""
    bag, counts = _numbers(indices, offsets), (indices != padding).unsqueeze(1)
    rows = table.detach().index_select(0, indices)
    rows = torch.where(counts, rows, -torch.inf)
    made = torch.full_like(rows[:1], -torch.inf).expand(bags, -1).scatter_reduce(0, bag.unsqueeze(1).expand(rows.shape), rows, "amax")
    first = _first(counts & (rows == made.index_select(0, bag)), bag, bags)
    found = table.gather(0, indices[first.clamp(max=len(indices) - 1)])
    return torch.where(first < len(indices), found, 0), bag, torch.zeros_like(offsets), torch.zeros_like(offsets)


def _first(chosen: Tensor, bag: Tensor, bags: int) -> Tensor:
    """Of each bag and column the number of the first row that is chosen there; the count of rows where none is."""
    count = len(bag)
    places = torch.where(chosen, torch.arange(count).unsqueeze(1), count)
    start = torch.full((bags, chosen.shape[1]), count)
    return start.scatter_reduce(0, bag.unsqueeze(1).expand(places.shape), places, "amin")


def _numbers(indices: Tensor, offsets: Tensor) -> Tensor:
    """Which bag each row is in."""
    offsets = offsets.to(torch.int64)
    begins = torch.zeros([len(indices) + 1], dtype=torch.int64).scatter_add(0, offsets, torch.ones_like(offsets))
    return begins[:-1].cumsum(0) - 1


class _Bags(torch.autograd.Function):
    """The op, and a gradient that has no use for its other results."""

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, weights: Tensor | None, indices: Tensor, offsets: Tensor, mode: int, has_last: bool, padding: int
    ) -> tuple[Tensor, ...]:
        made = torch.ops.aten._embedding_bag(table, indices, offsets, False, mode, False, weights, has_last, padding)
        ctx.mode, ctx.padding = mode, padding
        ctx.save_for_backward(table, weights, indices, offsets, made[0])
        ctx.mark_non_differentiable(*made[1:])
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, *_: None) -> tuple[Tensor | None, ...]:
        table, weights, indices, offsets, made = ctx.saved_tensors
        bags = len(made)
        bag = _numbers(indices, offsets)
        counts = (indices != ctx.padding).unsqueeze(1)
        start = torch.zeros_like(table)
        if ctx.mode == _MAX:
            largest = counts & (table.index_select(0, indices) == made.index_select(0, bag))
            first = _first(largest, bag, bags)
            rows = indices[first.clamp(max=len(indices) - 1)]
            return start.scatter_add(0, rows, torch.where(first < len(indices), gradient, 0)), *[None] * 6
        if ctx.mode == _MEAN:
            held = torch.zeros([bags], dtype=gradient.dtype).scatter_add(0, bag, counts.squeeze(1).to(gradient.dtype))
            gradient = gradient / held.clamp(min=1).unsqueeze(1)
        told = torch.where(counts, gradient.index_select(0, bag), 0)
        if weights is None:
            return start.index_add(0, indices, told), *[None] * 6
        of_weights = (told * table.index_select(0, indices)).sum(1)
        return start.index_add(0, indices, told * weights.unsqueeze(1)), of_weights, *[None] * 5


def _step(offsets: ir.Value) -> int | None:
    """How far bags are apart, where the first begins at the first index and all are as long: as torch makes them of rows of indices."""
    cast = defining_op(offsets)
    made = defining_op(cast.operands[0]) if cast is not None and cast.name == "torch_c.to_builtin_tensor" else None
    if made is None or made.name != "torch.aten.arange.start_step":
        return None
    known = [defining_op(value) for value in list(made.operands)[:3]]
    start, _, step = [integer(op, "value") if op is not None and op.name == "torch.constant.int" else None for op in known]
    return step if start == 0 else None


def _bags(indices: ir.Value, offsets: ir.Value, bags: int, padding_index: int) -> ir.Value:
    """Which bag each index stands in: as many as begin at it or before, less one. Behind all bags where it is in none."""
    (count,) = build.shape_of(indices)
    kind = build.tensor([count], ir.IntegerType.get_signless(32))
    one = build.full(build.tensor(build.shape_of(offsets), kind.element_type), 1)
    begun = build.scatter(build.full(kind, 0), 0, offsets, one, "add")
    before = build.reduce_window([begun], [build.zero([], kind.element_type)], [count], [1], [1], [(count - 1, 0)], _sum)[0]
    bag = build.subtract(before, build.full(kind, 1))
    padding = build.full(indices.type, padding_index)
    return build.select(build.compare("NE", indices, padding), bag, build.full(kind, bags))


def _sum(x: ir.Value, y: ir.Value) -> list[ir.Value]:
    return [build.add(x, y)]
