"""distribute-sorts: turns each group that is a sort, or a step of one, into a GPU kernel.

Before:
    func.func private @fusion_0(%x: tensor<8x1000xf32>) -> tensor<8x1000xf32> { %r = "stablehlo.sort"(%x) ({ scalar ops }); return %r }
After:
    gpu.func @fusion_0(%x: memref<8000xf32>, %r: memref<8000xf32>) kernel attributes {
        known_grid_size = array<i32: 8, 1, 1>, hloom.layouts = {kernel = "bitonic", run = 1024, rows = 1}} {
      elements of the row to shared memory; keys and where they stood through a bitonic network of registers; back
    }

Rows up to 2048 elements are sorted in the registers of a block, several short ones in one (sorting/block.py); of longer rows split-sorts
has made runs, which are sorted so, and merges (sorting/merge.py). All are stable: where the comparator tells no difference, elements stay
as they stood. A comparator that compares one integer or float of each element is taken by its key, as on the CPU.

Must hold: the tiled stage, for a CUDA target; the sort is along the last dimension, and split-sorts has run. Declined: groups without a
sort. A group that is not so is refused.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import groups_of_kind, walk
from ..common.sorting.runs import MERGES
from ..registry import register_pass
from .sorting.block import emit_runs
from .sorting.group import SortGroup
from .sorting.merge import emit_merges


@register_pass("distribute-sorts", "turns each sort into a GPU kernel", ops=("stablehlo.sort",))
def distribute_sorts(module: ir.Operation) -> None:
    for function in groups_of_kind(module, "sort"):
        for sort in walk(function, "stablehlo.sort"):
            with module.context, sort.location:
                group = SortGroup(function, sort)
                emit_merges(group) if MERGES in sort.attributes else emit_runs(group)
                function.erase()
