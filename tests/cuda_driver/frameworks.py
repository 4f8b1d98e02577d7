"""Who calls a program on the emulated GPU: arrays that give their memory back as soon as nobody holds them, and readers of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hloom.runtime import dlpack
from hloom.runtime.cuda.driver import Driver
from hloom.runtime.cuda.order import follow
from hloom.runtime.errors import ExecutionError

from .machine import Machine
from .nodes import Launch, Node
from .streams import submit


class Lent:
    """A framework's array, made on a stream of its own; its memory goes back there."""

    def __init__(self, driver: Driver, values: np.ndarray, stream: int = 0, offset: int = 0):
        self.driver, self.values = driver, np.ascontiguousarray(values)
        with driver.current():
            self.stream = stream or driver.new_stream()
            self._memory = driver.allocate_on(self.stream, values.nbytes + offset)
            self.address = self._memory + offset
            driver._call("cuMemcpyHtoDAsync", self.address, self.values.ctypes.data, values.nbytes, driver._stream(self.stream))

    def __del__(self) -> None:
        self.driver.free_on(self.stream, self._memory)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, 0

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        if stream not in (None, -1, self.stream):
            with self.driver.current():
                follow(self.driver, 0 if stream == 1 else stream, self.stream)
        return dlpack.give(self, self.address, (dlpack.CUDA, 0), "f32", self.values.shape)


class Reader:
    """A framework that takes results on a stream of its own and reads them there."""

    def __init__(self, driver: Driver):
        self.driver = driver
        with driver.current():
            self.stream = driver.new_stream()

    def take(self, array: Any) -> tuple[Any, np.ndarray]:
        """What holds the array, and what will be read of it."""
        taken, found = dlpack.take("a", array, self.stream), np.zeros(array.shape, np.float32)
        with self.driver.current():
            self.driver._call("cuMemcpyDtoHAsync", found.ctypes.data, taken.address, found.nbytes, self.driver._stream(self.stream))
        return taken, found

    def wait(self) -> None:
        with self.driver.current():
            self.driver.synchronise(self.stream)


class Done(Node):
    """Work of a library: what it does, wherever its stream leads."""

    kind = Launch.kind

    def __init__(self, work: Callable[[], None]):
        self.after, self._work = [], work

    def run(self, machine: Machine) -> None:
        self._work()

    def copy(self) -> Node:
        return Done(self._work)


def enqueue(machine: Machine, stream: int, work: Callable[[], None]) -> None:
    """What a library does with a stream."""
    submit(machine, stream, Done(work))


def outcome(machine: Machine, attempt: Callable[[], Any], seeds: range) -> list[str]:
    """What is wrong with an attempt, which gives whether its result is right, for each order that a seed draws: "" where nothing is."""
    found = []
    for seed in seeds:
        machine.begin_again(seed)
        try:
            wrong = "" if attempt() else "a wrong result"
        except ExecutionError as error:  # a framework that takes a result may be the first to hear of it
            wrong = str(error)
        found.append(str(machine.fault) if machine.fault else wrong)
    return found
