"""PTX executed with numpy, as a GPU's driver would be given it (docs/simulator.md). Needs no MLIR."""

from .launch import Module, launch
from .regions import Region
from .spaces import DeviceMemory
from .syntax import Entry
from .tensor_map import TensorMap

__all__ = ["DeviceMemory", "Entry", "Module", "Region", "TensorMap", "launch"]
