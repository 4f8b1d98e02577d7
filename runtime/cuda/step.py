"""What every kind of thunk is to the CUDA runtime: a step with three moments.

prepare     while loading, before there is memory: says what it needs (workspace, counters) and finds its libraries
initialise  once memory and code are there: looks kernels up, makes descriptors, asks for heuristics
execute     while a graph is recorded: enqueues its work
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..lazy import lazy
from ..thunks import Slice, Thunk, ThunkKind, kind_of
from .conditions import Conditions
from .libraries import Libraries

COUNTER_BYTES = 16


@dataclass
class Needs:
    """What the steps of a program want of the static allocation."""

    launches: Mapping[str, Any]
    """The launch table: grid, block and shared memory of each kernel by name."""
    libraries: Libraries
    workspace: int = 0
    zeros: int = 0
    counters: int = 0

    def ask_workspace(self, nbytes: int) -> None:
        """Scratch memory for the time of one step; all share it, since they run one after the other."""
        self.workspace = max(self.workspace, nbytes)

    def ask_zeros(self, nbytes: int) -> None:
        """Memory that holds zeros, which all share and none writes."""
        self.zeros = max(self.zeros, nbytes)

    def ask_counter(self) -> int:
        """The number of a few bytes that are the step's own."""
        self.counters += 1
        return self.counters - 1


@dataclass
class Context:
    """What is there once the program is loaded."""

    driver: Any
    module: Any
    """The program's code as the driver loaded it; None for a program without kernels."""
    libraries: Libraries
    workspace: int
    workspace_bytes: int
    counters: int
    zeros: int = 0

    @lazy
    def conditions(self) -> Conditions:
        return Conditions(self.driver)

    def counter(self, number: int) -> int:
        """The address of a counter."""
        return self.counters + COUNTER_BYTES * number


class BufferAddresses:
    """The buffers of one recording of an entry, as addresses."""

    def __init__(self, addresses: Sequence[int]):
        self._addresses = addresses

    def address(self, at: Slice) -> int:
        return self._addresses[at.buffer] + at.offset


class Step(ThunkKind):
    """One thunk, made ready to be enqueued; a kind overrides the moments at which it has something to do."""

    def __init__(self, thunk: Thunk):
        self.thunk = thunk
        self.empty = bool(thunk.writes) and not any(at.size for at in thunk.writes)
        """Whether there is nothing to do: a region leaves such a step out."""
        self.inside = {name: Region(inside) for name, inside in thunk.regions.items()}
        self.waits: bool = any(region.waits for region in self.inside.values())
        """Whether it may wait for the GPU: no graph can hold such a step."""

    def prepare(self, needs: Needs) -> None:
        for region in self.inside.values():
            region.prepare(needs)

    def initialise(self, context: Context) -> None:
        for region in self.inside.values():
            region.initialise(context)

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        raise NotImplementedError(self.thunk.kind)


class Region:
    """The steps of a region, which run one after the other."""

    def __init__(self, thunks: Sequence[Thunk]):
        steps: list[Step] = [kind_of(thunk.kind)(thunk) for thunk in thunks]  # type: ignore[call-arg,misc]
        self.steps = [step for step in steps if not step.empty]
        self.waits = any(step.waits for step in self.steps)

    def prepare(self, needs: Needs) -> None:
        for step in self.steps:
            step.prepare(needs)

    def initialise(self, context: Context) -> None:
        for step in self.steps:
            step.initialise(context)

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        for step in self.steps:
            step.execute(recorder, buffers)
