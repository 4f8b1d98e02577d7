"""CUDA graphs: what is recorded into one, and one that can be launched.

Work is captured from a stream (cuda.core's builders); each body of a conditional node is captured from one of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import CudaError
from .libraries import checked
from .tensor_maps import TensorMap

_recording = checked("cuda.core", "recording a graph")
_MAP_TYPES = {"i8": "UINT8", "f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32"}
"""Where f32 is multiplied as tf32 the tensor cores drop the low bits themselves."""
_MAP_BYTES = _MAP_ALIGNMENT = 128
_ENCODE = "cuTensorMapEncodeTiled", 12000
"""And the CUDA version of which it is."""
_ENCODE_ARGUMENTS = (
    ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
    ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int,
)  # fmt: skip


def packed(arguments: Sequence[Any], maps: Sequence[EncodedMap] = ()) -> tuple[Any, Any]:
    """A kernel's parameters as the driver takes them: an array of where each stands; and what must live as long."""
    values = [np.uint64(value) if isinstance(value, int) else value for value in arguments]
    array = np.zeros(len(values), np.uint64)
    for number, value in enumerate(values):
        array[number : number + 1].view(value.dtype)[0] = value
    places = [array.ctypes.data + 8 * number for number in range(len(values))] + [encoded.address for encoded in maps]
    return (ctypes.c_void_p * len(places))(*places), (array, maps)


class EncodedMap(NamedTuple):
    """A tensor map in the host's memory, aligned as the driver wants it; launches copy it."""

    address: int
    memory: Any


class Recorder:
    """Records work, in order, into a graph or into the body of one of its conditional nodes."""

    is_direct = False
    """Whether the work is done by what is enqueued now, and loops and branches are the host's (enqueuer.py)."""

    def __init__(self, driver: Any, builder: Any, outer: Recorder | None = None):
        self._driver, self._builder, self.in_body = driver, builder, outer is not None
        self._api, self._core = driver.api, driver.core
        self._bodies: list[Any] = outer._bodies if outer else []
        """The builders of all bodies of the graph, those around others first."""

    @staticmethod
    @_recording
    def begin_graph(driver: Any, device: Any) -> Recorder:
        return Recorder(driver, device.create_graph_builder().begin_building("relaxed"))

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
        maps: Sequence[EncodedMap] = (),
        cooperative: bool = False,
    ) -> None:
        """`arguments`: addresses and other 64-bit values as int, narrower ones as NumPy scalars; then `maps`, which `encode` gave.
        `cooperative`: the blocks wait for each other, so that all must be there at once.

        Not by cuda.core's launch: a graph that it recorded takes the host and the GPU 3 microseconds more at each launch (H200, driver 580;
        it keeps what it launched in the graph), and it takes no tensor maps by value. The driver copies the parameters before it returns.
        """
        parameters, _kept = packed(arguments, maps)
        function, stream = self._api.CUfunction(int(kernel.handle)), self._api.CUstream(self.stream)
        given = (function, *grid, *block, shared_bytes, stream, ctypes.addressof(parameters))
        if cooperative:
            self._driver.call("cuLaunchCooperativeKernel", *given)
        else:
            self._driver.call("cuLaunchKernel", *given, 0)

    def encode(self, tensor: TensorMap, address: int) -> EncodedMap:
        """The tensor map of a tensor that begins at that address, for the launches that are recorded.

        cuda-python has the driver write it into an object that lies where it happens to; the driver wants it aligned. So the driver's own
        function is called, on memory that is.
        """
        memory = (ctypes.c_uint8 * (_MAP_BYTES + _MAP_ALIGNMENT))()
        place = -(-ctypes.addressof(memory) // _MAP_ALIGNMENT) * _MAP_ALIGNMENT
        api, rank, reverse = self._api, len(tensor.extents), slice(None, None, -1)  # the driver's dimensions go innermost first
        kinds, swizzles = api.CUtensorMapDataType, api.CUtensorMapSwizzle
        function, _ = self._driver.call("cuGetProcAddress", _ENCODE[0].encode(), _ENCODE[1], 0)
        status = ctypes.CFUNCTYPE(ctypes.c_int, *_ENCODE_ARGUMENTS)(function)(
            place,
            int(getattr(kinds, f"CU_TENSOR_MAP_DATA_TYPE_{_MAP_TYPES[tensor.dtype]}")),
            rank,
            address,
            (ctypes.c_uint64 * rank)(*tensor.extents[reverse]),
            (ctypes.c_uint64 * rank)(*tensor.strides[-2::-1]),
            (ctypes.c_uint32 * rank)(*tensor.box[reverse]),
            (ctypes.c_uint32 * rank)(*[1] * rank),
            int(api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE),
            int(getattr(swizzles, f"CU_TENSOR_MAP_SWIZZLE_{tensor.swizzle}B")),
            int(api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B),
            int(api.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
        )
        self._driver.check(_ENCODE[0], api.CUresult(status))
        return EncodedMap(place, memory)

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

    @_recording
    def condition(self) -> Condition:
        return Condition(self._builder.create_condition())

    @_recording
    def loop(self, condition: Condition) -> Recorder:
        """A body that runs as long as the condition holds; the caller must `close` it."""
        return self._body(self._builder.while_loop(condition.object).begin_building())

    @_recording
    def branches(self, condition: Condition, count: int) -> list[Recorder]:
        """Bodies of which the condition's value chooses one; each is to be recorded and closed before the next is begun."""
        return [self._body(builder) for builder in self._builder.switch(condition.object, count)]

    def _body(self, builder: Any) -> Recorder:
        self._bodies.append(builder)
        return Recorder(self._driver, builder, self)

    @_recording
    def begin(self) -> None:
        """Begins a body that `branches` gave."""
        self._builder.begin_building()

    @_recording
    def close(self) -> None:
        """Ends the recording of a body."""
        self._builder.end_building()

    @checked("cuda.core", "making a graph executable")
    def finish(self) -> Graph:
        """Ends the recording of a whole graph and makes it executable."""
        return Graph(self._driver, self._end().complete())

    def update(self, graph: Graph) -> bool:
        """Ends the recording and makes `graph` do what was recorded; False where the two differ by more than arguments.

        A graph with conditional nodes is not updated: each recording has condition handles of its own, and whether the driver takes those
        of one for those of the other is not known.
        """
        if self._bodies:
            return False
        try:
            graph.object.update(self._end())
        except Exception as error:
            if "GRAPH_EXEC_UPDATE" in str(error):
                return False
            raise CudaError(f"a graph cannot be updated: {error}") from None
        return True

    def abandon(self) -> None:
        """Gives up what was recorded: the bodies that are captured still, then the graph that they are in. Raises nothing."""
        for builder in (*reversed(self._bodies), self._builder):
            with contextlib.suppress(Exception):
                builder.close()

    def _end(self) -> Any:
        return self._builder.end_building() if self._builder.is_building else self._builder


class Condition:
    """What a conditional node goes by; device code sets it through its handle."""

    def __init__(self, object_: Any):
        self.object = object_
        self.handle = int(object_.handle)


class Graph:
    """A graph ready to be launched."""

    def __init__(self, driver: Any, object_: Any):
        self._driver, self.object = driver, object_
        self._handle = int(object_.handle)

    def launch(self, stream: int) -> None:
        self._driver.launch(self._handle, stream)
