"""`hloom.load`: a `.hloom` file, of one set of shapes or of several."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .artifact import Artifact
from .dynamic import DynamicExecutable
from .dynamic_file import check_part, is_packed, unpacked
from .executable import Executable


def load(path: str | os.PathLike[str], device: Callable[..., Any] | None = None) -> Executable | DynamicExecutable:
    """Loads a `.hloom` file, for the device of its target or the one given; needs no compiler."""
    artifact = Artifact.load(path)
    if not is_packed(artifact):
        return Executable(artifact, device)
    interface, made = unpacked(artifact)
    exe = DynamicExecutable(interface, most=len(made), device=device)
    for shapes, part in reversed(made):
        check_part(interface.signature, shapes, exe.add(shapes, part).signature.inputs)
    return exe
