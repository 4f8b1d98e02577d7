"""hloom's own times on a GPU where there is no torch: memory, events and the stream are those of hloom's driver.

Nothing keeps the GPU busy while calls are enqueued, as timing.py does with torch: of small programs the device's time holds the host's.
"""

from __future__ import annotations

import platform
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hloom.runtime.cuda.arrays import DeviceArray
from hloom.runtime.cuda.driver import default_driver
from hloom.runtime.signature import TensorSpec

from .cases import Case
from .check import load_case
from .timing import Launch, Times, call_times, sampled


def facts() -> dict[str, Any]:
    driver = default_driver()
    device = driver.core.Device(driver.index)
    of = device.properties
    return {
        "device": driver.name,
        "l2_bytes": of.l2_cache_size,
        "multiprocessors": of.multiprocessor_count,
        "architecture": f"sm_{driver.capability}",
        "torch": "none",
        "jax": "none",
        "cuda": f"{driver.call('cuDriverGetVersion')} (the driver's), Python {platform.python_version()}",
    }


def copies_ready(case: Case, copies: int, folder: Path) -> tuple[list[np.ndarray], list[Launch]]:
    """The first copy's results, and a call of each copy on arrays of its own."""
    driver = default_driver()
    launches: list[Launch] = []
    first: list[np.ndarray] = []
    for _ in range(copies):
        exe, inputs = load_case(case, folder)
        given = [_on_gpu(driver, spec, array) for spec, array in zip(exe.signature.inputs, inputs)]
        outputs = [_on_gpu(driver, spec) for spec in exe.signature.outputs]
        launches.append(partial(exe.flat, given, outputs))
        launches[-1]()
        first = first or [output.numpy() for output in outputs]
    return first, launches


def device_times(launches: list[Launch], seconds: float) -> Times:
    """A sample is the time between two events around calls of all copies, over their number."""
    driver = default_driver()
    with driver.current():
        begin, end = driver.new_event(timing=True), driver.new_event(timing=True)

    def sample(queue: list[Launch]) -> float:
        with driver.current():
            driver.record(begin, driver.stream)
        for launch in queue:
            launch()
        with driver.current():
            driver.record(end, driver.stream)
            driver.synchronise(driver.stream)
            return driver.elapsed_ns(begin, end) * 1e-3 / len(queue)

    return sampled(launches, synchronise, sample, seconds)


def times_of_calls(launches: list[Launch], seconds: float) -> Times:
    return call_times(launches, synchronise, seconds)


def synchronise() -> None:
    driver = default_driver()
    with driver.current():
        driver.synchronise(driver.stream)


def _on_gpu(driver: Any, spec: TensorSpec, values: np.ndarray | None = None) -> DeviceArray:
    with driver.current():
        made = DeviceArray(driver, spec, driver.stream)
        if values is not None:
            driver.upload(made.address, np.ascontiguousarray(values), driver.stream)
    return made
