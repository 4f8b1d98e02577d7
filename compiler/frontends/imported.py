"""What a front end hands back to compiler/frontend.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from hloom.runtime import pytree


@dataclass
class Imported:
    """A module that is not checked yet, and the little that only the front end knows."""

    module: ir.Module
    kind: str = "numpy"
    in_tree: pytree.Structure | None = None
    out_tree: pytree.Structure | None = None
    kwarg_tree: pytree.Structure | None = None
    bound: dict[int, np.ndarray] = field(default_factory=dict)
    names: Sequence[str] | None = None
    """Names of the arguments, by which they may be bound."""
    updates: dict[int, int] = field(default_factory=dict)
