"""Programs of few kernels are no graphs: a call launches them one behind the other.

Measured on an H200 with driver 580: a graph of one kernel takes the GPU 2.5 to 3 microseconds more than its launch, and the host as long.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from .kinds.kernel import KernelStep
from .recorder import EncodedMap, Recorder, packed
from .step import Step

MOST = 3
"""Kernels of such a program: a launch takes the host half as long as that of a graph."""


def is_short(steps: Iterable[Step]) -> bool:
    """Whether a program is MOST kernels or fewer, whose blocks do not wait for each other, and nothing else."""
    listed = list(steps)
    return len(listed) <= MOST and all(isinstance(step, KernelStep) and not step.cooperative for step in listed)


class LaunchList(Recorder):
    """Takes down launches instead of recording them."""

    def __init__(self, driver: Any):
        self._driver, self._api, self.in_body = driver, driver.api, False
        self._launches: list[tuple[int, ...]] = []
        self._kept: list[Any] = []

    def launch(
        self,
        kernel: Any,
        grid: Sequence[int],
        block: Sequence[int],
        shared_bytes: int,
        arguments: Sequence[Any],
        maps: Sequence[EncodedMap] = (),
        cooperative: bool = False,
    ) -> None:
        assert not cooperative
        parameters, kept = packed(arguments, maps)
        self._launches.append((int(kernel.handle), *grid, *block, shared_bytes, ctypes.addressof(parameters)))
        self._kept += [kernel, parameters, kept]

    def finish(self) -> Launches:
        return Launches(self._driver, self._launches, self._kept)

    def update(self, graph: Any) -> bool:
        return False

    def abandon(self) -> None:
        """Nothing has begun."""


class Launches:
    """What stands for a graph; `kept` is what the launches point to."""

    def __init__(self, driver: Any, launches: Sequence[tuple[int, ...]], kept: Sequence[Any]):
        self._driver, self._launches, self._kept = driver, launches, kept

    def launch(self, stream: int) -> None:
        for kernel, *sizes, parameters in self._launches:
            self._driver.launch_kernel(kernel, sizes, stream, parameters)
