"""`hloom.load`: a `.hloom` file, of one program, of one for several shapes, or of several entries."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .artifact import Artifact
from .dynamic import DynamicExecutable
from .dynamic_file import check_part, is_packed, unpacked
from .entries import Entry, Executables, has_entries, unpacked_entries
from .executable import Executable


def load(path: str | os.PathLike[str], device: Callable[..., Any] | None = None) -> Executable | DynamicExecutable | Executables:
    """Loads a `.hloom` file, for the device of its target or the one given; needs no compiler."""
    return of_artifact(Artifact.load(path), device)


def of_artifact(artifact: Artifact, device: Callable[..., Any] | None = None) -> Executable | DynamicExecutable | Executables:
    """What a file holds."""
    if not has_entries(artifact):
        return loaded(artifact, device)
    return Executables({name: loaded(part, device) for name, part in unpacked_entries(artifact).items()}, artifact.manifest["name"])


def loaded(artifact: Artifact, device: Callable[..., Any] | None = None) -> Entry:
    """The program of a file without entries, or of one entry."""
    if not is_packed(artifact):
        return Executable(artifact, device)
    interface, made = unpacked(artifact)
    exe = DynamicExecutable(interface, most=len(made), device=device)
    for shapes, part in reversed(made):
        check_part(interface.signature, shapes, exe.add(shapes, part).signature.inputs)
    return exe
