"""Programs for AArch64 run here by qemu-user: `with emulated():` makes them callable like others; `pytest --cpu=small-neon` compiles for
it wherever a test would choose a processor (machines.py).

The native library and a runner (aarch64_runner.cpp) are compiled once, by Debian's cross compiler, into build/aarch64. Each program's
object is linked with the library; a call runs the runner on the file of its buffers.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hloom.compiler.target import load_target
from hloom.runtime import executable
from hloom.runtime.cpu import CpuDevice
from hloom.runtime.custom_calls import SYMBOL
from hloom.runtime.program import LoadedProgram, Slot

_ROOT = Path(__file__).parents[1]
_COMPILER, _EMULATOR, _SYSTEM = "aarch64-linux-gnu-g++", "qemu-aarch64", "/usr/aarch64-linux-gnu"
_SOURCES = [Path(__file__).parent / "aarch64_runner.cpp", *sorted((_ROOT / "runtime" / "native").glob("*.cpp"))]
_SCRATCH, _GIVEN, _WANTED = range(3)
TARGET = str(Path(__file__).parent / "targets" / "small-neon.toml")
_ABSENT = [tool for tool in (_COMPILER, _EMULATOR) if shutil.which(tool) is None]
MISSING = f"{', '.join(_ABSENT)}: not installed (apt-get install qemu-user g++-aarch64-linux-gnu)" if _ABSENT else ""
"""Why nothing can be emulated here."""


class EmulatedDevice(CpuDevice):
    """A processor that is not here. Buffers are copied to it and back at each call."""

    def _link(self, program: LoadedProgram) -> Mapping[str, Any]:
        if any(SYMBOL.encode() in blob for blob in program.blobs.values()):
            pytest.skip("custom calls, LAPACK's among them, are functions of this process: an emulated processor cannot call them")
        self._folder = tempfile.TemporaryDirectory(prefix="hloom-aarch64-")
        folder, objects = Path(self._folder.name), []
        for name, blob in program.blobs.items():
            if name.startswith("code"):
                objects.append(str(folder / f"{name}.o"))
                Path(objects[-1]).write_bytes(blob)
        library = built()
        links = [f"-L{library}", "-lhloom_native", f"-Wl,-rpath,{library}", "-Wl,--no-undefined", "-lm"]
        subprocess.run([_COMPILER, "-shared", "-o", str(folder / "program.so"), *objects, *links], check=True)
        return {kind: functools.partial(self._run, kind, symbol) for kind, symbol in program.symbols.items()}

    def _run(self, kind: str, symbol: str, address: int) -> None:
        slots, folder = self.program.slots[kind], Path(self._folder.name)
        pointers = (ctypes.c_uint64 * len(slots)).from_address(address)
        sizes = [self._bytes(kind, slot) for slot in slots]
        with (folder / "buffers").open("wb") as file:
            file.write(struct.pack("q", len(slots)))
            for (what, _), pointer, size in zip(slots, pointers, sizes):
                use = {"arena": _SCRATCH, "result": _WANTED}.get(what, _GIVEN)
                file.write(struct.pack("qq", size, use) + (ctypes.string_at(pointer, size) if use == _GIVEN else b""))
        command = [_EMULATOR, "-L", _SYSTEM, str(built() / "runner"), str(folder / "program.so"), symbol]
        done = subprocess.run([*command, str(folder / "buffers"), str(folder / "results")], capture_output=True, text=True)
        assert done.returncode == 0, f"emulated program ended with {done.returncode}: {done.stderr}"
        data, at = (folder / "results").read_bytes(), 0
        for (what, _), pointer, size in zip(slots, pointers, sizes):
            if what == "result":
                ctypes.memmove(pointer, data[at : at + size], size)
                at += size

    def _bytes(self, kind: str, slot: Slot) -> int:
        what, value = slot
        program, specs = self.program, self.program.signature
        if what == "arena":
            return int(value)
        if what == "constant":
            return len(program.blobs[value])
        if what == "init" or (what == "result" and kind == "init"):
            return program.init_results[value].nbytes
        if what == "result":
            return specs.outputs[value].nbytes
        given = {**dict(zip(program.positions, specs.inputs)), **specs.bound}
        return given[value].nbytes


def is_chosen() -> bool:
    """Whether tests compile for it where they would choose a processor of this machine's: `pytest --cpu=small-neon`."""
    return is_emulated(os.environ.get("HLOOM_TARGET", ""))


def is_emulated(target: str) -> bool:
    """Whether that is the file of such a target."""
    return target.endswith(".toml") and load_target(target).machine == "aarch64"


@contextmanager
def emulated() -> Iterator[None]:
    """Programs for AArch64 that are loaded inside run here."""
    before = executable._device_class

    def device(target: Mapping[str, Any]) -> Any:
        return EmulatedDevice if target.get("triple", "").startswith("aarch64") else before(target)

    executable._device_class = device
    try:
        yield
    finally:
        executable._device_class = before


@functools.cache
def built() -> Path:
    """The folder of the native library and the runner, compiled for AArch64; another one for other sources."""
    key = hashlib.sha256(b"".join(source.read_bytes() for source in _SOURCES)).hexdigest()[:16]
    folder = _ROOT / "build" / "aarch64" / key
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    runner, *library = map(str, _SOURCES)
    for output, *more in (["libhloom_native.so", "-shared", "-fPIC", *library], ["runner", runner, "-ldl"]):
        subprocess.run([_COMPILER, "-std=c++17", "-O2", "-Wall", "-Wextra", "-fopenmp", "-o", str(made / output), *more], check=True)
    try:
        made.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(made)
    return folder
