"""grid: what all blocks of a launch do together, in the kernels of a gpu.module."""

# No `from __future__ import annotations` here: the definitions below are read from the annotations as types, not as text.

from torch_mlir.dialects import ext

from ._support import WRITES_ANYTHING


class Grid(ext.Dialect, name="grid"):
    """What all blocks of a launch do together. A kernel that holds such an op is launched cooperatively: all blocks are there at once."""


class BarrierOp(Grid.Operation, name="barrier", traits=[WRITES_ANYTHING]):
    """Waits for all threads of all blocks; what they wrote before is seen by all behind it. All threads of all blocks come here, equally
    often. `expand-grid-barriers` (stage nvvm) makes instructions of it."""
