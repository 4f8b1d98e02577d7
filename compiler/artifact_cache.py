"""Compiled programs in the cache directory (cache.py): `.hloom` files, which check themselves; a damaged one counts as absent."""

from __future__ import annotations

import contextlib
import os

from hloom.runtime.artifact import Artifact
from hloom.runtime.errors import ExecutionError

from .cache import entries_folder, entry_path, evict

_LARGEST = 1 << 28
"""The bytes of the largest program that is kept: it would drive out the others."""


def read_artifact(kind: str, key: str) -> Artifact | None:
    """The artifact that was written under that key, or None."""
    try:
        path = entry_path(kind, f"{key}.hloom")
        if path is None:
            return None
        artifact = Artifact.load(path)
        os.utime(path)
        return artifact
    except (ExecutionError, OSError):
        return None


def write_artifact(kind: str, key: str, artifact: Artifact) -> None:
    """Keeps it under that key, if the cache directory can be written and it is not too large."""
    if sum(memoryview(blob).nbytes for blob in artifact.blobs.values()) > _LARGEST:
        return
    with contextlib.suppress(ExecutionError, OSError):
        folder = entries_folder(kind, create=True)
        if folder is None:
            return
        path = folder / f"{key}.hloom"
        artifact.save(path)
        path.chmod(0o600)
        evict(folder)
