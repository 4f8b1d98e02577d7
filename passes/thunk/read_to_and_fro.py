"""read-to-and-fro: kernels of a loop that read more than a cache holds run their tiles from the last to the first in every second turn.

Before:
    "thunk.for"() ({
      "thunk.kernel"() {callee = @fusion_2, …}       // reads a weight of 1 MB; L2 holds 1 MB
    }) {trip_count = 64 : i64}
After:
    "thunk.for"() ({
      "thunk.kernel"() {callee = @fusion_2, …, hloom.to_and_fro}
    }) {trip_count = 64 : i64}

What a kernel reads last is what the cache still has in the next turn. From the first tile on it would be pushed out before it is read
again. lower-thunks writes the order (dialects/kinds/kernel.py): results are the same bit for bit, as tiles wait for no others.

Must hold: the thunk stage, before lower-thunks. Declined: kernels that half of L2 serves; those that compute more than an operation a byte,
which do not wait for what they read, and keep what tiles have in common (same_in_all_tiles.py) while they go on; loops whose turns are not
counted; loops of one turn. Unchanged: GPUs.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.kinds.kernel import TO_AND_FRO
from hloom.dialects.target import target_of
from hloom.dialects.thunk import symbols

from ..common.rewriting import integer, walk
from ..registry import register_pass


@register_pass("read-to-and-fro", "runs tiles backwards in every second turn of loops whose data no cache holds")
def read_to_and_fro(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cpu":
        return
    named = symbols(module)
    for kernel in walk(module, "thunk.kernel"):
        callee = named.get(ir.FlatSymbolRefAttr(kernel.attributes["callee"]).value)
        if _turns(kernel) and callee is not None and _waits_for_memory(callee, target.l2_bytes // 2):
            kernel.attributes[TO_AND_FRO] = ir.UnitAttr.get(module.context)


def _turns(kernel: ir.Operation) -> bool:
    loop = kernel.parent.operation
    return loop.name == "thunk.for" and ir.IntegerAttr(loop.attributes["trip_count"]).value > 1


def _waits_for_memory(kernel: ir.Operation, held: int) -> bool:
    if "hloom.bytes" not in kernel.attributes or "hloom.flops" not in kernel.attributes:
        return False
    return integer(kernel, "hloom.bytes") > held and integer(kernel, "hloom.flops") <= integer(kernel, "hloom.bytes")
