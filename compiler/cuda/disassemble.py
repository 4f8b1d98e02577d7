"""Cubin → the GPU's instructions as text, by NVIDIA's disassembler: what PTX does not tell (how wide loads became, what a loop issues)."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import INSTALL, ToolchainError


def disassemble(cubin: bytes) -> str:
    """The instructions of all kernels, with labels. Raises ToolchainError where no nvdisasm is installed, or it refuses the code."""
    path = _nvdisasm()
    if path is None:
        raise ToolchainError("nvdisasm is not installed, so machine code has no text", stage="cubin", remedy=f"{INSTALL}, which brings it")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(cubin)
        done = subprocess.run([path, "--print-code", file.name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolchainError(f"nvdisasm refused the machine code: {done.stderr.strip()}", stage="cubin")
    return done.stdout


def has_disassembler() -> bool:
    return _nvdisasm() is not None


def _nvdisasm() -> str | None:
    try:
        from cuda import pathfinder
    except ImportError:
        return shutil.which("nvdisasm")
    return pathfinder.find_nvidia_binary_utility("nvdisasm") or shutil.which("nvdisasm")
