"""Reads at a quotient of the lanes' loop: neighbours read one element, as the channels of a group its mean. No gather.

    x[c floordiv 16], of lanes c = 64 i + 0 … 63     →     %v = vector.load x[4 i] : vector<4>;  shuffle %v [0, 0, …, 3, 3]
    x[c floordiv 64], of lanes c = 16 i + 0 … 15     →     memref.load x[16 i floordiv 64], the same in all lanes
    x[c floordiv 16, c mod 16], dense                →     vector.load x[c]

Where the lanes begin must be known to be a multiple of the divisor, or of their count where that divides the divisor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from torch_mlir import ir
from torch_mlir.dialects import vector

from ...common.linear_index import LinearIndex, linear_at, linear_form
from ...common.storage import Storage
from .divisors import factor, quotient
from .lanes import Lanes, Rep


def read_at_quotient(storage: Storage, m: ir.AffineMap, indices: Sequence[Rep], lanes: Lanes) -> ir.Value | None:
    """Each lane's element, or None where the map is linear, or has more that is not than one quotient by which nothing else moves."""
    known = [index for index in indices if isinstance(index, LinearIndex)]
    if lanes.count == 1 or lanes.even_first or storage.panels is not None or len(known) < len(indices) or linear_form(m) is not None:
        return None
    address, bent = storage.offset, []
    for expression, stride in _joined(m, storage.strides):
        index = linear_at(expression, known)
        if index is None:
            bent.append((expression, stride))
        else:
            address = address + index * stride
    if not bent:
        return lanes.load(storage, address)
    if len(bent) > 1 or address.lanes:
        return None
    return _read(storage, address, *bent[0], known, lanes)


def _read(
    storage: Storage, address: LinearIndex, expression: ir.AffineExpr, stride: int, indices: Sequence[LinearIndex], lanes: Lanes
) -> ir.Value | None:
    """The elements at `address` and so many strides further as the expression, a quotient, says."""
    if not isinstance(expression, ir.AffineFloorDivExpr) or not isinstance(expression.rhs, ir.AffineConstantExpr):
        return None
    divided, divisor = linear_at(expression.lhs, indices), expression.rhs.value
    if divided is None or divided.lanes != 1:
        return None
    start, run = divided.uniform(), gcd(divisor, lanes.count)
    if run not in (divisor, lanes.count) or factor(start, run, lanes.multiples) != run:
        return None
    if run == lanes.count:
        return Lanes(1).load(storage, address + quotient(start, divisor, lanes.multiples) * stride)
    if stride != 1:
        return None
    count = lanes.count // divisor
    mask = None if lanes.mask is None else vector.shuffle(lanes.mask, lanes.mask, [divisor * lane for lane in range(count)])
    elements = Lanes(count, mask).load(replace(storage, ahead=0), (address + quotient(start, divisor, lanes.multiples)).along_lanes())
    return vector.shuffle(elements, elements, [lane // divisor for lane in range(lanes.count)])


def _joined(m: ir.AffineMap, strides: Sequence[int]) -> list[tuple[ir.AffineExpr, int]]:
    """The map's results with their strides; a quotient and the remainder beside it, where both are dense, are what is divided."""
    found: list[tuple[ir.AffineExpr, int]] = []
    for expression, stride in zip(m.results, strides):
        if found and isinstance(expression, ir.AffineModExpr) and isinstance(found[-1][0], ir.AffineFloorDivExpr):
            before, apart = found[-1]
            by = expression.rhs
            if expression.lhs == before.lhs and by == before.rhs and isinstance(by, ir.AffineConstantExpr) and apart == by.value * stride:
                found[-1] = expression.lhs, stride
                continue
        found.append((expression, stride))
    return found
