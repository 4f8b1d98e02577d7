"""Global memory that a kernel writes: who accessed what of it, as checks.py keeps account, across all blocks of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..checks import AccessLog
from ..errors import SimulationError
from ..memory import MemRef


@dataclass
class Region:
    """Memory of the device in which races are looked for; `whole` where every byte of it must be written."""

    address: int
    nbytes: int
    name: str
    whole: bool = False
    log: AccessLog | None = field(default=None, init=False)


class Regions:
    """Those of a launch. `unit` is the least that an instruction accesses at once."""

    def __init__(self, regions: Sequence[Region], unit: int):
        self._regions, self._unit = regions, unit
        for region in regions:
            region.log = AccessLog(-(-region.nbytes // unit), unit, across_blocks=True)

    def attach(self, memory: MemRef, base: int, low: int, high: int) -> None:
        """Has accesses to memory that begins at `base` noted, if all that is accessed, from `low` on, lies in one region. LLVM may make one
        instruction of those of several kernels that take turns, or lie side by side: then nobody knows whether all of a region is written.
        """
        for region in self._regions:
            if region.address <= low and high <= region.address + region.nbytes:
                memory.log, memory.name = region.log, region.name
                memory.log_offset = (base - region.address) // self._unit
            elif low < region.address + region.nbytes and region.address < high:
                region.whole = False

    def settle(self) -> None:
        """All blocks have waited for each other."""
        for region in self._regions:
            assert region.log is not None
            region.log.settle()

    def check(self, kernel: str) -> None:
        """Raises SimulationError where a region was not written wholly."""
        for region in self._regions:
            if region.whole and region.log is not None and (missing := region.log.unwritten()):
                raise SimulationError(f"nobody wrote {missing * self._unit} of {region.nbytes} bytes of {region.name}", kernel=kernel)
