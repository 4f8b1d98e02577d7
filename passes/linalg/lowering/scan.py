"""A scan: one generic with two results, the total so far, and what it is at each element.

    %total, %sums = linalg.generic {maps = (d0, d1) -> (d0, d1), (d0), (d0, d1), iterators = [parallel, reduction]}
        ins(%x) outs(%zeros, %empty) { (x, total, _): %s = arith.addf %total, %x; yield %s, %s }

The loop that is scanned is a reduction's, though a result's map has it: each of its steps needs the step before.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import is_used, linalg_index
from ...common.scalars import signless
from . import generic
from .lowering import Lowering
from .reduction import accumulator, narrowed, reducer


def lower_scan(low: Lowering, op: ir.Operation, dim: int) -> None:
    """The scan `op` along `dim`, from its first element on. Of several operands the first elements are results as they are."""
    count = len(op.results)
    operands, inits = list(op.operands)[:count], list(op.operands)[count:]
    shape, block = list(operands[0].type.shape), op.regions[0].blocks[0]
    rank, elements = len(shape), [accumulator(block, signless(result.type.element_type)) for result in op.results]
    kept = [d for d in range(rank) if d != dim]
    stored = [n for n, result in enumerate(op.results) if count == 1 or is_used(result)]
    outs = [low.filled(init, [shape[d] for d in kept], element) for init, element in zip(inits, elements)]
    outs += [generic.empty(shape, elements[n]) for n in stored]
    maps = [generic.affine_map(rank, generic.dims(kept))] * count + [generic.identity(rank)] * len(stored)
    iterators = [generic.REDUCTION if d == dim else generic.PARALLEL for d in range(rank)]
    combine = reducer(low, block, elements)

    def body(values: list[ir.Value], out: list[ir.Value]) -> list[ir.Value]:
        totals = combine(values, out[:count])
        if count > 1:
            first = low.scalars.cmpi("eq", linalg_index(dim), low.scalars.index(0))
            totals = [low.scalars.select(first, value, total) for value, total in zip(values, totals)]
        return [*totals, *(totals[n] for n in stored)]

    reads = [(operand, generic.identity(rank)) for operand in operands]
    results = low.structured(reads, outs, maps, iterators, body, keep_splats=True)[count:]
    for n, scanned in zip(stored, results):
        low.set(op.results[n], narrowed(low, op.results[n].type, scanned))
