"""A GPU simulated with numpy: kernels as they stand at stage `gpu`, and whole programs at stage `thunk` (docs/simulator.md).

What needs MLIR is imported on first use: `ptx` runs without.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .counters import Counters as Counters
    from .device import Execution as Execution
    from .device import SimulatedProgram as SimulatedProgram
    from .errors import SimulationError as SimulationError
    from .kernels import Kernels as Kernels
    from .tma import MappedTensor as MappedTensor

_HOME = {
    "Counters": "counters",
    "Execution": "device",
    "Kernels": "kernels",
    "MappedTensor": "tma",
    "SimulatedProgram": "device",
    "SimulationError": "errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
