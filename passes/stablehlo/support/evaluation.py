"""What a value is that depends on constants and indices alone, computed by NumPy where a pass asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.folding import Arrays, Evaluator, dtype_of
from ...common.ops import OPS
from ...common.rewriting import defining_op, integer, integers, ops_in
from . import constants

MOST_OPS = 256
"""Behind one value. Tables of weights and indices take some dozens."""
COMBINED: dict[str, np.ufunc] = {"stablehlo.add": np.add, "stablehlo.maximum": np.maximum, "stablehlo.minimum": np.minimum}
"""By the op of a reduction's body."""


def combined_by(op: ir.Operation) -> np.ufunc | None:
    """What a reduction's body combines two elements by."""
    body = ops_in(op.regions[0].blocks[0])
    return COMBINED.get(body[0].name) if len(body) == 2 else None


def indices(op: ir.Operation) -> np.ndarray:
    """What an iota holds."""
    kind = ir.RankedTensorType(op.results[0].type)
    along = integer(op, "iota_dimension")
    line = np.arange(kind.shape[along]).astype(dtype_of(kind.element_type))
    return np.broadcast_to(line.reshape([-1 if d == along else 1 for d in range(len(kind.shape))]), kind.shape)


def evaluated(value: ir.Value, limit: int) -> np.ndarray | None:
    """The elements of a value that depends on constants and indices alone.

    Declined (None): arrays of more than `limit` elements, what more than MOST_OPS ops lead to, ops that no folding knows or declines.
    """
    known: dict[ir.Value, np.ndarray | None] = {}
    for op in _behind(value, limit):
        known[op.results[0]] = _computed(op, known, limit)
    return known.get(value)


def _behind(value: ir.Value, limit: int) -> list[ir.Operation]:
    """The ops that lead to the value, each after those that it reads; none where it depends on anything else, or on too many."""
    found: list[ir.Operation] = []
    seen: set[ir.Value] = set()
    stack = [(value, False)]
    while stack:
        current, is_read = stack.pop()
        op = defining_op(current)
        if op is None or not _is_known(op, limit) or len(seen) > MOST_OPS:
            return []
        if is_read:
            found.append(op)
        elif current not in seen:
            seen.add(current)
            stack.append((current, True))
            stack += [(operand, False) for operand in op.operands]
    return found


def _is_known(op: ir.Operation, limit: int) -> bool:
    kind = op.results[0].type if len(op.results) == 1 else None
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape or not 0 < prod(kind.shape) <= limit:
        return False
    return op.name in ("stablehlo.constant", *_EVALUATED) or getattr(OPS.get(op.name), "fold", None) is not None


def _computed(op: ir.Operation, known: Mapping[ir.Value, np.ndarray | None], limit: int) -> np.ndarray | None:
    if op.name == "stablehlo.constant":
        return constants.read(op.results[0], limit)
    kind, found = ir.RankedTensorType(op.results[0].type), [known[operand] for operand in op.operands]
    arrays, dtype = [array for array in found if array is not None], dtype_of(kind.element_type)
    evaluate = _EVALUATED.get(op.name) or OPS[op.name].fold
    if dtype is None or evaluate is None or len(arrays) < len(found):
        return None
    with np.errstate(all="ignore"):
        made = evaluate(op, arrays)
    return None if made is None else np.broadcast_to(np.asarray(made).astype(dtype), kind.shape)


def _reduced(op: ir.Operation, arrays: Arrays) -> np.ndarray | None:
    combine = combined_by(op) if len(arrays) == 2 else None
    if combine is None:
        return None
    array, initial = arrays
    return combine.reduce(array, axis=tuple(integers(op, "dimensions")), initial=initial.item())


def looked_up(op: ir.Operation, arrays: Arrays) -> np.ndarray | None:
    """A gather of whole lines along one dimension, whose indices are moved to within it."""
    table, places = arrays
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    moved, dropped = list(numbers.start_index_map), list(numbers.collapsed_slice_dims)
    if len(moved) != 1 or dropped != moved or list(numbers.operand_batching_dims):
        return None
    if integers(op, "slice_sizes") != [1 if d in moved else n for d, n in enumerate(table.shape)]:
        return None
    if numbers.index_vector_dim < places.ndim:
        places = places.squeeze(numbers.index_vector_dim)
    (along,), lines = moved, list(numbers.offset_dims)
    taken = np.take(table, np.clip(places.astype(np.int64), 0, table.shape[along] - 1), along)
    ours = range(along, along + places.ndim)
    others = [d for d in range(taken.ndim) if d not in ours]
    return np.moveaxis(taken, [*others, *ours], [*lines, *(d for d in range(taken.ndim) if d not in lines)])


def _padded(op: ir.Operation, arrays: Arrays) -> np.ndarray:
    array, filling = arrays
    low, interior = integers(op, "edge_padding_low"), integers(op, "interior_padding")
    made = np.full(ir.RankedTensorType(op.results[0].type).shape, filling.item(), array.dtype)
    places = [first + (1 + between) * np.arange(n) for first, between, n in zip(low, interior, array.shape)]
    inside = [(0 <= each) & (each < n) for each, n in zip(places, made.shape)]
    made[np.ix_(*(each[kept] for each, kept in zip(places, inside)))] = array[np.ix_(*inside)]
    return made


_EVALUATED: dict[str, Evaluator] = {
    "stablehlo.gather": looked_up,
    "stablehlo.iota": lambda op, _: indices(op),
    "stablehlo.pad": _padded,
    "stablehlo.reduce": _reduced,
}
