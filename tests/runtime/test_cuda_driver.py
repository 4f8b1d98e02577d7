"""runtime/cuda/driver.py without a GPU: that what it calls is there, with as many arguments, and what it says where the driver is not."""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from cuda_programs import chain
from without_compiler import output_without_compiler

from hloom.runtime.cuda import driver as driver_module
from hloom.runtime.cuda.conditions import PTX
from hloom.runtime.cuda.driver import Driver
from hloom.runtime.cuda.recorder import EncodedMap, Recorder, packed
from hloom.runtime.cuda.tensor_maps import TensorMap
from hloom.runtime.errors import CudaError, MissingDriverError, MissingLibraryError

_NO_GPU = not os.path.exists("/dev/nvidiactl")


OURS, THEIRS = 64, 99
"""Contexts: the GPU's own, and somebody's on another one."""


class CountingApi:
    """The driver's bindings, whose functions check how many arguments they are given, and that a context is current where one must be."""

    def __init__(self, real):
        self._real, self.called, self.status, self.given = real, [], 0, {}
        self.version, self.context, self.failing = 13000, THEIRS, ""

    def __getattr__(self, name):
        real = getattr(self._real, name)
        if isinstance(real, type):
            return real
        parameters = re.match(r"\w+\((.*?)\)", real.__doc__.split("\n")[0])
        count = len([part for part in parameters[1].split(",") if part.strip()])

        def function(*arguments):
            assert len(arguments) == count, f"{name} takes {parameters[0]}"
            self.called.append(name)
            self.given[name] = arguments
            if name == "cuCtxSetCurrent":
                self.context = int(arguments[0])
            elif name not in _WITHOUT_CONTEXT and self.context != OURS:
                raise AssertionError(f"{name} in the context {self.context}")
            values = {"cuDriverGetVersion": self.version, "cuDeviceGetCount": 1, "cuEventElapsedTime": 1.5, "cuCtxGetCurrent": self.context}
            return 2 if name == self.failing else self.status, values.get(name, OURS)

        return function


class ThroughBindings:
    """What runtime/cuda/direct.py calls by address, as calls of the bindings; the emulated driver runs the real one."""

    def __init__(self, call, check):
        self._call = call

    def current_context(self):
        return int(self._call("cuCtxGetCurrent"))

    def exchange_capture_mode(self, mode):
        return self._call("cuThreadExchangeStreamCaptureMode", mode)

    def is_capturing(self, stream):
        return bool(self._call("cuStreamIsCapturing", stream))

    def wait(self, stream, event):
        self._call("cuStreamWaitEvent", stream, event, 0)

    def record(self, event, stream):
        self._call("cuEventRecord", event, stream)

    def launch(self, graph, stream):
        self._call("cuGraphLaunch", graph, stream)


_WITHOUT_CONTEXT = {
    "cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxGetCurrent", "cuGetErrorName",
    "cuGetErrorString", "cuGetProcAddress", "cuThreadExchangeStreamCaptureMode",
}  # fmt: skip


class Builder:
    """A stand-in for cuda.core's GraphBuilder, with the names that it has."""

    def __init__(self, log, real):
        self.log, self.real, self.is_building = log, real, False
        self.stream = SimpleNamespace(handle=77)

    def __getattr__(self, name):
        getattr(self.real, name)

        def method(*arguments):
            self.log.append(name)
            if name in ("begin_building", "end_building"):
                self.is_building = name == "begin_building"
                return self
            if name == "switch":
                return tuple(Builder(self.log, self.real) for _ in range(arguments[1]))
            if name == "while_loop":
                return Builder(self.log, self.real)
            return SimpleNamespace(handle=5, update=self.update)

        return method

    def update(self, builder):
        assert not builder.is_building
        self.log.append("update")


@pytest.fixture
def counted(monkeypatch):
    api = CountingApi(importlib.import_module("cuda.bindings.driver"))
    core = importlib.import_module("cuda.core")
    log: list[str] = []
    device = SimpleNamespace(
        set_current=lambda: None,
        name="GPU",
        compute_capability=(9, 0),
        create_graph_builder=lambda: Builder(log, core.graph.GraphBuilder),
    )
    assert all(hasattr(core.Device, name) for name in vars(device))
    fake_core = SimpleNamespace(
        Device=lambda index: device,
        ObjectCode=core.ObjectCode,
        Linker=core.Linker,
        LinkerOptions=core.LinkerOptions,
    )
    monkeypatch.setattr(driver_module, "Direct", ThroughBindings)
    monkeypatch.setattr(driver_module, "_import", lambda name: api if name == "cuda.bindings.driver" else fake_core)
    driver = Driver(0)
    assert api.context == THEIRS
    with driver.current():
        yield driver, api, log
    assert api.context == THEIRS


def test_calls_of_the_driver_are_as_it_takes_them(counted):
    driver, api, _ = counted
    assert (driver.capability, driver.name) == (90, "GPU")
    array = np.zeros(4, np.float32)
    for call in (
        lambda: driver.free(driver.allocate(64)),
        lambda: driver.free_on(0, driver.allocate_on(0, 64)),
        lambda: driver.free_later(driver.allocate_on(0, 64)),
        driver.free_waiting,
        lambda: driver.upload(64, array, 1),
        lambda: driver.upload(64, b"1234", 1),
        lambda: driver.download(array, 64, 1),
        lambda: driver.copy(64, 128, 16, 1),
        lambda: driver.synchronise(driver.stream),
        lambda: driver.record(driver.new_event(), 0),
        lambda: driver.wait(3, driver.new_event(timing=True)),
        lambda: driver.free_event(3),
        lambda: driver.await_event(3),
        lambda: driver.is_captured(3),
    ):
        call()
    assert api.called.index("cuCtxRecordEvent") < api.called.index("cuMemFreeAsync", api.called.index("cuCtxRecordEvent"))
    assert driver.elapsed_ns(1, 2) == 1_500_000
    kernel = SimpleNamespace(handle=3)
    module = SimpleNamespace(get_kernel=lambda name: kernel)
    assert driver.kernel(module, "k") is kernel and "cuKernelSetAttribute" not in api.called
    driver.kernel(module, "k", 100_000)
    assert "cuKernelSetAttribute" in api.called


def test_the_kernels_of_conditions_link_into_a_cubin(counted):
    driver, *_ = counted
    module = driver.load(PTX)
    assert module.code_type == "cubin" and b"hloom_while" in module.code


def test_recordings_are_made_with_the_names_that_builders_have(counted):
    driver, api, log = counted
    recorder = driver.recorder()
    recorder.launch(SimpleNamespace(handle=3), (2, 1, 1), [32, 1, 1], 16, [64, 128])
    recorder.copy(64, 128, 16)
    recorder.fill(64, 1, 4, 8)
    recorder.fill_column(64, 1, pitch=8, count=2)
    recorder.record(9)
    condition = recorder.condition()
    inside = recorder.loop(condition)
    assert inside.in_body and condition.handle == 5
    inside.close()
    for branch in recorder.branches(condition, 2):
        branch.begin()
        branch.close()
    graph = recorder.finish()
    graph.launch(0)
    plain = driver.recorder()
    plain.fill(64, 1, 4, 8)
    assert plain.update(graph)
    names = [entry if isinstance(entry, str) else entry[0] for entry in log]
    bodies = ["begin_building", "end_building"]
    assert names == [
        "begin_building", "create_condition", "while_loop", *bodies, "switch", *bodies, *bodies, "end_building", "complete",
        "begin_building", "end_building", "update",
    ]  # fmt: skip
    assert [*map(int, api.given["cuLaunchKernel"][:9])] == [3, 2, 1, 1, 32, 1, 1, 16, 77]
    assert {"cuGraphLaunch", "cuEventRecordWithFlags"} <= set(api.called)


_ENCODED = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, *[ctypes.POINTER(ctypes.c_uint64)] * 2,
    *[ctypes.POINTER(ctypes.c_uint32)] * 2, *[ctypes.c_int] * 4,
)  # fmt: skip


def encoder(seen):
    """cuTensorMapEncodeTiled, which refuses memory that is not aligned, and writes a number at both ends of the map."""

    def encode(place, kind, rank, address, extents, strides, box, steps, interleave, swizzle, promotion, fill):
        if place % 128 or address % 16:
            return 1
        lists = extents[:rank], strides[: rank - 1], box[:rank], steps[:rank]
        seen.append((kind, rank, address, *lists, interleave, swizzle, promotion, fill))
        words = (ctypes.c_uint64 * 16).from_address(place)
        words[0], words[15] = 7, 8
        return 0

    return _ENCODED(encode)


def test_tensor_maps_are_aligned_and_go_innermost_first(counted):
    driver, api, _ = counted
    recorder, seen = driver.recorder(), []
    function = encoder(seen)
    api.cuGetProcAddress = lambda name, version, flags: (0, ctypes.cast(function, ctypes.c_void_p).value, 0)
    kept = [recorder.encode(TensorMap(0, 0, "bf16", (3, 64, 72), (9216, 144, 2), (1, 64, 32), 64), 4096) for _ in range(20)]
    assert all(encoded.address % 128 == 0 for encoded in kept) and len(seen) == 20
    kind, rank, address, extents, strides, box, steps, interleave, swizzle, promotion, fill = seen[0]
    assert (kind, rank, address) == (int(api.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16), 3, 4096)
    assert (extents, strides, box, steps) == ([72, 64, 3], [144, 9216], [32, 64, 1], [1, 1, 1])
    assert (interleave, swizzle, fill) == (0, int(api.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_64B), 0)
    assert promotion == int(api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B)
    with pytest.raises(CudaError, match="cuTensorMapEncodeTiled failed on GPU 0"):
        recorder.encode(TensorMap(0, 0, "f16", (64, 72), (144, 2), (64, 32), 64), 4097)


def test_launches_take_tensor_maps_by_value(counted):
    driver, api, _ = counted
    recorder = driver.recorder()
    encoded = (ctypes.c_uint64 * 16)()
    seen = []

    def launch(*arguments):
        pointers = (ctypes.c_void_p * 3).from_address(arguments[9])
        seen.append([*(ctypes.c_uint64.from_address(p).value for p in pointers[:2]), pointers[2]])
        return (0,)

    api.cuLaunchKernel = launch
    maps = [EncodedMap(ctypes.addressof(encoded), encoded)]
    recorder.launch(SimpleNamespace(handle=3), (2, 1, 1), (128, 1, 1), 16, [64, 128], maps)
    assert seen == [[64, 128, ctypes.addressof(encoded)]]


def test_parameters_are_as_wide_as_they_are_given():
    places, _kept = packed([1 << 40, np.uint32(7), np.uint8(3)])
    read = [ctypes.c_uint64.from_address(places[0]), ctypes.c_uint32.from_address(places[1]), ctypes.c_uint8.from_address(places[2])]
    assert [each.value for each in read] == [1 << 40, 7, 3]


def test_cooperative_launches_are_that(counted):
    driver, api, _ = counted
    driver.recorder().launch(SimpleNamespace(handle=3), (2, 1, 1), (32, 1, 1), 0, [64], cooperative=True)
    assert "cuLaunchCooperativeKernel" in api.called


def test_an_update_that_is_refused_instantiates_instead(counted):
    driver, _, log = counted

    def fail(text):
        raise RuntimeError(text)

    text = "Graph update failed: The update failed because the topology changed (CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)"
    graph = SimpleNamespace(object=SimpleNamespace(update=lambda builder: fail(text)))
    recorder = driver.recorder()
    assert not recorder.update(graph)
    recorder.finish()
    assert [entry for entry in log if entry == "end_building"] == ["end_building"]
    graph.object.update = lambda builder: fail("an update that is no update at all")
    with pytest.raises(CudaError, match="a graph cannot be updated: an update that is no"):
        driver.recorder().update(graph)


def test_graphs_with_conditional_nodes_are_not_updated(counted):
    driver, _, log = counted
    recorder = driver.recorder()
    recorder.loop(recorder.condition()).close()
    assert not recorder.update(SimpleNamespace(object=None)) and recorder.finish() and "update" not in log


def test_what_is_given_up_closes_its_bodies_first_and_raises_nothing(counted, monkeypatch):
    driver, _, _ = counted
    closed = []

    def close(name):
        closed.append(name)
        raise RuntimeError("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")

    recorder = driver.recorder()
    inside = recorder.loop(recorder.condition())
    branches = inside.branches(inside.condition(), 2)
    branches[0].begin()
    for name, each in (("graph", recorder), ("loop", inside), ("first", branches[0]), ("second", branches[1])):
        each._builder.close = lambda name=name: close(name)
    recorder.abandon()
    assert closed == ["second", "first", "loop", "graph"]


@pytest.mark.parametrize(
    ("name", "use", "text"),
    [
        ("complete", lambda recorder: recorder.finish(), "cuda.core failed making a graph executable"),
        ("create_condition", lambda recorder: recorder.condition(), "cuda.core failed recording a graph"),
        ("while_loop", lambda recorder: recorder.loop(recorder.condition()), "cuda.core failed recording a graph"),
        ("switch", lambda recorder: recorder.branches(recorder.condition(), 2), "cuda.core failed recording a graph"),
        ("end_building", lambda recorder: recorder.close(), "cuda.core failed recording a graph"),
        ("begin_building", lambda recorder: recorder.begin(), "cuda.core failed recording a graph"),
    ],
)
def test_what_cuda_core_raises_is_one_of_our_errors(counted, name, use, text):
    driver, _, _ = counted
    recorder = driver.recorder()

    def fail(*_):
        raise RuntimeError("CUDA_ERROR_OUT_OF_MEMORY")

    setattr(recorder._builder, name, fail)
    with pytest.raises(CudaError, match=f"{text}: RuntimeError: CUDA_ERROR_OUT_OF_MEMORY"):
        use(recorder)


def test_the_threads_context_is_left_as_it_was(counted):
    driver, api, _ = counted
    for context in (0, THEIRS, OURS):
        api.context = context
        with driver.current():
            assert api.context == OURS
        assert api.context == context
        driver.free(64)
        driver.free_on(0, 64)
        driver.free_event(3)
        assert api.context == context
        with pytest.raises(KeyError), driver.current():
            raise KeyError
        assert api.context == context
    assert api.called.count("cuMemFreeAsync") == api.called.count("cuMemFree") == 3


def test_captures_of_others_are_not_disturbed(counted):
    driver, api, _ = counted
    modes = []

    def exchange(mode):
        modes.append(mode)
        return 0, modes[-2] if len(modes) > 1 else "global"

    api.cuThreadExchangeStreamCaptureMode = exchange
    relaxed = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    with driver.current():
        assert modes == [relaxed]
        driver.free(64)
    assert modes == [relaxed, relaxed, relaxed, "global"]


def test_memory_that_cannot_be_waited_for_goes_on_waiting(counted):
    driver, api, _ = counted
    before = len(api.called)
    driver.free_later(64)
    assert len(api.called) == before
    api.failing = "cuCtxRecordEvent"  # as where somebody captures
    driver.free_waiting()
    assert "cuMemFreeAsync" not in api.called
    api.failing, before = "", len(api.called)
    for _ in range(2):
        driver.free_waiting()
    order = ("cuCtxRecordEvent", "cuStreamWaitEvent", "cuMemFreeAsync")
    assert tuple(name for name in api.called[before:] if name in order) == order
    assert int(api.given["cuStreamWaitEvent"][0]) == int(api.given["cuMemFreeAsync"][1])


def test_memory_that_others_let_go_meanwhile_waits_for_the_next_time(counted):
    driver, api, _ = counted
    record = api.cuCtxRecordEvent

    def recording(*arguments):
        driver.free_later(128)  # after work that the event does not cover
        return record(*arguments)

    api.cuCtxRecordEvent = recording
    driver.free_later(64)
    driver.free_waiting()
    assert api.called.count("cuMemFreeAsync") == 1 and api.given["cuMemFreeAsync"][0] == 64
    del api.cuCtxRecordEvent
    driver.free_waiting()
    assert api.called.count("cuMemFreeAsync") == 2 and api.given["cuMemFreeAsync"][0] == 128


def test_a_process_that_was_forked_is_told(counted, monkeypatch):
    driver, api, _ = counted
    monkeypatch.setattr(driver_module.os, "getpid", lambda: -1)
    before = len(api.called)
    with pytest.raises(CudaError, match="was forked from one that used the GPU.*\n.*spawn"), driver.current():
        pass
    driver.free(64)
    assert len(api.called) == before


@pytest.mark.parametrize("version", [12020, 12080, 12090])
def test_a_driver_that_is_too_old(counted, version):
    _, api, _ = counted
    api.version = version
    with pytest.raises(MissingDriverError, match=r"is for CUDA 12\.\d; hloom's packages are of CUDA 13.0\n.*580 or newer"):
        Driver(0)


def test_events_that_have_not_happened(counted):
    driver, api, _ = counted
    results = driver.api.CUresult
    api.cuEventQuery = lambda event: (results.CUDA_ERROR_NOT_READY,)
    assert not driver.has_happened(3)
    api.cuEventQuery = lambda event: (results.CUDA_SUCCESS,)
    assert driver.has_happened(3)
    api.cuEventQuery = lambda event: (results.CUDA_ERROR_ILLEGAL_ADDRESS,)
    with pytest.raises(CudaError, match="cuEventQuery failed"):
        driver.has_happened(3)


def test_failures_are_told_in_the_drivers_words(counted):
    driver, api, _ = counted
    api.status = 2
    with pytest.raises(CudaError, match="cuMemAlloc failed on GPU 0"):
        driver.allocate(1)
    driver.free(64)  # runs in destructors, where nobody could be told


def test_what_the_fake_has_is_what_the_driver_has():
    from fake_driver import FakeDriver, FakeRecorder

    inner = {"call", "check", "launch", "new_stream", "free_stream", "free_graph", "api", "core"}
    public = {name for name in vars(Driver) if not name.startswith("_")} - inner
    assert public <= {name for name in dir(FakeDriver) if not name.startswith("_")}
    assert {name for name in vars(Recorder) if not name.startswith("_")} - {"begin_graph"} <= set(dir(FakeRecorder(FakeDriver())))


def test_cuda_python_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'hloom\[cuda\]'"):
        Driver(0)


@pytest.mark.skipif(not _NO_GPU, reason="there is a GPU")
def test_no_driver():
    with pytest.raises(MissingDriverError, match="(?s)NVIDIA driver.*remedy: install the NVIDIA driver"):
        Driver(0)


_CHILD = """
import sys
import pkgutil, importlib
import hloom, hloom.runtime.cuda
for module in pkgutil.iter_modules(hloom.runtime.cuda.__path__):
    importlib.import_module("hloom.runtime.cuda." + module.name)
assert not [name for name in sys.modules if name.split(".")[0] in ("cuda", "nvmath", "cudnn", "llvmlite")]
exe = hloom.load(sys.argv[1])
try:
    exe.flat([0.0] * len(exe.signature.inputs))
except hloom.ExecutionError as error:
    print(error.code, error)
"""


@pytest.mark.skipif(not _NO_GPU, reason="there is a GPU")
def test_a_file_for_a_gpu_loads_alone_and_says_what_is_missing(tmp_path):
    chain().save(tmp_path / "a.hloom")
    told = output_without_compiler(_CHILD, str(tmp_path / "a.hloom"))
    assert told.startswith("HL211") and "libcuda.so.1" in told and "remedy: install the NVIDIA driver" in told
