"""expand-atomics: atomic products, which the hardware has no instruction for, become loops of compare and swap.

Before:
    %old = memref.atomic_rmw mulf %v, %m[%i] : (f32, memref<64xf32>) -> f32
After:
    %old = memref.generic_atomic_rmw %m[%i] : memref<64xf32> {
    ^bb0(%now: f32):
      %new = arith.mulf %now, %v : f32
      memref.atomic_yield %new : f32
    }

Upstream's memref-expand leaves products alone. Must hold: nothing. Declined: atomics of every other kind, which upstream lowers.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects.arith import AtomicRMWKind

from ..common.rewriting import create, integer, replace, value_of, walk
from ..registry import register_pass

_COMBINERS = {int(AtomicRMWKind.mulf): "arith.mulf", int(AtomicRMWKind.muli): "arith.muli"}


@register_pass("expand-atomics", "atomic products as loops of compare and swap", ops=("memref.atomic_rmw",))
def expand_atomics(module: ir.Operation) -> None:
    for atomic in walk(module, "memref.atomic_rmw"):
        combiner = _COMBINERS.get(integer(atomic, "kind"))
        if combiner is None:
            continue
        value, *place = atomic.operands
        with ir.InsertionPoint(atomic), atomic.location:
            loop = create("memref.generic_atomic_rmw", [value.type], place, regions=1)
            body = loop.regions[0].blocks.append(value.type, arg_locs=[atomic.location])
            with ir.InsertionPoint(body):
                create("memref.atomic_yield", [], [value_of(combiner, value.type, [body.arguments[0], value])])
        replace(atomic, loop.results)
