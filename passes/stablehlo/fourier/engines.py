"""What transforms short lengths on a target."""

from __future__ import annotations

from hloom.dialects.target import TargetView

from .kernels import Kernels
from .matrices import Matrices
from .transform import Engine


def engine_for(target: TargetView) -> Engine:
    return Kernels(target) if target.kind == "cpu" else Matrices()
