"""Writes and sums at places along a dimension. All other dimensions are those of the operand, so no table of places is made.

Sums and products of half floats are made in f32 and rounded once: of a thousand terms, each rounded, few bits would be left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

_COMBINERS = {
    "sum": "add", "add": "add", "mean": "add", "prod": "multiply", "multiply": "multiply", "amax": "maximum", "amin": "minimum",
}  # fmt: skip


@torch_lowering("aten.scatter.src")
def scatter(op: TorchOp, x: ir.Value, dim: int, places: ir.Value, source: ir.Value) -> ir.Value:
    return _along(x, dim, places, source, None)


@torch_lowering("aten.scatter.value")
def scatter_value(op: TorchOp, x: ir.Value, dim: int, places: ir.Value, value: float) -> ir.Value:
    return _along(x, dim, places, _filled(x, places, value), None)


@torch_lowering("aten.scatter_add")
def scatter_add(op: TorchOp, x: ir.Value, dim: int, places: ir.Value, source: ir.Value) -> ir.Value:
    return _along(x, dim, places, source, "sum")


@torch_lowering("aten.scatter.reduce")
def scatter_combined(op: TorchOp, x: ir.Value, dim: int, places: ir.Value, source: ir.Value, *, reduce: str) -> ir.Value:
    return _along(x, dim, places, source, reduce)


@torch_lowering("aten.scatter.value_reduce")
def scatter_value_combined(op: TorchOp, x: ir.Value, dim: int, places: ir.Value, value: float, *, reduce: str) -> ir.Value:
    return _along(x, dim, places, _filled(x, places, value), reduce)


@torch_lowering("aten.scatter_reduce.two")
def scatter_reduce(
    op: TorchOp, x: ir.Value, dim: int, places: ir.Value, source: ir.Value, reduce: str, *, include_self: bool = True
) -> ir.Value:
    """Without `include_self` what is written to starts from the neutral element; a mean counts its elements by a second sum."""
    start = x if include_self else _along(x, dim, places, _filled(x, places, _neutral(reduce, op.element)), None)
    total = _along(start, dim, places, source, reduce)
    if reduce != "mean":
        return total
    counts = _along(build.full(x.type, int(include_self)), dim, places, _filled(x, places, 1), reduce)
    if not include_self:
        counts = build.elementwise("maximum", counts, build.full(x.type, 1))
    quotient = build.divide(total, counts)
    return quotient if isinstance(op.element, ir.FloatType) else _floor(total, counts, quotient)


@torch_lowering("aten.index_reduce")
def index_reduce(
    op: TorchOp, x: ir.Value, dim: int, places: ir.Value, source: ir.Value, reduce: str, *, include_self: bool = True
) -> ir.Value:
    shape = build.shape_of(source)
    along = build.broadcast(build.reshape(places, [build.count_of(places)] if shape else []), shape, [dim % len(shape)] if shape else [])
    return scatter_reduce(op, x, dim, along, source, reduce, include_self=include_self)


@torch_lowering("aten.index_add")
def index_add(op: TorchOp, x: ir.Value, dim: int, places: ir.Value, source: ir.Value, *, alpha: float = 1) -> ir.Value:
    """Rows are added whole; along another dimension than the first, rows are summed one by one, as a line of them lies together."""
    if alpha != 1:
        source = build.multiply(source, build.full_like(source, alpha))
    places = build.reshape(places, [build.count_of(places)])
    if not build.shape_of(x):
        return _along(x, 0, places, build.reshape(source, build.shape_of(places)), "sum")
    shape = build.shape_of(source)
    if 0 in shape:
        return x
    dim %= len(shape)
    if dim == 0:
        return combined("add", x, source, lambda x, source: build.scatter(x, 0, places, source, "add"))
    return _along(x, dim, build.broadcast(places, shape, [dim]), source, "sum")


def _floor(total: ir.Value, counts: ir.Value, quotient: ir.Value) -> ir.Value:
    """A quotient of integers by counts, rounded down."""
    if build.element_of(total).is_unsigned:
        return quotient
    over = build.compare("GT", build.multiply(quotient, counts), total)
    return build.select(over, build.subtract(quotient, build.full_like(quotient, 1)), quotient)


def _neutral(reduce: str, element: ir.Type) -> float | int:
    if reduce in ("amax", "amin"):
        return build.extreme(element, -1 if reduce == "amax" else 1)
    return int(reduce == "prod")


def _filled(x: ir.Value, places: ir.Value, value: float) -> ir.Value:
    return build.full(build.tensor(build.shape_of(places), build.element_of(x)), value)


def _along(x: ir.Value, dim: int, places: ir.Value, source: ir.Value, reduce: str | None) -> ir.Value:
    """The operand with the elements of the source written to their places, or combined with what is there."""
    shape, extents = build.shape_of(x), build.shape_of(places)
    if not shape or not extents:
        x, places, source = (build.reshape(each, build.shape_of(each) or [1]) for each in (x, places, source))
        return build.reshape(_along(x, 0, places, source, reduce), shape)
    if 0 in extents:
        return x
    dim %= len(shape)
    source = _cut(source, extents)
    reached = [*extents[:dim], shape[dim], *extents[dim + 1 :]]
    found = scattered(_cut(x, reached), dim, places, source, reduce)
    if reached == shape:
        return found
    zero = build.zero([], build.element_of(places))
    return build.dynamic_update_slice(x, found, [zero] * len(shape))


def scattered(x: ir.Value, dim: int, places: ir.Value, source: ir.Value, reduce: str | None) -> ir.Value:
    """Of one shape but for `dim`: all other dimensions go together."""
    together = [d for d in range(len(build.shape_of(x))) if d != dim]
    combine = _COMBINERS[reduce] if reduce else None
    return combined(combine, x, source, lambda x, source: build.scatter(x, dim, places, source, combine, together=together))


def combined(combine: str | None, x: ir.Value, source: ir.Value, scatter: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """The scatter of the source into the operand, where an op that rounds combines half floats in f32."""
    element = build.element_of(x)
    if combine not in ("add", "multiply") or not isinstance(element, ir.FloatType) or element.width > 16:
        return scatter(x, source)
    wide = ir.F32Type.get()
    return build.convert(scatter(build.convert(x, wide), build.convert(source, wide)), element)


def _cut(x: ir.Value, extents: Sequence[int]) -> ir.Value:
    return x if build.shape_of(x) == list(extents) else build.slice_(x, [0] * len(extents), extents)
