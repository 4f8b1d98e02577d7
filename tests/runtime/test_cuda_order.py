"""What comes before what on the GPU: streams of several frameworks, memory that is given back, contexts of threads.

The fake GPU runs work as late as it may, so that what is let go too early is gone.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from cuda_programs import KERNELS, N, chain, leaves_nothing_behind, loaded
from fake_driver import FakeDriver, FakeGpuArray, at, check_used
from fake_frameworks import Cupy, Tensor, Torch, ndarray

from hloom.runtime.cuda import device
from hloom.runtime.cuda.arrays import DeviceArray
from hloom.runtime.dlpack import take
from hloom.runtime.errors import CudaError, InputError

ONES = np.ones(N, np.float32)


@pytest.fixture
def chained(monkeypatch):
    """A program and its driver, where torch and CuPy are."""
    monkeypatch.setitem(sys.modules, "torch", Torch())
    monkeypatch.setitem(sys.modules, "cupy", Cupy())
    exe, driver = loaded(chain())
    monkeypatch.setattr(Torch, "gpu", driver.gpu)
    return exe, driver


def consume(driver, array, stream):
    """A framework takes an array and enqueues work that reads it: the result once that has run."""
    taken = take("a", array, stream)
    found = np.zeros(N, np.float32)

    def work():
        check_used(taken_address)
        found[:] = at(taken_address, np.float32, N)

    taken_address = taken.address
    driver.gpu.enqueue(stream, work)
    return taken, found


# Inputs.


def test_inputs_live_until_the_gpu_has_read_them():
    exe, _driver = loaded(chain())
    kept = FakeGpuArray(ONES)
    given = FakeGpuArray(2 * ONES)
    alive = weakref.ref(given)
    result = exe(given, kept)
    del given
    assert alive() is not None and result.numpy().tolist() == [6] * N
    exe(kept, kept)
    assert alive() is None


def test_inputs_that_are_copied_first_live_until_they_are():
    exe, _driver = loaded(chain())
    result = exe(FakeGpuArray(2 * ONES, offset=4), FakeGpuArray(ONES))
    assert result.numpy().tolist() == [6] * N


def test_outputs_live_until_the_gpu_has_written_them():
    exe, driver = loaded(chain())
    exe.run((FakeGpuArray(ONES), FakeGpuArray(ONES)), FakeGpuArray(ONES))
    driver.gpu.finish()


def test_inputs_of_a_call_that_fails_live_until_what_it_enqueued_has_run():
    exe, driver = loaded(chain())
    with pytest.raises(InputError):
        exe(FakeGpuArray(ONES, offset=4), "no array")
    driver.fail_finish = True
    with pytest.raises(CudaError):
        exe(FakeGpuArray(ONES, offset=4), FakeGpuArray(ONES))
    driver.gpu.finish()


def test_inputs_go_with_the_executable():
    exe, _driver = loaded(chain())
    given = FakeGpuArray(ONES)
    alive = weakref.ref(given)
    result = exe(given, given)
    del given, exe
    gc.collect()
    assert alive() is None and result.numpy().tolist() == [4] * N


@pytest.mark.parametrize("into", [False, True])
def test_a_call_that_fails_anywhere_leaves_nothing_behind(into):
    def attempt(number):
        exe, driver = loaded(chain())
        driver.calls_left = number
        try:
            call(exe, into)
            failed = False
        except CudaError:
            failed = True
        driver.calls_left = 0
        assert call(exe, into) == [8] * N
        return driver, failed

    leaves_nothing_behind(attempt)


def call(exe, into):
    """A call with arrays that are taken, copied first, and the host's."""
    inputs = FakeGpuArray(3 * ONES, offset=4), ONES
    if not into:
        return exe(*inputs).numpy().tolist()
    outputs = FakeGpuArray(ONES, offset=4)
    exe.run(inputs, outputs)
    exe.device._driver.gpu.finish()
    return outputs.host.tolist()


# Results.


def test_a_result_lives_until_who_took_it_has_read_it():
    exe, driver = loaded(chain())
    given = FakeGpuArray(ONES)
    result = exe(given, given)
    taken, found = consume(driver, result, 33)
    before = len(driver.log)
    del result, taken
    assert len(driver.log) == before  # somebody may capture at this moment
    exe.run((given, given), given_too := FakeGpuArray(ONES))
    driver.gpu.finish(driver.stream)
    driver.gpu.finish(driver._last_stream)
    driver.gpu.finish()
    assert found.tolist() == given_too.host.tolist() == [4] * N and driver.memory.keys() == {exe.device._static.base}


def test_a_result_taken_without_a_stream_too():
    exe, driver = loaded(chain())
    given = FakeGpuArray(ONES)
    result = exe(given, given)
    result.numpy()
    taken = take("a", result, -1)
    driver.gpu.enqueue(44, lambda address=taken.address: check_used(address))
    del result, taken
    exe.run((given, given), FakeGpuArray(ONES))
    driver.gpu.finish(driver.stream)
    driver.gpu.finish(driver._last_stream)
    driver.gpu.finish()


def test_a_result_that_nobody_took_goes_on_its_own_stream():
    exe, driver = loaded(chain())
    given = FakeGpuArray(ONES)
    del_, held = exe(given, given), len(driver.memory)
    del del_
    driver.gpu.finish(driver.stream)
    assert len(driver.memory) == held - 1


def test_results_do_not_go_by_a_stream_that_may_be_gone(chained):
    exe, driver = chained
    result = exe(FakeGpuArray(ONES), Tensor(ONES))
    assert isinstance(result, DeviceArray) and result._stream == driver.stream
    assert driver.log[-1][0] != "synchronise" and result.numpy().tolist() == [4] * N


def test_a_result_is_handed_on_as_it_lies():
    exe, _ = loaded(chain())
    result = exe(FakeGpuArray(ONES), FakeGpuArray(ONES))
    with pytest.raises(BufferError, match="handed on as it lies"):
        result.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        result.__dlpack__(dl_device=(1, 0))
    with pytest.raises(ValueError, match="has to be copied"):
        np.asarray(result, copy=False)


class JaxArray(FakeGpuArray):
    __module__ = "jaxlib.xla_extension"


def test_jaxs_results_are_taken_by_jax(monkeypatch):
    """On a stream of JAX's, and it may not want them."""
    exe, driver = loaded(chain())
    taken = []
    jax = SimpleNamespace(dlpack=SimpleNamespace(from_dlpack=lambda array: taken.append(consume(driver, array, 55)) or taken[-1]))
    monkeypatch.setitem(sys.modules, "jax", jax)
    _, found = exe(JaxArray(ONES), JaxArray(ONES))
    driver.gpu.finish(55)
    assert found.tolist() == [4] * N
    jax.dlpack.from_dlpack = lambda array: int("no such type")
    with pytest.raises(InputError, match="jax does not take the result 8xf32: invalid literal"):
        exe(JaxArray(ONES), JaxArray(ONES))


# Streams.


@pytest.mark.parametrize("first", [Torch.stream, Cupy.stream])
def test_a_call_comes_after_the_work_of_all_frameworks_and_before_what_they_do_next(chained, first):
    exe, driver = chained
    x, y = Tensor(0 * ONES), ndarray(0 * ONES)
    driver.gpu.enqueue(Torch.stream, lambda: x.host.__setitem__(..., 1))
    driver.gpu.enqueue(Cupy.stream, lambda: y.host.__setitem__(..., 2))
    result = exe(x, y)
    for stream, array in ((Torch.stream, x), (Cupy.stream, y)):
        driver.gpu.enqueue(stream, lambda array=array: array.host.__setitem__(..., 99))
    assert isinstance(result, Tensor) and [entry[2] for entry in driver.calls("launch")] == [Torch.stream]
    driver.gpu.finish(first)
    driver.gpu.finish()
    assert result.host.tolist() == [6] * N


def test_torchs_copies_are_waited_for_on_another_frameworks_stream(chained):
    exe, driver = chained
    x = Tensor(3 * ONES)
    x.is_dense = False
    result = exe(ndarray(ONES), x)
    driver.gpu.finish(Cupy.stream)
    assert isinstance(result, ndarray) and result.host.tolist() == [8] * N


def test_outputs_of_another_framework_are_written_before_it_reads_them(chained):
    exe, driver = chained
    out, found = ndarray(0 * ONES), np.zeros(N, np.float32)
    exe.run((Tensor(ONES), Tensor(ONES)), out)
    driver.gpu.enqueue(Cupy.stream, lambda: found.__setitem__(..., out.host))
    driver.gpu.finish(Cupy.stream)
    assert found.tolist() == [4] * N


def test_cupys_results_are_of_the_programs_device(chained):
    exe, driver = chained
    result = exe(ndarray(ONES), ndarray(ONES))
    assert isinstance(result, ndarray) and [entry[2] for entry in driver.calls("launch")] == [Cupy.stream]
    driver.gpu.finish(Cupy.stream)
    assert result.host.tolist() == [4] * N


def test_calls_share_the_arena_one_after_the_other(chained, monkeypatch):
    exe, driver = chained
    found = []
    for number in range(4):
        monkeypatch.setattr(Torch, "stream", 30 + number % 2)
        found.append(exe(Tensor(number * ONES), Tensor(ONES)))
    driver.gpu.finish(31)
    driver.gpu.finish()
    assert [result.host[0] for result in found] == [2, 4, 6, 8]


def test_a_new_stream_at_the_place_of_an_old_one_waits_too(chained):
    """A handle is an address: that of a stream that is gone may be another's."""
    exe, driver = chained
    x = Tensor(ONES)
    exe(x, x)
    before = len(driver.calls("wait"))
    exe(x, x)
    assert ("wait", Torch.stream, exe.device._done) in driver.calls("wait")[before:]


def test_a_call_on_tensors_of_before_looks_at_their_addresses_alone(chained, monkeypatch):
    exe, driver = chained
    x, y, out = Tensor(ONES), Tensor(2 * ONES), Tensor(0 * ONES)
    exe.run((x, y), out)
    monkeypatch.setattr(device, "locate", lambda *_, **__: pytest.fail("looked at"))
    exe.run((x, y), out)
    driver.gpu.finish(Torch.stream)
    assert out.host.tolist() == [6] * N and len(driver.calls("launch")) == 2
    x.is_dense = False  # as a transposition in place makes it
    with pytest.raises(pytest.fail.Exception, match="looked at"):
        exe.run((x, y), out)


def test_a_stream_that_is_captured_is_refused(chained):
    exe, driver = chained
    driver.captured.add(Torch.stream)
    with pytest.raises(CudaError, match="while its caller's stream is captured\n.*outside of the capture"):
        exe(Tensor(ONES), Tensor(ONES))
    assert driver.calls("launch") == []


# Contexts.


def in_thread(function):
    """What the function gives in a thread that has no context."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_threads_without_a_context():
    exe, _driver = loaded(chain())
    given = FakeGpuArray(ONES)
    result = in_thread(lambda: exe(given, given))
    assert in_thread(result.numpy).tolist() == [4] * N
    assert in_thread(lambda: np.asarray(result)).tolist() == [4] * N
    in_thread(lambda: result.__dlpack__(stream=33))
    assert in_thread(exe.device.measurements) == [] and in_thread(exe.device.kept) == {}


def test_threads_that_call_one_program():
    exe, _ = loaded(chain())
    wrong = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work(first):
        for value in range(first, first + 25):
            given = FakeGpuArray(value * ONES) if value % 2 else value * ONES
            found = np.asarray(exe(given, ONES))
            if found.tolist() != [2 * value + 2] * N:
                wrong.append((value, found))

    threads = [threading.Thread(target=work, args=(1000 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert not wrong


def test_a_program_that_goes_waits_for_its_last_call():
    exe, _driver = loaded(chain())
    given, out = FakeGpuArray(ONES), FakeGpuArray(ONES)
    exe.run((given, given), out)
    del exe
    gc.collect()
    assert out.host.tolist() == [4] * N


def test_the_threads_context_is_left_as_it_was():
    driver = FakeDriver(KERNELS)
    other = object()
    driver._thread.context = other
    exe, _ = loaded(chain(), driver)
    given = FakeGpuArray(ONES)
    result = exe(given, given)
    result.numpy()
    result.__dlpack__(stream=33)
    del result, exe
    assert driver._thread.context is other
