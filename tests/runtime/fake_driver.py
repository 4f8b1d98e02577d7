"""A stand-in for the CUDA driver: device memory is host memory, kernels are Python functions, graphs are lists of nodes that it interprets.

It has what runtime/cuda asks of a driver, keeps a log of what was called, runs work as late as it may (fake_gpu.py), and refuses what CUDA
would: calls in a thread without a context, work on memory that is gone, events in conditional bodies, memory that is not its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from fake_gpu import Gpu, Mark

from hloom.runtime import dlpack
from hloom.runtime.cuda.conditions import PTX
from hloom.runtime.cuda.tensor_maps import TensorMap
from hloom.runtime.errors import CudaError

_recorders: dict[int, FakeRecorder] = {}
"""Those that record, by the stream that a library is given."""
_gone: list[tuple[int, int, np.ndarray]] = []
"""Memory that was given back, first and last byte: kept from being given out again, so that whoever uses it is found."""


def enqueue(stream: int, work: Callable[[], None]) -> None:
    """What a library does with a stream that is captured: nothing now, the work whenever the graph runs."""
    _recorders[stream].add("library", work)


def at(address: int, dtype: Any, count: int) -> np.ndarray:
    """Device memory as an array."""
    dtype = np.dtype(dtype)
    return np.frombuffer((ctypes.c_uint8 * (dtype.itemsize * count)).from_address(address), dtype)


def lend(nbytes: int) -> np.ndarray:
    """Memory of a framework's on the GPU."""
    return np.zeros(nbytes, np.uint8)


def forget(memory: np.ndarray) -> None:
    """The memory is given back: what is in it is lost."""
    memory.fill(0xDD)
    _gone.append((memory.ctypes.data, memory.ctypes.data + memory.nbytes, memory))


def check_used(*addresses: Any) -> None:
    for address in addresses:
        gone = isinstance(address, int) and any(first <= address < last for first, last, _ in _gone)
        assert not gone, "work uses memory that was given back"


class FakeDriver:
    def __init__(self, kernels: dict[str, Callable] | None = None, capability: int = 90):
        self.kernels = kernels or {}
        self.name, self.capability, self.index = "Fake GPU", capability, 0
        self.log: list[tuple] = []
        self.memory: dict[int, np.ndarray] = {}
        self.shared: dict[str, int] = {}
        self.graphs: list[FakeGraph] = []
        self.fail_update = self.fail_finish = False
        self.calls_left = 0
        """A number n: the n-th call from now on fails."""
        self.captured: set[int] = set()
        self.clock = 0
        self.events: dict[int, int] = {}
        self.gpu = Gpu()
        self.waiting: list[int] = []
        self._marks: dict[int, Mark] = {}
        self._thread = threading.local()
        self._handles = 100
        self.stream, self._last_stream = self._handle(), self._handle()

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        before = getattr(self._thread, "context", None)
        self._thread.context = self
        try:
            yield
        finally:
            self._thread.context = before

    def _called(self, *entry: Any) -> None:
        if getattr(self._thread, "context", None) is not self:
            raise CudaError(f"{entry[0]}: CUDA_ERROR_INVALID_CONTEXT")
        self.calls_left -= 1
        if self.calls_left == 0:
            raise CudaError(f"{entry[0]}: CUDA_ERROR_OUT_OF_MEMORY")
        self.log.append(entry)

    def calls(self, *names: str) -> list[tuple]:
        return [entry for entry in self.log if entry[0] in names]

    # Memory.

    def allocate(self, nbytes: int) -> int:
        assert nbytes > 0
        self._called("allocate", nbytes)
        raw = np.full(nbytes + 256, 0xCD, np.uint8)
        address = -(-raw.ctypes.data // 256) * 256
        self.memory[address] = raw
        return address

    def free(self, address: int) -> None:
        forget(self.memory.pop(address))
        self.log.append(("free",))

    def allocate_on(self, stream: int, nbytes: int) -> int:
        return self.allocate(max(nbytes, 1))

    def free_on(self, stream: int, address: int) -> None:
        self.gpu.enqueue(stream, lambda: self.free(address))

    def free_later(self, address: int) -> None:
        self.waiting.append(address)

    def free_waiting(self) -> None:
        for mark in self.gpu.mark_all():
            self.gpu.enqueue(self._last_stream, lambda mark=mark: self.gpu.reach(mark))
        while self.waiting:
            self.free_on(self._last_stream, self.waiting.pop())

    def upload(self, address: int, data: Any, stream: int, wait: bool = True) -> None:
        array = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        self._called("upload", array.nbytes, stream)
        self._move(address, array.ctypes.data, array.nbytes, stream)
        if wait:
            self.gpu.finish(stream)

    def download(self, array: np.ndarray, address: int, stream: int) -> None:
        self._called("download", array.nbytes, stream)
        self._move(array.ctypes.data, address, array.nbytes, stream)
        self.gpu.finish(stream)

    def copy(self, target: int, source: int, nbytes: int, stream: int) -> None:
        self._called("copy", nbytes, stream)
        self._move(target, source, nbytes, stream)

    def _move(self, target: int, source: int, nbytes: int, stream: int) -> None:
        def move() -> None:
            check_used(target, source)
            ctypes.memmove(target, source, nbytes)

        if nbytes:
            self.gpu.enqueue(stream, move)

    # Streams and events.

    def _handle(self) -> int:
        self._handles += 1
        return self._handles

    def is_captured(self, stream: int) -> bool:
        return stream in self.captured

    def synchronise(self, stream: int) -> None:
        self._called("synchronise", stream)
        self.gpu.finish(stream)

    def new_event(self, timing: bool = False) -> int:
        event = self._handle()
        self._called("new_event", event)
        return event

    def free_event(self, event: int) -> None:
        self.log.append(("free_event", event))

    def record(self, event: int, stream: int) -> None:
        self._called("record", event, stream)
        self._marks[event] = self.gpu.mark(stream)

    def wait(self, stream: int, event: int) -> None:
        self._called("wait", stream, event)
        if mark := self._marks.get(event):
            self.gpu.enqueue(stream, lambda: self.gpu.reach(mark))

    def has_happened(self, event: int) -> bool:
        self._called("has_happened", event)
        return event not in self._marks or self._marks[event].is_passed

    def await_event(self, event: int) -> None:
        self._called("await_event", event)
        if mark := self._marks.get(event):
            self.gpu.reach(mark)

    def elapsed_ns(self, begin: int, end: int) -> int:
        return self.events[end] - self.events[begin]

    # Code and graphs.

    def load(self, code: bytes | str) -> str:
        self._called("load", "ptx" if isinstance(code, str) else code)
        return "conditions" if code == PTX else "program"

    def kernel(self, module: str, name: str, dynamic_shared_bytes: int = 0) -> Callable:
        self.shared[name] = dynamic_shared_bytes
        if module == "conditions":
            return getattr(self, name)
        return self.kernels[name]

    def hloom_while(self, handle: int, predicate: int) -> None:
        self.conditions[handle] = int(at(predicate, np.uint8, 1)[0])

    def hloom_for(self, handle: int, counter: int, limit: int) -> None:
        count = at(counter, np.uint64, 1)
        self.conditions[handle] = int(count[0] < limit)
        count[0] += np.uint64(1)

    def hloom_case(self, handle: int, index: int, width: np.uint32, branches: np.uint32) -> None:
        assert type(width) is type(branches) is np.uint32
        value = int(at(index, f"i{int(width)}", 1)[0])
        self.conditions[handle] = value if 0 <= value < branches else int(branches) - 1

    def recorder(self) -> FakeRecorder:
        self._called("capture")
        return FakeRecorder(self)

    def capture(self) -> FakeRecorder:
        return self.recorder()

    def enqueuer(self, stream: int) -> FakeEnqueuer:
        return FakeEnqueuer(self, stream)


class FakeCondition:
    def __init__(self, handle: int):
        self.handle = handle


class FakeRecorder:
    is_direct = False

    def __init__(self, driver: FakeDriver, in_body: bool = False):
        self.driver, self.in_body = driver, in_body
        self.nodes: list[tuple] = []
        self.open = not in_body
        self.abandoned = False
        self.stream = driver._handle()
        _recorders[self.stream] = self

    def add(self, *node: Any) -> None:
        assert self.open, "the recording is over, or has not begun"
        self.nodes.append(node)

    def launch(
        self, kernel: Callable, grid: Any, block: Any, shared_bytes: int, arguments: Any, maps: Any = (), cooperative: bool = False
    ) -> None:
        assert all(1 <= size <= limit for size, limit in zip(grid, (2**31 - 1, 65535, 65535))) and np.prod(block) <= 1024
        self.add("launch", kernel, tuple(grid), tuple(block), shared_bytes, (*arguments, *maps))

    def encode(self, tensor: TensorMap, address: int) -> tuple[TensorMap, int]:
        """What the driver would make of it; it refuses what cuTensorMapEncodeTiled does."""
        assert address % 16 == 0 and all(stride % 16 == 0 and stride < 1 << 40 for stride in tensor.strides[:-1])
        assert max(tensor.box) <= 256 and tensor.box[-1] * tensor.strides[-1] <= tensor.swizzle and max(tensor.extents) <= 1 << 32
        self.driver.log.append(("encode", address))
        return tensor, address

    def copy(self, target: int, source: int, nbytes: int) -> None:
        self.add("copy", target, source, nbytes)

    def fill(self, target: int, value: int, width: int, count: int) -> None:
        assert 0 <= value < 1 << 8 * width and target % width == 0
        self.add("fill", target, value, width, count)

    def fill_column(self, target: int, value: int, *, pitch: int, count: int) -> None:
        self.add("fill_column", target, value, pitch, count)

    def record(self, event: int) -> None:
        assert not self.in_body, "the body of a conditional node cannot record events"
        self.add("event", event)

    def condition(self) -> FakeCondition:
        return FakeCondition(self.driver._handle())

    def loop(self, condition: FakeCondition) -> FakeRecorder:
        inside = FakeRecorder(self.driver, in_body=True)
        inside.open = True
        self.add("loop", condition.handle, inside)
        return inside

    def branches(self, condition: FakeCondition, count: int) -> list[FakeRecorder]:
        inside = [FakeRecorder(self.driver, in_body=True) for _ in range(count)]
        self.add("switch", condition.handle, inside)
        return inside

    def begin(self) -> None:
        self.open = True

    def close(self) -> None:
        assert self.in_body and self.open
        self.open = False

    def finish(self) -> FakeGraph:
        self.open = False
        if self.driver.fail_finish:
            raise CudaError("cuGraphInstantiate: CUDA_ERROR_OUT_OF_MEMORY")
        graph = FakeGraph(self.driver, self.nodes)
        self.driver.graphs.append(graph)
        self.driver.log.append(("instantiate",))
        return graph

    def update(self, graph: FakeGraph) -> bool:
        self.open = False
        same = kinds(graph.nodes) == kinds(self.nodes) and not self.driver.fail_update and not has_bodies(self.nodes)
        self.driver.log.append(("update", same))
        if same:
            graph.nodes = self.nodes
        return same

    def abandon(self) -> None:
        self.abandoned = True
        self.driver.log.append(("abandon",))


class FakeEnqueuer(FakeRecorder):
    """Does on a stream what it would record: each node as a graph of it alone."""

    is_direct = True

    def __init__(self, driver: FakeDriver, stream: int):
        super().__init__(driver)
        self.stream = stream
        _recorders[stream] = self

    def add(self, *node: Any) -> None:
        self.driver._called("enqueue", node[0], self.stream)
        self.driver.gpu.enqueue(self.stream, lambda: FakeGraph(self.driver, []).run([node]))

    def read(self, address: int, nbytes: int) -> int:
        return int.from_bytes(self.fetch(address, nbytes).tobytes(), "little", signed=True)

    def fetch(self, address: int, nbytes: int) -> np.ndarray:
        found = np.empty(nbytes, np.uint8)
        self.driver.download(found, address, self.stream)
        return found

    def send(self, address: int, data: np.ndarray) -> None:
        self.driver.upload(address, data, self.stream)


def kinds(nodes: list[tuple]) -> list:
    """What an update cannot change: the shape of a graph, and memsets of two dimensions."""
    return [node if node[0] == "fill_column" else node[0] for node in nodes]


def has_bodies(nodes: list[tuple]) -> bool:
    return any(node[0] in ("loop", "switch") for node in nodes)


class FakeGraph:
    def __init__(self, driver: FakeDriver, nodes: list[tuple]):
        self.driver, self.nodes = driver, nodes

    def launch(self, stream: int) -> None:
        self.driver._called("launch", self.driver.graphs.index(self), stream)
        nodes = self.nodes  # what an update makes of the graph is for later launches

        def start() -> None:
            self.driver.conditions = {}
            self.run(nodes)

        self.driver.gpu.enqueue(stream, start)

    def run(self, nodes: list[tuple]) -> None:
        for kind, *rest in nodes:
            getattr(self, "_" + kind)(*rest)

    def _launch(self, kernel: Callable, grid: Any, block: Any, shared_bytes: int, arguments: Any) -> None:
        check_used(*arguments)
        self.driver.clock += 1000
        kernel(*arguments)

    def _library(self, work: Callable[[], None]) -> None:
        work()

    def _copy(self, target: int, source: int, nbytes: int) -> None:
        check_used(target, source)
        ctypes.memmove(target, source, nbytes)

    def _fill(self, target: int, value: int, width: int, count: int) -> None:
        check_used(target)
        at(target, f"u{width}", count)[:] = value

    def _fill_column(self, target: int, value: int, pitch: int, count: int) -> None:
        for row in range(count):
            at(target + row * pitch, np.uint32, 1)[0] = value

    def _event(self, event: int) -> None:
        self.driver.events[event] = self.driver.clock

    def _loop(self, handle: int, inside: FakeRecorder) -> None:
        while self.driver.conditions[handle]:
            self.run(inside.nodes)

    def _switch(self, handle: int, inside: list[FakeRecorder]) -> None:
        self.run(inside[self.driver.conditions[handle]].nodes)


class FakeGpuArray:
    """An array of some framework on the fake GPU: DLPack says that it lies there, at whatever offset from an aligned address.

    The framework gives its memory out again as soon as nobody holds the array.
    """

    def __init__(self, array: Any, offset: int = 0):
        array = np.ascontiguousarray(array)
        self._raw = lend(array.nbytes + offset + 64)
        self.address = -(-self._raw.ctypes.data // 64) * 64 + offset
        self.host = at(self.address, array.dtype, array.size).reshape(array.shape)
        self.host[...] = array
        names = {"float32": "f32", "float64": "f64", "int32": "i32", "bool": "i1", "int8": "i8", "bfloat16": "bf16"}
        self.dtype = names[array.dtype.name]
        self.streams: list[int | None] = []

    def __del__(self) -> None:
        forget(self._raw)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, 0

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        self.streams.append(stream)
        return dlpack.give(self, self.address, (dlpack.CUDA, 0), self.dtype, self.host.shape)
