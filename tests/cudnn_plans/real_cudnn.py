"""NVIDIA's cuDNN without a GPU: it plans for a device that is described to it.

`planner("sm_90")` is what the runtime's ConvStep takes for the module `cudnn`. cuDNN wants a libcuda that it can load: `load` makes one of
functions that do nothing. So it is for a process of its own (plan_all.py), where no other driver is.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

_MADE = "LibraryLoadData LibraryLoadFromFile LibraryGetKernel KernelGetFunction ModuleLoadData ModuleGetFunction".split()
_DONE = """KernelGetAttribute DeviceGetCount DeviceGet GetErrorName GetErrorString CtxGetCurrent LaunchKernel LaunchKernelEx LinkAddData
    LaunchCooperativeKernel OccupancyMaxPotentialClusterSize StreamGetCtx LinkDestroy LinkCreate LinkComplete LibraryUnload
    KernelSetAttribute CtxPushCurrent CtxPopCurrent CtxGetLimit ModuleUnload TensorMapEncodeIm2col TensorMapEncodeTiled""".split()
_SOURCE = "\n".join(
    [
        "static char it[4096];",
        "int cuDriverGetVersion(int *version) { *version = 13000; return 0; }",
        *(f"int cu{name}(void **made) {{ *made = it; return 0; }}" for name in _MADE),
        *(f"int cu{name}() {{ return 0; }}" for name in _DONE),
    ]
)

_HOPPER = {"maxSharedMemoryPerBlockOptin": 232448, "maxSharedMemoryPerSM": 233472}
_DEVICES: dict[str, dict[str, Any]] = {
    "sm_80": {"deviceVer": 800, "multiProcessorCount": 108, "maxSharedMemoryPerBlockOptin": 166912, "maxSharedMemoryPerSM": 167936,
              "pciDeviceId": 0x20B2, "smClockRateKHz": 1410000, "memClockRateKHz": 1593000, "l2CacheSize": 41943040,
              "deviceName": "NVIDIA A100-SXM4-80GB"},
    "sm_90": {**_HOPPER, "deviceVer": 900, "multiProcessorCount": 132, "pciDeviceId": 0x2330, "smClockRateKHz": 1980000,
              "memClockRateKHz": 2619000, "l2CacheSize": 52428800, "deviceName": "NVIDIA H100 80GB HBM3"},
    "sm_100": {**_HOPPER, "deviceVer": 1000, "multiProcessorCount": 148, "pciDeviceId": 0x2901, "smClockRateKHz": 1965000,
               "memClockRateKHz": 3996000, "l2CacheSize": 132644864, "deviceName": "NVIDIA B200"},
}  # fmt: skip
_ALL = {
    "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "warpSize": 32,
    "maxSharedMemoryPerBlock": 49152, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
    "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 85000000000,
    "memoryBusWidth": 5120, "cudaDeviceId": 0, "driverVer": 13000,
}  # fmt: skip
DEVICES = tuple(_DEVICES)


def missing() -> str:
    """What is not installed; empty where nothing is."""
    found = {"nvidia-cudnn-frontend": importlib.util.find_spec("cudnn"), **{name: _library(file) for name, file in _FILES.items()}}
    return ", ".join(name for name, place in found.items() if place is None)


_FILES = {"nvidia-cublas": "cu13/lib/libcublasLt.so.13", "nvidia-cudnn-cu13": "cudnn/lib/libcudnn.so.9"}


def _library(file: str) -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations if spec is not None else None
    return next((path for folder in folders or () if (path := Path(folder) / file).exists()), None)


def load(folder: Path) -> Any:
    """The module `cudnn`. What it loads stays for as long as the process."""
    (folder / "driver.c").write_text(_SOURCE)
    driver = folder / "libcuda.so.1"
    command = ["cc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", str(driver), str(folder / "driver.c")]
    subprocess.run(command, check=True)
    for path in (driver, *map(_library, _FILES.values())):
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    return importlib.import_module("cudnn")


class Planner:
    """The module `cudnn` with graphs for a device that is not there."""

    def __init__(self, cudnn: Any, device: str):
        self._cudnn = cudnn
        self._device = cudnn.create_device_properties(json.dumps({**_ALL, **_DEVICES[device]}))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cudnn, name)

    def pygraph(self, handle: int, **types: Any) -> _Graph:
        return _Graph(self._cudnn.pygraph(**types, device_property=self._device))


class _Graph:
    """check_support asks the driver which device there is, and build_plans calls it: here plans are built one by one, as that does."""

    def __init__(self, graph: Any):
        self._graph, self.plan = graph, ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    def check_support(self) -> None:
        pass

    def build_plans(self) -> None:
        reason = "no engine"
        for index in range(self._graph.get_execution_plan_count()):
            try:
                self._graph.build_plan_at_index(index)
            except Exception as error:
                reason = str(error)
                continue
            self.plan = self._graph.get_plan_name_at_index(index)
            return
        raise RuntimeError(f"No valid execution plans: {reason}")
