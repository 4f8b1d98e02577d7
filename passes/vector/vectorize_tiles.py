"""vectorize-tiles: turns each tiled group function into a kernel over memrefs, its tile in vector code.

Before:
    func.func private @fusion_0(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
      %r = scf.forall (%i) in (4096) shared_outs(%o = %e) { linalg ops on tensor<1x1024xf32>; in_parallel … }
      return %r
    }
After:
    func.func @fusion_0(%lo: index, %hi: index, %x: memref<4194304xf32>, %o: memref<4194304xf32>) attributes {hloom.tiles = 4096 : i64} {
      scf.for %t = %lo to %hi { vector loops }
    }

Each linalg op of the tile becomes a loop nest (nests/nests.py: elementwise, and sums along the vector loop; nests/contraction.py: other
reductions); ops that read each other only at their own point share a nest. Results are written to the kernel's outputs where the tile
inserts them; other values live on the stack, or only in registers. Ops of the target's vector width: `hloom.target`.

docs/cpu.md says why upstream's vectoriser is not used.

Must hold: the tiled stage (docs/architecture.md). Declined: library groups, functions without a tile loop.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.linear_index import forms_remembered
from ..common.rewriting import functions, walk
from ..registry import register_pass
from .nests.kernel import build_kernel


@register_pass("vectorize-tiles", "turns each tiled group into a vectorised kernel over memrefs")
def vectorize_tiles(module: ir.Operation) -> None:
    target = target_of(module)
    for function in functions(module):
        if "hloom.library" in function.attributes or not walk(function, "scf.forall"):
            continue
        with module.context, function.location, forms_remembered():
            build_kernel(function, target)
            function.erase()
