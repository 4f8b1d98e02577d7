"""Files under the user's cache directory, named by what they were made from.

    ~/.cache/hloom/<kind>/<key>     or $HLOOM_CACHE_DIR/<kind>/<key>; HLOOM_CACHE=0: nowhere

An entry is its payload behind the payload's SHA-256. It is written under another name and moved into place, so readers see it whole or
not at all; one that is damaged or not this user's own (cache_folder.py) counts as absent. Where the directory cannot be written nothing is
kept, and nothing fails. A kind that outgrows its share loses the entries that were not read for longest.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hloom.runtime.interrupts import uninterrupted

from .cache_folder import trusted_entry, trusted_folder

_DIGEST_BYTES = 32
_MOST_BYTES = 1 << 30
"""The bytes that the entries of one kind may have together."""


def is_off() -> bool:
    """Whether the user wants nothing read from the cache, and nothing kept."""
    return os.environ.get("HLOOM_CACHE") == "0"


def cache_directory() -> Path:
    """Where entries are kept: HLOOM_CACHE_DIR, else hloom's folder in the user's cache directory."""
    if chosen := os.environ.get("HLOOM_CACHE_DIR"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hloom"


def entries_folder(kind: str, *, create: bool = False) -> Path | None:
    """Where entries of that kind are, if the cache is on and the place can be trusted (cache_folder.py).

    Raises CompileError, and OSError on `create`.
    """
    if is_off():
        return None
    named = "HLOOM_CACHE_DIR" in os.environ
    try:
        whole = cache_directory()
    except RuntimeError:  # there is no home directory
        return None
    if trusted_folder(whole, named=named, create=create) is None:
        return None
    return trusted_folder(whole / kind, named=named, create=create)


def entry_path(kind: str, name: str) -> Path | None:
    """Where the entry is, if it and its folder can be trusted. Raises OSError where there is none, or CompileError."""
    folder = entries_folder(kind)
    return folder / name if folder is not None and trusted_entry(folder / name) else None


def key_of(parts: Iterable[bytes | str]) -> str:
    """A name for whatever follows from `parts` alone."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def package_version(name: str) -> str:
    """The version of an installed package, to be part of a key: another release makes another thing. "none" where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # only programs for a GPU are kept

    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def read_entry(kind: str, key: str) -> bytes | None:
    """The payload that was written under that key, or None."""
    try:
        path = entry_path(kind, key)
        if path is None:
            return None
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    payload = data[_DIGEST_BYTES:]
    return payload if hashlib.sha256(payload).digest() == data[:_DIGEST_BYTES] else None


@uninterrupted()
def write_entry(kind: str, key: str, payload: bytes) -> None:
    """Keeps `payload` under that key, if the directory can be written."""
    temporary = None
    try:
        folder = entries_folder(kind, create=True)
        if folder is None:
            return
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as file:
            temporary = file.name
            file.write(hashlib.sha256(payload).digest() + payload)
        os.replace(temporary, folder / key)
        evict(folder)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def evict(folder: Path, most_bytes: int = _MOST_BYTES) -> None:
    """Removes the entries of `folder` that were not read for longest, until the others have at most `most_bytes`."""
    entries = sorted(((path.stat(), path) for path in folder.iterdir()), key=lambda entry: entry[0].st_mtime_ns, reverse=True)
    kept = 0
    for known, path in entries:
        kept += known.st_size
        if kept > most_bytes:
            path.unlink(missing_ok=True)
