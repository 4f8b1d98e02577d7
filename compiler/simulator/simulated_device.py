"""The simulator as the device of an Executable: `hloom.compile(..., target="sim:sm_90a")` and `hloom-run --simulate`."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hloom.runtime.artifact import Buffer
from hloom.runtime.errors import InputError, VersionError
from hloom.runtime.program import LoadedProgram
from hloom.runtime.signature import TensorSpec
from hloom.runtime.tensors import TO_KIND, view

from .device import Execution, SimulatedProgram
from .kernels import Kernels
from .launch import KernelTable
from .ptx_kernels import PtxKernels

_NOTHING = np.empty(0, np.uint8)


class SimulatedDevice:
    """Runs the module that an artifact for a GPU keeps. `last` is what the last call did: counters by kernel, thunks by kind."""

    def __init__(self, program: LoadedProgram):
        if "module" not in program.blobs:
            raise VersionError("the file holds no module to simulate", remedy="compile it again, for a GPU target")
        self._program = program
        constants = {name.removeprefix("constant."): blob for name, blob in program.constants().items()}
        self._simulated = SimulatedProgram(bytes(program.blobs["module"]).decode(), constants, self.kernels())
        self._bound: dict[int, np.ndarray] = {}
        self._made: list[np.ndarray] = []
        self.last = Execution()

    @staticmethod
    def kernels() -> type[KernelTable]:
        """What runs the kernels."""
        return Kernels

    def bind(self, arrays: Mapping[int, Any]) -> None:
        bound = self._program.signature.bound
        self._bound = {index: as_numpy(bound[index], value)[0] for index, value in arrays.items()}
        self._made = self._simulated.initialise(self._values({}))

    def start(self, kept: Mapping[str, Buffer]) -> None:
        held: dict[str, dict[int, np.ndarray]] = {"argument": {}, "init": {}}
        for slot in self._program.kept_slots():
            spec = self._program.kept_spec(slot)
            held[slot[0]][slot[1]] = np.frombuffer(self._program.kept_blob(slot, kept), spec.stored_dtype).reshape(spec.shape)
        self._bound, made = held["argument"], held["init"]
        self._made = [made[index] for index in sorted(made)]

    def kept(self) -> Mapping[str, Buffer]:
        held = {"argument": self._bound, "init": dict(enumerate(self._made))}
        return {f"{kind}.{index}": np.ascontiguousarray(held[kind][index]).tobytes() for kind, index in self._program.kept_slots()}

    def call(self, inputs: Sequence[Any], outputs: Any = None, *, in_place: bool = False) -> list[Any]:
        if outputs is not None:
            raise InputError("the simulator makes its results itself", remedy="call the program without outputs")
        specs = self._program.signature
        found = [as_numpy(spec, value) for spec, value in zip(specs.inputs, inputs)]
        kind = next((kind for _, kind in found if kind != "numpy"), "numpy") if found else self._program.kind
        given = {position: array for position, (array, _) in zip(self._program.positions, found)}
        self.last = self._simulated.run(self._values(given), made=self._made)
        results = [array.view(spec.numpy_dtype).reshape(spec.shape) for array, spec in zip(self.last.results, specs.outputs)]
        return [TO_KIND[kind](result) for result in results] if kind in TO_KIND else results

    def measurements(self) -> list[tuple[int, int, int]]:
        return []

    def _values(self, given: Mapping[int, np.ndarray]) -> list[np.ndarray]:
        """All arguments of the source program in order; those that nobody gave are not read."""
        known = {**self._bound, **given}
        return [_stored(known.get(index, _NOTHING)) for index in range(max(known, default=-1) + 1)]


class PtxDevice(SimulatedDevice):
    """Runs the PTX that LLVM emits for the kernels: `target="sim:sm_90a+ptx"`."""

    @staticmethod
    def kernels() -> type[KernelTable]:
        return PtxKernels


def _stored(array: np.ndarray) -> np.ndarray:
    """The array as the program's entries see it: complex numbers are pairs."""
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def as_numpy(spec: TensorSpec, value: Any) -> tuple[np.ndarray, str]:
    """The array behind an input, as the program stores it, and the kind of array it is. Raises what `view` raises."""
    found = view(spec, value)
    return np.frombuffer(ctypes.string_at(found.address, spec.nbytes), spec.stored_dtype).reshape(spec.shape), found.kind
