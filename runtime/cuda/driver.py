"""The CUDA driver as hloom uses it: memory, modules, streams and events of one GPU. All calls of cuda-python are here and in recorder.py.

Tests replace it (tests/runtime/fake_driver.py): `Driver`, `Recorder` and `Graph` are what a replacement has to have.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..artifact import Buffer
from ..errors import CudaError, MissingDriverError, MissingLibraryError
from .capture import Capture
from .direct import Direct
from .enqueuer import Enqueuer
from .libraries import checked
from .recorder import Recorder
from .requirements import INSTALL_DRIVER, require_driver

_STATIC_SHARED_BYTES = 48 << 10
"""More shared memory than this a kernel must ask for."""


class Driver:
    """One GPU, in its primary context, which other frameworks share. Addresses, streams and events are plain integers.

    What is called here, but for what gives something back, must be called inside of `with driver.current():`.
    """

    @checked("cuda.core", "opening the GPU")
    def __init__(self, index: int = 0):
        self._api, self._core = _import("cuda.bindings.driver"), _import("cuda.core")
        self._process, self.index = os.getpid(), index
        self._open(index)
        require_driver(self._call("cuDriverGetVersion"))
        self._direct = Direct(self._call, lambda function, status: self.check(function, self._api.CUresult(status)))
        self._relaxed = int(self._api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        self._context = int(self._call("cuDevicePrimaryCtxRetain", self._call("cuDeviceGet", index)))
        self._device = self._core.Device(index)
        with self.current():
            self._device.set_current()
            self.name: str = self._device.name
            major, minor = self._device.compute_capability
            self.capability: int = 10 * major + minor
            self.stream: int = self.new_stream()
            """For callers who bring none, as old as the process: results that outlive their program are freed on it."""
            self._last_stream = self.new_stream()
            self._waiting: deque[int] = deque()
            """Memory that is freed there, behind all that may still use it."""

    def _open(self, index: int) -> None:
        try:
            status, *_ = self._api.cuInit(0)
        except Exception as error:
            raise MissingDriverError(f"the NVIDIA driver (libcuda.so.1) is not there: {error}", remedy=INSTALL_DRIVER) from None
        if status:
            raise MissingDriverError(f"the NVIDIA driver does not start: {self._describe(status)}", remedy=INSTALL_DRIVER)
        count = self._call("cuDeviceGetCount")
        if index >= count:
            raise MissingDriverError(f"there is no GPU {index}: the driver finds {count}", remedy=INSTALL_DRIVER)

    def _describe(self, status: Any) -> str:
        texts = [self._api.cuGetErrorName(status)[1], self._api.cuGetErrorString(status)[1]]
        return ": ".join(text.decode() if isinstance(text, bytes) else str(text) for text in texts if text)

    def _call(self, function: str, *arguments: Any) -> Any:
        """Calls the driver; returns what it gives beside the status. Raises CudaError with the driver's own words."""
        status, *values = getattr(self._api, function)(*arguments)
        self.check(function, status)
        return values[0] if len(values) == 1 else values or None

    def check(self, function: str, status: Any) -> None:
        """Raises CudaError if that is what a call of the function gave."""
        if status:
            raise CudaError(f"{function} failed on GPU {self.index}: {self._describe(status)}")

    def current(self) -> _Current:
        """Makes this GPU's context the calling thread's for the time of a block, and then the one that was.

        Nor does what is called in the block, on streams of ours, disturb a capture of somebody else's.
        """
        if os.getpid() != self._process:
            raise CudaError("this process was forked from one that used the GPU: it cannot use it", remedy="start it by 'spawn'")
        return _Current(self)

    # Memory.

    def allocate(self, nbytes: int) -> int:
        return int(self._call("cuMemAlloc", nbytes))

    def free(self, address: int) -> None:
        self._release(lambda: self._call("cuMemFree", address))

    def allocate_on(self, stream: int, nbytes: int) -> int:
        """Memory that work enqueued on the stream from now on may use."""
        return int(self._call("cuMemAllocAsync", max(nbytes, 1), self._stream(stream)))

    def free_on(self, stream: int, address: int) -> None:
        """Gives the memory back once what is enqueued on the stream by now has run."""
        self._release(lambda: self._call("cuMemFreeAsync", address, self._stream(stream)))

    def free_later(self, address: int) -> None:
        """As `free_on`, for memory that others use on streams that are not known, or are gone by now: `free_waiting` frees it.

        Calls nothing of CUDA: it may be called by whoever is done with the memory, in the midst of a capture too.
        """
        self._waiting.append(address)

    def free_waiting(self) -> None:
        """Gives back what waits, once all that is enqueued by now has run, on whatever stream; where that cannot be told it waits on."""
        if not self._waiting or self._is_capturing():
            return
        event = self.new_event()
        addresses = []  # taken first: what another thread adds from now on may be used by work that comes later
        with contextlib.suppress(IndexError):
            while True:
                addresses.append(self._waiting.popleft())
        try:
            self._call("cuCtxRecordEvent", self._context, self._api.CUevent(event))
            self.wait(self._last_stream, event)
        except CudaError:
            self._waiting.extend(addresses)
        else:
            for address in addresses:
                self.free_on(self._last_stream, address)
        self.free_event(event)

    def _is_capturing(self) -> bool:
        """Whether this thread captures a graph of torch's, which recording an event of the whole context would break."""
        torch = sys.modules.get("torch")
        return torch is not None and torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()

    def _release(self, free: Callable[[], Any]) -> None:
        """Frees something, from whichever thread the garbage collector runs in, at exit too, when the driver may be gone."""
        try:
            with self.current():
                free()
        except Exception:  # no contextlib: at exit it may be gone
            pass

    def upload(self, address: int, data: Buffer | np.ndarray, stream: int, wait: bool = True) -> None:
        """From host memory, which may be reused when this returns; without `wait`, once the stream has been waited for."""
        array = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
        if array.nbytes:
            self._call("cuMemcpyHtoDAsync", address, array.ctypes.data, array.nbytes, self._stream(stream))
            if wait:
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

    def new_stream(self) -> int:
        return int(self._call("cuStreamCreate", self._api.CUstream_flags.CU_STREAM_NON_BLOCKING.value))

    def free_stream(self, stream: int) -> None:
        self._release(lambda: self._call("cuStreamDestroy", self._stream(stream)))

    def is_captured(self, stream: int) -> bool:
        """Whether what is enqueued on the stream becomes part of somebody's graph instead of running."""
        return self._direct.is_capturing(stream)

    def synchronise(self, stream: int) -> None:
        self._call("cuStreamSynchronize", self._stream(stream))

    def new_event(self, timing: bool = False) -> int:
        flags = self._api.CUevent_flags
        return int(self._call("cuEventCreate", (flags.CU_EVENT_DEFAULT if timing else flags.CU_EVENT_DISABLE_TIMING).value))

    def free_event(self, event: int) -> None:
        """The event may still be waited for: the driver lets it go when that is over."""
        self._release(lambda: self._call("cuEventDestroy", self._api.CUevent(event)))

    def record(self, event: int, stream: int) -> None:
        self._direct.record(event, stream)

    def wait(self, stream: int, event: int) -> None:
        """Work enqueued on the stream from now on waits for the event; the host does not."""
        self._direct.wait(stream, event)

    def has_happened(self, event: int) -> bool:
        """Whether what the event was recorded behind has run; True for one that was never recorded."""
        status, *_ = self._api.cuEventQuery(self._api.CUevent(event))
        if status == self._api.CUresult.CUDA_ERROR_NOT_READY:
            return False
        self.check("cuEventQuery", status)
        return True

    def await_event(self, event: int) -> None:
        """The host waits."""
        self._call("cuEventSynchronize", self._api.CUevent(event))

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
        return Recorder.begin_graph(self, self._device)

    def enqueuer(self, stream: int) -> Enqueuer:
        """For work that no graph holds."""
        return Enqueuer(self, stream)

    def capture(self) -> Capture:
        """The same for a program without loops and branches."""
        return Capture(self)

    def free_graph(self, handle: int) -> None:
        """One that Capture made; what of it runs still does."""
        self._release(lambda: self._call("cuGraphExecDestroy", self._api.CUgraphExec(handle)))

    def launch(self, graph: int, stream: int) -> None:
        """Enqueues a graph that is ready to be launched."""
        self._direct.launch(graph, stream)

    def call(self, function: str, *arguments: Any) -> Any:
        """For Recorder and Graph: a call of the driver's API."""
        return self._call(function, *arguments)

    @property
    def api(self) -> Any:
        """For them: the bindings."""
        return self._api

    @property
    def core(self) -> Any:
        """For them: cuda.core."""
        return self._core


class _Current:
    """The block of `Driver.current`; a class, for each call of a program is inside one."""

    __slots__ = ("_before", "_driver", "_mode")

    def __init__(self, driver: Driver):
        self._driver = driver

    def __enter__(self) -> None:
        driver = self._driver
        self._before = driver._direct.current_context()
        if self._before != driver._context:
            driver._call("cuCtxSetCurrent", driver._context)
        self._mode = driver._direct.exchange_capture_mode(driver._relaxed)

    def __exit__(self, *error: object) -> None:
        driver = self._driver
        if self._before != driver._context:
            driver._api.cuCtxSetCurrent(driver._api.CUcontext(self._before))
        with contextlib.suppress(CudaError):  # what went wrong before is told
            driver._direct.exchange_capture_mode(self._mode)


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingLibraryError(f"{module} cannot be imported: {error}", remedy="pip install 'hloom[cuda]'") from None


@functools.cache
def default_driver() -> Driver:
    """The first GPU, opened once."""
    return Driver(0)
