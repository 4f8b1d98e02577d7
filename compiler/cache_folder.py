"""Whether a folder and its entries may be trusted: who can write a cache decides what is run.

A folder of the cache is this user's own, and nobody else may write to it; no folder above it may be one that anybody may write to, save
with the sticky bit (/tmp). Links are followed before. An entry is a plain file of the same owner that nobody else may write.
"""

from __future__ import annotations

import functools
import os
import stat
import warnings
from pathlib import Path

from hloom.passes.errors import CompileError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def trusted_folder(folder: Path, *, named: bool, create: bool = False) -> Path | None:
    """The folder with links followed, or None where there is none, it cannot be made, or it cannot be trusted.

    Of one that cannot be trusted a warning tells once; a CompileError where the user `named` it. `create` makes it, for its owner alone.
    """
    if create:
        _make(folder)
    try:
        found = folder.resolve(strict=True)
        why = _fault(found)
    except (OSError, RuntimeError):  # RuntimeError: links that lead to themselves
        return None
    if why is None:
        return found
    remedy = f"chmod 700 {folder}, or name another folder with HLOOM_CACHE_DIR"
    if named:
        raise CompileError(f"the cache {folder} that HLOOM_CACHE_DIR names cannot be trusted: {why}", remedy=remedy)
    _warn(f"hloom works without the cache {folder}, which cannot be trusted: {why} ({remedy})")
    return None


def trusted_entry(path: Path) -> bool:
    """Whether it is a plain file of this user that nobody else may write. Raises OSError where there is none."""
    known = path.lstat()
    return stat.S_ISREG(known.st_mode) and known.st_uid == os.geteuid() and not known.st_mode & _OTHERS_WRITE


def _make(folder: Path) -> None:
    """Folders above that are not there are made like it."""
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def _fault(folder: Path) -> str | None:
    known = folder.stat()
    if not stat.S_ISDIR(known.st_mode):
        raise NotADirectoryError(folder)
    if known.st_uid != os.geteuid():
        return f"it belongs to user {known.st_uid}"
    if known.st_mode & _OTHERS_WRITE:
        return f"others may write to it (mode {stat.S_IMODE(known.st_mode):04o})"
    for above in folder.parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"anybody may write to {above}, above it"
    return None


@functools.cache
def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)
