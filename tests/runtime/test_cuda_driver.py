"""runtime/cuda/driver.py without a GPU: that what it calls is there, with as many arguments, and what it says where the driver is not."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from cuda_programs import chain

from hloom.runtime.cuda import driver as driver_module
from hloom.runtime.cuda.conditions import PTX
from hloom.runtime.cuda.driver import Driver, Recorder
from hloom.runtime.cuda.tensor_maps import TensorMap
from hloom.runtime.errors import CudaError, MissingDriverError, MissingLibraryError

_NO_GPU = not os.path.exists("/dev/nvidiactl")


class CountingApi:
    """The driver's bindings, whose functions do nothing but check how many arguments they are given."""

    def __init__(self, real):
        self._real, self.called, self.status, self.given = real, [], 0, {}

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
            return self.status, {"cuDriverGetVersion": 12080, "cuDeviceGetCount": 1, "cuEventElapsedTime": 1.5}.get(name, 64)

        return function


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
    api = CountingApi(pytest.importorskip("cuda.bindings.driver"))
    core = pytest.importorskip("cuda.core")
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
        LaunchConfig=lambda **sizes: sizes,
        launch=lambda builder, config, kernel, *arguments: log.append(("launch", config, kernel, arguments)),
        ObjectCode=core.ObjectCode,
        Linker=core.Linker,
        LinkerOptions=core.LinkerOptions,
    )
    monkeypatch.setattr(driver_module, "_import", lambda name: api if name == "cuda.bindings.driver" else fake_core)
    return Driver(0), api, log


def test_calls_of_the_driver_are_as_it_takes_them(counted):
    driver, api, _ = counted
    assert (driver.capability, driver.version, driver.name) == (90, 12080, "GPU")
    array = np.zeros(4, np.float32)
    for call in (
        lambda: driver.free(driver.allocate(64)),
        lambda: driver.free_on(0, driver.allocate_on(0, 64)),
        lambda: driver.upload(64, array, 1),
        lambda: driver.upload(64, b"1234", 1),
        lambda: driver.download(array, 64, 1),
        lambda: driver.copy(64, 128, 16, 1),
        lambda: driver.synchronise(driver.stream),
        lambda: driver.record(driver.new_event(), 0),
        lambda: driver.wait(3, driver.new_event(timing=True)),
        lambda: driver.free_event(3),
    ):
        call()
    assert driver.elapsed_ns(1, 2) == 1_500_000
    kernel = SimpleNamespace(handle=3)
    module = SimpleNamespace(get_kernel=lambda name: kernel)
    assert driver.kernel(module, "k") is kernel and "cuKernelSetAttribute" not in api.called
    driver.kernel(module, "k", 100_000)
    assert "cuKernelSetAttribute" in api.called


def test_the_kernels_of_conditions_link_into_a_cubin(counted):
    pytest.importorskip("cuda.bindings.nvjitlink")
    driver, *_ = counted
    try:
        module = driver.load(PTX)
    except CudaError as error:
        pytest.skip(f"neither nvJitLink nor a driver: {error}")
    assert module.code_type == "cubin" and b"hloom_while" in module.code


def test_recordings_are_made_with_the_names_that_builders_have(counted):
    driver, api, log = counted
    recorder = driver.recorder()
    recorder.launch("kernel", (2, 1, 1), [32, 1, 1], 16, [64, 128])
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
    again = driver.recorder()
    assert again.update(graph)
    driver.recorder().abandon()
    names = [entry if isinstance(entry, str) else entry[0] for entry in log]
    bodies = ["begin_building", "end_building"]
    assert names == [
        "begin_building", "launch", "create_condition", "while_loop", *bodies, "switch", *bodies, *bodies, "end_building", "complete",
        "begin_building", "end_building", "update", "begin_building", "close",
    ]  # fmt: skip
    assert log[1][1:] == ({"grid": (2, 1, 1), "block": (32, 1, 1), "shmem_size": 16}, "kernel", (64, 128))
    assert api.called[-1] == "cuGraphLaunch" and "cuEventRecordWithFlags" in api.called


def test_tensor_maps_go_innermost_first_and_by_value(counted):
    driver, api, log = counted
    recorder = driver.recorder()
    recorder.encode(TensorMap(0, 0, "bf16", (3, 64, 72), (9216, 144, 2), (1, 64, 32), 64), 4096)
    kind, rank, address, extents, strides, box, steps, _, swizzle, *_ = api.given["cuTensorMapEncodeTiled"]
    assert (kind.name, rank, address, swizzle.name) == ("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 3, 4096, "CU_TENSOR_MAP_SWIZZLE_64B")
    assert [[int(n) for n in each] for each in (extents, strides, box, steps)] == [[72, 64, 3], [144, 9216], [32, 64, 1], [1, 1, 1]]
    encoded = (ctypes.c_uint64 * 16)()
    maps = [SimpleNamespace(getPtr=lambda: ctypes.addressof(encoded))]
    seen = []

    def launch(*arguments):
        pointers = (ctypes.c_void_p * 3).from_address(arguments[9])
        seen.append([*(ctypes.c_uint64.from_address(p).value for p in pointers[:2]), pointers[2]])
        return (0,)

    api.cuLaunchKernel = launch
    recorder.launch(SimpleNamespace(handle=3), (2, 1, 1), (128, 1, 1), 16, [64, 128], maps)
    assert seen == [[64, 128, ctypes.addressof(encoded)]] and not any(entry[0] == "launch" for entry in log)


def test_an_update_that_is_refused_instantiates_instead(counted):
    driver, _, log = counted

    def refuse(builder):
        raise RuntimeError("CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE: the topology changed")

    graph = SimpleNamespace(object=SimpleNamespace(update=refuse))
    recorder = driver.recorder()
    assert not recorder.update(graph)
    recorder.finish()
    assert [entry for entry in log if entry == "end_building"] == ["end_building"]


def test_failures_are_told_in_the_drivers_words(counted):
    driver, api, _ = counted
    api.status = 2
    with pytest.raises(CudaError, match="cuMemAlloc failed on GPU 0"):
        driver.allocate(1)
    driver.free(64)  # runs in destructors, where nobody could be told


def test_what_the_fake_has_is_what_the_driver_has():
    from fake_driver import FakeDriver, FakeRecorder

    public = {name for name in vars(Driver) if not name.startswith("_")} - {"call"}
    assert public <= {name for name in dir(FakeDriver) if not name.startswith("_")}
    assert {name for name in vars(Recorder) if not name.startswith("_")} <= set(dir(FakeRecorder(FakeDriver())))


def test_cuda_python_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'hloom\[cuda\]'"):
        Driver(0)


@pytest.mark.skipif(not _NO_GPU, reason="there is a GPU")
def test_no_driver():
    pytest.importorskip("cuda.bindings.driver")
    with pytest.raises(MissingDriverError, match="(?s)NVIDIA driver.*remedy: install the NVIDIA driver"):
        Driver(0)


_CHILD = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch_mlir", "torch", "jax") or name.startswith(("hloom.compiler", "hloom.passes", "hloom.dialects")):
            raise ImportError("refused: " + name)

sys.meta_path.insert(0, Refuse())
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
    pytest.importorskip("cuda.bindings.driver")
    chain().save(tmp_path / "a.hloom")
    done = subprocess.run([sys.executable, "-c", _CHILD, str(tmp_path / "a.hloom")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("HL211") and "libcuda.so.1" in done.stdout and "remedy: install the NVIDIA driver" in done.stdout
