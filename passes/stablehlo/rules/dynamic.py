"""Rules of ops whose indices or shapes are operands: with constant operands, or a static result type, they become their static forms."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import defining_op, integer, integers
from ..support import build, constants
from ..support.driver import Rule

Values = list[ir.Value] | None


def _is_static(op: ir.Operation) -> bool:
    kind = op.results[0].type
    return isinstance(kind, ir.RankedTensorType) and kind.has_static_shape


def _starts(indices: list[ir.Value], shape: list[int], sizes: list[int]) -> list[int] | None:
    """Constant start indices, clamped so that the window lies inside."""
    known = [constants.constant_index(v) for v in indices]
    if any(k is None for k, extent, size in zip(known, shape, sizes) if extent != size):
        return None
    return [min(max(k or 0, 0), extent - size) for k, extent, size in zip(known, shape, sizes)]


def _dynamic_slice(op: ir.Operation) -> Values:
    x, sizes = op.operands[0], integers(op, "slice_sizes")
    starts = _starts(list(op.operands)[1:], build.shape_of(x), sizes)
    if starts is None:
        return None
    return [build.slice_(x, starts, [s + n for s, n in zip(starts, sizes)])]


def _known_dims(op: ir.Operation) -> Values:
    """A slice of which the starts of some dimensions are constants is cut along these first."""
    x, sizes = op.operands[0], integers(op, "slice_sizes")
    indices, shape = list(op.operands)[1:], build.shape_of(x)
    known = [constants.constant_index(index) if extent != size else None for index, extent, size in zip(indices, shape, sizes)]
    if all(start is None for start in known):
        return None
    starts = [0 if start is None else min(max(start, 0), extent - size) for start, extent, size in zip(known, shape, sizes)]
    cut = build.slice_(
        x, starts, [start + size if k is not None else extent for k, start, extent, size in zip(known, starts, shape, sizes)]
    )
    return [build.dynamic_slice(cut, indices, sizes)]


def _dynamic_update_slice(op: ir.Operation) -> Values:
    x, update = op.operands[0], op.operands[1]
    if x.type == update.type or build.count_of(update) == 0:
        return [update if x.type == update.type else x]
    return None


def _dynamic_iota(op: ir.Operation) -> Values:
    if not _is_static(op):
        return None
    return [build.iota(build.shape_of(op.results[0]), build.element_of(op.results[0]), integer(op, "iota_dimension"))]


def _dynamic_reshape(op: ir.Operation) -> Values:
    return [build.reshape(op.operands[0], build.shape_of(op.results[0]))] if _is_static(op) else None


def _dynamic_broadcast(op: ir.Operation) -> Values:
    if not _is_static(op) or not ir.RankedTensorType(op.operands[0].type).has_static_shape:
        return None
    return [build.broadcast(op.operands[0], build.shape_of(op.results[0]), integers(op, "broadcast_dimensions"))]


def _tuple_element(op: ir.Operation) -> Values:
    inner = defining_op(op.operands[0])
    return [inner.operands[integer(op, "index")]] if inner is not None and inner.name == "stablehlo.tuple" else None


def _barrier(op: ir.Operation) -> Values:
    return list(op.operands)


DYNAMIC: dict[str, list[Rule]] = {
    "stablehlo.dynamic_slice": [_dynamic_slice, _known_dims],
    "stablehlo.dynamic_update_slice": [_dynamic_update_slice],
    "stablehlo.dynamic_iota": [_dynamic_iota],
    "stablehlo.dynamic_reshape": [_dynamic_reshape],
    "stablehlo.dynamic_broadcast_in_dim": [_dynamic_broadcast],
    "stablehlo.get_tuple_element": [_tuple_element],
    "stablehlo.optimization_barrier": [_barrier],
}
