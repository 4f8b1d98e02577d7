"""Bags of embeddings: which row stands in which bag is a mask, so that a bag's sum needs no scatter."""

from __future__ import annotations

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

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
        raise op.refused("only the bags are computed", "use nn.functional.embedding_bag")
    bags, width = op.results[0].shape
    (count,) = build.shape_of(indices)
    if not count:
        return [build.zero([bags, width], op.results[0].element_type), None, None, None]
    member = _members(indices, offsets, bags, include_last_offset, padding_index)
    half = op.results[0].element_type.width < 32
    element = ir.F32Type.get() if half else op.results[0].element_type
    rows = build.convert(build.take(table, 0, indices), element)
    if weights is not None:
        rows = build.elementwise("multiply", rows, build.broadcast(build.convert(weights, element), [count, width], [0]))
    shape = [bags, count, width]
    chosen = build.broadcast(member, shape, [0, 1])
    start = build.splat(build.tensor([], element), build.scalar(element, build.extreme(element, -1) if mode == _MAX else 0))
    rows = build.select(chosen, build.broadcast(rows, shape, [1, 2]), build.broadcast(start, shape, []))
    name = "maximum" if mode == _MAX else "add"
    (made,) = build.reduce([rows], [start], [1], lambda a, b: [build.elementwise(name, a, b)])
    held = build.broadcast(build.sum_along(build.convert(member, element), [1]), [bags, width], [0])
    zero = build.zero([bags, width], element)
    if mode == _MEAN:
        one = build.splat(held.type, build.scalar(element, 1))
        made = build.elementwise("divide", made, build.elementwise("maximum", held, one))
    made = build.select(build.compare("EQ", held, zero), zero, made)
    return [build.convert(made, op.results[0].element_type), None, None, None]


def _members(indices: ir.Value, offsets: ir.Value, bags: int, include_last_offset: bool, padding_index: int) -> ir.Value:
    """Which index stands in which bag: bags × indices."""
    (count,) = build.shape_of(indices)
    integer = build.element_of(offsets)
    shape = [bags, count]
    end = build.splat(build.tensor([1], integer), build.scalar(integer, count))
    given = build.shape_of(offsets)[0]
    ends = build.slice_(offsets, [1], [given])
    ends = ends if include_last_offset else build.concatenate([ends, end], 0)
    starts = build.slice_(offsets, [0], [bags])
    place = build.iota(shape, integer, 1)
    after = build.compare("GE", place, build.broadcast(starts, shape, [0]))
    before = build.compare("LT", place, build.broadcast(ends, shape, [0]))
    padding = build.splat(indices.type, build.scalar(build.element_of(indices), padding_index))
    counts = build.broadcast(build.compare("NE", indices, padding), shape, [1])
    return build.elementwise("and", build.elementwise("and", after, before), counts)
