"""The CUDA driver as hloom uses it: memory, modules, streams, events and graphs of one GPU. All calls of cuda-python are in this file.

Tests replace it (tests/runtime/fake_driver.py): `Driver`, `Recorder` and `Graph` are what a replacement has to have.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..artifact import Buffer
from ..errors import CudaError, MissingDriverError, MissingLibraryError
from .tensor_maps import TensorMap

_STATIC_SHARED_BYTES = 48 << 10
"""More shared memory than this a kernel must ask for."""
_TENSOR_MAP_TYPES = {"f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32"}
"""Where f32 is multiplied as tf32 the tensor cores drop the low bits themselves."""


class Driver:
    """One GPU, in its primary context, which other frameworks share. Addresses, streams and events are plain integers."""

    def __init__(self, index: int = 0):
        self._api, self._core = _import("cuda.bindings.driver"), _import("cuda.core")
        self._open(index)
        self.index = index
        self.version: int = self._call("cuDriverGetVersion")
        self._device = self._core.Device(index)
        self._device.set_current()
        self.name: str = self._device.name
        major, minor = self._device.compute_capability
        self.capability: int = 10 * major + minor

    def _open(self, index: int) -> None:
        remedy = "install the NVIDIA driver (570 or newer) and check that nvidia-smi lists the GPU; or compile with --target=cpu"
        try:
            status, *_ = self._api.cuInit(0)
        except Exception as error:
            raise MissingDriverError(f"the NVIDIA driver (libcuda.so.1) is not there: {error}", remedy=remedy) from None
        if status:
            raise MissingDriverError(f"the NVIDIA driver does not start: {self._describe(status)}", remedy=remedy)
        count = self._call("cuDeviceGetCount")
        if index >= count:
            raise MissingDriverError(f"there is no GPU {index}: the driver finds {count}", remedy=remedy)

    def _describe(self, status: Any) -> str:
        texts = [self._api.cuGetErrorName(status)[1], self._api.cuGetErrorString(status)[1]]
        return ": ".join(text.decode() if isinstance(text, bytes) else str(text) for text in texts if text)

    def _call(self, function: str, *arguments: Any) -> Any:
        """Calls the driver; returns what it gives beside the status. Raises CudaError with the driver's own words."""
        status, *values = getattr(self._api, function)(*arguments)
        if status:
            raise CudaError(f"{function} failed on GPU {self.index if hasattr(self, 'index') else '?'}: {self._describe(status)}")
        return values[0] if len(values) == 1 else values or None

    def use(self) -> None:
        """Makes this GPU's context the calling thread's."""
        self._device.set_current()

    # Memory.

    def allocate(self, nbytes: int) -> int:
        return int(self._call("cuMemAlloc", nbytes))

    def free(self, address: int) -> None:
        self._release("cuMemFree", address)

    def allocate_on(self, stream: int, nbytes: int) -> int:
        """Memory that work enqueued on the stream from now on may use."""
        return int(self._call("cuMemAllocAsync", max(nbytes, 1), self._stream(stream)))

    def free_on(self, stream: int, address: int) -> None:
        """Gives the memory back once what is enqueued on the stream by now has run."""
        self._release("cuMemFreeAsync", address, self._stream(stream))

    def _release(self, function: str, *arguments: Any) -> None:
        """Frees something, from whichever thread the garbage collector runs in, at exit too, when the driver may be gone."""
        with contextlib.suppress(Exception):
            self.use()
            self._call(function, *arguments)

    def upload(self, address: int, data: Buffer | np.ndarray, stream: int) -> None:
        """From host memory, which may be reused when this returns."""
        array = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
        if array.nbytes:
            self._call("cuMemcpyHtoDAsync", address, array.ctypes.data, array.nbytes, self._stream(stream))
            self.synchronise(stream)

    def download(self, array: np.ndarray, address: int, stream: int) -> None:
        """Fills a host array; waits for the stream."""
        if array.nbytes:
            self._call("cuMemcpyDtoHAsync", array.ctypes.data, address, array.nbytes, self._stream(stream))
        self.synchronise(stream)

    def copy(self, target: int, source: int, nbytes: int, stream: int) -> None:
        if nbytes:
            self._call("cuMemcpyDtoDAsync", target, source, nbytes, self._stream(stream))

    # Streams and events.

    @functools.cached_property
    def stream(self) -> int:
        """A stream for callers who bring none, as old as the process: results that outlive their program are freed on it."""
        return int(self._call("cuStreamCreate", self._api.CUstream_flags.CU_STREAM_NON_BLOCKING.value))

    def synchronise(self, stream: int) -> None:
        self._call("cuStreamSynchronize", self._stream(stream))

    def new_event(self, timing: bool = False) -> int:
        flags = self._api.CUevent_flags
        return int(self._call("cuEventCreate", (flags.CU_EVENT_DEFAULT if timing else flags.CU_EVENT_DISABLE_TIMING).value))

    def free_event(self, event: int) -> None:
        """The event may still be waited for: the driver lets it go when that is over."""
        self._release("cuEventDestroy", self._api.CUevent(event))

    def record(self, event: int, stream: int) -> None:
        self._call("cuEventRecord", self._api.CUevent(event), self._stream(stream))

    def wait(self, stream: int, event: int) -> None:
        """Work enqueued on the stream from now on waits for the event; the host does not."""
        self._call("cuStreamWaitEvent", self._stream(stream), self._api.CUevent(event), 0)

    def elapsed_ns(self, begin: int, end: int) -> int:
        """Between two timing events that have happened."""
        return round(1e6 * self._call("cuEventElapsedTime", self._api.CUevent(begin), self._api.CUevent(end)))

    def _stream(self, stream: int) -> Any:
        return self._api.CUstream(stream)

    # Code.

    def load(self, code: bytes | str) -> Any:
        """A module from a cubin, or from PTX text, which is assembled for this GPU (by nvJitLink, or else by the driver)."""
        object_code = self._core.ObjectCode
        try:
            if isinstance(code, str):
                options = self._core.LinkerOptions(arch=f"sm_{self.capability}")
                return self._core.Linker(object_code.from_ptx(code.encode()), options=options).link("cubin")
            return object_code.from_cubin(code)
        except Exception as error:
            raise CudaError(f"the driver does not load the program's code: {error}", remedy="compile the program again") from None

    def kernel(self, module: Any, name: str, dynamic_shared_bytes: int = 0) -> Any:
        """The kernel of that name, allowed that much dynamic shared memory."""
        try:
            kernel = module.get_kernel(name)
        except Exception as error:
            raise CudaError(f"the program's code has no kernel {name!r}: {error}", remedy="compile the program again") from None
        if dynamic_shared_bytes > _STATIC_SHARED_BYTES:
            attribute = self._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = self._call("cuDeviceGet", self.index)
            self._call("cuKernelSetAttribute", attribute, dynamic_shared_bytes, kernel.handle, device)
        return kernel

    # Graphs.

    def recorder(self) -> Recorder:
        """Starts to record a graph."""
        return Recorder(self, self._device.create_graph_builder().begin_building("relaxed"))

    def call(self, function: str, *arguments: Any) -> Any:
        """For Recorder and Graph: a call of the driver's API."""
        return self._call(function, *arguments)


class Recorder:
    """Records work, in order, into a graph or into the body of one of its conditional nodes."""

    def __init__(self, driver: Driver, builder: Any, in_body: bool = False):
        self._driver, self._builder, self.in_body = driver, builder, in_body
        self._api, self._core = driver._api, driver._core

    @property
    def stream(self) -> int:
        """The stream that is captured: work that a library enqueues there becomes part of the graph."""
        return int(self._builder.stream.handle)

    def launch(
        self,
        kernel: Any,
        grid: Sequence[int],
        block: Sequence[int],
        shared_bytes: int,
        arguments: Sequence[Any],
        maps: Sequence[Any] = (),
    ) -> None:
        """`arguments`: addresses and other 64-bit values as int, narrower ones as NumPy scalars; then `maps`, which `encode` gave."""
        if maps:
            self._launch_with_maps(kernel, grid, block, shared_bytes, arguments, maps)
            return
        config = self._core.LaunchConfig(grid=tuple(grid), block=tuple(block), shmem_size=shared_bytes)
        self._core.launch(self._builder, config, kernel, *arguments)

    def encode(self, tensor: TensorMap, address: int) -> Any:
        """The tensor map of a tensor that begins at that address, for the launches that are recorded."""
        api, reverse = self._api, slice(None, None, -1)  # the driver's dimensions go innermost first
        kinds, swizzles = api.CUtensorMapDataType, api.CUtensorMapSwizzle
        return self._driver.call(
            "cuTensorMapEncodeTiled",
            getattr(kinds, f"CU_TENSOR_MAP_DATA_TYPE_{_TENSOR_MAP_TYPES[tensor.dtype]}"),
            len(tensor.extents),
            address,
            [api.cuuint64_t(n) for n in tensor.extents[reverse]],
            [api.cuuint64_t(n) for n in tensor.strides[-2::-1]],
            [api.cuuint32_t(n) for n in tensor.box[reverse]],
            [api.cuuint32_t(1)] * len(tensor.box),
            api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(swizzles, f"CU_TENSOR_MAP_SWIZZLE_{tensor.swizzle}B"),
            api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            api.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )

    def _launch_with_maps(
        self, kernel: Any, grid: Sequence[int], block: Sequence[int], shared_bytes: int, addresses: Sequence[int], maps: Sequence[Any]
    ) -> None:
        """Without cuda.core, which takes no tensor maps by value; the driver copies all parameters before it returns."""
        values = (ctypes.c_uint64 * len(addresses))(*addresses)
        first, size = ctypes.addressof(values), ctypes.sizeof(ctypes.c_uint64)
        pointers = [first + size * i for i in range(len(addresses))] + [int(encoded.getPtr()) for encoded in maps]
        parameters = (ctypes.c_void_p * len(pointers))(*pointers)
        function, stream = self._api.CUfunction(int(kernel.handle)), self._api.CUstream(self.stream)
        self._driver.call("cuLaunchKernel", function, *grid, *block, shared_bytes, stream, ctypes.addressof(parameters), 0)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        self._driver.copy(target, source, nbytes, self.stream)

    def fill(self, target: int, value: int, width: int, count: int) -> None:
        """`count` elements of 1, 2 or 4 bytes, each of that (unsigned) value."""
        self._driver.call(f"cuMemsetD{8 * width}Async", target, value, count, self._api.CUstream(self.stream))

    def fill_column(self, target: int, value: int, *, pitch: int, count: int) -> None:
        """`count` elements of 4 bytes, one every `pitch` bytes."""
        self._driver.call("cuMemsetD2D32Async", target, pitch, value, 1, count, self._api.CUstream(self.stream))

    def record(self, event: int) -> None:
        """Records a timing event each time the graph runs; not possible in the body of a conditional node."""
        external = self._api.CUevent_record_flags.CU_EVENT_RECORD_EXTERNAL
        self._driver.call("cuEventRecordWithFlags", self._api.CUevent(event), self._api.CUstream(self.stream), external.value)

    def condition(self) -> Condition:
        return Condition(self._builder.create_condition())

    def loop(self, condition: Condition) -> Recorder:
        """A body that runs as long as the condition holds; the caller must `close` it."""
        return Recorder(self._driver, self._builder.while_loop(condition.object).begin_building(), in_body=True)

    def branches(self, condition: Condition, count: int) -> list[Recorder]:
        """Bodies of which the condition's value chooses one; each is to be recorded and closed before the next is begun."""
        return [Recorder(self._driver, builder, in_body=True) for builder in self._builder.switch(condition.object, count)]

    def begin(self) -> None:
        """Begins a body that `branches` gave."""
        self._builder.begin_building()

    def close(self) -> None:
        """Ends the recording of a body."""
        self._builder.end_building()

    def finish(self) -> Graph:
        """Ends the recording of a whole graph and makes it executable."""
        return Graph(self._driver, self._end().complete())

    def update(self, graph: Graph) -> bool:
        """Ends the recording and makes `graph` do what was recorded; False where the two differ by more than arguments."""
        try:
            graph.object.update(self._end())
        except Exception as error:
            if "UPDATE_FAILURE" in str(error) or "update" in str(error).lower():
                return False
            raise CudaError(f"a graph cannot be updated: {error}") from None
        return True

    def abandon(self) -> None:
        """Gives up what was recorded."""
        self._builder.close()

    def _end(self) -> Any:
        return self._builder.end_building() if self._builder.is_building else self._builder


class Condition:
    """What a conditional node goes by; device code sets it through its handle."""

    def __init__(self, object_: Any):
        self.object = object_
        self.handle = int(object_.handle)


class Graph:
    """A graph ready to be launched."""

    def __init__(self, driver: Driver, object_: Any):
        self._driver, self.object = driver, object_

    def launch(self, stream: int) -> None:
        api = self._driver._api
        self._driver.call("cuGraphLaunch", self.object.handle, api.CUstream(stream))


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingLibraryError(f"{module} cannot be imported: {error}", remedy="pip install 'hloom[cuda]'") from None


@functools.cache
def default_driver() -> Driver:
    """The first GPU, opened once."""
    return Driver(0)
