"""dot_general: one mulf+addf generic with loops (batch…, m…, n…, k…), operands in their own type, extended in the body."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.storage import is_i1

from ...common.converts import integer_to_integer
from ...common.scalars import Scalars, is_float, is_unsigned, signless
from . import generic
from .lowering import Lowering, Read
from .reduction import narrowed


def contract(
    low: Lowering, reads: Sequence[Read], elements: list[ir.Type], kind: ir.Type, out_map: ir.AffineMap, iterators: Sequence[str]
) -> ir.Value:
    """The sum over the reduction loops of the product of two reads, as a tensor of the stablehlo type `kind`.

    `elements` are stablehlo's element types of the reads: their signs say how to extend.
    """
    element = _accumulator([*elements, kind.element_type])
    shape = list(kind.shape)
    zero = generic.fill(low.scalars.constant(element, 0), shape)
    if any(0 in old.type.shape for old, _ in reads):
        return narrowed(low, kind, zero)
    body = _multiply_add(low.scalars, elements, element)
    (result,) = low.structured(reads, [zero], [out_map], iterators, body, keep_splats=True)
    return narrowed(low, kind, result)


def _accumulator(elements: list[ir.Type]) -> ir.Type:
    """f64 if any operand or the result is, else f32 for floats; the result's type for integers."""
    result = signless(elements[-1])
    if not is_float(result):
        return result
    return ir.F64Type.get() if any(isinstance(e, ir.F64Type) for e in elements) else ir.F32Type.get()


def _multiply_add(s: Scalars, elements: list[ir.Type], accumulator: ir.Type) -> Callable[[list[ir.Value], list[ir.Value]], list[ir.Value]]:
    contract_flag = {"fastmath": ir.Attribute.parse("#arith.fastmath<contract>")} if is_float(accumulator) else {}
    names = ("arith.mulf", "arith.addf") if contract_flag else ("arith.muli", "arith.addi")
    if is_i1(accumulator):
        names = ("arith.andi", "arith.ori")

    def extended(x: ir.Value, element: ir.Type) -> ir.Value:
        if is_float(accumulator) and not is_float(element):
            return s.cast("arith.uitofp" if is_unsigned(element) else "arith.sitofp", accumulator, x)
        if is_float(accumulator):
            return s.cast("arith.extf", accumulator, x)
        return integer_to_integer(s, x, element, accumulator)

    def body(scalars: list[ir.Value], outs: list[ir.Value]) -> list[ir.Value]:
        left, right = (extended(x, element) for x, element in zip(scalars, elements))
        product = ir.Operation.create(names[0], results=[accumulator], operands=[left, right], attributes=contract_flag).results[0]
        return [ir.Operation.create(names[1], results=[accumulator], operands=[outs[0], product], attributes=contract_flag).results[0]]

    return body


def _summed(op: ir.Operation, numbers: _stablehlo.DotDimensionNumbers) -> tuple[list[int], list[int]]:
    """The contracting dimensions of both operands, outermost first: in the order in which both have them; the longest last where they lie
    in different ones, for sums are taken in blocks along the innermost loop."""
    pairs = sorted(zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions))
    rights = [right for _, right in pairs]
    if rights != sorted(rights):
        shape = op.operands[0].type.shape
        pairs.sort(key=lambda pair: shape[pair[0]])
    return [left for left, _ in pairs], [right for _, right in pairs]


def _dot_general(low: Lowering, op: ir.Operation) -> None:
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    batch = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    contracting = _summed(op, numbers)
    ranks = [len(v.type.shape) for v in op.operands]
    free = [[d for d in range(rank) if d not in batch[i] and d not in contracting[i]] for i, rank in enumerate(ranks)]
    parallel = len(batch[0]) + len(free[0]) + len(free[1])
    loops = parallel + len(contracting[0])

    def operand_map(side: int) -> ir.AffineMap:
        first_free = len(batch[0]) + (len(free[0]) if side else 0)
        loop_of = {d: i for i, d in enumerate(batch[side])}
        loop_of |= {d: first_free + i for i, d in enumerate(free[side])}
        loop_of |= {d: parallel + i for i, d in enumerate(contracting[side])}
        return generic.affine_map(loops, generic.dims([loop_of[d] for d in range(ranks[side])]))

    iterators = [generic.PARALLEL] * parallel + [generic.REDUCTION] * len(contracting[0])
    reads = [(v, operand_map(side)) for side, v in enumerate(op.operands)]
    elements = [v.type.element_type for v in op.operands]
    out_map = generic.affine_map(loops, generic.dims(range(parallel)))
    low.set(op.results[0], contract(low, reads, elements, op.results[0].type, out_map, iterators))


LOWERINGS = {"stablehlo.dot_general": _dot_general}
