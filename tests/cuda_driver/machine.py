"""The emulated machine: what the driver's functions share.

After a fault the context is of no use, as on the real one: every call gives the fault's code.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .errors import Code, Fault, Refused, require
from .memory import Memory
from .schedule import Schedule, Work

if TYPE_CHECKING:
    from .calls import Function
    from .devices import Context
    from .streams import Stream

DEFAULT_STREAMS = 0, 1, 2
"""As callers name them: the legacy default stream, the same, and the thread's (which is taken for the legacy one)."""


class Machine:
    """One machine with its GPUs, just switched on. `executor` runs kernels (executor.py); `seed` draws the order of what may run."""

    def __init__(self, capability: int = 90, *, executor: Any = None, seed: int = 0, devices: int = 1):
        self.capability, self.executor, self.device_count = capability, executor, devices
        self.lock = threading.RLock()
        self.schedule, self.memory = Schedule(seed), Memory()
        self.calls: list[str] = []
        self.refusals: list[tuple[str, Code, str]] = []
        self.fault: Fault | None = None
        self.is_initialised = False
        self.thread = threading.local()
        self.objects: dict[int, Any] = {}
        self.primary: dict[int, Context] = {}
        self.streams: list[Stream] = []
        self.conditions: dict[int, int] = {}
        self.most_rounds = 100_000
        """After so many a loop is taken for one that does not end."""
        self._handles = itertools.count(0x7F0000001000, 0x100)

    def begin_again(self, seed: int) -> None:
        """Another order of what may run, and no fault; contexts and memory stay."""
        self.schedule.finish_all()
        self.schedule, self.fault = Schedule(seed), None
        self.calls, self.refusals = [], []

    # Calls.

    def enter(self, function: Function) -> None:
        """What every function of the driver looks at first."""
        self.calls.append(function.name)
        require(self.is_initialised or not function.needs_context, Code.NOT_INITIALIZED, "cuInit comes first")
        if function.needs_context:
            self.check_fault()
            require(self.context_stack, Code.INVALID_CONTEXT, "the calling thread has no current context")
        if function.unsafe and getattr(self.thread, "capture_mode", 0) != 2:
            for stream in self.streams:
                if stream.capture is not None and stream.capture.forbids():
                    stream.capture.is_invalid = True
                    raise Refused(Code.STREAM_CAPTURE_UNSUPPORTED, f"{function.name} while a stream is captured")

    def check_fault(self) -> None:
        if self.fault is not None:
            raise Refused(self.fault.code, str(self.fault))

    # Handles.

    def new_handle(self, made: Any) -> int:
        handle = next(self._handles)
        self.objects[handle] = made
        return handle

    def object(self, handle: int, kind: type | tuple[type, ...], code: Code = Code.INVALID_HANDLE) -> Any:
        """What a handle stands for. Raises Refused where it is gone, or of another kind."""
        found = self.objects.get(handle)
        require(isinstance(found, kind), code, f"{handle:#x} is no handle of {kind}, or of one that is gone")
        return found

    def drop_handle(self, handle: int, kind: type | tuple[type, ...]) -> Any:
        found = self.object(handle, kind)
        del self.objects[handle]
        return found

    # Contexts.

    @property
    def context_stack(self) -> list[Context]:
        """Those of the calling thread; the last one is current."""
        if not hasattr(self.thread, "contexts"):
            self.thread.contexts = []
        return self.thread.contexts

    @property
    def context(self) -> Context:
        return self.context_stack[-1]

    # Work.

    def enqueue(self, name: str, run: Callable[[], None], after: Iterable[Work]) -> Work:
        return self.schedule.add(Work(name, lambda: self._guarded(name, run), after))

    def _guarded(self, name: str, run: Callable[[], None]) -> None:
        """Nothing runs after a fault."""
        if self.fault is not None:
            return
        try:
            run()
        except Fault as fault:
            self.fault = Fault(f"{name}: {fault}", fault.code)
        except Exception as error:
            self.fault = Fault(f"{name}: {type(error).__name__}: {error}", Code.LAUNCH_FAILED)
            self.fault.__cause__ = error

    def finish(self, works: Iterable[Work]) -> None:
        """The host waits. Raises Refused where something went wrong."""
        self.schedule.finish(works)
        self.check_fault()
