"""Rules that compute ops on constants: elementwise ops and data movement, up to `limit` elements; splats of any size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from torch_mlir import ir

from ..support import build, constants
from ..support.driver import Rule
from ..support.evaluate import EVALUATORS, evaluate

Arrays = list[np.ndarray]


def folding_rules(limit: int) -> dict[str, list[Rule]]:
    """Rules that fold to constants of at most `limit` elements (a splat has one)."""
    rules: dict[str, list[Rule]] = {f"stablehlo.{name}": [partial(_elementwise, name, limit)] for name in EVALUATORS}
    for name, move in _MOVEMENTS.items():
        rules[f"stablehlo.{name}"] = [partial(_moved, move, limit)]
    rules["stablehlo.get_dimension_size"] = [_dimension_size]
    return rules


def _arrays(op: ir.Operation, limit: int) -> Arrays | None:
    if not op.operands:
        return None
    arrays: Arrays = []
    for value in op.operands:
        array = constants.read(value, limit)
        if array is None:
            return None
        arrays.append(array)
    return arrays


def _elementwise(name: str, limit: int, op: ir.Operation) -> list[ir.Value] | None:
    if constants.elements_attribute(op.operands[0]) is None and name != "select":
        return None
    arrays = _arrays(op, limit)
    kind = op.results[0].type
    dtype = constants.dtype_of(ir.RankedTensorType(kind).element_type)
    if arrays is None or dtype is None or any(a.size == 0 for a in arrays):
        return None
    if all(constants.splat_attribute(v) is not None for v in op.operands):
        value = evaluate(name, op, [a.reshape(-1)[:1].reshape(()) for a in arrays])
        return None if value is None else [build.splat(kind, build.scalar(kind.element_type, np.asarray(value).astype(dtype).flat[0]))]
    if build.count_of(op.results[0]) > limit:
        return None
    value = evaluate(name, op, arrays)
    return None if value is None else [constants.write(np.asarray(value).astype(dtype), kind)]


def _moved(move: Callable[[ir.Operation, Arrays], np.ndarray | None], limit: int, op: ir.Operation) -> list[ir.Value] | None:
    if constants.elements_attribute(op.operands[0]) is None:
        return None
    arrays = _arrays(op, limit)
    kind = op.results[0].type
    if arrays is None:
        return None
    splats = {str(constants.splat_attribute(v)) for v in op.operands}
    if len(splats) == 1 and splats != {"None"}:
        attribute = constants.splat_attribute(op.operands[0])
        return [build.splat(kind, attribute)]
    if build.count_of(op.results[0]) > limit or build.count_of(op.results[0]) > sum(a.size for a in arrays):
        return None
    value = move(op, arrays)
    return None if value is None else [constants.write(value, kind)]


def _shape(op: ir.Operation) -> list[int]:
    return build.shape_of(op.results[0])


def _slice(op: ir.Operation, args: Arrays) -> np.ndarray:
    bounds = zip(*(build.integers(op, name) for name in ("start_indices", "limit_indices", "strides")))
    return args[0][tuple(slice(*bound) for bound in bounds)]


def _broadcast(op: ir.Operation, args: Arrays) -> np.ndarray:
    """Only where the result has no more elements than the operand: unit dimensions come and dimensions change places."""
    dimensions = build.integers(op, "broadcast_dimensions")
    order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
    return args[0].transpose(order).reshape(_shape(op))


_MOVEMENTS: dict[str, Callable[[ir.Operation, Arrays], np.ndarray | None]] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda op, args: np.concatenate(args, axis=build.integer(op, "dimension")),
    "pad": lambda op, args: None,
    "reshape": lambda op, args: args[0].reshape(_shape(op)),
    "reverse": lambda op, args: np.flip(args[0], tuple(build.integers(op, "dimensions"))),
    "slice": _slice,
    "transpose": lambda op, args: args[0].transpose(build.integers(op, "permutation")),
}


def _dimension_size(op: ir.Operation) -> list[ir.Value] | None:
    size = build.shape_of(op.operands[0])[build.integer(op, "dimension")]
    kind = op.results[0].type
    return [build.splat(kind, build.scalar(kind.element_type, size))]
