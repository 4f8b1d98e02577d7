"""Faults put into the runtime on purpose: for some order that the rules allow each is a wrong result, a fault or a refusal."""

from __future__ import annotations

import contextlib
import gc

import numpy as np
import pytest
from cuda_driver.executor import ByImage
from cuda_driver.frameworks import Lent, Reader, outcome
from cuda_driver.stub_kernels import run_by
from cuda_programs import BYTES, KERNELS, N, artifact, chain, kernel, loaded, tensor

from hloom.runtime.cuda import arrays, device, order
from hloom.runtime.cuda.capture import Capture
from hloom.runtime.cuda.conditions import Conditions
from hloom.runtime.cuda.driver import Driver
from hloom.runtime.cuda.graphs import CAPACITY
from hloom.runtime.cuda.recorder import Recorder

ONES = np.ones(N, np.float32)
SEEDS = range(12)


@pytest.fixture(scope="module")
def driver(request):
    return Driver(0)


@pytest.fixture
def machine(request, driver):
    machine = request.config.machine
    machine.begin_again(0)
    machine.executor = ByImage()
    yield machine
    machine.begin_again(0)


@pytest.fixture(params=[Recorder, Capture], autouse=True)
def kind(request, monkeypatch):
    """Programs with loops are recorded by cuda.core's builder, others by the driver's capture: all faults are tried on both."""
    if request.param is Recorder:
        monkeypatch.setattr(Driver, "capture", Driver.recorder)
    return request.param


def program(machine, driver, made):
    made.blobs["cubin"] = run_by(machine, KERNELS)
    return loaded(made, driver)[0]


def holds(machine, attempt):
    """Nothing is wrong as long as nothing was put in, whatever the order."""
    assert set(outcome(machine, attempt, SEEDS)) == {""}


def is_caught(machine, attempt, *texts):
    found = outcome(machine, attempt, SEEDS)
    assert any(text in wrong for wrong in found for text in texts), found


def host_call(machine, driver):
    def attempt():
        return program(machine, driver, chain())(ONES, 2 * ONES).tolist() == [6] * N

    return attempt


def lent_call(machine, driver, *, calls=1):
    """Calls with arrays that go at once; each result is read by another framework, and goes at once as well."""

    def attempt():
        exe, reader = program(machine, driver, chain()), Reader(driver)
        found = []
        for number in range(calls):
            result = exe(Lent(driver, ONES), Lent(driver, number * ONES))
            found.append(reader.take(result)[1])
            del result
        exe(ONES, ONES)
        reader.wait()
        return [values.tolist() for values in found] == [[2 + 2 * number] * N for number in range(calls)]

    return attempt


def test_an_event_that_is_not_waited_for(machine, driver, monkeypatch):
    holds(machine, lent_call(machine, driver, calls=3))
    monkeypatch.setattr(arrays, "follow", lambda *_: None)
    is_caught(machine, lent_call(machine, driver, calls=3), "a wrong result", "not there yet")


def test_inputs_that_go_too_early(machine, driver, monkeypatch):
    holds(machine, lent_call(machine, driver))
    monkeypatch.setattr(order.Held, "add", lambda *_: None)
    is_caught(machine, lent_call(machine, driver), "were given back")


def test_results_that_go_too_early(machine, driver, monkeypatch):
    monkeypatch.setattr(Driver, "free_later", lambda self, address: self.free_on(self.stream, address))
    is_caught(machine, lent_call(machine, driver), "were given back", "a wrong result")


def test_memory_that_is_freed_at_once(machine, driver, monkeypatch):
    monkeypatch.setattr(Driver, "free_on", lambda self, stream, address: self.free(address))
    is_caught(machine, lent_call(machine, driver), "were given back", "a wrong result")


def test_arguments_in_another_order(machine, driver, monkeypatch):
    holds(machine, host_call(machine, driver))
    launch = Recorder.launch
    monkeypatch.setattr(Recorder, "launch", lambda self, *before: launch(self, *before[:4], before[4][::-1], *before[5:]))
    is_caught(machine, host_call(machine, driver), "a wrong result")


def test_an_argument_too_few(machine, driver, monkeypatch):
    launch = Recorder.launch
    monkeypatch.setattr(Recorder, "launch", lambda self, *before: launch(self, *before[:4], before[4][:-1], *before[5:]))
    is_caught(machine, host_call(machine, driver), "failed", "a wrong result")


def many_addresses(machine, driver):
    """More addresses than graphs are kept for."""

    def attempt():
        exe = program(machine, driver, chain())
        kept, found = [], []
        for number in range(CAPACITY + 3):
            kept.append(Lent(driver, number * ONES))
            found.append(exe(kept[-1], kept[-1]))
        return [result.numpy().tolist() for result in found] == [[4 * number] * N for number in range(CAPACITY + 3)]

    return attempt


def test_addresses_of_before_an_update(machine, driver, monkeypatch, kind):
    holds(machine, many_addresses(machine, driver))
    monkeypatch.setattr(kind, "update", lambda self, graph: self._end() is not None)
    is_caught(machine, many_addresses(machine, driver), "a wrong result", "were given back")


def test_calls_that_do_not_wait_for_the_last(machine, driver, monkeypatch):
    """They share the arena; an array of torch's would have them on two streams."""

    def attempt():
        exe, streams = program(machine, driver, chain()), [Reader(driver).stream for _ in range(4)]
        kept, found = [], []
        for number, stream in enumerate(streams):
            kept.append(Lent(driver, number * ONES))
            monkeypatch.setattr(device, "caller_streams", lambda *_, stream=stream: [stream])
            found.append(exe(kept[-1], kept[-1]))
        return [result.numpy().tolist() for result in found] == [[4 * number] * N for number in range(4)]

    holds(machine, attempt)
    monkeypatch.setattr(device.CudaDevice, "_has_worked", property(lambda self: False, lambda self, value: None), raising=False)
    is_caught(machine, attempt, "a wrong result")


def test_calls_without_a_context(machine, driver, monkeypatch):
    monkeypatch.setattr(Driver, "current", lambda self: contextlib.nullcontext())
    with contextlib.suppress(AttributeError):
        machine.context_stack.clear()
    is_caught(machine, host_call(machine, driver), "INVALID_CONTEXT")


def while_program():
    """r doubles a as long as it is below 100."""
    x, t, p = [1, 0, BYTES], [2, 64, BYTES], [2, 0, 1]
    double = [kernel("double", [x], [t]), {"op": "copy", "reads": [t], "writes": [x]}]
    body = [
        {"op": "copy", "reads": [[0, 0, BYTES]], "writes": [x]},
        {"op": "while", "reads": [p], "cond": [kernel("below_100", [x], [p])], "body": double},
    ]
    return artifact(body, [tensor("a")], [tensor("r")], [["argument", 0], ["result", 0], ["arena", 256]])


def while_call(machine, driver):
    def attempt():
        return program(machine, driver, while_program())(ONES).tolist() == [128] * N

    return attempt


def test_a_condition_that_is_not_set(machine, driver, monkeypatch):
    holds(machine, while_call(machine, driver))
    monkeypatch.setattr(machine, "most_rounds", 1000)
    set_while, done = Conditions.set_while, []
    monkeypatch.setattr(Conditions, "set_while", lambda *given: done.append(0) if len(done) % 2 else done.append(1) or set_while(*given))
    is_caught(machine, while_call(machine, driver), "rounds")


def test_events_in_the_body_of_a_loop(machine, driver):
    def attempt():
        with driver.current():
            recorder = driver.recorder()
            try:
                body = recorder.loop(recorder.condition())
                body.record(driver.new_event(timing=True))
            finally:
                recorder.abandon()
        return True

    is_caught(machine, attempt, "NOT_SUPPORTED")
    assert any("cannot hold an event" in why for _, _, why in machine.refusals)


def test_what_is_left_when_all_is_gone(machine, driver):
    before = len(machine.memory.live())
    assert lent_call(machine, driver, calls=3)()
    gc.collect()
    with driver.current():
        driver.free_waiting()
    assert len(machine.memory.live()) == before
