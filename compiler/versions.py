"""What a program depends on beside its source and its options: the versions of the tools, and hloom's own code."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from .cache import key_of, package_version

_PACKAGES = ("hloom", "torch-mlir", "llvmlite", "cuda-python", "cuda-core", "nvidia-nvjitlink", "nvidia-cuda-nvcc", "nvidia-nvvm", "numpy")


@functools.cache
def versions() -> tuple[str, ...]:
    """The versions of Python and the packages, and a digest of every file of the compiler: parts of keys (cache.py)."""
    folders = {Path(p) for name in ("compiler", "dialects", "passes") for p in _folders(name)}
    files = sorted(path for folder in folders for kind in ("*.py", "*.mlir", "*.toml") for path in folder.rglob(kind))
    return (sys.version, *map(package_version, _PACKAGES), key_of(path.read_bytes() for path in files))


def _folders(name: str) -> list[str]:
    return list(__import__(f"hloom.{name}", fromlist=["__path__"]).__path__)
