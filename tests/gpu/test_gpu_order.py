"""On a GPU: nothing is used before it is written or given out before it was read, whatever streams, threads and devices there are."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from gpu_programs import ELEMENTWISE, build

from hloom.runtime.cuda.driver import default_driver

pytestmark = pytest.mark.cuda

SHAPE = (128, 256)
HOST = np.full(SHAPE, 0.5, np.float32), np.zeros(256, np.float32)


def busy(torch, stream) -> None:
    """Keeps a stream of torch's at work for some milliseconds."""
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)


def test_jax_inputs_that_nobody_holds(tmp_path, jax):
    exe = build(ELEMENTWISE, tmp_path)
    b = jax.numpy.zeros(256)
    for value in range(200):
        result = exe(jax.numpy.full(SHAPE, value / 100.0), b)
        jax.numpy.full(SHAPE, -7.0).block_until_ready()  # would be given the input's memory
        np.testing.assert_allclose(result, np.full(SHAPE, np.tanh(np.float32(value / 100.0))), atol=1e-5)


def test_a_result_that_torch_still_reads(tmp_path, torch):
    exe = build(ELEMENTWISE, tmp_path)
    expected = np.tanh(np.float32(0.5)) * 2
    for _ in range(20):
        taken = torch.from_dlpack(_device_array(exe, torch))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        busy(torch, stream)
        with torch.cuda.stream(stream):
            twice = taken * 2
        del taken
        for _ in range(4):  # would be given its memory
            _device_array(exe, torch, -3.0)
        stream.synchronize()
        np.testing.assert_allclose(twice.cpu().numpy(), np.full(SHAPE, expected), atol=1e-5)


def _device_array(exe, torch, value: float = 0.5):
    """A result that no framework owns: the first input speaks DLPack and is none of torch's."""

    class Other:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

        def __dlpack__(self, *, stream=None):
            return self.tensor.__dlpack__(stream=stream)

    return exe(Other(torch.full(SHAPE, value, device="cuda")), Other(torch.zeros(256, device="cuda")))


def test_inputs_of_two_frameworks(tmp_path, torch):
    cupy = pytest.importorskip("cupy")
    exe = build(ELEMENTWISE, tmp_path)
    for value in range(10):
        stream = torch.cuda.Stream()
        busy(torch, stream)
        x = cupy.full(SHAPE, value, cupy.float32)
        with torch.cuda.stream(stream), cupy.cuda.Stream(non_blocking=True):
            b = torch.full((256,), 0.25, device="cuda")
            result = cupy.asarray(exe(x, b))
            x[...] = -9
            found = result.get()
        np.testing.assert_allclose(found, np.tanh(np.full(SHAPE, value + 0.25, np.float32)), atol=1e-5)


def test_threads_that_have_no_context(tmp_path, torch):
    exe = build(ELEMENTWISE, tmp_path)
    result = _device_array(exe, torch)
    found = []
    for function in (result.numpy, lambda: np.asarray(result), lambda: exe(*HOST), lambda: result.__dlpack__(stream=1)):
        thread = threading.Thread(target=lambda function=function: found.append(function()))
        thread.start()
        thread.join()
    assert len(found) == 4
    np.testing.assert_allclose(found[0], np.tanh(HOST[0]), atol=1e-5)


def test_the_current_device_stays_current(tmp_path, torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    exe = build(ELEMENTWISE, tmp_path)
    torch.cuda.set_device(1)
    context = default_driver().call("cuCtxGetCurrent")
    exe(*HOST)
    del exe
    assert int(default_driver().call("cuCtxGetCurrent")) == int(context)
    torch.cuda.set_device(0)


def test_programs_that_go_while_they_run(tmp_path, torch):
    stream = torch.cuda.Stream()
    for _ in range(20):
        exe = build(ELEMENTWISE, tmp_path)
        x, b = torch.full(SHAPE, 0.5, device="cuda"), torch.zeros(256, device="cuda")
        stream.wait_stream(torch.cuda.current_stream())
        busy(torch, stream)
        with torch.cuda.stream(stream):
            result = exe(x, b)
        del exe
        stream.synchronize()
        np.testing.assert_allclose(result.cpu().numpy(), np.tanh(HOST[0]), atol=1e-5)


def test_captures_of_the_calling_thread_outlive_results_that_go(torch):
    """Recording an event of the whole context would end them: the memory waits until they are over."""
    driver = default_driver()
    with driver.current():
        place = driver.allocate_on(driver.stream, 1 << 20)
        x, graph = torch.ones(64, device="cuda"), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x + 1
            driver.free_later(place)
            driver.free_waiting()
        driver.free_waiting()
    graph.replay()
    torch.cuda.synchronize()
    assert y.tolist() == [2.0] * 64
