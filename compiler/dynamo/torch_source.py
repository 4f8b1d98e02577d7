"""The digest of torch's own source that is part of its keys. torch reads 2,000 files for it, in every process; kept, it is read for a
look at their sizes and times.

~/.cache/hloom/torch/<digest of these>      what torch made of the files
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

import torch
import torch._inductor.codecache

from ..cache import key_of, read_entry, write_entry

KIND = "torch"
"""The kind of the cache's entries."""
_of_torch = torch._inductor.codecache.torch_key
_SOURCES = (".py", ".so")


@functools.cache
def torch_key() -> bytes:
    """What torch's own function of that name gives."""
    files = sorted(_files(os.path.dirname(torch.__file__)))
    name = key_of((torch.__version__, *(f"{path} {known.st_size} {known.st_mtime_ns}" for path, known in files)))
    key = read_entry(KIND, name)
    if key is None:
        key = _of_torch()
        write_entry(KIND, name, key)
    return key


def _files(package: str) -> Iterator[tuple[str, os.stat_result]]:
    """The modules of a package and those in it, which have an __init__.py."""
    with os.scandir(package) as entries:
        found = list(entries)
    if any(entry.name == "__init__.py" for entry in found):
        for entry in found:
            if entry.name.endswith(_SOURCES):
                yield entry.path, entry.stat()
            elif "." not in entry.name and entry.is_dir():
                yield from _files(entry.path)
