"""Rules that compute ops on constants: elementwise ops and data movement, up to `limit` elements; splats of any size."""

from __future__ import annotations

from functools import partial

import numpy as np
from torch_mlir import ir

from ...common.folding import Arrays, Evaluator, dtype_of
from ...common.ops import OPS
from ...common.rewriting import integer
from ..support import build, constants
from ..support.driver import Rule


def folding_rules(limit: int) -> dict[str, list[Rule]]:
    """Rules that fold to constants of at most `limit` elements (a splat has one)."""
    rules: dict[str, list[Rule]] = {}
    for name, info in OPS.items():
        if info.fold is not None:
            rules[name] = [partial(_elementwise if info.scalar is not None else _moved, info.fold, limit)]
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


def _elementwise(fold: Evaluator, limit: int, op: ir.Operation) -> list[ir.Value] | None:
    if constants.elements_attribute(op.operands[0]) is None and op.name != "stablehlo.select":
        return None
    arrays = _arrays(op, limit)
    kind = op.results[0].type
    dtype = dtype_of(ir.RankedTensorType(kind).element_type)
    if arrays is None or dtype is None or any(a.size == 0 for a in arrays):
        return None
    is_splat = all(constants.splat_attribute(v) is not None for v in op.operands)
    if is_splat:
        arrays = [a.reshape(-1)[:1].reshape(()) for a in arrays]
    elif build.count_of(op.results[0]) > limit:
        return None
    with np.errstate(all="ignore"):
        value = fold(op, arrays)
    if value is None:
        return None
    value = np.asarray(value).astype(dtype)
    return [build.full(kind, value.flat[0]) if is_splat else constants.write(value, kind)]


def _moved(fold: Evaluator, limit: int, op: ir.Operation) -> list[ir.Value] | None:
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
    value = fold(op, arrays)
    return None if value is None else [constants.write(value, kind)]


def _dimension_size(op: ir.Operation) -> list[ir.Value] | None:
    size = build.shape_of(op.operands[0])[integer(op, "dimension")]
    kind = op.results[0].type
    return [build.full(kind, size)]
