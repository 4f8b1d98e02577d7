"""What a program depends on beside its source and its options: the versions of the tools, and hloom's own code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator

from .cache import key_of, package_version

_PACKAGES = ("hloom", "torch-mlir", "llvmlite", "cuda-python", "cuda-core", "nvidia-nvjitlink", "nvidia-cuda-nvcc", "nvidia-nvvm", "numpy")


@functools.cache
def versions() -> tuple[str, ...]:
    """The versions of Python and the packages, and a digest of every file of the compiler: parts of keys (cache.py)."""
    folders = {path for name in ("compiler", "dialects", "passes") for path in _folders(name)}
    files = sorted(path for folder in folders for path in _files(folder))
    return (sys.version, *map(package_version, _PACKAGES), key_of(map(_contents, files)))


def _files(folder: str) -> Iterator[str]:
    for inner, _, names in os.walk(folder):  # a fifth of the time of Path.rglob
        yield from (os.path.join(inner, name) for name in names if name.endswith((".py", ".mlir", ".toml")))


def _contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _folders(name: str) -> list[str]:
    return list(__import__(f"hloom.{name}", fromlist=["__path__"]).__path__)
