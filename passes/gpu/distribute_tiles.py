"""distribute-tiles: turns each tiled group function into a GPU kernel, its tile dealt out to the threads of a block.

Before:
    func.func private @fusion_0(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
      %r = scf.forall (%i) = (0) to (4096) step (4) shared_outs(%o = %e) { linalg ops on tensor<4x1024xf32>; in_parallel … }
      return %r
    }
After:
    gpu.module @kernels {
      gpu.func @fusion_0(%x: memref<4194304xf32> {llvm.noalias, llvm.readonly}, %o: memref<4194304xf32> {llvm.noalias}) kernel attributes {
          known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1024, 1, 1>, hloom.shared_bytes = 0 : i64,
          hloom.layouts = {reduction_0 = "[w4] [r8 l32 v4]", …}} {
        vector.load, arith and math on vectors, gpu.shuffle, vector.store
        gpu.return
      }
    }

A block computes one tile of the forall. A *layout* (support/layout.py) says how its elements are dealt out. Elementwise ops are evaluated
where they are read, so that each input is loaded once (tile/tile_values.py). Reductions combine registers, lanes and warps
(tile/reduce.py). What a thread needs of another goes through shared memory (tile/distribute.py). The attribute hloom.threads of a group
overrides the size of its blocks.

Must hold: the tiled stage (docs/architecture.md). Declined: library groups, functions without a tile loop (distribute-contractions takes
contractions before they are tiled).
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import functions, symbol_name, walk
from ..errors import PassFailure
from ..registry import register_pass
from .tile.distribute import distribute


@register_pass("distribute-tiles", "turns each tiled group into a GPU kernel")
def distribute_tiles(module: ir.Operation) -> None:
    target = target_of(module)
    for function in functions(module):
        if "hloom.library" in function.attributes or not walk(function, "scf.forall"):
            continue
        with module.context, function.location:
            try:
                distribute(function, target)
            except PassFailure as failure:
                raise PassFailure(
                    f"@{symbol_name(function)}: {failure.message}", op=failure.op, loc=failure.loc, stage="gpu", remedy=failure.remedy
                ) from None
            function.erase()
