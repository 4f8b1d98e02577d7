"""An emulated CUDA driver: a libcuda.so.1 that NVIDIA's own Python packages load, and that needs no GPU.

shim.py       builds the library; each of its functions calls one of Python's
calls.py      what such a function is: its name, its arguments, what it does before and after
errors.py     the driver's error codes
machine.py    the emulated machine: everything that the functions below share
devices.py    devices, contexts          memory.py     allocations, copies, fills
schedule.py   when work runs             streams.py    streams and events
nodes.py      what work there is         capture.py    streams that are captured into graphs
graphs.py     graphs, made executable, updated and launched
modules.py    cubins and kernels (images.py reads them)
launches.py   launches and their limits  tensor_maps.py  tensor maps
linking.py    PTX that the driver assembles

Tests run on it in a process of their own (test_emulated_driver.py): NVIDIA's packages look for the library once a process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .machine import Machine


def load(capability: int = 90) -> Machine:
    """Makes the emulated driver this process's, with one GPU of that compute capability."""
    from . import capture, devices, graphs, launches, linking, modules, streams, tensor_maps, transfers  # noqa: F401
    from .machine import Machine
    from .shim import install

    return install(Machine(capability)).machine
