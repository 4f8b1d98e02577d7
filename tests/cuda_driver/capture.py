"""Streams that are captured: what is enqueued on them becomes nodes of a graph."""

from __future__ import annotations

import ctypes
import threading
from enum import IntEnum

from .calls import driver_call, get, get_all, put, put_int
from .errors import Code, require
from .graphs import Graph
from .machine import Machine
from .nodes import Node
from .streams import Stream, find_stream


class Mode(IntEnum):
    GLOBAL = 0
    THREAD_LOCAL = 1
    RELAXED = 2


class Capture:
    """Of one graph, by the streams that have joined."""

    def __init__(self, graph: Graph, mode: Mode, origin: Stream):
        self.graph, self.mode, self.origin, self.thread = graph, mode, origin, threading.get_ident()
        self.streams = [origin]
        self.is_invalid = False
        self._kept: list[object] = []

    def forbids(self) -> bool:
        """Whether the calling thread must not do what is unsafe."""
        return self.mode == Mode.GLOBAL or (self.mode == Mode.THREAD_LOCAL and self.thread == threading.get_ident())

    def add(self, stream: Stream, node: Node) -> None:
        require(not self.is_invalid, Code.STREAM_CAPTURE_INVALIDATED, "something forbidden was called during the capture")
        node.after = list(stream.captured)
        self.graph.add(node)
        stream.captured = [node]

    def join(self, stream: Stream, nodes: list[Node]) -> None:
        if stream.capture is None:
            stream.capture = self
            self.streams.append(stream)
        stream.captured = [*stream.captured, *(node for node in nodes if node not in stream.captured)]

    def end(self) -> None:
        for stream in self.streams:
            stream.capture, stream.captured = None, []

    def is_joined(self) -> bool:
        """Whether the origin comes after all that the other streams did."""
        return set(self.graph.ends()) <= set(self.origin.captured)

    def dependencies(self, stream: Stream) -> tuple[int, int, int]:
        """The nodes that the next comes after: their handles' address, their edges', their number."""
        count = len(stream.captured)
        handles = (ctypes.c_uint64 * max(count, 1))(*(self.graph.handles[node] for node in stream.captured))
        edges = (ctypes.c_uint64 * max(count, 1))()
        self._kept = [handles, edges]
        return ctypes.addressof(handles), ctypes.addressof(edges), count


def _begin(machine: Machine, stream: int, graph: Graph, mode: int, after: list[Node]) -> None:
    found = find_stream(machine, stream)
    require(not found.is_legacy, Code.STREAM_CAPTURE_UNSUPPORTED, "the legacy default stream cannot be captured")
    require(found.capture is None, Code.ILLEGAL_STATE, "the stream is captured already")
    found.capture, found.captured = Capture(graph, Mode(mode), found), after


@driver_call("pi")
def cuStreamBeginCapture(machine: Machine, stream: int, mode: int) -> None:
    _begin(machine, stream, Graph(machine), mode, [])


@driver_call("ppppui")
def cuStreamBeginCaptureToGraph(machine: Machine, stream: int, graph: int, nodes: int, edges: int, count: int, mode: int) -> None:
    found = machine.object(graph, Graph)
    _begin(machine, stream, found, mode, [found.node(handle) for handle in get_all(nodes, count)])


@driver_call("pp")
def cuStreamEndCapture(machine: Machine, stream: int, graph: int) -> None:
    found = find_stream(machine, stream)
    capture = found.capture
    require(capture is not None, Code.ILLEGAL_STATE, "the stream is not captured")
    require(capture.origin is found, Code.STREAM_CAPTURE_UNMATCHED, "the capture began on another stream")
    wrong = capture.mode != Mode.RELAXED and capture.thread != threading.get_ident()
    require(not wrong, Code.STREAM_CAPTURE_WRONG_THREAD, "the capture began in another thread")
    joined = capture.is_joined()
    capture.end()
    put(graph, 0)
    require(not capture.is_invalid, Code.STREAM_CAPTURE_INVALIDATED, "something forbidden was called during the capture")
    require(joined, Code.STREAM_CAPTURE_UNJOINED, "a stream that joined the capture did work that the first does not wait for")
    put(graph, capture.graph.handle)


@driver_call("pp")
def cuStreamIsCapturing(machine: Machine, stream: int, status: int) -> None:
    put_int(status, _status(find_stream(machine, stream)))


def _status(stream: Stream) -> int:
    return 0 if stream.capture is None else 1 + stream.capture.is_invalid


@driver_call("ppppppp")
def cuStreamGetCaptureInfo(machine: Machine, stream: int, status: int, number: int, graph: int, nodes: int, edges: int, count: int) -> None:
    found = find_stream(machine, stream)
    put_int(status, _status(found))
    if found.capture is None:
        return
    first, first_edge, size = found.capture.dependencies(found)
    for place, value in ((number, found.capture.graph.handle), (graph, found.capture.graph.handle), (nodes, first), (edges, first_edge)):
        put(place, value)
    put(count, size)


@driver_call("ppppu")
def cuStreamUpdateCaptureDependencies(machine: Machine, stream: int, nodes: int, edges: int, count: int, flags: int) -> None:
    found = find_stream(machine, stream)
    require(found.capture is not None, Code.ILLEGAL_STATE, "the stream is not captured")
    given = [found.capture.graph.node(handle) for handle in get_all(nodes, count)]
    found.captured = given if flags == 1 else [*found.captured, *given]


@driver_call("p", context=False)
def cuThreadExchangeStreamCaptureMode(machine: Machine, mode: int) -> None:
    before = getattr(machine.thread, "capture_mode", Mode.GLOBAL)
    machine.thread.capture_mode = Mode(get(mode, ctypes.c_uint32))
    put(mode, before, ctypes.c_uint32)
