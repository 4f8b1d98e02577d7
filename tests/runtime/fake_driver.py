"""A stand-in for the CUDA driver: device memory is host memory, kernels are Python functions, graphs are lists of nodes that it interprets.

It has what runtime/cuda asks of a driver, keeps a log of what was called, and refuses what CUDA would (events in conditional bodies, memory
that is not its own).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hloom.runtime import dlpack
from hloom.runtime.cuda.conditions import PTX
from hloom.runtime.cuda.tensor_maps import TensorMap

_recorders: dict[int, FakeRecorder] = {}
"""Those that record, by the stream that a library is given."""


def enqueue(stream: int, work: Callable[[], None]) -> None:
    """What a library does with a stream that is captured: nothing now, the work whenever the graph runs."""
    _recorders[stream].add("library", work)


def at(address: int, dtype: Any, count: int) -> np.ndarray:
    """Device memory as an array."""
    dtype = np.dtype(dtype)
    return np.frombuffer((ctypes.c_uint8 * (dtype.itemsize * count)).from_address(address), dtype)


class FakeDriver:
    def __init__(self, kernels: dict[str, Callable] | None = None, capability: int = 90, version: int = 13000):
        self.kernels = kernels or {}
        self.name, self.capability, self.version, self.index = "Fake GPU", capability, version, 0
        self.log: list[tuple] = []
        self.memory: dict[int, np.ndarray] = {}
        self.shared: dict[str, int] = {}
        self.graphs: list[FakeGraph] = []
        self.live = 0
        self.fail_update = False
        self.clock = 0
        self.events: dict[int, int] = {}
        self._handles = 100

    def use(self) -> None:
        """There is one context."""

    def calls(self, *names: str) -> list[tuple]:
        return [entry for entry in self.log if entry[0] in names]

    # Memory.

    def allocate(self, nbytes: int) -> int:
        assert nbytes > 0
        raw = np.full(nbytes + 256, 0xCD, np.uint8)
        address = -(-raw.ctypes.data // 256) * 256
        self.memory[address] = raw
        self.log.append(("allocate", nbytes))
        return address

    def free(self, address: int) -> None:
        del self.memory[address]
        self.log.append(("free",))

    def allocate_on(self, stream: int, nbytes: int) -> int:
        return self.allocate(max(nbytes, 1))

    def free_on(self, stream: int, address: int) -> None:
        self.free(address)

    def upload(self, address: int, data: Any, stream: int) -> None:
        array = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        ctypes.memmove(address, array.ctypes.data, array.nbytes)
        self.log.append(("upload", array.nbytes, stream))

    def download(self, array: np.ndarray, address: int, stream: int) -> None:
        ctypes.memmove(array.ctypes.data, address, array.nbytes)
        self.log.append(("download", array.nbytes, stream))

    def copy(self, target: int, source: int, nbytes: int, stream: int) -> None:
        ctypes.memmove(target, source, nbytes)
        self.log.append(("copy", nbytes, stream))

    # Streams and events.

    def _handle(self) -> int:
        self._handles += 1
        return self._handles

    @functools.cached_property
    def stream(self) -> int:
        return self._handle()

    def synchronise(self, stream: int) -> None:
        self.log.append(("synchronise", stream))

    def new_event(self, timing: bool = False) -> int:
        return self._handle()

    def free_event(self, event: int) -> None:
        self.log.append(("free_event", event))

    def record(self, event: int, stream: int) -> None:
        self.log.append(("record", event, stream))

    def wait(self, stream: int, event: int) -> None:
        self.log.append(("wait", stream, event))

    def elapsed_ns(self, begin: int, end: int) -> int:
        return self.events[end] - self.events[begin]

    # Code and graphs.

    def load(self, code: bytes | str) -> str:
        self.log.append(("load", "ptx" if isinstance(code, str) else code))
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
        self.log.append(("capture",))
        return FakeRecorder(self)


class FakeCondition:
    def __init__(self, handle: int):
        self.handle = handle


class FakeRecorder:
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

    def launch(self, kernel: Callable, grid: Any, block: Any, shared_bytes: int, arguments: Any, maps: Any = ()) -> None:
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
        graph = FakeGraph(self.driver, self.nodes)
        self.driver.graphs.append(graph)
        self.driver.log.append(("instantiate",))
        return graph

    def update(self, graph: FakeGraph) -> bool:
        self.open = False
        same = kinds(graph.nodes) == kinds(self.nodes) and not self.driver.fail_update
        self.driver.log.append(("update", same))
        if same:
            graph.nodes = self.nodes
        return same

    def abandon(self) -> None:
        self.abandoned = True
        self.driver.log.append(("abandon",))


def kinds(nodes: list[tuple]) -> list:
    """The shape of a graph: what an update cannot change."""
    found: list = []
    for kind, *rest in nodes:
        bodies = [rest[1]] if kind == "loop" else rest[1] if kind == "switch" else []
        found.append((kind, [kinds(body.nodes) for body in bodies]))
    return found


class FakeGraph:
    def __init__(self, driver: FakeDriver, nodes: list[tuple]):
        self.driver, self.nodes = driver, nodes

    def launch(self, stream: int) -> None:
        self.driver.log.append(("launch", self.driver.graphs.index(self), stream))
        self.driver.conditions = {}
        self.run(self.nodes)

    def run(self, nodes: list[tuple]) -> None:
        for kind, *rest in nodes:
            getattr(self, "_" + kind)(*rest)

    def _launch(self, kernel: Callable, grid: Any, block: Any, shared_bytes: int, arguments: Any) -> None:
        self.driver.clock += 1000
        kernel(*arguments)

    def _library(self, work: Callable[[], None]) -> None:
        work()

    def _copy(self, target: int, source: int, nbytes: int) -> None:
        ctypes.memmove(target, source, nbytes)

    def _fill(self, target: int, value: int, width: int, count: int) -> None:
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
    """An array of some framework on the fake GPU: DLPack says that it lies there, at whatever offset from an aligned address."""

    def __init__(self, array: Any, offset: int = 0):
        array = np.ascontiguousarray(array)
        self._raw = np.zeros(array.nbytes + offset + 64, np.uint8)
        self.address = -(-self._raw.ctypes.data // 64) * 64 + offset
        self.host = at(self.address, array.dtype, array.size).reshape(array.shape)
        self.host[...] = array
        self.dtype = {"float32": "f32", "int32": "i32", "bool": "i1", "int8": "i8", "bfloat16": "bf16"}[array.dtype.name]
        self.streams: list[int | None] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, 0

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        self.streams.append(stream)
        return dlpack.give(self, self.address, (dlpack.CUDA, 0), self.dtype, self.host.shape)
