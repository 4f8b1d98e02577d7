"""What work there is: each kind may be enqueued on a stream, or be a node of a graph."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from .errors import Code, Fault, require
from .schedule import Work

if TYPE_CHECKING:
    from .machine import Machine
    from .modules import Kernel


class Kind(IntEnum):
    """As the driver numbers them."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    EMPTY = 5
    EVENT_RECORD = 7
    MEM_ALLOC = 10
    MEM_FREE = 11
    CONDITIONAL = 13


@dataclass(eq=False)
class Node:
    kind = Kind.EMPTY
    after: list[Node] = field(default_factory=list, init=False, repr=False)
    """The nodes of the same graph that come before."""

    def __str__(self) -> str:
        return type(self).__name__

    def check(self, machine: Machine) -> None:
        """Raises Refused where the driver does when it is given this work."""

    def run(self, machine: Machine) -> None:
        """Raises Fault."""

    def submitted(self, work: Work) -> None:
        """Is told what the node has become, each time it does."""

    def copy(self) -> Node:
        """For a graph that is made executable: no change of the original is seen there."""
        return replace(self)


class Empty(Node):
    pass


@dataclass(eq=False)
class Copy(Node):
    target: int
    source: int
    nbytes: int
    kind = Kind.MEMCPY

    def run(self, machine: Machine) -> None:
        machine.memory.check_host_or_device(self.source, self.nbytes, write=False)
        machine.memory.check_host_or_device(self.target, self.nbytes, write=True)
        ctypes.memmove(self.target, self.source, self.nbytes)


@dataclass(eq=False)
class Fill(Node):
    """`height` rows of `width` elements, one row every `pitch` bytes."""

    target: int
    value: int
    element: int
    width: int
    height: int = 1
    pitch: int = 0
    kind = Kind.MEMSET

    def check(self, machine: Machine) -> None:
        require(self.target % self.element == 0, Code.INVALID_VALUE, f"{self.target:#x} is not aligned to {self.element}")
        wide = self.height == 1 or (self.pitch >= self.width * self.element and self.pitch % self.element == 0)
        require(wide, Code.INVALID_VALUE, f"rows of {self.width} elements every {self.pitch} bytes")

    def run(self, machine: Machine) -> None:
        row = self.value.to_bytes(self.element, "little") * self.width
        for number in range(self.height):
            machine.memory.check(self.target + number * self.pitch, len(row), write=True)
            ctypes.memmove(self.target + number * self.pitch, row, len(row))


@dataclass(eq=False)
class Launch(Node):
    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    parameters: list[bytes]
    cluster: tuple[int, int, int] = (1, 1, 1)
    cooperative: bool = False
    kind = Kind.KERNEL

    def __str__(self) -> str:
        return self.kernel.name

    def run(self, machine: Machine) -> None:
        if self.kernel.library.is_unloaded:
            raise Fault("its code was unloaded", Code.LAUNCH_FAILED)
        machine.executor.launch(machine, self)


@dataclass(eq=False)
class EventRecord(Node):
    event: Any
    kind = Kind.EVENT_RECORD

    def __str__(self) -> str:
        return "an event"

    def submitted(self, work: Work) -> None:
        self.event.work = work

    def run(self, machine: Machine) -> None:
        """Whatever ran takes a microsecond, but events."""
        self.event.time_ns = 1000 * sum(name != str(self) for name in machine.schedule.log)


@dataclass(eq=False)
class Appear(Node):
    """Memory that a stream allocates is there."""

    allocation: Any
    kind = Kind.MEM_ALLOC

    def run(self, machine: Machine) -> None:
        self.allocation.is_there = True


@dataclass(eq=False)
class Vanish(Node):
    """Memory that a stream gives back is gone."""

    allocation: Any
    kind = Kind.MEM_FREE

    def run(self, machine: Machine) -> None:
        machine.memory.take_away(self.allocation)
