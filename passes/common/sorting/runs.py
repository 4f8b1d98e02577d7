"""What a sort op says beside its comparator: how much of each row is read, and which step of a sort it is.

    "stablehlo.sort"(…) {hloom.first = 40}       of each row the first 40 elements are read: what is behind them is anything
    "stablehlo.sort"(…) {hloom.runs = 2048}      sorts each 2048 elements of a row
    "stablehlo.sort"(…) {hloom.merges = 2048}    merges each two neighbouring sorted runs of 2048 elements

The last two are of GPUs (split-sorts).
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.storage import element_bytes

from ..rewriting import element_of

FIRST, RUNS, MERGES = "hloom.first", "hloom.runs", "hloom.merges"
MOST = 2048
ORDER_BYTES = 4
"""Of where an element stood in its run."""
SHARED_BYTES = 48 << 10


def run_length(sort: ir.Operation) -> int:
    """The longest row that a block of a GPU sorts by itself: a power of two, whose elements have room in its shared memory."""
    size = ORDER_BYTES + sum(element_bytes(element_of(value)) for value in sort.operands)
    length = MOST
    while length * size > SHARED_BYTES and length > 1:
        length //= 2
    return length
