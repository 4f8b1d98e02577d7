"""What this machine's processor has, by LLVM's names, and which code runs on it."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_LINUX = {"asimd": "neon", "asimdhp": "fullfp16", "asimddp": "dotprod", "bf16": "bf16", "i8mm": "i8mm"}
"""What Linux calls the features of an AArch64 that LLVM does not ask it for; below macOS, of which it asks nothing."""
_MACOS = {"AdvSIMD": "neon", "arm.FEAT_FP16": "fullfp16", "arm.FEAT_DotProd": "dotprod", "arm.FEAT_BF16": "bf16", "arm.FEAT_I8MM": "i8mm"}


@functools.cache
def host_features() -> dict[str, bool]:
    """LLVM's names of features, and whether this processor has them."""
    import llvmlite.binding as llvm  # machine_of needs no LLVM

    found = dict(llvm.get_host_cpu_features())
    triple = llvm.get_process_triple()
    if machine_of(triple) != "aarch64":
        return found
    return {**found, **(macos_features(_sysctl) if "apple" in triple else linux_features(_CPUINFO.read_text()))}


def linux_features(cpuinfo: str) -> dict[str, bool]:
    """Those of an AArch64 that the first processor of /proc/cpuinfo lists."""
    line = next((line for line in cpuinfo.splitlines() if line.startswith("Features")), "")
    listed = line.partition(":")[2].split()
    return {ours: theirs in listed for theirs, ours in _LINUX.items()}


def macos_features(sysctl: Callable[[str], int]) -> dict[str, bool]:
    """Those of an AArch64 that `sysctl`, given the name of a flag, says are there."""
    return {ours: bool(sysctl(f"hw.optional.{theirs}")) for theirs, ours in _MACOS.items()}


def _sysctl(name: str) -> int:
    """A number that macOS knows, 0 where it does not."""
    value = ctypes.c_int64(0)
    size = ctypes.c_size_t(ctypes.sizeof(value))
    ctypes.CDLL(None).sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
    return value.value


def runs_code_of(process: str, code: str) -> bool:
    """Whether a process of one triple runs code that was made for another: the instruction set, and whose calls and formats it follows."""
    return machine_of(process) == machine_of(code) and ("apple" in process) == ("apple" in code)


def machine_of(triple: str) -> str:
    """The instruction set of a triple: "x86_64", "aarch64"."""
    name = triple.partition("-")[0]
    return "aarch64" if name == "arm64" else name
