"""A scan: one generic with two results, the total so far, and what it is at each element.

    %total, %sums = linalg.generic {maps = (d0, d1) -> (d0, d1), (d0), (d0, d1), iterators = [parallel, reduction]}
        ins(%x) outs(%zeros, %empty) { (x, total, _): %s = arith.addf %total, %x; yield %s, %s }

The loop that is scanned is a reduction's, though a result's map has it: each of its steps needs the step before.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.scalars import signless
from . import generic
from .lowering import Lowering
from .reduction import accumulator, narrowed, reducer


def lower_scan(low: Lowering, op: ir.Operation, dim: int) -> None:
    """The scan `op` along `dim`, from its first element on."""
    operand, init = op.operands
    shape, block = list(operand.type.shape), op.regions[0].blocks[0]
    rank, element = len(shape), accumulator(block, signless(op.results[0].type.element_type))
    kept = [d for d in range(rank) if d != dim]
    outs = [low.filled(init, [shape[d] for d in kept], element), generic.empty(shape, element)]
    maps = [generic.affine_map(rank, generic.dims(kept)), generic.identity(rank)]
    iterators = [generic.REDUCTION if d == dim else generic.PARALLEL for d in range(rank)]
    combine = reducer(low, block, [element])
    reads = [(operand, generic.identity(rank))]
    _, scanned = low.structured(reads, outs, maps, iterators, lambda x, out: combine(x, out[:1]) * 2, keep_splats=True)
    low.set(op.results[0], narrowed(low, op.results[0].type, scanned))
