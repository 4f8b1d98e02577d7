"""Access maps: for each op, which element of each operand an element of the result needs.

`facts_of(op, …)` reads an op once and returns what the planner has to know of it: its kind, its maps, the ranges it reduces over, and
its work for each point of its iteration space. In a map, variable `i < rank` is dimension i of the result and `rank + j` is the j-th
range. An op that has no rule is refused: there is no rule that would say which groups may hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.fourier_plan import FourierPlan
from ...common.index_expression import ZERO, Expr, opaque, reshape_point, run_time_index
from ...common.ops import OPS, Kind, is_elementwise, kind_of, name_in_table
from ...common.rewriting import integer, integers, padding_pairs
from ...common.scans import scan_dim
from ...common.scatter_windows import Windows
from ...common.winograd import winograd_products
from ...errors import UnsupportedOpError
from .axes import var
from .records import IDENTITY, SCALAR, AccessMap, Value

GROWS = "hloom.grows"
"""On a dynamic_update_slice: its operand dies there, and is updated in place, in a kernel of its own."""

MOST_WORK, SCALAR_WORK = 1 << 30, 8
"""What an element of a scatter's updates may take for its kernel to compute it: in vectors, and one by one (no exponentials)."""


@dataclass(frozen=True)
class Facts:
    """What the planner knows of an op. `maps`: one for each operand; for the rest see records.Op."""

    kind: Kind
    maps: tuple[AccessMap, ...]
    ranges: tuple[int, ...] = ()
    work: int = 1
    row: bool = False
    overwrites: bool = False
    scanned: int | None = None
    grows: bool = False
    computes: int = 0
    products_percent: int = 100


def facts_of(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """What the planner has to know of the op `number`. Raises UnsupportedOpError if there is no rule for it."""
    name = name_in_table(op)
    rule = _elementwise if is_elementwise(op) else RULES.get(name)
    if name not in OPS or rule is None:
        raise UnsupportedOpError(
            "the fusion planner has no access map for this op", op=name, loc=str(op.location), stage="fused",
            remedy="legalise the op in the stablehlo stage, or report it",
        )  # fmt: skip
    return rule(op, number, operands, results)


def _facts(op: ir.Operation, maps: tuple[AccessMap, ...], ranges: tuple[int, ...] = (), **more: bool) -> Facts:
    info = OPS[name_in_table(op)]
    return Facts(info.kind, maps, ranges, _body_work(op) if info.kind.reduces else info.work, **more)


def _body_work(op: ir.Operation) -> int:
    inside = [view.operation for view in op.regions[0].blocks[0].operations][:-1]
    return max(1, sum(OPS[inner.name].work if kind_of(inner) is Kind.ELEMENTWISE else 1 for inner in inside))


def _dims(value: Value) -> list[Expr]:
    return [var(i, extent) for i, extent in enumerate(value.shape)]


def _elementwise(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    maps = tuple(IDENTITY if v.shape == results[0].shape else SCALAR for v in operands)
    return replace(_facts(op, maps), work=OPS[op.name].work * (2 if results[0].bits == 64 else 1))


def _source(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    return _facts(op, ())


def _broadcast(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    out, dims = _dims(results[0]), integers(op, "broadcast_dimensions")
    index = tuple(ZERO if extent == 1 else out[d] for d, extent in zip(dims, operands[0].shape, strict=True))
    return _facts(op, (AccessMap(index),))


def _transpose(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    out, index = _dims(results[0]), [ZERO] * len(results[0].shape)
    for i, dim in enumerate(integers(op, "permutation")):
        index[dim] = out[i]
    return _facts(op, (AccessMap(tuple(index)),))


def _reverse(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    index = _dims(results[0])
    for dim in integers(op, "dimensions"):
        index[dim] = index[dim] * -1 + (results[0].shape[dim] - 1)
    return _facts(op, (AccessMap(tuple(index)),))


def _slice(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    starts, strides = integers(op, "start_indices"), integers(op, "strides")
    index = tuple(d * stride + start for d, stride, start in zip(_dims(results[0]), strides, starts))
    return _facts(op, (AccessMap(index),))


def _reshape(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    source, target = operands[0].shape, results[0].shape
    index = tuple(ZERO for _ in source) if 0 in source else reshape_point(_dims(results[0]), target, source)
    return _facts(op, (AccessMap(index),))


def _bitcast(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """To a narrower type a dimension is split off, to a wider one the last dimension is read whole."""
    (source,), dims = operands, tuple(_dims(results[0]))
    index = dims[: len(source.shape)] if len(dims) > len(source.shape) else (*dims, opaque(number, (), source.shape[-1]))
    return _facts(op, (AccessMap(index),))


def _dynamic_slice(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    source, *starts = operands
    index = tuple(
        d + run_time_index(start.id, whole - size + 1)
        for d, start, whole, size in zip(_dims(results[0]), starts, source.shape, results[0].shape, strict=True)
    )
    return _facts(op, (AccessMap(index), *(SCALAR for _ in starts)))


def _dynamic_update_slice(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    source, update, *starts = operands
    index = tuple(
        d + run_time_index(start.id, whole - size + 1) * -1
        for d, start, whole, size in zip(_dims(results[0]), starts, source.shape, update.shape, strict=True)
    )
    return _facts(op, (IDENTITY, AccessMap(index, masked=True), *(SCALAR for _ in starts)), overwrites=True, grows=GROWS in op.attributes)


def _concatenate(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    axis, start, maps = integer(op, "dimension"), 0, []
    for value in operands:
        index = _dims(results[0])
        index[axis] = index[axis] - start
        maps.append(AccessMap(tuple(index), masked=True))
        start += value.shape[axis]
    return _facts(op, tuple(maps))


def _pad(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    lows, interiors = integers(op, "edge_padding_low"), integers(op, "interior_padding")
    index = tuple((d - low) // (interior + 1) for d, low, interior in zip(_dims(results[0]), lows, interiors))
    return _facts(op, (AccessMap(index, masked=True), SCALAR))


def _gather(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    source, indices = operands
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    sizes, out, vector_dim = integers(op, "slice_sizes"), _dims(results[0]), numbers.index_vector_dim
    batch = [out[i] for i in range(len(out)) if i not in numbers.offset_dims]
    where = list(batch)
    if vector_dim < len(indices.shape):
        where.insert(vector_dim, opaque(number, (), indices.shape[vector_dim]))
    batching, collapsed = list(numbers.operand_batching_dims), {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    in_batch = [i for i in range(len(indices.shape)) if i != vector_dim]
    offsets, index = iter(out[i] for i in numbers.offset_dims), []
    for dim, whole in enumerate(source.shape):
        expr = ZERO if dim in collapsed else next(offsets)
        if dim in batching:
            expr = batch[in_batch.index(numbers.start_indices_batching_dims[batching.index(dim)])]
        elif dim in numbers.start_index_map:
            expr = expr + opaque(number, batch, whole - sizes[dim] + 1)
        index.append(expr)
    return _facts(op, (AccessMap(tuple(index)), AccessMap(tuple(where))))


def _reduce(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    source, reduced = operands[0], integers(op, "dimensions")
    kept = iter(_dims(results[0]))
    ranges: list[int] = []
    index = []
    for dim, extent in enumerate(source.shape):
        if dim not in reduced:
            index.append(next(kept))
            continue
        index.append(var(len(results[0].shape) + len(ranges), extent))
        ranges.append(extent)
    longer = [dim for dim, extent in enumerate(source.shape) if extent != 1]
    row, half = bool(longer) and longer[-1] in reduced, len(operands) // 2
    return _facts(op, (AccessMap(tuple(index)),) * half + (SCALAR,) * half, tuple(ranges), row=row)


def _reduce_window(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    dim = scan_dim(op)
    if dim is not None:
        row = not any(extent != 1 for extent in results[0].shape[dim + 1 :])
        half = len(operands) // 2
        return Facts(Kind.REDUCE, (IDENTITY,) * half + (SCALAR,) * half, work=_body_work(op), row=row, scanned=dim)
    window = integers(op, "window_dimensions")
    ones, rank, half = [1] * len(window), len(window), len(operands) // 2
    strides, base, dilation = (integers(op, name, ones) for name in ("window_strides", "base_dilations", "window_dilations"))
    padding = padding_pairs(op, rank)
    index = tuple(
        (d * strides[i] + var(rank + i, window[i]) * dilation[i] - padding[i][0]) // base[i] for i, d in enumerate(_dims(results[0]))
    )
    masked = any(map(any, padding)) or any(b != 1 for b in base)
    return _facts(op, (AccessMap(index, masked),) * half + (SCALAR,) * half, tuple(window))


def _sort(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """An element may come from anywhere in its row. A point's work is a comparison and a move for each time that runs are merged."""
    index, dim = _dims(results[0]), integer(op, "dimension", -1)
    extent = results[0].shape[dim]
    index[dim] = opaque(number, (), extent)
    levels = max(1, (extent - 1).bit_length())
    return replace(_facts(op, (AccessMap(tuple(index)),) * len(operands)), work=OPS[op.name].work * levels)


def _dft(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """An element may come from anywhere in its row or column, and from the table. Work grows with the logarithm of their length."""
    plan = FourierPlan.of(op)
    index, data = _dims(results[0])[: len(results[0].shape) - bool(plan.given)], 1 if plan.taken else 2
    extent = operands[0].shape[1]
    index[1] = opaque(number, (), extent)
    maps = [AccessMap((*index, opaque(number, (), 2)) if plan.taken else tuple(index))] * data
    maps += [AccessMap(tuple(opaque(number, (), extent) for extent in table.shape)) for table in operands[data:]]
    facts = _facts(op, tuple(maps))
    return replace(facts, work=facts.work * max(1, (extent - 1).bit_length()))


def _all_of_operand(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """Each element of the result reads the whole operand. Nothing computes a Winograd filter: who has it reads all of its transform."""
    return _facts(op, (AccessMap(tuple(opaque(number, (), extent) for extent in operands[0].shape)),))


def _dot_general(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    dims = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    (lhs, rhs), out = operands, _dims(results[0])
    rank, batches = len(out), len(dims.lhs_batching_dimensions)
    contracted = [lhs.shape[d] for d in dims.lhs_contracting_dimensions]
    free, maps = batches, []
    for value, batching, contracting in (
        (lhs, list(dims.lhs_batching_dimensions), list(dims.lhs_contracting_dimensions)),
        (rhs, list(dims.rhs_batching_dimensions), list(dims.rhs_contracting_dimensions)),
    ):
        index = []
        for dim, extent in enumerate(value.shape):
            if dim in batching:
                index.append(out[batching.index(dim)])
            elif dim in contracting:
                index.append(var(rank + contracting.index(dim), extent))
            else:
                index.append(out[free])
                free += 1
        maps.append(AccessMap(tuple(index)))
    return _facts(op, tuple(maps), tuple(contracted))


def _convolution(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """Grouped and dilated dimensions are opaque: a contraction's operands are whole buffers, and only what they touch is priced."""
    dims = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    (lhs, rhs), out = operands, _dims(results[0])
    rank, spatial = len(out), list(dims.kernel_spatial_dimensions)
    ones = [1] * len(spatial)
    strides, lhs_dilation, rhs_dilation = (integers(op, name, ones) for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    groups = integer(op, "feature_group_count") * integer(op, "batch_group_count")  # one of the two is 1
    ranges = [*(rhs.shape[d] for d in spatial), rhs.shape[dims.kernel_input_feature_dimension]]
    left, right = [ZERO] * len(lhs.shape), [ZERO] * len(rhs.shape)
    for i, (d_in, d_kernel, d_out) in enumerate(zip(dims.input_spatial_dimensions, spatial, dims.output_spatial_dimensions)):
        step = var(rank + i, ranges[i])
        right[d_kernel] = step
        left[d_in] = out[d_out] * strides[i] + step * rhs_dilation[i]
        if lhs_dilation[i] != 1:
            left[d_in] = opaque(number, (out[d_out], step), lhs.shape[d_in])
    outer, inner, channel = out[dims.output_batch_dimension], var(rank + len(spatial), ranges[-1]), out[dims.output_feature_dimension]
    group = channel // (results[0].shape[dims.output_feature_dimension] // groups)
    for dim, plain in ((dims.input_batch_dimension, outer), (dims.input_feature_dimension, inner)):
        left[dim] = opaque(number, (plain, group), lhs.shape[dim]) if groups != 1 else plain
    right[dims.kernel_input_feature_dimension], right[dims.kernel_output_feature_dimension] = inner, channel
    images = [results[0].shape[d] for d in (dims.output_batch_dimension, *dims.output_spatial_dimensions)]
    products = winograd_products(op.operands[1], images, rhs_dilation[-2:])
    facts = _facts(op, (AccessMap(tuple(left)), AccessMap(tuple(right))), tuple(ranges))
    return facts if products is None else replace(facts, products_percent=100 * products // (results[0].elements * prod(ranges)))


def _scatter(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """Where an update goes is known at run time alone: the places of indices and updates are opaque. A window along a line is computed in
    vectors; where an update is one element, its kernel has no vectors for dear arithmetic."""
    count, windows = len(results), Windows.of(op)
    rest = (AccessMap(tuple(opaque(number, (), extent) for extent in value.shape)) for value in operands[count:])
    computes = 0 if not windows.over else MOST_WORK if windows.along_lines else SCALAR_WORK
    return Facts(OPS[op.name].kind, (*(IDENTITY,) * count, *rest), work=_body_work(op), computes=computes)


def _custom_call(op: ir.Operation, number: int, operands: Sequence[Value], results: Sequence[Value]) -> Facts:
    """Outside code reads what it likes."""
    return _facts(op, tuple(AccessMap(tuple(opaque(number, (), extent) for extent in value.shape)) for value in operands))


RULES: dict[str, Callable[..., Facts]] = {
    "stablehlo.constant": _source, "stablehlo.iota": _source, "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.broadcast_in_dim": _broadcast, "stablehlo.transpose": _transpose, "stablehlo.reverse": _reverse, "stablehlo.slice": _slice,
    "stablehlo.reshape": _reshape, "stablehlo.dynamic_slice": _dynamic_slice, "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.concatenate": _concatenate, "stablehlo.pad": _pad, "stablehlo.gather": _gather, "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window, "stablehlo.sort": _sort,
    "stablehlo.custom_call @hloom.dft": _dft, "stablehlo.custom_call @hloom.cufft": _all_of_operand,
    "stablehlo.custom_call @hloom.winograd_filter": _all_of_operand,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.convolution": _convolution, "stablehlo.scatter": _scatter, "stablehlo.custom_call": _custom_call,
}  # fmt: skip
