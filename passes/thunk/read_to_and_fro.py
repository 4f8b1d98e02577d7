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
again. What the loop writes is another matter: the kernels of a turn hand it on in their order. lower-thunks writes the order
(dialects/kinds/kernel.py): results are the same bit for bit, as tiles wait for no others.

Must hold: the thunk stage, before lower-thunks. Declined: kernels that half of L2 serves, without what the loop writes; those that compute
for more than twice the time in which the last cache hands over what they read, which do not wait for it, and keep what tiles have in
common (same_in_all_tiles.py) while they go on; loops whose turns are not counted; loops of one turn. Unchanged: GPUs.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.kinds.kernel import TO_AND_FRO
from hloom.dialects.target import TargetView, target_of
from hloom.dialects.thunk import Slice, slices, symbols

from ..common.rewriting import callee_of, integer, ops_in, walk
from ..registry import register_pass


@register_pass("read-to-and-fro", "runs tiles backwards in every second turn of loops whose data no cache holds")
def read_to_and_fro(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cpu":
        return
    named = symbols(module)
    for loop in walk(module, "thunk.for"):
        if integer(loop, "trip_count") > 1:
            _mark(loop, named, target)


def _mark(loop: ir.Operation, named: dict[str, ir.Operation], target: TargetView) -> None:
    written = [part for op in walk(loop) for part in slices(op, "writes")]
    for kernel in ops_in(loop.regions[0].blocks[0]):
        if kernel.name != "thunk.kernel":
            continue
        callee = named.get(callee_of(kernel))
        if callee is not None and _waits_for_memory(callee, _kept(kernel, written), target):
            kernel.attributes[TO_AND_FRO] = ir.UnitAttr.get(loop.context)


def _kept(kernel: ir.Operation, written: list[Slice]) -> int:
    """The bytes of the slices that a kernel reads and its loop does not write."""
    return sum(part[2] for part in slices(kernel, "reads") if not any(_meet(part, other) for other in written))


def _meet(one: Slice, other: Slice) -> bool:
    return one[0] == other[0] and one[1] < other[1] + other[2] and other[1] < one[1] + one[2]


def _waits_for_memory(kernel: ir.Operation, kept: int, target: TargetView) -> bool:
    """Whether a kernel reads so much of what its loop leaves as it is, and does not compute meanwhile."""
    if "hloom.bytes" not in kernel.attributes or "hloom.flops" not in kernel.attributes:
        return False
    read, flops = integer(kernel, "hloom.bytes"), integer(kernel, "hloom.flops")
    return min(read, kept) > target.l2_bytes // 2 and flops * target.llc_bytes_per_second <= 2 * read * target.f32_flops
