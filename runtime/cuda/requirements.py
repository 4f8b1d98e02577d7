"""Whether this GPU and its driver can run a program that was compiled for a target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import DamagedFileError, GpuArchitectureError, MissingDriverError

DRIVER, _VERSION = "580", 13000
"""The oldest NVIDIA driver for the CUDA packages that hloom is pinned to (CUDA 13's), and the CUDA version that it tells."""
INSTALL_DRIVER = f"install the NVIDIA driver ({DRIVER} or newer) and check that nvidia-smi lists the GPU; or compile with --target=cpu"


def require_driver(version: int) -> None:
    """Raises MissingDriverError if a driver for that CUDA version (12080 for 12.8) is too old."""
    if version < _VERSION:
        raise MissingDriverError(
            f"the NVIDIA driver is for CUDA {_cuda(version)}; hloom's packages are of CUDA {_cuda(_VERSION)}", remedy=INSTALL_DRIVER
        )


def require_gpu(target: Mapping[str, Any], name: str, capability: int) -> None:
    """Raises GpuArchitectureError if a GPU of that compute capability (90 for 9.0) cannot run what was compiled for `target`."""
    if not runs_on(str(target.get("cpu")), capability):
        wanted = _capability(str(target["cpu"]))
        older = "older" if capability < wanted else "another generation"
        raise GpuArchitectureError(
            f"the program was compiled for {target['cpu']} (compute capability {_dotted(wanted)}); "
            f"this GPU, {name}, has {_dotted(capability)}: {older}",
            remedy=f"compile it for this GPU: --target=sm_{capability}{'a' if capability >= 90 else ''}",
        )


def runs_on(architecture: str, capability: int) -> bool:
    """A cubin runs on GPUs of its own major version, from its minor version up; one for sm_90a on 9.0 alone."""
    wanted = _capability(architecture)
    return capability == wanted if architecture.endswith("a") else capability // 10 == wanted // 10 and capability >= wanted


def _capability(architecture: str) -> int:
    match = re.fullmatch(r"sm_(\d+)[af]?", architecture)
    if match is None:
        raise DamagedFileError(f"the manifest names no GPU architecture: {architecture!r}")
    return int(match[1])


def _dotted(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"


def _cuda(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
