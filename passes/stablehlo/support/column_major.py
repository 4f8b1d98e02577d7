"""Calls of libraries that count columns first: their operands and results as the library sees them, whatever the layouts say.

A value in the layout [0, 1] is the matrix that it looks like; one that lies row-major, as values do without a layout, is its transpose.
`dims` says how many dimensions each value has behind the batch: 2 for a matrix, 1 for a vector.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

import numpy as np
from torch_mlir import ir

from hloom.runtime.custom_calls import is_registered

from ...common.calls.lapack import lapack_call, routine_of
from ...common.calls.routine import Place
from ...common.custom_calls import target_of_call
from ...common.rewriting import create
from . import build


def row_major_orders(op: ir.Operation, name: str, values: Sequence[ir.Value]) -> list[list[int]]:
    """For each operand or result, the order of its dimensions in which it lies row-major. StableHLO's verifier has checked the layouts."""
    if f"{name}_layouts" not in op.attributes:
        return [list(range(value.type.rank)) for value in values]
    return [list(ir.DenseIntElementsAttr(layout))[::-1] for layout in ir.ArrayAttr(op.attributes[f"{name}_layouts"])]


def stored_types(op: ir.Operation) -> tuple[list[ir.Type], list[ir.Type]]:
    """The types of operands and results as they lie row-major."""
    values = (("operand", list(op.operands)), ("result", list(op.results)))
    pairs = ([*zip(row_major_orders(op, name, found), found)] for name, found in values)
    given, made = ([build.tensor([v.type.shape[d] for d in order], v.type.element_type) for order, v in each] for each in pairs)
    return given, made


def routine_called(op: ir.Operation, names: Container[str]) -> tuple[str, str] | None:
    """The letter of the type and the routine, one of `names`, of LAPACK's that a call asks for; None if it asks for another, or for what
    somebody registered. Raises InvalidProgramError where that is no call of it."""
    target = target_of_call(op)
    known = None if is_registered(target) else routine_of(target)
    if known is None or known[1] not in names:
        return None
    lapack_call(Place(op, target), *stored_types(op))
    return known


class ColumnMajor:
    """A call as the library sees it."""

    def __init__(self, op: ir.Operation, operand_dims: Sequence[int], result_dims: Sequence[int]):
        orders = row_major_orders(op, "operand", op.operands)
        self.operands = [build.transpose(*pair) for pair in zip(op.operands, map(_by_columns, orders, operand_dims))]
        self._orders = [*map(_by_columns, row_major_orders(op, "result", op.results), result_dims)]
        self.results = [build.tensor([kind.shape[d] for d in order], kind.element_type) for kind, order in zip(_types(op), self._orders)]
        """The types of the results."""

    def given_back(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        """The results in the layouts of the call."""
        return [build.transpose(value, list(map(int, np.argsort(order)))) for value, order in zip(values, self._orders)]


def call(
    target: str, operands: Sequence[ir.Value], kinds: Sequence[ir.Type], batch: int, config: Mapping[str, ir.Attribute]
) -> list[ir.Value]:
    """Calls a library on values that it sees as they are; `batch` dimensions come first."""
    layouts = {
        f"{name}_layouts": ir.ArrayAttr.get([_columns(kind.rank, batch) for kind in given])
        for name, given in (("operand", [value.type for value in operands]), ("result", kinds))
    }
    name = ir.StringAttr.get(target)
    options = {"mhlo.backend_config": ir.DictAttr.get(dict(config))}
    return list(create("stablehlo.custom_call", kinds, operands, call_target_name=name, **options, **layouts).results)


def letters(**given: str) -> dict[str, ir.Attribute]:
    """Options that are characters, as JAX writes them."""
    byte = ir.IntegerType.get_unsigned(8)
    return {name: ir.IntegerAttr.get(byte, ord(value)) for name, value in given.items()}


def transposed(value: ir.Value) -> ir.Value:
    """Matrices, each transposed."""
    rank = value.type.rank
    return build.transpose(value, [*range(rank - 2), rank - 1, rank - 2])


def _types(op: ir.Operation) -> list[ir.RankedTensorType]:
    return [ir.RankedTensorType(value.type) for value in op.results]


def _by_columns(order: Sequence[int], dims: int) -> list[int]:
    return [*order[:-2], order[-1], order[-2]] if dims == 2 and len(order) > 1 else list(order)


def _columns(rank: int, batch: int) -> ir.Attribute:
    order = [*range(batch), *reversed(range(batch, rank))][::-1]
    return ir.DenseElementsAttr.get(np.array(order, np.int64), type=ir.IndexType.get())
