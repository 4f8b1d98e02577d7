"""thunk.kernel: a launch of one of the program's own kernels; its arguments are its slices, inputs then outputs, then tensor maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...thunk_schema import ELEMENT_BYTES, NAME, NAMES, moving, reach
from ...thunks import Launches, Op
from ..step import BufferAddresses, Context, Needs, Step
from ..tensor_maps import TensorMap


class KernelStep(Step, kind="kernel", fields={**moving(), "callee": NAME, "source": NAMES}):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        if launches is None:
            return
        slices, name = [*op["reads"], *op["writes"]], op["callee"]
        launch = launches.get(name)
        if launch is None:
            yield f"runs {name}, which is not among the kernels"
            return
        if launch["noalias"] and len(launch["noalias"]) != len(slices):
            yield f"gives {len(slices)} addresses to {name}, which takes {len(launch['noalias'])}"
        for tensor in launch.get("tensor_maps", ()):
            yield from _wrong_map(tensor, op)

    def prepare(self, needs: Needs) -> None:
        launch = needs.launches[self.thunk["callee"]]
        self.grid, self.block, self.shared_bytes = tuple(launch["grid"]), tuple(launch["block"]), launch["shared_bytes"]
        self.cooperative = launch.get("cooperative", False)
        self.maps = [TensorMap.read(entry) for entry in launch.get("tensor_maps", ())]

    def initialise(self, context: Context) -> None:
        self._kernel = context.driver.kernel(context.module, self.thunk["callee"], self.shared_bytes)

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        if 0 in self.grid:
            return
        addresses = [buffers.address(at) for at in (*self.thunk.reads, *self.thunk.writes)]
        maps = [recorder.encode(tensor, addresses[tensor.argument] + tensor.offset) for tensor in self.maps]
        recorder.launch(self._kernel, self.grid, self.block, self.shared_bytes, addresses, maps, self.cooperative)


def _wrong_map(tensor: Mapping[str, Any], op: Op) -> Iterator[str]:
    name = op["callee"]
    if not len(tensor["extents"]) == len(tensor["strides"]) == len(tensor["box"]):
        yield f"has a tensor map of {name} whose extents, strides and box are of different numbers"
    elif tensor["strides"][-1] != ELEMENT_BYTES[tensor["dtype"]]:
        yield f"has a tensor map of {name} whose innermost stride is not an element"
    elif tensor["argument"] >= len(op["reads"]):
        yield f"has a tensor map of argument {tensor['argument']} of {name}, which reads {len(op['reads'])}"
    else:
        end = tensor["offset"] + reach(tensor["extents"], tensor["strides"]) + ELEMENT_BYTES[tensor["dtype"]]
        size = op["reads"][tensor["argument"]][2]
        if end > size:
            yield f"has a tensor map of {name} that ends at byte {end} of {size}"
