"""Programs that were compiled before for a GPU, by what they were made from: source, target, options, tools, and hloom's own code.

Entries are `.hloom` files in the cache directory (cache.py); they check themselves, and a damaged one counts as absent.
"""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Collection
from pathlib import Path

from hloom.dialects.target import TargetView
from hloom.runtime.artifact import Artifact
from hloom.runtime.errors import ExecutionError
from hloom.runtime.program import Program as CompiledProgram

from .cache import entries_folder, entry_path, evict, key_of, package_version
from .frontend import Program

_KIND = "programs"
_PACKAGES = ("hloom", "torch-mlir", "llvmlite", "cuda-python", "cuda-core", "nvidia-nvjitlink", "nvidia-cuda-nvcc", "nvidia-nvvm", "numpy")


def program_key(program: Program, target: TargetView, bound: Collection[int], options: tuple[object, ...]) -> str:
    """Names the artifact of `program`; to be taken before any pass has run."""
    source = io.BytesIO()
    program.module.operation.write_bytecode(source)
    trees = (program.in_tree, program.kwarg_tree, program.out_tree)
    described = (program.kind, program.inputs, program.outputs, trees, program.updates, sorted(program.state))
    return key_of((source.getvalue(), repr(described), repr(target), repr(sorted(bound)), repr(options), *_versions()))


def read_program(key: str) -> Artifact | None:
    try:
        path = entry_path(_KIND, f"{key}.hloom")
        if path is None:
            return None
        artifact = Artifact.load(path)
        CompiledProgram.read(artifact)
        os.utime(path)
        return artifact
    except (ExecutionError, OSError):
        return None


def write_program(key: str, artifact: Artifact) -> None:
    """Keeps the artifact, if the cache directory can be written."""
    try:
        folder = entries_folder(_KIND, create=True)
        if folder is None:
            return
        path = folder / f"{key}.hloom"
        artifact.save(path)
        path.chmod(0o600)
        evict(folder)
    except (ExecutionError, OSError):
        pass


@functools.cache
def _versions() -> tuple[str, ...]:
    """Of Python, the packages, and every file of the compiler."""
    folders = {Path(p) for name in ("compiler", "dialects", "passes") for p in _folders(name)}
    files = sorted(path for folder in folders for kind in ("*.py", "*.mlir", "*.toml") for path in folder.rglob(kind))
    return (sys.version, *map(package_version, _PACKAGES), key_of(path.read_bytes() for path in files))


def _folders(name: str) -> list[str]:
    return list(__import__(f"hloom.{name}", fromlist=["__path__"]).__path__)
