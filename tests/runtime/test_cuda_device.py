"""The CUDA runtime against a fake driver: one graph a call, its cache, memory, streams, arrays of frameworks, binding."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_programs import BYTES, KERNELS, N, again, artifact, chain, kernel, leaves_nothing_behind, loaded, tensor
from fake_driver import FakeDriver, FakeGpuArray

from hloom.runtime.cuda.arrays import DeviceArray
from hloom.runtime.cuda.graphs import CAPACITY
from hloom.runtime.errors import (
    CudaError,
    DamagedFileError,
    DtypeError,
    GpuArchitectureError,
    InputError,
    NotBoundError,
    ShapeError,
    VersionError,
)
from hloom.runtime.executable import Executable, load

ONES = np.ones(N, np.float32)


def test_a_call_is_one_launch():
    exe, driver = loaded(chain())
    assert exe(ONES, 2 * ONES).tolist() == [6] * N
    assert [node[0] for node in driver.graphs[0].nodes] == ["launch", "launch"]
    _, _, grid, block, shared, arguments = driver.graphs[0].nodes[0]
    assert (grid, block, shared) == ((1, 1, 1), (32, 1, 1), 0) and len(arguments) == 3
    assert len(driver.calls("launch")) == 1


def test_arrays_on_the_gpu_are_used_where_they_lie():
    exe, driver = loaded(chain())
    a, b = FakeGpuArray(ONES), FakeGpuArray(2 * ONES)
    before = len(driver.log)
    result = exe(a, b)
    assert isinstance(result, DeviceArray)
    names = {entry[0] for entry in driver.log[before:]}
    assert not names & {"copy", "upload", "download", "synchronise", "await_event"}  # the host neither copies nor waits
    first, *_ = driver.graphs[0].nodes
    assert first[5][:2] == (a.address, b.address)
    assert driver.graphs[0].nodes[1][5][1] == result.address
    assert a.streams == [exe.device._stream]
    assert np.asarray(result).tolist() == [6] * N


def test_graphs_are_cached_by_addresses_and_updated_on_a_miss():
    exe, driver = loaded(chain())
    out = FakeGpuArray(np.zeros(N, np.float32))
    b = FakeGpuArray(ONES)
    arrays = [FakeGpuArray(i * ONES) for i in range(CAPACITY + 2)]
    for a in [*arrays[:CAPACITY], arrays[0]]:
        exe.run((a, b), out)
    assert len(driver.calls("capture")) == len(driver.calls("instantiate")) == CAPACITY
    exe.run((arrays[CAPACITY], b), out)
    driver.gpu.finish()
    assert driver.calls("update") == [("update", True)] and len(driver.calls("instantiate")) == CAPACITY
    assert out.host.tolist() == [2 * (CAPACITY + 1)] * N
    exe.run((arrays[0], b), out)  # was used after arrays[1], so it is still there
    driver.gpu.finish()
    assert out.host.tolist() == [2] * N and len(driver.calls("capture")) == CAPACITY + 1
    driver.fail_update = True
    exe.run((arrays[1], b), out)
    driver.gpu.finish()
    assert out.host.tolist() == [4] * N and len(driver.calls("instantiate")) == CAPACITY + 1
    assert len(exe.device._graphs) == CAPACITY


def test_a_misaligned_array_is_copied_first():
    exe, driver = loaded(chain())
    odd = FakeGpuArray(3 * ONES, offset=4)
    assert np.asarray(exe(odd, FakeGpuArray(ONES))).tolist() == [8] * N
    assert len(driver.calls("copy")) == 1
    out = FakeGpuArray(np.zeros(N, np.float32), offset=4)
    exe.run((odd, odd), out)
    driver.gpu.finish()
    assert out.host.tolist() == [12] * N


def test_host_arrays_go_through_memory_of_our_own():
    exe, _driver = loaded(chain())
    for value in range(3):
        assert exe(value * ONES, ONES).tolist() == [2 * value + 2] * N
    out = np.zeros(N, np.float32)
    exe.run((ONES, ONES), out)
    assert out.tolist() == [4] * N
    assert exe(FakeGpuArray(ONES), ONES).numpy().tolist() == [4] * N


def test_torch_results_on_the_host():
    torch = pytest.importorskip("torch")
    exe, _ = loaded(chain())
    result = exe(torch.ones(N), torch.ones(N))
    assert isinstance(result, torch.Tensor) and result.tolist() == [4.0] * N


def test_results_outlive_the_call_and_are_handed_on_by_dlpack():
    torch = pytest.importorskip("torch")
    exe, driver = loaded(chain())
    result = exe(FakeGpuArray(ONES), FakeGpuArray(ONES))
    capsule = result.__dlpack__(stream=33)
    assert driver.log[-2][:2] == ("wait", 33)
    del capsule
    driver.gpu.finish()
    result.__class__ = type("OnHost", (DeviceArray,), {"__dlpack_device__": lambda self: (1, 0)})
    tensor_ = torch.from_dlpack(result)
    address = result.address
    del result
    assert tensor_.tolist() == [4.0] * N and address in driver.memory
    del tensor_
    exe(ONES, ONES)
    driver.gpu.finish()
    assert address not in driver.memory


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (FakeGpuArray(np.ones(3, np.float32)), ShapeError, "a should have shape"),
        (FakeGpuArray(np.ones(N, np.int32)), DtypeError, "element type f32, got i32"),
        (np.ones(N, np.int32), DtypeError, "element type f32"),
        ("text", InputError, "got str"),
    ],
)
def test_values_that_do_not_fit(value, error, text):
    exe, driver = loaded(chain())
    with pytest.raises(error, match=text):
        exe(value, ONES)
    assert driver.calls("launch") == [] and exe(ONES, ONES).tolist() == [4] * N


def test_outputs_that_overlap():
    exe, _ = loaded(chain())
    a = FakeGpuArray(ONES)
    with pytest.raises(InputError, match="overlaps a"):
        exe.run((a, FakeGpuArray(ONES)), a)


def bound():
    """r = x + packed, packed = w + w + 10, a constant; w itself main does not read"""
    return artifact(
        [kernel("add", [[0, 0, BYTES], [1, 0, BYTES]], [[2, 0, BYTES]])],
        [tensor("x"), tensor("w", bound=True)],
        [tensor("r")],
        [["argument", 0], ["init", 0], ["result", 0], ["arena", 0]],
        blobs={"constant.c": np.full(N, 10, np.float32).tobytes()},
        init_results=[tensor("packed")],
        entries={"init": {"symbol": "init", "buffers": [["argument", 1], ["result", 0], ["arena", BYTES], ["constant", "constant.c"]]}},
        programs={
            "init": {
                "op": "program",
                "body": [
                    kernel("add", [[0, 0, BYTES], [0, 0, BYTES]], [[2, 0, BYTES]]),
                    kernel("add", [[2, 0, BYTES], [3, 0, BYTES]], [[1, 0, BYTES]]),
                ],
            }
        },
    )


def test_bound_values_are_uploaded_and_prepared_once(tmp_path):
    exe, driver = loaded(bound())
    with pytest.raises(NotBoundError):
        exe(ONES)
    exe.bind({"w": ONES})
    held = len(driver.memory)
    assert exe(ONES).tolist() == [13] * N
    assert len(driver.calls("upload")) == 3  # the constant, w, x
    exe.bind([FakeGpuArray(2 * ONES)])
    assert exe(ONES).tolist() == [15] * N
    driver.gpu.finish()
    assert len(driver.memory) == held + 1  # x's own memory; what init used is gone
    exe.save(tmp_path / "a.hloom")
    again = load(tmp_path / "a.hloom", lambda program: type(exe.device)(program, FakeDriver(KERNELS)))
    assert again(ONES).tolist() == [15] * N
    exe.save(tmp_path / "b.hloom", weights=False)
    with pytest.raises(NotBoundError):
        load(tmp_path / "b.hloom", lambda program: type(exe.device)(program, FakeDriver(KERNELS)))(ONES)


def test_what_no_argument_reaches_is_computed_once():
    """@init takes nothing, and runs when the program is loaded."""
    body = [kernel("add", [[0, 0, BYTES], [1, 0, BYTES]], [[2, 0, BYTES]])]
    table = {"op": "program", "body": [kernel("double", [[2, 0, BYTES]], [[0, 0, BYTES]])]}
    exe, driver = loaded(
        artifact(
            body,
            [tensor("x")],
            [tensor("r")],
            [["argument", 0], ["init", 0], ["result", 0], ["arena", 0]],
            blobs={"constant.c": np.full(N, 5, np.float32).tobytes()},
            init_results=[tensor("table")],
            entries={"init": {"symbol": "init", "buffers": [["result", 0], ["arena", 0], ["constant", "constant.c"]]}},
            programs={"init": table},
        )
    )
    launched = len(driver.calls("launch"))
    assert launched
    assert exe(ONES).tolist() == exe(ONES).tolist() == [11] * N
    assert len(driver.calls("launch")) == launched + 2  # main's, twice


def test_memory_goes_back():
    exe, driver = loaded(bound())
    exe.bind([ONES])
    exe(ONES)
    del exe
    driver.gpu.finish()
    assert driver.memory == {}


def test_loading_and_binding_that_fail_anywhere_leave_nothing_behind():
    def attempt(number):
        driver, failed = FakeDriver(KERNELS), False
        driver.calls_left = number
        try:
            exe, _ = loaded(bound(), driver)
            exe.bind([ONES])
        except CudaError:
            failed = True
        driver.calls_left = 0
        return driver, failed

    leaves_nothing_behind(attempt)


def test_dynamic_shared_memory_is_asked_for():
    program = chain()
    program.manifest["kernels"]["double"] = {"grid": [4, 2, 1], "block": [64, 1, 1], "shared_bytes": 100_000, "noalias": []}
    exe, driver = loaded(program)
    exe(ONES, ONES)
    assert driver.shared["double"] == 100_000
    assert driver.graphs[0].nodes[1][2:5] == ((4, 2, 1), (64, 1, 1), 100_000)


@pytest.mark.parametrize(
    ("cpu", "capability", "text"),
    [
        ("sm_90a", 80, "compiled for sm_90a .*has 8.0: older"),
        ("sm_90a", 100, "another generation"),
        ("sm_86", 80, "older"),
        ("sm_80", 90, "another generation"),
    ],
)
def test_a_gpu_that_does_not_fit(cpu, capability, text):
    program = chain()
    program.manifest["target"]["cpu"] = cpu
    with pytest.raises(GpuArchitectureError, match=text):
        loaded(program, FakeDriver(KERNELS, capability))


def test_a_newer_gpu_of_the_same_generation_fits():
    program = chain()
    program.manifest["target"]["cpu"] = "sm_80"
    assert loaded(program, FakeDriver(KERNELS, 89))[0](ONES, ONES).tolist() == [4] * N


def test_manifests_that_describe_no_program():
    for damage in (
        lambda manifest: manifest.pop("programs"),
        lambda manifest: manifest["programs"]["main"]["body"][0].update(op="nothing"),
        lambda manifest: manifest["programs"]["main"]["body"][0].update(reads=[[9, 0, 4]]),
        lambda manifest: manifest["programs"]["main"]["body"][0].pop("callee"),
        lambda manifest: manifest["kernels"].pop("add"),
        lambda manifest: manifest["kernels"]["add"].update(block=[0, 1, 1]),
        lambda manifest: manifest["target"].update(cpu="znver4"),
    ):
        program = chain()
        damage(program.manifest)
        with pytest.raises(DamagedFileError):
            loaded(program)


def test_a_file_without_machine_code_is_for_the_simulator():
    program = chain()
    program.blobs["cubin"] = b""
    with pytest.raises(DamagedFileError, match="made for the simulator"):
        loaded(program)


def test_a_target_of_another_kind_is_named():
    program = chain()
    program.manifest["target"]["kind"] = "quantum"
    with pytest.raises(VersionError, match="'quantum', this hloom runs cpu, cuda"):
        Executable(again(program))


def test_a_recording_that_fails_is_given_up(monkeypatch):
    exe, driver = loaded(chain())
    monkeypatch.setattr("hloom.runtime.cuda.kinds.kernel.KernelStep.execute", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        exe(ONES, ONES)
    assert driver.calls("abandon") and not driver.calls("launch")
    monkeypatch.undo()
    assert exe(ONES, ONES).tolist() == [4] * N
