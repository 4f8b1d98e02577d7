"""The scalar arithmetic of a contraction's body, on scalars and vectors: what is multiplied, how a product is added, sums over lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import create, index_constant, value_of
from ..support.emit import all_of, broadcast, clone_elementwise, compare_integers, divide, element_bytes, is_vector, remainder
from .contraction import Operand
from .runs import Run

_FULL_MASK_WIDTH = 32


def read_stored(operand: Operand, buffers: Sequence[ir.Value], run: Run) -> ir.Value:
    """The factor before its widening, along the run; always a vector where the run is longer than 1."""
    values = {leaf.argument: run.read(buffers[leaf.access.buffer], leaf.access) for leaf in operand.leaves}
    value = _evaluate(operand, operand.stored, values)
    return value if run.length == 1 else broadcast(value, run.length)


def factor_of(operand: Operand, stored: ir.Value) -> ir.Value:
    """What the contraction multiplies, where the factor before its widening is `stored`, a scalar or a vector."""
    return stored if operand.widening is None else clone_elementwise(operand.widening, [stored])


def _evaluate(operand: Operand, wanted: ir.Value, values: dict[ir.Value, ir.Value]) -> ir.Value:
    def read(value: ir.Value) -> ir.Value:
        if value not in values:  # a constant: they may stand outside the body, in the group function
            values[value] = value_of("arith.constant", value.type, value=value.owner.operation.attributes["value"])
        return values[value]

    for op in operand.ops:
        if wanted in values:
            break
        values[op.results[0]] = clone_elementwise(op, [read(v) for v in op.operands])
    return read(wanted)


def multiply_add(left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
    """left * right + total; floats are rounded once."""
    if _is_float(total):
        return value_of("math.fma", total.type, [left, right, total])
    return add(value_of("arith.muli", total.type, [left, right]), total)


def add(left: ir.Value, right: ir.Value) -> ir.Value:
    return value_of("arith.addf" if _is_float(left) else "arith.addi", left.type, [left, right])


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
            values = [add(v, _from_lane(v, distance)) for v in values]
            copies.append(compare_integers("eq", bit, index_constant(0)))
        else:
            upper = compare_integers("ne", bit, index_constant(0))
            kept = [value_of("arith.select", low.type, [upper, high, low]) for low, high in zip(values[:half], values[half:])]
            given = [value_of("arith.select", low.type, [upper, low, high]) for low, high in zip(values[:half], values[half:])]
            values = [add(k, _from_lane(g, distance)) for k, g in zip(kept, given)]
            first = first + LinearIndex.of(bit) * half
        distance //= 2
    return LaneSums(values, first, all_of(copies))


def _from_lane(value: ir.Value, offset: int) -> ir.Value:
    """The value of the lane whose number is this one's xor `offset`; shuffles move 32 bits at least."""
    kind, i1, i32 = value.type, ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(32)
    narrow = element_bytes(kind) < 4
    moved = value_of("arith.extui", i32, [value]) if narrow else value
    amounts = [value_of("arith.constant", i32, value=ir.IntegerAttr.get(i32, n)) for n in (offset, _FULL_MASK_WIDTH)]
    mode = ir.Attribute.parse("#gpu<shuffle_mode xor>")
    moved = create("gpu.shuffle", [moved.type, i1], [moved, *amounts], mode=mode).results[0]
    return value_of("arith.trunci", kind, [moved]) if narrow else moved


def _is_float(value: ir.Value) -> bool:
    kind = ir.VectorType(value.type).element_type if is_vector(value) else value.type
    return isinstance(kind, ir.FloatType)
