"""The scalar arithmetic of a contraction's body, on scalars and vectors: what is multiplied, how a product is added, sums over lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, math
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.scalar_body import clone_on
from ...common.vectors import broadcast, element_of
from ..support.emit import all_of, divide, remainder, shuffle
from .contraction import Operand
from .runs import Run


def read_stored(operand: Operand, buffers: Sequence[ir.Value], run: Run) -> ir.Value:
    """The factor before its widening, along the run; always a vector where the run is longer than 1."""
    values = {leaf.argument: run.read(buffers[leaf.access.buffer], leaf.access) for leaf in operand.leaves}
    value = _evaluate(operand, operand.stored, values)
    return value if run.length == 1 else broadcast(value, run.length)


def factor_of(operand: Operand, stored: ir.Value) -> ir.Value:
    """What the contraction multiplies, where the factor before its widening is `stored`, a scalar or a vector."""
    return stored if operand.widening is None else clone_on(operand.widening, [stored])[0]


def _evaluate(operand: Operand, wanted: ir.Value, values: dict[ir.Value, ir.Value]) -> ir.Value:
    def read(value: ir.Value) -> ir.Value:
        if value not in values:  # a constant: they may stand outside the body, in the group function
            values[value] = arith.constant(value.type, value.owner.operation.attributes["value"])
        return values[value]

    for op in operand.ops:
        if wanted in values:
            break
        values[op.results[0]] = clone_on(op, [read(v) for v in op.operands])[0]
    return read(wanted)


def multiply_add(left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
    """left * right + total; floats are rounded once."""
    if _is_float(total):
        return math.fma(left, right, total)
    return add(arith.muli(left, right), total)


def add(left: ir.Value, right: ir.Value) -> ir.Value:
    """left + right, of floats or integers."""
    return arith.addf(left, right) if _is_float(left) else arith.addi(left, right)


@dataclass(frozen=True)
class LaneSums:
    """Sums over lanes, dealt out: this lane has those from number `first` on. Where several have the same, `owner` holds in one of them."""

    values: list[ir.Value]
    first: LinearIndex
    owner: ir.Value | None


def add_lanes(values: Sequence[ir.Value], lane: ir.Value, nearest: int) -> LaneSums:
    """Sums each of `values` over the lanes of the warp whose numbers differ by multiples of `nearest`.

    In each step a lane gives half of what it has to its partner and takes the partner's share of the other half, so n sums over 32 lanes
    take n shuffles, not 5n; where the number is odd, both get all.
    """
    values, first, copies = list(values), LinearIndex(), []
    distance = 16
    while distance >= nearest:
        bit = remainder(divide(lane, distance), 2)
        half = len(values) // 2
        if len(values) % 2:
            values = [add(v, shuffle(v, distance)) for v in values]
            copies.append(arith.cmpi(CmpIPredicate.eq, bit, index_constant(0)))
        else:
            upper = arith.cmpi(CmpIPredicate.ne, bit, index_constant(0))
            kept = [arith.select(upper, high, low) for low, high in zip(values[:half], values[half:])]
            given = [arith.select(upper, low, high) for low, high in zip(values[:half], values[half:])]
            values = [add(k, shuffle(g, distance)) for k, g in zip(kept, given)]
            first = first + LinearIndex.of(bit) * half
        distance //= 2
    return LaneSums(values, first, all_of(copies))


def _is_float(value: ir.Value) -> bool:
    return isinstance(element_of(value.type), ir.FloatType)
