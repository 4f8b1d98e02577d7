"""A GPU simulated with numpy: kernels as they stand at stage `gpu`, and whole programs at stage `thunk` (docs/simulator.md)."""

from .counters import Counters
from .device import Execution, SimulatedProgram
from .errors import SimulationError
from .launch import Kernels
from .tma import TensorMap

__all__ = ["Counters", "Execution", "Kernels", "SimulatedProgram", "SimulationError", "TensorMap"]
