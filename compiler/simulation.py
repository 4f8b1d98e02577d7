"""Targets that are simulated: "sim:sm_90a" runs the kernels as they are before nvvm, "sim:sm_90a+ptx" the PTX that is emitted for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_PREFIX = "sim:"
_PTX = "+ptx"
KERNELS, PTX = "gpu", "ptx"


def split_target(target: Any) -> tuple[Any, str]:
    """The target itself, and what of it is simulated: `KERNELS`, `PTX`, or nothing."""
    if not isinstance(target, str) or not target.startswith(_PREFIX):
        return target, ""
    name = target.removeprefix(_PREFIX)
    return name.removesuffix(_PTX), PTX if name.endswith(_PTX) else KERNELS


def simulator(simulated: str = KERNELS) -> Callable[[Any], Any] | None:
    """What makes the device of an Executable; None where nothing is simulated. numpy's copy of a GPU is imported here alone."""
    if not simulated:
        return None
    from .simulator.simulated_device import PtxDevice, SimulatedDevice

    return PtxDevice if simulated == PTX else SimulatedDevice
