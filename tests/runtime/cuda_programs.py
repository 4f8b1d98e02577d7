"""Small programs for the CUDA runtime, written as an artifact's manifest; their kernels are functions over the fake driver's memory."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
from fake_driver import FakeDriver, at

from hloom.runtime.artifact import Artifact
from hloom.runtime.cuda.device import CudaDevice
from hloom.runtime.cuda.libraries import Libraries
from hloom.runtime.executable import Executable
from hloom.runtime.manifest import made_for
from hloom.runtime.pytree import flat

N = 8
BYTES = 4 * N


def kernel(name: str, reads: list, writes: list) -> dict[str, Any]:
    return {"op": "kernel", "callee": name, "reads": reads, "writes": writes, "cost_ps": 0, "tiles": 1, "grain": 0, "source": [name]}


def add(a: int, b: int, out: int) -> None:
    at(out, np.float32, N)[:] = at(a, np.float32, N) + at(b, np.float32, N)


def double(a: int, out: int) -> None:
    at(out, np.float32, N)[:] = 2 * at(a, np.float32, N)


def below_100(a: int, out: int) -> None:
    at(out, np.uint8, 1)[0] = at(a, np.float32, N).max() < 100


KERNELS = {"add": add, "double": double, "below_100": below_100}


def tensor(name: str, dtype: str = "f32", shape: tuple[int, ...] = (N,), **more: Any) -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "shape": list(shape), **more}


def artifact(body: list, arguments: list, results: list, buffers: list, **more: Any) -> Artifact:
    blobs = {"cubin": b"the cubin", **more.pop("blobs", {})}
    entries = {"main": {"symbol": "main", "buffers": buffers}, **more.pop("entries", {})}
    manifest = {
        "name": "test",
        "kind": "numpy",
        "target": {"name": "sm_90a", "kind": "cuda", "cpu": "sm_90a", "features": []},
        "arguments": [{"bound": False, **argument} for argument in arguments],
        "results": results,
        "init_results": [],
        "kwarg_tree": {"dict": []},
        "in_tree": flat(sum(not argument.get("bound") for argument in arguments)),
        "out_tree": "*" if len(results) == 1 else flat(len(results)),
        "entries": entries,
        "kernels": {name: {"grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0, "noalias": []} for name in KERNELS},
        "programs": {"main": {"op": "program", "body": body}, **more.pop("programs", {})},
    }
    return again(Artifact({**manifest, **more}, blobs))


def again(changed: Artifact) -> Artifact:
    """The artifact as if it had been compiled as it is now."""
    changed.manifest["made_for"] = made_for(changed.manifest, changed.blobs)
    return changed


def loaded(artifact_: Artifact, driver: FakeDriver | None = None, libraries: Libraries | None = None) -> tuple[Executable, FakeDriver]:
    driver = driver or FakeDriver(KERNELS)
    return Executable(again(artifact_), lambda program: CudaDevice(program, driver, libraries)), driver


def leaves_nothing_behind(attempt: Callable[[int], tuple[FakeDriver, bool]]) -> None:
    """Nothing is left of an attempt, whichever of the driver's calls fails in it.

    `attempt(n)` lets the n-th call fail; it gives the driver, and whether it failed.
    """
    gc.freeze()  # a collection looks at what attempts make alone: at all that torch and JAX hold it takes a third of a second
    try:
        for number in range(1, 100):
            driver, failed = attempt(number)
            gc.collect()
            driver.gpu.finish()
            made, freed = (sorted(entry[1] for entry in driver.calls(name)) for name in ("new_event", "free_event"))
            assert driver.memory == {} and made == freed, f"call {number}"
            if not failed:
                break
    finally:
        gc.unfreeze()
    assert 10 < number < 99


def chain() -> Artifact:
    """r = 2 (a + b), through the arena"""
    body = [
        kernel("add", [[0, 0, BYTES], [1, 0, BYTES]], [[3, 64, BYTES]]),
        kernel("double", [[3, 64, BYTES]], [[2, 0, BYTES]]),
    ]
    buffers = [["argument", 0], ["argument", 1], ["result", 0], ["arena", 128]]
    return artifact(body, [tensor("a"), tensor("b")], [tensor("r")], buffers)
