"""Whether this GPU and its driver can run a program that was compiled for a target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import DamagedFileError, GpuArchitectureError

_CONDITIONS_VERSION = 12080
"""The CUDA version whose drivers have all conditional nodes that control flow needs."""


def require_gpu(target: Mapping[str, Any], name: str, capability: int) -> None:
    """A cubin runs on GPUs of its own major version, from its minor version up; one for sm_90a on 9.0 alone."""
    match = re.fullmatch(r"sm_(\d+)([af]?)", str(target.get("cpu")))
    if match is None:
        raise DamagedFileError(f"the manifest names no GPU architecture: {target.get('cpu')!r}")
    wanted, exact = int(match[1]), match[2] == "a"
    fits = capability == wanted if exact else capability // 10 == wanted // 10 and capability >= wanted
    if not fits:
        older = "older" if capability < wanted else "another generation"
        raise GpuArchitectureError(
            f"the program was compiled for {target['cpu']} (compute capability {_dotted(wanted)}); "
            f"this GPU, {name}, has {_dotted(capability)}: {older}",
            remedy=f"compile it for this GPU: --target=sm_{capability}{'a' if capability >= 90 else ''}",
        )


def require_conditions(version: int) -> None:
    if version < _CONDITIONS_VERSION:
        raise GpuArchitectureError(
            f"the program has loops or branches, which graphs have from CUDA 12.8 on; the driver is for CUDA {_cuda(version)}",
            remedy="install NVIDIA driver 570 or newer",
        )


def _dotted(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"


def _cuda(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
