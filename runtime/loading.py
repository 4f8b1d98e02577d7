"""`hloom.load`: a `.hloom` file, of one program, of one for several shapes, or of several entries."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .artifact import Artifact
from .entries import Entry, Executables, has_entries, loaded


def load(path: str | os.PathLike[str], device: Callable[..., Any] | None = None) -> Entry | Executables:
    """Loads a `.hloom` file, for the device of its target or the one given; needs no compiler."""
    artifact = Artifact.load(path)
    return Executables.of_artifact(artifact, device) if has_entries(artifact) else loaded(artifact, device)
