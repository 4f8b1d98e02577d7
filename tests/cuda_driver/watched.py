"""hloom's own Driver on the emulated one, with what tests of the runtime look at on the fake: so they run on either.

`python -m pytest -p cuda_driver.watched tests/runtime/test_cuda_order.py` runs a file of theirs here.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import fake_driver
import numpy as np
import pytest

from hloom.runtime.cuda.capture import Capture, CapturedGraph
from hloom.runtime.cuda.driver import Driver
from hloom.runtime.cuda.recorder import Graph, Recorder
from hloom.runtime.errors import CudaError

from .conditional import Choice, Conditional
from .executor import ByImage, numbers
from .frameworks import enqueue
from .machine import Machine
from .nodes import Copy, EventRecord, Fill, Launch, Node
from .plugin import pytest_configure as _install
from .streams import Stream, find_stream
from .stub_kernels import run_by

_machines: list[Machine] = []


class Time:
    """As fake_gpu.Gpu; streams of frameworks are small numbers."""

    def __init__(self, machine: Machine):
        self._machine = machine

    def _adopt(self, stream: int) -> None:
        if stream not in self._machine.objects and stream > 2:
            made = Stream(self._machine.primary[0], 1, handle=stream)
            self._machine.objects[stream] = made
            self._machine.streams.append(made)

    def enqueue(self, stream: int, work: Callable[[], None]) -> None:
        with self._machine.lock:
            self._adopt(stream)
            enqueue(self._machine, stream, work)

    def finish(self, stream: int | None = None) -> None:
        with self._machine.lock:
            if stream is None:
                self._machine.schedule.finish_all()
            else:
                self._adopt(stream)
                self._machine.schedule.finish(find_stream(self._machine, stream).tail)
        assert self._machine.fault is None, self._machine.fault


class WatchedDriver(Driver):
    def __init__(self, kernels: dict[str, Callable[..., None]] | None = None, capability: int = 90):
        self.machine = _machines[-1]
        self.log: list[tuple] = []
        self.calls_left, self.graphs, self.shared, self.captured = 0, [], {}, set()
        self.fail_update = self.fail_finish = False
        self._addresses: list[int] = []
        super().__init__(0)
        self.log.clear()
        self.capability, self.kernels, self.gpu = capability, kernels or {}, Time(self.machine)
        for stream in (21, 22, 30, 31, 33, 44, 55):
            self.gpu._adopt(stream)

    def _called(self, *entry: Any) -> None:
        self.calls_left -= 1
        if self.calls_left == 0:
            raise CudaError(f"{entry[0]}: CUDA_ERROR_OUT_OF_MEMORY")
        self.log.append(entry)

    @contextlib.contextmanager
    def _uncounted(self) -> Iterator[None]:
        """What is called inside of another call is no call of its own."""
        log, left, self.log, self.calls_left = self.log, self.calls_left, [], 0
        try:
            yield
        finally:
            self.log, self.calls_left = log, left

    def calls(self, *names: str) -> list[tuple]:
        return [entry for entry in self.log if entry[0] in names]

    @property
    def memory(self) -> dict[int, Any]:
        there = {each.address for each in self.machine.memory.live()} | {each.address for each in self.machine.memory.to_go()}
        return {address: None for address in self._addresses if address in there}

    def _given(self, address: int, nbytes: int) -> int:
        self._addresses.append(address)
        return address

    def allocate(self, nbytes: int) -> int:
        self._called("allocate", nbytes)
        return self._given(super().allocate(nbytes), nbytes)

    def allocate_on(self, stream: int, nbytes: int) -> int:
        self._called("allocate", nbytes)
        return self._given(super().allocate_on(stream, nbytes), nbytes)

    def upload(self, address: int, data: Any, stream: int, wait: bool = True) -> None:
        self._called("upload", data.nbytes if hasattr(data, "nbytes") else len(data), stream)
        with self._uncounted():
            super().upload(address, data, stream, wait)

    def download(self, array: np.ndarray, address: int, stream: int) -> None:
        self._called("download", array.nbytes, stream)
        with self._uncounted():
            super().download(array, address, stream)

    def copy(self, target: int, source: int, nbytes: int, stream: int) -> None:
        self._called("copy", nbytes, stream)
        super().copy(target, source, nbytes, stream)

    def new_event(self, timing: bool = False) -> int:
        self._called("new_event")
        event = super().new_event(timing)
        self.log[-1] = "new_event", event
        return event

    def free_event(self, event: int) -> None:
        self.log.append(("free_event", event))
        super().free_event(event)

    def is_captured(self, stream: int) -> bool:
        return stream in self.captured or super().is_captured(stream)

    def load(self, code: bytes | str) -> Any:
        self._called("load", "ptx" if isinstance(code, str) else code)
        is_stand_in = not isinstance(code, str) and not code.startswith(b"\x7fELF")
        return super().load(run_by(self.machine, self.kernels) if is_stand_in else code)

    def kernel(self, module: Any, name: str, dynamic_shared_bytes: int = 0) -> Any:
        self.shared[name] = dynamic_shared_bytes
        return super().kernel(module, name, dynamic_shared_bytes)

    def recorder(self) -> Recorder:
        self._called("capture")
        return WatchedRecorder(self, self._device.create_graph_builder().begin_building("relaxed"))

    def capture(self) -> Capture:
        self._called("capture")
        return WatchedCapture(self)


def _logged(name: str) -> None:
    """For what is logged with its arguments."""
    method = getattr(Driver, name)

    def call(self: WatchedDriver, *arguments: Any) -> Any:
        self._called(name, *arguments)
        return method(self, *arguments)

    setattr(WatchedDriver, name, call)


for _name in ("synchronise", "record", "wait", "has_happened", "await_event"):
    _logged(_name)


class _Watched:
    """What both recorders tell."""

    _kind: type

    def finish(self) -> Any:
        if self._driver.fail_finish:
            raise CudaError("cuGraphInstantiate: CUDA_ERROR_OUT_OF_MEMORY")
        made = super().finish()
        made.__class__ = self._kind
        self._driver.graphs.append(made)
        self._driver.log.append(("instantiate",))
        return made

    def update(self, graph: Any) -> bool:
        same = not self._driver.fail_update and super().update(graph)
        self._driver.log.append(("update", same))
        return same

    def encode(self, tensor: Any, address: int) -> Any:
        self._driver.log.append(("encode", address))
        return super().encode(tensor, address)

    def abandon(self) -> None:
        self._driver.log.append(("abandon",))
        super().abandon()


class _WatchedGraph:
    def launch(self, stream: int) -> None:
        self._driver._called("launch", self._driver.graphs.index(self), stream)
        super().launch(stream)

    @property
    def nodes(self) -> list[tuple]:
        handle = self.handle if isinstance(self, CapturedGraph) else int(self.object.handle)
        return [_told(node) for node in self._driver.machine.objects[handle].nodes]


class WatchedGraph(_WatchedGraph, Graph):
    pass


class WatchedCapturedGraph(_WatchedGraph, CapturedGraph):
    pass


class WatchedRecorder(_Watched, Recorder):
    _kind = WatchedGraph


class WatchedCapture(_Watched, Capture):
    _kind = WatchedCapturedGraph


def _told(node: Node) -> tuple:
    """As the fake driver's graphs tell of a node."""
    if isinstance(node, Launch):
        return "launch", SimpleNamespace(__name__=node.kernel.name), node.grid, node.block, node.shared_bytes, tuple(numbers(node))
    if isinstance(node, Copy):
        return "copy", node.target, node.source, node.nbytes
    if isinstance(node, Fill):
        return ("fill", node.target, node.value, node.element, node.width) if node.height == 1 else ("fill_column", node.target, node.value)
    if isinstance(node, EventRecord):
        return "event", node.event
    if isinstance(node, Conditional):
        bodies = [SimpleNamespace(nodes=[_told(inside) for inside in body]) for body in node.bodies]
        return ("loop", node.condition.handle, bodies[0]) if node.choice == Choice.WHILE else ("switch", node.condition.handle, bodies)
    return ("library",)


def _lend(nbytes: int) -> np.ndarray:
    made = _machines[-1].memory.allocate(nbytes)
    raw = np.frombuffer((ctypes.c_uint8 * nbytes).from_address(made.address), np.uint8)
    raw[:] = 0
    return raw


def _forget(memory: np.ndarray) -> None:
    machine = _machines[-1]
    machine.memory.take_away(machine.memory.to_free(memory.ctypes.data))


def _check_used(*addresses: Any) -> None:
    for address in addresses:
        _machines[-1].memory.check(address, 1, write=False)


def pytest_configure(config: pytest.Config) -> None:
    _install(config)
    _machines.append(config.machine)  # type: ignore[attr-defined]
    fake_driver.FakeDriver = WatchedDriver  # type: ignore[misc,assignment]
    fake_driver.lend, fake_driver.forget, fake_driver.check_used = _lend, _forget, _check_used
    fake_driver.enqueue = lambda stream, work: enqueue(_machines[-1], stream, work)


@pytest.fixture(params=range(3), autouse=True)
def _in_some_order(request: pytest.FixtureRequest) -> None:
    _machines[-1].begin_again(request.param)
    _machines[-1].executor = ByImage()
