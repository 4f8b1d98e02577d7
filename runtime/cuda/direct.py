"""What each call of a program asks of the driver, by the addresses of its functions.

cuda-python's bindings take one to two microseconds for a call (arguments and statuses are objects), ctypes a third of one.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, byref, c_int, c_uint, c_void_p
from typing import Any

_POINTER, _OUT_INT, _OUT_POINTER = c_void_p, POINTER(c_int), POINTER(c_void_p)
_FUNCTIONS: dict[str, tuple[int, tuple[Any, ...]]] = {
    "cuCtxGetCurrent": (4000, (_OUT_POINTER,)),
    "cuThreadExchangeStreamCaptureMode": (10010, (_OUT_INT,)),
    "cuStreamIsCapturing": (10000, (_POINTER, _OUT_INT)),
    "cuStreamWaitEvent": (3020, (_POINTER, _POINTER, c_uint)),
    "cuEventRecord": (2000, (_POINTER, _POINTER)),
    "cuGraphLaunch": (10000, (_POINTER, _POINTER)),
}
"""By name the CUDA version of which it is, and its parameters."""


class Direct:
    """`call` calls a function of the bindings, `check` raises CudaError where a status is none of success."""

    def __init__(self, call: Callable[..., Any], check: Callable[[str, int], None]):
        self._check = check

        def function(name: str) -> Any:
            version, parameters = _FUNCTIONS[name]
            address, _ = call("cuGetProcAddress", name.encode(), version, 0)
            return CFUNCTYPE(c_int, *parameters)(address)

        self._context, self._exchange = function("cuCtxGetCurrent"), function("cuThreadExchangeStreamCaptureMode")
        self._is_capturing, self._wait = function("cuStreamIsCapturing"), function("cuStreamWaitEvent")
        self._record, self._launch = function("cuEventRecord"), function("cuGraphLaunch")

    def current_context(self) -> int:
        found = c_void_p()
        if status := self._context(byref(found)):
            self._check("cuCtxGetCurrent", status)
        return found.value or 0

    def exchange_capture_mode(self, mode: int) -> int:
        """Sets the calling thread's; gives what it was."""
        given = c_int(mode)
        if status := self._exchange(byref(given)):
            self._check("cuThreadExchangeStreamCaptureMode", status)
        return given.value

    def is_capturing(self, stream: int) -> bool:
        found = c_int()
        if status := self._is_capturing(stream, byref(found)):
            self._check("cuStreamIsCapturing", status)
        return found.value != 0

    def wait(self, stream: int, event: int) -> None:
        if status := self._wait(stream, event, 0):
            self._check("cuStreamWaitEvent", status)

    def record(self, event: int, stream: int) -> None:
        if status := self._record(event, stream):
            self._check("cuEventRecord", status)

    def launch(self, graph: int, stream: int) -> None:
        if status := self._launch(graph, stream):
            self._check("cuGraphLaunch", status)
