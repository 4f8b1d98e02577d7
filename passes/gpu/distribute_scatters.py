"""distribute-scatters: turns each group that is a scatter into a GPU kernel.

Before:
    func.func private @fusion_0(%t: tensor<100x64xi32>, %i: tensor<32x1xi32>, %u: tensor<32x64xi32>) -> tensor<100x64xi32>
        attributes {hloom.inplace = array<i64: 0, 0>} {
      %r = "stablehlo.scatter"(%t, %i, %u) <{…}> ({ scalar ops: arith.addi }) {hloom.order = "atomics"} ; return %r
    }
After:
    gpu.func @fusion_0(%t: memref<6400xi32>, %i: memref<32xi32>, %u: memref<2048xi32>, %r: memref<6400xi32>) kernel attributes {
        known_grid_size = array<i32: 8, 1, 1>, hloom.layouts = {kernel = "atomics", updates = 2048}} {
      the update's number from block and thread; memref.load %i; scf.if in bounds { memref.atomic_rmw addi %r }
    }

Results start from what they update, in the same buffers (assign-buffers). A window of which a part is out of bounds is dropped whole.
Which kernel, so that results are the same bit for bit from run to run, is told by hloom.order (common/scatter_order.py):

- `stores`: no two updates meet, as unique_indices says, or there is one index. A thread an element of the updates;
- `atomics`: the result does not depend on their order: sums, products and bits of integers, minima, maxima, one value for all. Likewise; of
  few elements each block has copies in shared memory, which it combines at its end (scatter/private.py);
- `sorted`: indices that sort-scatters has sorted. The thread at the first update of an index applies all of them (scatter/runs.py);
- `in order`: any other body, such as a sum of floats or the last update that stays. A thread has the elements of what is updated that no
  index moves, and applies the updates to them one after the other (scatter/ordered.py).

Must hold: the tiled stage, for a CUDA target. Declined: groups without a scatter.
"""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from ..common.rewriting import groups_of_kind, walk
from ..common.scatter_order import Order
from ..registry import register_pass
from .scatter.group import ScatterGroup
from .scatter.ordered import emit_ordered
from .scatter.parallel import emit_parallel
from .scatter.private import emit_private, is_private
from .scatter.runs import emit_runs

_KERNELS: dict[Order, Callable[[ScatterGroup], None]] = {
    Order.UNIQUE: emit_parallel,
    Order.ANY: emit_parallel,
    Order.RUNS: emit_runs,
    Order.KEPT: emit_ordered,
}


@register_pass("distribute-scatters", "turns each scatter into a GPU kernel", ops=("stablehlo.scatter",))
def distribute_scatters(module: ir.Operation) -> None:
    for function in groups_of_kind(module, "scatter"):
        for op in walk(function, "stablehlo.scatter"):
            with module.context, op.location:
                group = ScatterGroup(function, op)
                emit_private(group) if is_private(group) else _KERNELS[group.order](group)
                function.erase()
