"""One allocation for all that stays where it is: constants, bound values, arena, workspace, counters."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

ALIGNMENT = 256


class StaticLayout:
    """Places of named parts in one allocation."""

    def __init__(self) -> None:
        self._offsets: dict[Hashable, int] = {}
        self.nbytes = 0

    def add(self, name: Hashable, nbytes: int) -> None:
        """A part of that size; one of the same name is the same part."""
        if name not in self._offsets:
            self._offsets[name] = self.nbytes
            self.nbytes += -(-nbytes // ALIGNMENT) * ALIGNMENT

    def allocate(self, driver: Any) -> Allocation:
        return Allocation(driver, self.nbytes, self._offsets)


class Allocation:
    """The memory of a layout, given back with the object."""

    def __init__(self, driver: Any, nbytes: int, offsets: dict[Hashable, int]):
        self._driver, self._offsets = driver, dict(offsets)
        self.nbytes = nbytes
        self.base = driver.allocate(max(nbytes, 1))

    def __contains__(self, name: Hashable) -> bool:
        return name in self._offsets

    def address(self, name: Hashable) -> int:
        return self.base + self._offsets[name]

    def __del__(self) -> None:
        if base := getattr(self, "base", 0):
            self._driver.free(base)
