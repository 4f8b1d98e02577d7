"""What the driver refuses, by the code that the real one gives; and what it has to take."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from cuda_driver.executor import Functions
from cuda_driver.images import read_cubin
from cuda_driver.modules import Library
from cuda_driver.stub_kernels import cubin_of, run_by
from cuda_programs import KERNELS

from hloom.compiler.cuda.assemble import assembler
from hloom.runtime.cuda import recorder as recorder_module
from hloom.runtime.cuda.driver import Driver
from hloom.runtime.cuda.tensor_maps import TensorMap
from hloom.runtime.errors import CudaError


@pytest.fixture(scope="module")
def driver():
    return Driver(0)


@pytest.fixture
def kernel(gpu, driver):
    with driver.current():
        yield driver.kernel(driver.load(run_by(gpu, KERNELS)), "double")


def recorded(driver, kernel, *, grid=(1, 1, 1), block=(32, 1, 1), shared=0, arguments=(0, 0), maps=()):
    recorder = driver.recorder()
    try:
        recorder.launch(kernel, grid, block, shared, arguments, maps)
    except BaseException:
        recorder.abandon()
        raise
    return recorder


LAUNCHES = [
    ({"grid": (1, 65536, 1)}, "INVALID_VALUE", "the limits are"),
    ({"block": (1025, 1, 1)}, "INVALID_VALUE", "the limits are"),
    ({"block": (32, 2, 65)}, "INVALID_VALUE", "the limits are"),
    ({"block": (64, 32, 1)}, "INVALID_VALUE", "2048 threads"),
    ({"shared": 49153}, "INVALID_VALUE", "it is allowed 49152"),
]


@pytest.mark.parametrize(("changed", "code", "why"), LAUNCHES)
def test_launches(gpu, driver, kernel, changed, code, why):
    with pytest.raises(CudaError, match=code):
        recorded(driver, kernel, **changed)
    assert why in gpu.refusals[-1][2]


def test_parameters_that_are_not_there(gpu, driver, kernel):
    with pytest.raises(CudaError, match="INVALID_VALUE"):
        driver._call(
            "cuLaunchKernel", driver._api.CUfunction(int(kernel.handle)), 1, 1, 1, 32, 1, 1, 0, driver._stream(driver.stream), 0, 0
        )
    assert "double takes 2 parameters; number 0 is not there" in gpu.refusals[-1][2]


def test_shared_memory_is_to_be_asked_for(gpu, driver, kernel):
    with driver.current():
        module = driver.load(cubin_of(KERNELS, gpu.capability))
        recorded(driver, driver.kernel(module, "double", 227 << 10), shared=227 << 10).abandon()
        with pytest.raises(CudaError, match="INVALID_VALUE"):
            driver.kernel(module, "add", (227 << 10) + 1)


@pytest.mark.parametrize("capability", [80, 90, 100])
def test_shared_memory_that_a_kernel_has_of_itself(capability):
    """All that it may have without asking: what the system reserves beside it does not count."""
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .shared .b8 s[49152]; st.shared.u8 [s], 1; ret; }\n"
    image = read_cubin(assembler().run(text, f"sm_{capability}")[0])
    assert image.architecture == capability and image.entries["k"].shared_bytes == 49152


MAPS = [
    ({}, 4, "not aligned to 16"),
    ({"strides": (136, 2)}, 0, "no multiples of 16"),
    ({"box": (64, 128)}, 0, "swizzled within 128"),
    ({"box": (512, 64)}, 0, "a box of"),
    ({"box": (64, 36)}, 0, "no multiple of 16"),
    ({"extents": (0, 72)}, 0, "extents"),
]


@pytest.mark.parametrize(("changed", "offset", "why"), MAPS)
def test_tensor_maps(gpu, driver, kernel, changed, offset, why):
    right = {"argument": 0, "offset": 0, "dtype": "f16", "extents": (64, 72), "strides": (144, 2), "box": (64, 64), "swizzle": 128}
    address = driver.allocate(64 * 144)
    recorder = driver.recorder()
    encoded = recorder.encode(TensorMap(**right), address)
    assert encoded.address % 128 == 0
    with pytest.raises(CudaError, match="cuTensorMapEncodeTiled failed.*INVALID_VALUE"):
        recorder.encode(TensorMap(**{**right, **changed}), address + offset)
    assert why in gpu.refusals[-1][2]
    recorder.abandon()
    driver.free(address)


def test_code_of_another_architecture(gpu, driver):
    other = 80 if gpu.capability == 90 else 90
    with driver.current():
        for code, text in ((cubin_of(KERNELS, other), "NO_BINARY_FOR_GPU"), (b"no cubin" * 100, "INVALID_IMAGE")):
            with pytest.raises(CudaError, match=text):
                driver.kernel(driver.load(code), "add")


def test_memory_that_is_not_there(gpu, driver):
    with driver.current():
        address = driver.allocate(64)
        driver._call("cuMemFree", address)
        for wrong in (address, 64, address + 1):
            with pytest.raises(CudaError, match="INVALID_VALUE"):
                driver._call("cuMemFree", wrong)
        with pytest.raises(CudaError, match="INVALID_VALUE"):
            driver.copy(64, 128, 16, driver.stream)


def test_a_fault_stays(gpu, driver):
    with driver.current():
        address = driver.allocate(64)
        driver.copy(address + 32, address, 64, driver.stream)
        for _ in range(2):
            with pytest.raises(CudaError, match="ILLEGAL_ADDRESS"):
                driver.synchronise(driver.stream)
        assert "beyond the 64 bytes" in str(gpu.fault)
        gpu.begin_again(0)
        driver.free(address)


def test_a_thread_without_a_context(gpu, driver):
    found = []

    def work():
        try:
            driver.synchronise(driver.stream)
        except CudaError as error:
            found.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "INVALID_CONTEXT" in found[0]


def call(driver, name, *arguments):
    driver._call(name, *arguments)


@pytest.mark.parametrize(
    ("use", "code"),
    [
        (lambda driver, stream, event: driver.synchronise(stream), "STREAM_CAPTURE_UNSUPPORTED"),
        (lambda driver, stream, event: driver.wait(stream, event), "STREAM_CAPTURE_ISOLATION"),
        (lambda driver, stream, event: call(driver, "cuCtxRecordEvent", driver._context, driver._api.CUevent(event)), "STREAM_CAPTURE_UNS"),
        (lambda driver, stream, event: call(driver, "cuStreamEndCapture", driver._stream(driver.stream)), "ILLEGAL_STATE"),
    ],
)
def test_what_disturbs_a_capture(gpu, driver, use, code):
    with driver.current():
        recorder, event = driver.recorder(), driver.new_event()
        driver.record(event, driver.stream)
        with pytest.raises(CudaError, match=code):
            use(driver, recorder.stream, event)
        recorder.abandon()


def test_streams_that_a_capture_forgets(gpu, driver):
    with driver.current():
        recorder, event, address = driver.recorder(), driver.new_event(), driver.allocate(64)
        driver.record(event, recorder.stream)
        driver.wait(driver.stream, event)
        driver.copy(address, address + 32, 16, driver.stream)
        with pytest.raises(CudaError, match="STREAM_CAPTURE_UNJOINED"):
            recorder.finish()


def test_conditions_that_no_node_goes_by(gpu, driver):
    with driver.current():
        recorder = driver.recorder()
        recorder.condition()
        with pytest.raises(CudaError, match="failed making a graph executable"):
            recorder.finish()


def test_updates(gpu, driver):
    """Addresses and values change; nodes, and fills of two dimensions, do not."""
    with driver.current():
        address, found = driver.allocate(64), np.zeros(16, np.uint32)

        def fills(value, column=0, more=0):
            recorder = driver.recorder()
            recorder.fill(address, value, 4, 16)
            for _ in range(more):
                recorder.fill(address, 7, 4, 1)
            recorder.fill_column(address, column, pitch=16, count=4)
            return recorder

        graph = fills(1).finish()
        assert fills(2).update(graph)
        for changed, why in (({"column": 3}, "two dimensions"), ({"more": 1}, "nodes or edges")):
            assert not fills(9, **changed).update(graph)
            assert gpu.refusals[-1][0] == "cuGraphExecUpdate" and why in gpu.refusals[-1][2]
        graph.launch(driver.stream)
        driver.download(found, address, driver.stream)
        assert found.tolist() == [0, 2, 2, 2] * 4
        driver.free(address)


def test_an_update_is_for_later_launches(gpu, driver, kernel):
    with driver.current():
        address, found = driver.allocate(64), np.zeros(16, np.uint32)

        def fill(value, first, count):
            recorder = driver.recorder()
            recorder.fill(address + 4 * first, value, 4, count)
            return recorder

        graph = fill(1, 0, 16).finish()
        graph.launch(driver.stream)
        assert fill(2, 8, 8).update(graph)
        graph.launch(driver.stream)
        driver.download(found, address, driver.stream)
        assert found.tolist() == [1] * 8 + [2] * 8
        driver.free(address)


def test_graphs_keep_the_code_that_they_launch(gpu, driver):
    launched = []
    gpu.executor = Functions({"double": lambda *_: launched.append(0)})
    with driver.current():
        graph = recorded(driver, driver.kernel(driver.load(cubin_of(KERNELS, gpu.capability)), "double")).finish()
        gc.collect()
        graph.launch(driver.stream)
        driver.synchronise(driver.stream)
    assert launched == [0]


def test_code_that_is_unloaded_before_it_runs(gpu, driver, kernel):
    """A launch that no graph holds."""
    with driver.current():
        address = driver.allocate(64)
        driver.enqueuer(driver.stream).launch(kernel, (1, 1, 1), (32, 1, 1), 0, [address, address])
        library = driver._call("cuKernelGetLibrary", driver._api.CUkernel(int(kernel.handle)))
        gpu.object(int(library), Library).is_unloaded = True
        if gpu.schedule.policy == "late":
            with pytest.raises(CudaError, match="LAUNCH_FAILED"):
                driver.synchronise(driver.stream)
            assert "its code was unloaded" in str(gpu.fault)
        gpu.begin_again(0)
        driver.free(address)


def test_tensor_maps_in_memory_that_is_not_aligned(gpu, driver, monkeypatch):
    monkeypatch.setattr(recorder_module, "_MAP_ALIGNMENT", 16)
    with driver.current():
        recorder, address = driver.recorder(), driver.allocate(64 * 144)
        tensor = TensorMap(0, 0, "f16", (64, 72), (144, 2), (64, 64), 128)
        with pytest.raises(CudaError, match="INVALID_VALUE"):
            _ = [recorder.encode(tensor, address) for _ in range(100)]
        assert "is not aligned to 64 bytes" in gpu.refusals[-1][2]
        recorder.abandon()
        driver.free(address)
