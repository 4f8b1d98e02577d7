"""Programs that were compiled before for a GPU, by what they were made from: source, target, options, tools, and hloom's own code.

Entries are `.hloom` files in the cache directory (cache.py); they check themselves, and a damaged one counts as absent.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

from hloom.runtime.artifact import Artifact
from hloom.runtime.errors import ExecutionError
from hloom.runtime.program import LoadedProgram

from .cache import entries_folder, entry_path, evict, key_of, package_version
from .parsing import bytecode_of
from .source_program import SourceProgram

_KIND = "programs"
_PACKAGES = ("hloom", "torch-mlir", "llvmlite", "cuda-python", "cuda-core", "nvidia-nvjitlink", "nvidia-cuda-nvcc", "nvidia-nvvm", "numpy")


def program_key(program: SourceProgram, options: tuple[object, ...]) -> str:
    """Names the artifact of `program`, whose module carries target and policy already; to be taken before any pass has run."""
    trees = (program.in_tree, program.kwarg_tree, program.out_tree)
    described = (program.kind, program.inputs, program.outputs, trees, program.updates, sorted(program.state))
    return key_of((bytecode_of(program.module), repr(described), repr(options), *_versions()))


def kept_or_made(key: str, make: Callable[[], Artifact]) -> Artifact:
    """The artifact of that name; one that is not there is made, and kept if the cache directory can be written."""
    artifact = _read(key)
    if artifact is None:
        artifact = make()
        _write(key, artifact)
    return artifact


def _read(key: str) -> Artifact | None:
    try:
        path = entry_path(_KIND, f"{key}.hloom")
        if path is None:
            return None
        artifact = Artifact.load(path)
        LoadedProgram.read(artifact)
        os.utime(path)
        return artifact
    except (ExecutionError, OSError):
        return None


def _write(key: str, artifact: Artifact) -> None:
    with contextlib.suppress(ExecutionError, OSError):
        folder = entries_folder(_KIND, create=True)
        if folder is None:
            return
        path = folder / f"{key}.hloom"
        artifact.save(path)
        path.chmod(0o600)
        evict(folder)


@functools.cache
def _versions() -> tuple[str, ...]:
    """The versions of Python and the packages, and a digest of every file of the compiler."""
    folders = {Path(p) for name in ("compiler", "dialects", "passes") for p in _folders(name)}
    files = sorted(path for folder in folders for kind in ("*.py", "*.mlir", "*.toml") for path in folder.rglob(kind))
    return (sys.version, *map(package_version, _PACKAGES), key_of(path.read_bytes() for path in files))


def _folders(name: str) -> list[str]:
    return list(__import__(f"hloom.{name}", fromlist=["__path__"]).__path__)
