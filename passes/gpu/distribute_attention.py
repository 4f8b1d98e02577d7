"""distribute-attention: makes two contractions with a softmax between them one GPU kernel; to be run before distribute-contractions.

Before:
    func.func private @attention_0(%q: tensor<4x2048x64xf16>, %k: …, %v: …) -> tensor<4x2048x64xf16> attributes {hloom.online} {
      linalg.generic { q · k };  linalg.generic { maximum of rows };  linalg.generic { exp(s - m) };  linalg.generic { sum of rows }
      linalg.generic { p · v };  linalg.generic { / sum }
    }
After:
    gpu.module @kernels {
      gpu.func @attention_0(%q: memref<524288xf16>, %k: …, %v: …, %out: …) kernel attributes {known_grid_size = [128, 1, 1], …} {
        q as fragments
        scf.for … iter_args(maximum, sum, accumulators) { wait, barrier, the next copies; mma.sync; maximum, exp, sum; mma.sync }
        / sum, conversion and stores on the accumulators
      }
    }

A block has 64 rows and 4 warps, and goes through the columns 64 at a time: what lies between the two contractions stays in registers
(attention/kernel.py). On sm_90a, from 64 rows on, a block has up to three warp groups of 64 rows, whose products are nvvm.wgmma.mma_async
and inline assembly, and takes tensor maps behind its buffers (attention/warpgroups.py). Where `hloom.live` tells that a mask leaves columns
out, a block goes as far as its last row sees.

Groups whose contractions compute what they sum over (`hloom.recomputed`, recompute-operands) are such kernels too, in which no row is
reduced (attention/products.py; by wgmma attention/warpgroup_products.py).

Must hold: the linalg stage; `hloom.online` tells that the sum can be rescaled (join-contractions). Declined: groups without either, targets
that are no GPUs, and groups whose values are not indexed linearly by the loops of the first contraction, or are read in part, as one row of
the result (attention/forms.py): they are tiled as other groups are, and the rows between the contractions then stay in a block's memory.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.attention import ONLINE, RECOMPUTED
from ..common.rewriting import functions
from ..registry import register_pass
from .attention import kernel, products, warpgroup_products, warpgroups
from .attention.group import read_attention
from .attention.products_group import read_products


@register_pass("distribute-attention", "makes two contractions with a softmax between them one GPU kernel")
def distribute_attention(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cuda":
        return
    for function in functions(module):
        emit = next((emit for name, emit in _EMITTERS.items() if name in function.attributes), None)
        if emit is None:
            continue
        with function.context, function.location:
            if emit(function, target):
                function.erase()


def _attention(function: ir.Operation, target: TargetView) -> bool:
    """Whether the function is such a kernel, which is emitted then."""
    group = read_attention(function)
    if group is not None and not warpgroups.try_emit(group, target):
        kernel.emit(group, target)
    return group is not None


def _products(function: ir.Operation, target: TargetView) -> bool:
    group = read_products(function)
    if group is not None and not warpgroup_products.try_emit(group, target):
        products.emit(group, target)
    return group is not None


_EMITTERS = {ONLINE: _attention, RECOMPUTED: _products}
