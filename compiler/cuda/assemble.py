"""PTX → cubin: through nvJitLink in this process, else through ptxas; both say what each kernel uses."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from hloom.dialects.target import TargetView

from .errors import INSTALL, ToolchainError


@dataclass(frozen=True)
class Resources:
    """What a kernel uses, as the assembler reports it."""

    registers: int = 0
    spills: int = 0
    """Bytes of spill stores and loads."""
    stack: int = 0
    """Bytes of local memory a thread, spills included."""
    shared: int = 0
    """Bytes of static shared memory a block."""
    barriers: int = 0
    waits: bool = False
    """Whether registers were too few for products that run on (wgmma): each is waited for by itself."""


@dataclass(frozen=True)
class Cubin:
    """Machine code of a gpu.module for one target, and what each kernel in it uses, by name."""

    bytes: bytes
    statistics: dict[str, Resources]


@dataclass(frozen=True)
class Assembler:
    """One way from PTX to machine code. `run(ptx, arch)` gives the code and the report; `version` is part of a cache's key."""

    name: str
    version: str
    run: Callable[[str, str], tuple[bytes, str]]


def assemble(ptx: str, target: TargetView) -> Cubin:
    """The machine code of all kernels in `ptx`. Raises ToolchainError where no assembler is installed, or it refuses the text."""
    code, report = assembler().run(ptx, target.cpu)
    return Cubin(code, parse_report(report))


def without_bounds(ptx: str, kernels: Collection[str]) -> str:
    """The text without the bounds of these kernels' registers: how many blocks a multiprocessor is to hold at once."""
    head, *entries = ptx.split(_ENTRY_POINT)
    freed = (_RESIDENT.sub("", each, count=1) if each.partition("(")[0] in kernels else each for each in entries)
    return _ENTRY_POINT.join((head, *freed))


@functools.cache
def assembler() -> Assembler:
    """The assembler of this machine. Raises ToolchainError if there is none."""
    found = _nvjitlink() or _ptxas()
    if not found:
        remedy = f"{INSTALL}, which brings nvidia-nvjitlink and ptxas"
        raise ToolchainError("neither nvJitLink nor ptxas is installed, so PTX cannot be assembled", stage="cubin", remedy=remedy)
    return found


_ENTRY_POINT = ".entry "
_RESIDENT = re.compile(r"\.minnctapersm \d+\n")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+) bytes smem")
_SERIALIZED = re.compile(r"\(C7512\) .* for the function '([^']+)'")


def parse_report(text: str) -> dict[str, Resources]:
    """What `ptxas -v` says of each entry function."""
    _, *pieces = _ENTRY.split(text)
    waiting = set(_SERIALIZED.findall(text))
    return {name: _resources(report, name in waiting) for name, report in zip(pieces[::2], pieces[1::2], strict=True)}


def _resources(report: str, waits: bool) -> Resources:
    def number(pattern: re.Pattern[str]) -> int:
        found = pattern.search(report)
        return int(found[1]) if found else 0

    frame = _FRAME.search(report)
    stack, stores, loads = map(int, frame.groups()) if frame else (0, 0, 0)
    return Resources(number(_USED), stores + loads, stack, number(_SHARED), number(_BARRIERS), waits)


def _nvjitlink() -> Assembler | None:
    try:
        from cuda.bindings import nvjitlink
        from cuda.pathfinder import DynamicLibNotFoundError
    except ImportError:
        return None
    try:
        version = ".".join(map(str, nvjitlink.version()))
    except (DynamicLibNotFoundError, RuntimeError):
        return None

    def run(ptx: str, arch: str) -> tuple[bytes, str]:
        from cuda.core import Linker, LinkerOptions, ObjectCode

        options = LinkerOptions(arch=arch, ptxas_options=["-v"])
        try:
            linker = Linker(ObjectCode.from_ptx(ptx.encode()), options=options)
            return linker.link("cubin").code, linker.get_info_log()
        except Exception as error:  # cuda.core has no common class; its message holds the assembler's
            raise _refused("nvJitLink", str(error)) from None

    return Assembler("nvJitLink", version, run)


def _ptxas() -> Assembler | None:
    try:
        from cuda import pathfinder

        path = pathfinder.find_nvidia_binary_utility("ptxas")
    except ImportError:
        import shutil

        path = shutil.which("ptxas")
    if not path:
        return None
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout

    def run(ptx: str, arch: str) -> tuple[bytes, str]:
        with tempfile.TemporaryDirectory() as folder:
            source, result = Path(folder, "kernels.ptx"), Path(folder, "kernels.cubin")
            source.write_text(ptx)
            done = subprocess.run([path, "-v", f"-arch={arch}", source, "-o", result], capture_output=True, text=True, check=False)
            if done.returncode:
                raise _refused("ptxas", done.stderr)
            return result.read_bytes(), done.stderr + done.stdout

    return Assembler("ptxas", version, run)


def _refused(tool: str, report: str) -> ToolchainError:
    lines = [line for line in report.splitlines() if "error" in line.lower() or "fatal" in line.lower()]
    remedy = "the target may be newer than the tool: update it; else this is a fault of hloom"
    return ToolchainError(f"{tool} refused the PTX: " + "; ".join(lines[:3] or [report.strip()[:500]]), stage="cubin", remedy=remedy)
