"""A GPU simulated with numpy: kernels as they stand at stage `gpu`, and whole programs at stage `thunk` (docs/simulator.md)."""

from .counters import Counters
from .device import Execution, SimulatedProgram
from .errors import SimulationError
from .launch import Kernels
from .tma import MappedTensor

__all__ = ["Counters", "Execution", "Kernels", "MappedTensor", "SimulatedProgram", "SimulationError"]
