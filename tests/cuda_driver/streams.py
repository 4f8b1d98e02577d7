"""Streams and events: what comes after what."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .calls import driver_call, put, put_int
from .devices import Context
from .errors import Code, require
from .machine import DEFAULT_STREAMS, Machine
from .nodes import EventRecord, Node
from .schedule import Work

if TYPE_CHECKING:
    from .capture import Capture

_NON_BLOCKING, _EXTERNAL, _DISABLE_TIMING = 1, 1, 2


@dataclass(eq=False)
class Stream:
    context: Context
    flags: int
    is_legacy: bool = False
    handle: int = 0
    tail: list[Work] = field(default_factory=list)
    """What work that is enqueued next comes after."""
    capture: Capture | None = None
    captured: list[Node] = field(default_factory=list)
    """The same while the stream is captured."""

    @property
    def blocks(self) -> bool:
        """Whether work on it and on the legacy default stream wait for each other."""
        return not self.flags & _NON_BLOCKING

    def enqueue(self, machine: Machine, name: str, run: Callable[[], None]) -> Work:
        after = list(self.tail)
        if self.blocks:
            others = [each for each in machine.streams if each.context is self.context and each.blocks]
            after += [work for each in others if self.is_legacy or each.is_legacy for work in each.tail]
        work = machine.enqueue(name, run, after)
        self.tail = [work]
        return work


@dataclass(eq=False)
class Event:
    context: Context
    flags: int
    work: Work | None = None
    """Where it was recorded last."""
    capture: Capture | None = None
    captured: list[Node] = field(default_factory=list)
    time_ns: int = 0


def find_stream(machine: Machine, handle: int) -> Stream:
    """The stream of that handle, in the current context. Raises Refused."""
    if handle not in DEFAULT_STREAMS:
        return machine.object(handle, Stream)
    found = next((each for each in machine.streams if each.is_legacy and each.context is machine.context), None)
    if found is None:
        found = Stream(machine.context, 0, is_legacy=True)
        machine.streams.append(found)
    return found


def submit(machine: Machine, handle: int, node: Node) -> None:
    """Enqueues the node's work on a stream, or makes the node part of the graph that the stream is captured into."""
    stream = find_stream(machine, handle)
    if stream.capture is not None:
        stream.capture.add(stream, node)
        return
    if stream.is_legacy:
        captured = [each for each in machine.streams if each.capture and each.blocks and each.context is stream.context]
        require(not captured, Code.STREAM_CAPTURE_IMPLICIT, "the legacy default stream would wait for one that is captured")
    node.check(machine)
    node.submitted(stream.enqueue(machine, str(node), lambda: node.run(machine)))


def _create(machine: Machine, stream: int, flags: int) -> None:
    require(flags in (0, _NON_BLOCKING), Code.INVALID_VALUE, f"flags {flags}")
    made = Stream(machine.context, flags)
    made.handle = machine.new_handle(made)
    machine.streams.append(made)
    put(stream, made.handle)


@driver_call("pu")
def cuStreamCreate(machine: Machine, stream: int, flags: int) -> None:
    _create(machine, stream, flags)


@driver_call("pui")
def cuStreamCreateWithPriority(machine: Machine, stream: int, flags: int, priority: int) -> None:
    _create(machine, stream, flags)


@driver_call("p")
def cuStreamDestroy(machine: Machine, stream: int) -> None:
    machine.streams.remove(machine.drop_handle(stream, Stream))


@driver_call("p")
def cuStreamSynchronize(machine: Machine, stream: int) -> None:
    found = find_stream(machine, stream)
    if found.capture is not None:
        found.capture.is_invalid = True
    require(found.capture is None, Code.STREAM_CAPTURE_UNSUPPORTED, "a stream that is captured cannot be waited for")
    others = [each for each in machine.streams if found.is_legacy and each.blocks]
    machine.finish([work for each in (found, *others) for work in each.tail])


@driver_call("p")
def cuStreamQuery(machine: Machine, stream: int) -> None:
    require(all(work.is_done for work in find_stream(machine, stream).tail), Code.NOT_READY, "work is left")


@driver_call("ppu")
def cuStreamWaitEvent(machine: Machine, stream: int, event: int, flags: int) -> None:
    found, waited = find_stream(machine, stream), machine.object(event, Event)
    require(flags == 0, Code.NOT_SUPPORTED, "only events of the capture itself are waited for in it")
    if waited.capture is not None:
        require(found.capture in (None, waited.capture), Code.STREAM_CAPTURE_MERGE, "the event is of another capture")
        waited.capture.join(found, waited.captured)
        return
    require(found.capture is None, Code.STREAM_CAPTURE_ISOLATION, "a captured stream waits for an event that no capture recorded")
    if waited.work is not None and not waited.work.is_done:
        found.tail = [*found.tail, waited.work]


@driver_call("pp")
def cuStreamGetCtx(machine: Machine, stream: int, context: int) -> None:
    put(context, find_stream(machine, stream).context.handle)


@driver_call("pp")
def cuStreamGetDevice(machine: Machine, stream: int, device: int) -> None:
    put_int(device, find_stream(machine, stream).context.device)


@driver_call("pp")
def cuStreamGetFlags(machine: Machine, stream: int, flags: int) -> None:
    put(flags, find_stream(machine, stream).flags, ctypes.c_uint32)


@driver_call("pp")
def cuStreamGetPriority(machine: Machine, stream: int, priority: int) -> None:
    put_int(priority, 0)


@driver_call("pu")
def cuEventCreate(machine: Machine, event: int, flags: int) -> None:
    put(event, machine.new_handle(Event(machine.context, flags)))


@driver_call("p")
def cuEventDestroy(machine: Machine, event: int) -> None:
    machine.drop_handle(event, Event)


@driver_call("pp")
def cuEventRecord(machine: Machine, event: int, stream: int) -> None:
    _record(machine, event, stream, 0)


@driver_call("ppu")
def cuEventRecordWithFlags(machine: Machine, event: int, stream: int, flags: int) -> None:
    _record(machine, event, stream, flags)


def _record(machine: Machine, event: int, stream: int, flags: int) -> None:
    recorded, found = machine.object(event, Event), find_stream(machine, stream)
    require(recorded.context is found.context, Code.INVALID_HANDLE, "event and stream are of different contexts")
    if found.capture is not None and not flags & _EXTERNAL:
        recorded.capture, recorded.captured, recorded.work = found.capture, list(found.captured), None
        return
    recorded.capture = None
    submit(machine, stream, EventRecord(recorded))


@driver_call("pp")
def cuCtxRecordEvent(machine: Machine, context: int, event: int) -> None:
    """Behind all that the context's streams hold."""
    recorded, of = machine.object(event, Event), machine.object(context, Context, Code.INVALID_CONTEXT)
    streams = [each for each in machine.streams if each.context is of]
    for stream in streams:
        if stream.capture is not None:
            stream.capture.is_invalid = True
    require(all(each.capture is None for each in streams), Code.STREAM_CAPTURE_UNSUPPORTED, "a stream of the context is captured")
    node = EventRecord(recorded)
    node.submitted(machine.enqueue(str(node), lambda: node.run(machine), [work for each in streams for work in each.tail]))


@driver_call("p", unsafe=True)
def cuEventQuery(machine: Machine, event: int) -> None:
    found = machine.object(event, Event)
    require(found.capture is None, Code.CAPTURED_EVENT, "the event was recorded by a capture")
    require(found.work is None or found.work.is_done, Code.NOT_READY, "the event has not happened")


@driver_call("p", unsafe=True)
def cuEventSynchronize(machine: Machine, event: int) -> None:
    found = machine.object(event, Event)
    require(found.capture is None, Code.CAPTURED_EVENT, "the event was recorded by a capture")
    machine.finish([found.work] if found.work else [])


@driver_call("ppp")
def cuEventElapsedTime(machine: Machine, milliseconds: int, begin: int, end: int) -> None:
    first, last = machine.object(begin, Event), machine.object(end, Event)
    require(not (first.flags | last.flags) & _DISABLE_TIMING, Code.INVALID_HANDLE, "an event without a time")
    require(first.work and last.work, Code.INVALID_HANDLE, "an event that was never recorded")
    require(first.work.is_done and last.work.is_done, Code.NOT_READY, "an event has not happened")
    ctypes.c_float.from_address(milliseconds).value = 1e-6 * (last.time_ns - first.time_ns)
