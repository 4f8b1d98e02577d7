"""reduce: one generic over the operand's dims in their order, the reduced ones as reduction loops, from a fill with the init."""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from ...common.rewriting import integers, ops_in
from ...common.scalars import is_float, signless
from . import generic
from .lowering import Lowering


def _reduce(low: Lowering, op: ir.Operation) -> None:
    count = len(op.operands) // 2
    operands, inits = list(op.operands)[:count], list(op.operands)[count:]
    extents = list(operands[0].type.shape)
    reduced = set(integers(op, "dimensions"))
    kept = [d for d in range(len(extents)) if d not in reduced]
    shape = list(op.results[0].type.shape)
    rank = len(extents)
    block = op.regions[0].blocks[0]
    accumulators = [accumulator(block, signless(r.type.element_type)) for r in op.results]
    outs = [low.filled(init, shape, element) for init, element in zip(inits, accumulators)]
    if 0 in extents:
        results = outs
    else:
        iterators = [generic.REDUCTION if d in reduced else generic.PARALLEL for d in range(rank)]
        out_map = generic.affine_map(rank, generic.dims(kept))
        reads = [(v, generic.identity(rank)) for v in operands]
        results = low.structured(reads, outs, [out_map] * count, iterators, reducer(low, block, accumulators), keep_splats=True)
    for result, value in zip(op.results, results):
        low.set(result, narrowed(low, result.type, value))


_WIDE = {"stablehlo.add": "arith.addf", "stablehlo.multiply": "arith.mulf"}
_WIDE |= {f"stablehlo.{name}imum": f"arith.{name}imumf" for name in ("max", "min")}


def accumulator(block: ir.Block, element: ir.Type) -> ir.Type:
    """The type that a reduction accumulates in: f32 of f16 or bf16. A sum or product is rounded once at its end, not at every step; a
    maximum or minimum is the same, and no step converts it."""
    first, *rest = ops_in(block)
    is_known = first.name in _WIDE and len(rest) == 1 and set(first.operands) == set(block.arguments)
    return ir.F32Type.get() if is_known and is_float(element) and element.width == 16 else element


def reducer(low: Lowering, block: ir.Block, accumulators: list[ir.Type]) -> Callable[[list[ir.Value], list[ir.Value]], list[ir.Value]]:
    """The body that applies the reduction's region to (accumulators…, elements…), as stablehlo orders them."""
    widened = [a for a, old in zip(accumulators, block.arguments) if a != signless(old.type.element_type)]

    def body(scalars: list[ir.Value], outs: list[ir.Value]) -> list[ir.Value]:
        s = low.scalars
        if not widened:
            return low.region(block, [*outs, *scalars])
        (element,), (total,) = scalars, outs
        return [s.op(_WIDE[block.operations[0].operation.name], total, s.cast("arith.extf", total.type, element))]

    return body


def narrowed(low: Lowering, kind: ir.Type, value: ir.Value) -> ir.Value:
    """`value` rounded to the element type of `kind`, by a generic of its own, if it was accumulated in a wider one."""
    element, shape = signless(kind.element_type), list(kind.shape)
    if generic.signless_element(value) == element:
        return value
    maps = [generic.identity(len(shape))] * 2
    out = generic.empty(shape, element)
    truncate = low.scalars.cast
    op = generic.build_generic([value], [out], maps, [generic.PARALLEL] * len(shape), lambda x, _: [truncate("arith.truncf", element, x)])
    return op.results[0]


LOWERINGS = {"stablehlo.reduce": _reduce}
