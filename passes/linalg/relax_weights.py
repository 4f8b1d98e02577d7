"""relax-weights: exponentials of x - max(x) that are only summed along the rows of that maximum are computed as exactly as such sums need.

Before (attention's weights, their sum, and the product that sums them with values):
    %m = generic (d0, d1) ins(%x) outs(%lowest (d0))   { arith.maximumf %out, %in }         // from -inf
    %e = generic (d0, d1) ins(%x, %m (d0))             { math.exp (arith.subf %in, %in_0) }
    %l = generic (d0, d1) ins(%e) outs(%zero (d0))     { arith.addf %out, %in }
    %o = generic (d0, d2, d1) ins(%e, %v) outs(%zero)  { arith.addf %out, (arith.mulf %in, %in_0) }
    %n = generic (d0) ins(%m)                          { arith.cmpf oeq, %in, %-inf }       // torch: does a mask leave nothing of the row?
After:
    %m = generic (d0, d1) ins(%x) outs(%finite (d0))   { arith.maxnumf %out, %in }          // from the least finite number
    %e = generic (d0, d1) ins(%x, %m (d0))             { math.exp (…) {hloom.weight} }      // expand-math's hloom_exp_weight_f32
    %n = generic (d0) ins(%l)                          { arith.cmpf oeq, %in, %0.0 }

One weight of a row is 1, or none is: of a row of -inf alone, whose weights are now 0. Beside a 1, a weight below the normal numbers is
nothing, and the error of a weight of 2^-t may grow with t: x - m was rounded too, and is off by as much. So `hloom_exp_weight_f32` needs
no clamps, and no second constant for ln 2. A NaN need not reach the maximum: the weights of its row sum to NaN. The maximum of elements
times a positive number is that of the elements, times the number; if that is a power of 2, x - m is then one math.fma.

Must hold: inline-producers has run; weights are f32. Declined: exponentials that others read too, but by converts and factors on the way
to such sums; the maximum stays as it was where others read it than those subtractions and that comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, inf

from torch_mlir import ir

from ..common.affine import dim_position
from ..common.rewriting import (
    create,
    defining_op,
    erase_unused,
    has_one_use,
    integer,
    is_block_argument,
    ops_in,
    producer,
    replace,
    shape_of,
    value_of,
    walk,
)
from ..common.scalars import FLOAT_PREDICATES
from ..registry import register_pass
from .lower_to_linalg import group_functions
from .lowering.generic import PARALLEL, REDUCTION, Generic, build_generic, empty, fill, identity, read_generic
from .select_to_maximum import float_constant

WEIGHT = "hloom.weight"
_LEAST_FINITE = -3.4028234663852886e38


@register_pass("relax-weights", "computes exponentials of rows that are only summed as exactly as sums need", ops=("math.exp",))
def relax_weights(module: ir.Operation) -> None:
    for function in group_functions(module):
        with module.context, function.location:
            found = [w for op in walk(function, "math.exp") if (w := _weights(op)) is not None]
            for weights in found:
                weights.exponential.attributes[WEIGHT] = ir.UnitAttr.get()
            for first in {w.largest: w for w in found}.values():
                same = [w for w in found if w.largest == first.largest]
                if _relax_maximum(first, same):
                    _move_factor(first.largest, same)


@dataclass(frozen=True)
class _Weights:
    exponential: ir.Operation
    difference: ir.Operation
    largest: ir.Value
    """The maxima of the rows."""
    summed: tuple[ir.Operation, ...]
    """The sums of the rows, of nothing but weights."""


def _weights(exponential: ir.Operation) -> _Weights | None:
    difference = producer(exponential.operands[0], "arith.subf")
    nest = exponential.parent.operation
    if difference is None or nest.name != "linalg.generic" or not isinstance(exponential.results[0].type, ir.F32Type):
        return None
    source = read_generic(nest)
    if not source.is_parallel or len(nest.results) != 1 or not is_block_argument(difference.operands[1]):
        return None
    number = ir.BlockArgument(difference.operands[1]).arg_number
    if number >= len(source.inputs) or not source.maps[-1].is_projected_permutation:
        return None
    largest = defining_op(source.inputs[number])
    rows = None if largest is None else _rows_of_maximum(largest, source, difference.operands[0])
    if rows is None or rows != {d for d in range(len(source.extents))} - {dim_position(e) for e in source.maps[number].results}:
        return None
    along = {position for position, e in enumerate(source.maps[-1].results) if dim_position(e) in rows}
    totals: list[ir.Operation] = []
    plain = source.terminator.operands[0] == exponential.results[0]
    if not _leads_to_yield(exponential.results[0]) or not _is_summed(nest.results[0], along, totals, plain):
        return None
    return _Weights(exponential, difference, source.inputs[number], tuple(totals))


def _rows_of_maximum(largest: ir.Operation, source: Generic, x: ir.Value) -> set[int] | None:
    """The loops along which `largest` is the maximum of what `x` is in the body of `source`, if both have the same loops."""
    if largest.name != "linalg.generic":
        return None
    reduced = read_generic(largest)
    combined = _combined(reduced, "arith.maximumf")
    if combined is None or reduced.extents != source.extents or not _same(combined, reduced, x, source):
        return None
    return {d for d, kind in enumerate(reduced.iterators) if kind == REDUCTION}


def _combined(reduced: Generic, name: str) -> ir.Value | None:
    """What the body combines with its one accumulator by the op `name`, from which nothing follows."""
    if len(reduced.outs) != 1 or len(reduced.terminator.operands) != 1:
        return None
    op, accumulator = producer(reduced.terminator.operands[0], name), reduced.out_arguments[0]
    others = [] if op is None else [v for v in op.operands if v != accumulator]
    return others[0] if len(others) == 1 and len(list(accumulator.uses)) == 1 else None


def _same(one: ir.Value, in_one: Generic, other: ir.Value, in_other: Generic) -> bool:
    """Whether two values in bodies of equal loops are computed alike, of the same elements."""
    blocks = is_block_argument(one), is_block_argument(other)
    if any(blocks):
        if not all(blocks):
            return False
        a, b = (ir.BlockArgument(v) for v in (one, other))
        if a.owner != in_one.block or b.owner != in_other.block:
            return one == other
        if a.arg_number >= len(in_one.inputs) or b.arg_number >= len(in_other.inputs):
            return False
        same_map = in_one.maps[a.arg_number] == in_other.maps[b.arg_number]
        return same_map and in_one.inputs[a.arg_number] == in_other.inputs[b.arg_number]
    a_op, b_op = one.owner.operation, other.owner.operation
    if a_op == b_op:
        return True
    alike = a_op.name == b_op.name and str(a_op.attributes) == str(b_op.attributes) and len(a_op.results) == 1 and not len(a_op.regions)
    pairs = list(zip(a_op.operands, b_op.operands))
    return alike and len(a_op.operands) == len(b_op.operands) and all(_same(a, in_one, b, in_other) for a, b in pairs)


def _leads_to_yield(value: ir.Value) -> bool:
    """Whether the body returns the value alone, but for roundings and factors that do not depend on it."""
    uses = list(value.uses)
    if len(uses) != 1:
        return False
    op = uses[0].owner.operation
    if op.name == "linalg.yield":
        return True
    scales = op.name in ("arith.truncf", "arith.extf", "arith.mulf") or (op.name == "arith.divf" and uses[0].operand_number == 0)
    return scales and _leads_to_yield(op.results[0])


def _is_summed(value: ir.Value, along: set[int], totals: list[ir.Operation], plain: bool) -> bool:
    """Whether all that reads the value sums it along these dims, times something; collects the sums of nothing else (if `plain`)."""
    for use in value.uses:
        op = use.owner.operation
        if op.name != "linalg.generic":
            return False
        reader = read_generic(op)
        if use.operand_number >= len(reader.inputs) or len(op.results) != 1:
            return False
        argument = reader.block.arguments[use.operand_number]
        positions = [dim_position(e) for e in reader.maps[use.operand_number].results]
        if reader.is_parallel:
            moved = [dim_position(e) for e in reader.maps[-1].results]
            if None in positions or moved != positions or not _leads_to_yield(argument):
                return False
            if not _is_summed(op.results[0], along, totals, False):
                return False
            continue
        reduced = {d for d, kind in enumerate(reader.iterators) if kind == REDUCTION}
        added = _combined(reader, "arith.addf")
        if added is None or {positions[d] for d in along} != reduced:
            return False
        if added == argument and plain:
            totals.append(op)
        elif not _is_factor(argument, added):
            return False
    return True


def _is_factor(argument: ir.Value, added: ir.Value) -> bool:
    """Whether `added` is the argument, rounded or not, times what does not depend on it."""
    value = argument
    while value != added:
        uses = list(value.uses)
        if len(uses) != 1 or uses[0].owner.operation.name not in ("arith.truncf", "arith.extf", "arith.mulf"):
            return False
        value = uses[0].owner.operation.results[0]
    return True


def _relax_maximum(found: _Weights, same: list[_Weights]) -> bool:
    """Has the maximum of numbers taken, from a finite one, where nobody can tell; whether it was."""
    largest = defining_op(found.largest)
    assert largest is not None
    reduced = read_generic(largest)
    start = producer(reduced.outs[0], "linalg.fill")
    combined = producer(reduced.terminator.operands[0], "arith.maximumf")
    if start is None or combined is None or float_constant(start.operands[0]) != -inf:
        return False
    differences = {w.difference.results[0] for w in same}
    compared: list[tuple[ir.Operation, int, ir.Operation]] = []
    for use in found.largest.uses:
        reader, number = use.owner.operation, use.operand_number
        if reader.name != "linalg.generic" or number >= len(read_generic(reader).inputs):
            return False
        for read in reader.regions[0].blocks[0].arguments[number].uses:
            op = read.owner.operation
            if op.results[0] in differences and read.operand_number == 1:
                continue
            if not _asks_for_nothing(op) or not found.summed or not _is_before(found.summed[0], reader) or not _from_zero(found.summed[0]):
                return False
            compared.append((reader, number, op))
    with ir.InsertionPoint(largest), largest.location:
        least = value_of("arith.constant", ir.F32Type.get(), value=ir.FloatAttr.get(ir.F32Type.get(), _LEAST_FINITE))
        largest.operands[len(reduced.inputs)] = fill(least, shape_of(found.largest))
    erase_unused([op for op in (defining_op(start.operands[1]), start) if op is not None])
    with ir.InsertionPoint(combined), combined.location:
        new = create("arith.maxnumf", [combined.results[0].type], list(combined.operands))
    combined.results[0].replace_all_uses_with(new.results[0])
    combined.erase()
    for reader, number, op in compared:
        reader.operands[number] = found.summed[0].results[0]
        with ir.InsertionPoint(op), op.location:
            op.operands[1] = value_of("arith.constant", ir.F32Type.get(), value=ir.FloatAttr.get(ir.F32Type.get(), 0.0))
    return True


def _move_factor(largest: ir.Value, same: list[_Weights]) -> None:
    """Has the maximum taken of what a positive number multiplies, in place of the products."""
    reduction = largest.owner.operation
    reduced = read_generic(reduction)
    combined = producer(reduced.terminator.operands[0], "arith.maxnumf")
    product = None if combined is None else producer(_other(combined, reduced.out_arguments[0]), "arith.mulf")
    scaled = None if product is None else _scaled(product)
    parts = [made for w in same if (made := producer(w.difference.operands[0], "arith.mulf")) is not None]
    if combined is None or product is None or scaled is None or len(parts) != len(same) or not has_one_use(product.results[0]):
        return
    element, factor = scaled
    combined.operands[list(combined.operands).index(product.results[0])] = element
    product.erase()
    shape = shape_of(largest)
    with ir.InsertionPoint.after(reduction), reduction.location:
        maps = [identity(len(shape))] * 2
        start = empty(shape, ir.F32Type.get())
        made = build_generic([largest], [start], maps, [PARALLEL] * len(shape), lambda m, _: [value_of("arith.mulf", m.type, [m, factor])])
    largest.replace_all_uses_except(made.results[0], made)
    for weights, part in zip(same, parts if _is_power_of_two(factor) else []):
        difference = weights.difference
        with ir.InsertionPoint(difference), difference.location:
            negated = value_of("arith.negf", part.results[0].type, [difference.operands[1]])
            replace(difference, [value_of("math.fma", negated.type, [*part.operands, negated])])
        erase_unused([part])


def _other(op: ir.Operation, operand: ir.Value) -> ir.Value:
    return op.operands[1] if op.operands[0] == operand else op.operands[0]


def _is_power_of_two(factor: ir.Value) -> bool:
    """Whether products with the constant are exact: else what one rounding gives might exceed 0, and be any large number."""
    constant = float_constant(factor)
    return constant is not None and frexp(constant)[0] == 0.5


def _scaled(product: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
    """(x, c) of a product with a constant 0 < c <= 1, which the least finite number times it is a finite one of."""
    for x, c in (list(product.operands), list(product.operands)[::-1]):
        constant = float_constant(c)
        if constant is not None and 0 < constant <= 1 and is_block_argument(x):
            return x, c
    return None


def _asks_for_nothing(op: ir.Operation) -> bool:
    """Whether the op asks if its first operand is -inf."""
    equal = op.name == "arith.cmpf" and integer(op, "predicate") == FLOAT_PREDICATES["oeq"]
    return equal and float_constant(op.operands[1]) == -inf


def _from_zero(total: ir.Operation) -> bool:
    """Whether a sum begins at 0."""
    start = producer(read_generic(total).outs[0], "linalg.fill")
    return start is not None and float_constant(start.operands[0]) == 0


def _is_before(one: ir.Operation, other: ir.Operation) -> bool:
    """Of two ops of a function."""
    ops = ops_in(one.parent.regions[0].blocks[0])
    return other in ops and ops.index(one) < ops.index(other)
