"""Data movement that no affine map expresses: the body computes indices, clamps them, reads the source by tensor.extract and selects."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import target_of

from ...common.even_windows import EvenWindows, even_windows
from ...common.rewriting import integer, integers, linalg_index
from ...common.scalars import signless
from ...common.vectors import ACCESS_BYTES
from . import generic
from .lowering import Lowering, Read, unsupported


def read_at(low: Lowering, old: ir.Value, point: list[ir.Value]) -> ir.Value:
    """The element of `old` at computed indices."""
    known = low.scalar_constant(old)
    return known if known is not None else low.scalars.extract(low.tensor(old), point)


def _pad(low: Lowering, op: ir.Operation) -> None:
    source, padding = op.operands
    lows, interiors = integers(op, "edge_padding_low"), integers(op, "interior_padding")
    low.set(op.results[0], padded(low, op.results[0].type, source, padding, lows, interiors))


def padded(
    low: Lowering, kind: ir.Type, source: ir.Value, padding: ir.Value | None, lows: Sequence[int], interiors: Sequence[int]
) -> ir.Value:
    """`source` with `lows` elements of `padding` before it (or cut off) and `interiors` between its elements, up to the size of `kind`.

    `padding` is a rank-0 tensor, or None for zero.
    """
    shape = list(source.type.shape)
    s = low.scalars
    reads: list[Read] = [] if padding is None else [(padding, generic.affine_map(len(shape), []))]

    def body(scalars: list[ir.Value]) -> ir.Value:
        outside = scalars[0] if scalars else s.constant(signless(kind.element_type), 0)
        if 0 in shape:
            return outside
        inside, point = None, []
        for d, (extent, before, gap) in enumerate(zip(shape, lows, interiors)):
            index = linalg_index(d)
            if before or gap or kind.shape[d] > extent:
                index, hit = _unpadded(low, index, extent, before, gap + 1)
                inside = hit if inside is None else s.op("arith.andi", inside, hit)
            point.append(index)
        element = read_at(low, source, point)
        return element if inside is None else s.select(inside, element, outside)

    return low.parallel(kind, reads, body)


def _unpadded(low: Lowering, index: ir.Value, extent: int, before: int, step: int) -> tuple[ir.Value, ir.Value]:
    """The source's index for the padded `index`, clamped, and whether the source has an element there."""
    s = low.scalars
    last = (extent - 1) * step
    shifted = s.op("arith.subi", index, s.index(before)) if before else index
    clamped = s.clamp_index(shifted, 0, last)
    inside = s.cmpi("eq", shifted, clamped)
    if step == 1:
        return clamped, inside
    whole = s.op("arith.remui", clamped, s.index(step))
    inside = s.op("arith.andi", inside, s.cmpi("eq", whole, s.index(0)))
    return s.op("arith.divui", clamped, s.index(step)), inside


def _clamped(low: Lowering, index: ir.Value, start: int, extent: int) -> ir.Value:
    """An index in a piece of a concatenation; of another piece's element it is the first or the last."""
    s = low.scalars
    return s.clamp_index(s.op("arith.subi", index, s.index(start)) if start else index, 0, extent - 1)


def _wrapped(low: Lowering, index: ir.Value, start: int, extent: int) -> ir.Value:
    """The same; of another piece's element any: neighbours are neighbours in whole accesses, which a clamp tears apart."""
    s = low.scalars
    ahead = -start % extent
    return s.op("arith.remui", s.op("arith.addi", index, s.index(ahead)) if ahead else index, s.index(extent))


def _concatenate(low: Lowering, op: ir.Operation) -> None:
    kind, axis = op.results[0].type, integer(op, "dimension")
    rank, s = len(kind.shape), low.scalars
    pieces, start = [], 0
    for operand in op.operands:
        extent = operand.type.shape[axis]
        if extent:
            pieces.append((operand, start, extent))
        start += extent
    access = max(1, ACCESS_BYTES // element_bytes(kind.element_type))
    whole = all(extent % access == 0 for _, _, extent in pieces)
    wraps = whole and target_of(op).kind == "cuda"

    def body(_: list[ir.Value]) -> ir.Value:
        point = [linalg_index(d) for d in range(rank)]

        def piece(operand: ir.Value, start: int, extent: int) -> ir.Value:
            if len(pieces) == 1:
                return read_at(low, operand, point)
            if extent == 1:
                return read_at(low, operand, [*point[:axis], s.index(0), *point[axis + 1 :]])
            local = _wrapped(low, point[axis], start, extent) if wraps else _clamped(low, point[axis], start, extent)
            return read_at(low, operand, [*point[:axis], local, *point[axis + 1 :]])

        result = piece(*pieces[-1])
        for (operand, start, extent), (_, following, _) in reversed(list(itertools.pairwise(pieces))):
            before = s.cmpi("slt", point[axis], s.index(following))
            result = s.select(before, piece(operand, start, extent), result)
        return result

    low.set(op.results[0], low.parallel(kind, [], body))


def _starts(low: Lowering, olds: Sequence[ir.Value], scalars: Sequence[ir.Value], limits: Sequence[int]) -> list[ir.Value]:
    """The start indices clamped so that the window lies in the operand; `limits` are the largest starts."""
    s = low.scalars
    starts = []
    for old, scalar, limit in zip(olds, scalars, limits):
        starts.append(s.clamp_index(s.to_index(scalar, old.type.element_type), 0, limit) if limit else s.index(0))
    return starts


def _dynamic_slice(low: Lowering, op: ir.Operation) -> None:
    source, *olds = op.operands
    kind, sizes = op.results[0].type, integers(op, "slice_sizes")
    limits = [extent - size for extent, size in zip(source.type.shape, sizes)]
    rank, s = len(sizes), low.scalars

    def body(scalars: list[ir.Value]) -> ir.Value:
        starts = _starts(low, olds, scalars, limits)
        point = [s.op("arith.addi", start, linalg_index(d)) if limits[d] else linalg_index(d) for d, start in enumerate(starts)]
        return read_at(low, source, point)

    scalar_map = generic.affine_map(rank, [])
    low.set(op.results[0], low.parallel(kind, [(old, scalar_map) for old in olds], body))


def _dynamic_update_slice(low: Lowering, op: ir.Operation) -> None:
    """The full-size form: every element selects between the operand, read at its own index, and the update."""
    source, update, *olds = op.operands
    kind, window = op.results[0].type, list(update.type.shape)
    if 0 in window:
        low.set(op.results[0], low.tensor(source))
        return
    limits = [extent - size for extent, size in zip(kind.shape, window)]
    rank, s = len(window), low.scalars

    def body(scalars: list[ir.Value]) -> ir.Value:
        old, *rest = scalars
        inside, point = None, []
        for d, start in enumerate(_starts(low, olds, rest, limits)):
            index = linalg_index(d)
            if limits[d]:
                shifted = s.op("arith.subi", index, start)
                index = s.clamp_index(shifted, 0, window[d] - 1)
                hit = s.cmpi("eq", shifted, index)
                inside = hit if inside is None else s.op("arith.andi", inside, hit)
            point.append(index)
        new = read_at(low, update, point)
        return new if inside is None else s.select(inside, new, old)

    reads: list[Read] = [(source, generic.identity(rank)), *((old, generic.affine_map(rank, [])) for old in olds)]
    low.set(op.results[0], low.parallel(kind, reads, body))


def _gather(low: Lowering, op: ir.Operation) -> None:
    source, indices = op.operands
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    kind, sizes = op.results[0].type, integers(op, "slice_sizes")
    rank, s = len(kind.shape), low.scalars
    offsets = list(numbers.offset_dims)
    batch = [d for d in range(rank) if d not in offsets]
    vector = numbers.index_vector_dim
    index_rank = len(indices.type.shape)
    index_dims = [d for d in range(index_rank) if d != vector]  # the start indices' dims, in the order of the result's batch dims
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    offset_of = dict(zip([d for d in range(len(sizes)) if d not in gone], offsets))
    batch_of = {o: batch[index_dims.index(i)] for o, i in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims)}

    def index_map(component: int) -> ir.AffineMap:
        expressions = dict(zip(index_dims, generic.dims(batch)))
        expressions[vector] = ir.AffineExpr.get_constant(component)
        return generic.affine_map(rank, [expressions[d] for d in range(index_rank)])

    even = even_windows(op) if low.splat(source) is None else None
    if even is not None:
        low.set(op.results[0], _evenly(low, op, even, batch, offset_of))
        return
    start_map = list(numbers.start_index_map)

    def body(scalars: list[ir.Value]) -> ir.Value:
        limits = [source.type.shape[d] - sizes[d] for d in start_map]
        start_of = dict(zip(start_map, _starts(low, [indices] * len(start_map), scalars, limits)))
        point = []
        for d in range(len(sizes)):
            parts = [start_of[d]] if d in start_of and source.type.shape[d] > sizes[d] else []
            if d in batch_of:
                parts.append(linalg_index(batch_of[d]))
            if d in offset_of and sizes[d] > 1:
                parts.append(linalg_index(offset_of[d]))
            index = parts[0] if parts else s.index(0)
            for part in parts[1:]:
                index = s.op("arith.addi", index, part)
            point.append(index)
        return read_at(low, source, point)

    low.set(op.results[0], low.parallel(kind, [(indices, index_map(k)) for k in range(len(start_map))], body))


def _evenly(low: Lowering, op: ir.Operation, even: EvenWindows, batch: Sequence[int], offset_of: Mapping[int, int]) -> ir.Value:
    """The same at places that are affine in the result's dims; all of `batch` but the one that numbers the windows have one element."""
    source, shape = op.operands[0], list(op.results[0].type.shape)
    point = []
    for d in range(len(source.type.shape)):
        index = ir.AffineExpr.get_constant(even.first if d == even.dimension else 0)
        for n in batch if d == even.dimension else ():
            index = index + generic.dims([n])[0] * even.step if shape[n] > 1 else index
        point.append(index + generic.dims([offset_of[d]])[0] if d in offset_of else index)
    return low.moved(op.results[0].type, source, point)


def _bitcast_convert(low: Lowering, op: ir.Operation) -> None:
    """Between widths: one element becomes a last dimension of narrower ones, least significant first, or the reverse."""
    (source,), kind = op.operands, op.results[0].type
    from_type, to_type = signless(source.type.element_type), signless(kind.element_type)
    if 1 in (from_type.width, to_type.width):
        raise unsupported(op, "bitcast_convert of i1 between widths is not compiled")
    rank, s = len(kind.shape), low.scalars
    wide, narrow = (ir.IntegerType.get_signless(pick(from_type.width, to_type.width)) for pick in (max, min))

    if from_type.width > to_type.width:

        def split(scalars: list[ir.Value]) -> ir.Value:
            bits = s.cast("arith.bitcast", wide, scalars[0])
            shift = s.op("arith.muli", s.cast("arith.index_cast", wide, linalg_index(rank - 1)), s.constant(wide, narrow.width))
            return s.cast("arith.bitcast", to_type, s.cast("arith.trunci", narrow, s.op("arith.shrui", bits, shift)))

        low.set(op.results[0], low.parallel(kind, [(source, generic.affine_map(rank, generic.dims(range(rank - 1))))], split))
        return

    def join(scalars: list[ir.Value]) -> ir.Value:
        total = s.constant(wide, 0)
        for position, scalar in enumerate(scalars):
            bits = s.cast("arith.extui", wide, s.cast("arith.bitcast", narrow, scalar))
            total = s.op("arith.ori", total, s.op("arith.shli", bits, s.constant(wide, position * narrow.width)))
        return s.cast("arith.bitcast", to_type, total)

    def nth(position: int) -> ir.AffineMap:
        return generic.affine_map(rank, [*generic.dims(range(rank)), ir.AffineExpr.get_constant(position)])

    low.set(op.results[0], low.parallel(kind, [(source, nth(n)) for n in range(wide.width // narrow.width)], join))


LOWERINGS = {
    "stablehlo.pad": _pad,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.gather": _gather,
    "stablehlo.bitcast_convert": _bitcast_convert,
}
