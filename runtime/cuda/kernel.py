"""thunk.kernel: a launch of one of the program's own kernels; its arguments are its slices, inputs then outputs, then tensor maps."""

from __future__ import annotations

from typing import Any

from ..errors import DamagedFileError
from ..thunks import Thunk
from .step import Context, Memory, Needs
from .tensor_maps import TensorMap


class KernelStep:
    def __init__(self, thunk: Thunk):
        self.thunk = thunk
        self.name = thunk["callee"]

    def prepare(self, needs: Needs) -> None:
        try:
            launch = needs.launches[self.name]
            self.grid, self.block = (tuple(int(size) for size in launch[key]) for key in ("grid", "block"))
            self.shared_bytes = int(launch["shared_bytes"])
            described = list(launch.get("tensor_maps", []))
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFileError(f"the manifest does not say how to launch {self.name}: {error!r}") from None
        if len(self.grid) != 3 or len(self.block) != 3 or min(self.block) < 1:
            raise DamagedFileError(f"{self.name} has the grid {self.grid} and the block {self.block}")
        self.maps = [TensorMap.read(entry, self.name) for entry in described]
        if any(tensor.argument >= len(self.thunk.reads) for tensor in self.maps):
            raise DamagedFileError(f"{self.name} has tensor maps of arguments that it does not read")

    def initialise(self, context: Context) -> None:
        self._kernel = context.driver.kernel(context.module, self.name, self.shared_bytes)

    def execute(self, recorder: Any, memory: Memory) -> None:
        if 0 in self.grid:
            return
        addresses = [memory.address(at) for at in (*self.thunk.reads, *self.thunk.writes)]
        maps = [recorder.encode(tensor, addresses[tensor.argument] + tensor.offset) for tensor in self.maps]
        recorder.launch(self._kernel, self.grid, self.block, self.shared_bytes, addresses, maps)
