"""Which dimensions of a group may be its rows: contractions sum over them, and all else keeps them (join-row-blocks).

Heads that share keys are rows of these, too: dk[n, d] = sum over head, row of ds[head, row, n] * q[head, row, d]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from ...common.rewriting import defining_op
from ...stablehlo.support.build import count_of, shape_of
from .chain import dimensions, returned
from .dims import Dim, Dims
from .values import Place

_DOT = "stablehlo.dot_general"


@dataclass(frozen=True)
class Rows:
    """How many rows and columns each batch has of the large values, and where these lie in what contractions read."""

    batches: int
    together: tuple[Dim, ...]
    """The dimensions that are summed with each other: one of them is the rows, and the others (heads that share keys) have so many each."""
    rows: int
    columns: int
    read: list[Place]
    reduced: list[tuple[ir.Operation, Place]]
    """Reductions along the columns, and where rows and columns lie in what they reduce."""
    written: bool
    """Whether a result has rows and columns."""
    sums: int
    """How many contractions sum over the rows."""


def summed_dimensions(group: ir.Operation, arguments: Sequence[ir.Value]) -> set[int]:
    """Which dimensions of these arguments the contractions of a group sum over."""
    dims = Dims(group)
    summed = {c for op in dims.ops if op.name == _DOT for c in dims.reduces(op)}
    return {d for argument in arguments for d, c in enumerate(dims.classes(argument)) if c is not None and c in summed}


def rows_of(function: ir.Operation, size: int) -> list[Rows]:
    """What may be the rows of a group whose large values have so many elements; first that of which a block keeps least, then that which
    most contractions sum over."""
    dims = Dims(function)
    dots = [op for op in dims.ops if op.name == _DOT]
    able = [together for together in dict.fromkeys(_summed(dims, op) for op in dots) if _goes_by(together, dims, size)]
    if not able or not _keeps_batches(function, dims, dots):
        return []
    found = [_figures(function, c, together, dims, dots, size) for together in able for c in together]
    return sorted((rows for rows in found if rows is not None), key=lambda rows: (rows.columns, -rows.sums))


def _summed(dims: Dims, op: ir.Operation) -> tuple[Dim, ...]:
    """What a contraction sums over, the longest first."""
    return tuple(sorted(dims.reduces(op), key=lambda c: (-shape_of(c[0])[c[1]], dims.classes(op.operands[0]).index(c))))


def _keeps_batches(function: ir.Operation, dims: Dims, dots: list[ir.Operation]) -> bool:
    """Whether each batch is computed alone: nothing is reduced along the batches of the contractions, and all results have them."""
    batches = {c for op in dots for d in dimensions(op).lhs_batching_dimensions if (c := dims.classes(op.operands[0])[d]) is not None}
    kept = all(batches <= set(dims.classes(_before_view(value))) for value in returned(function).operands)
    return kept and not any(batches & dims.reduces(op) for op in dims.ops)


def _before_view(value: ir.Value) -> ir.Value:
    """What a reshape at the end of a function is a view of."""
    op = defining_op(value)
    return op.operands[0] if op is not None and op.name == "stablehlo.reshape" else value


def _goes_by(together: tuple[Dim, ...], dims: Dims, size: int) -> bool:
    rows = set(together)
    if not rows or rows & dims.bad:
        return False
    behind: set[ir.Operation] = set()
    for op in dims.ops:
        classes = [dims.classes(value) for value in (*op.operands, *op.results)]
        if any(each.count(c) > 1 for each in classes for c in rows):
            return False
        has = any(rows & set(each) for each in classes)
        reads = any(defining_op(value) in behind for value in op.operands)
        sums = rows & dims.reduces(op)
        if (reads and has) or (sums and (op.name != _DOT or dims.reduces(op) != rows)):
            return False
        if reads or sums:
            behind.add(op)
        if any(
            count_of(value) >= size and not rows <= set(each) and not _is_constant(value)
            for value, each in zip((*op.operands, *op.results), classes)
        ):
            return False
    return True


def _is_constant(value: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and op.name == "stablehlo.constant"


def _figures(function: ir.Operation, c: Dim, together: tuple[Dim, ...], dims: Dims, dots: list[ir.Operation], size: int) -> Rows | None:
    batches = min(prod(shape_of(op.operands[0])[d] for d in dimensions(op).lhs_batching_dimensions) for op in dots)
    rows, all_rows = shape_of(c[0])[c[1]], prod(shape_of(value)[d] for value, d in together)
    read: list[Place] = []
    for op in dots:
        for value in op.operands:
            classes = dims.classes(value)
            if count_of(value) >= size and c in classes:
                batching = dimensions(op).lhs_batching_dimensions if value == op.operands[0] else dimensions(op).rhs_batching_dimensions
                columns = [d for d, each in enumerate(classes) if each not in (None, *together) and d not in list(batching)]
                if len(columns) != 1:
                    return None
                read.append(Place(value, classes.index(c), columns[0]))
    if not read:
        return None
    column = {dims.of(place.value, place.column or 0) for place in read}
    reduced = [
        (op, Place(op.operands[0], at.index(c), at.index(each)))
        for op in dims.ops
        if op.name == "stablehlo.reduce"
        for each in column & dims.reduces(op)
        if c in (at := dims.classes(op.operands[0]))
    ]
    results = [dims.classes(_before_view(value)) for value in returned(function).operands]
    written = any(c in classes and column & set(classes) for classes in results)
    sums = sum(c in dims.reduces(op) for op in dots)
    return Rows(batches, together, rows, size // batches // all_rows, read, reduced, written, sums)
