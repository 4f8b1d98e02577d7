"""Arguments that a call changes: a program's state, which it keeps for the next call, and inputs that the source program changes in place.

To a device both are inputs, and their new values the last results. The new values are written where the old ones are: into the memory of
the caller's array, or of the array that was bound (a torch module's buffer). A program for a CPU does so itself, where no other input
shares that memory. Otherwise new values are copied there. A new value on a GPU, whose old one came from the host, takes its place: the
state then stays on the GPU.
"""

from __future__ import annotations

import itertools
import operator
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .artifact import Buffer
from .errors import ArityError, DamagedFileError, InputError, ShapeError
from .program import GENERATOR, Device, LoadedProgram
from .tensors import TO_KIND, address_of, view


def initial_generator(seed: int = 0) -> np.ndarray:
    """The state of a generator that has drawn nothing: a key and a counter of 64 bits, as words of 32, the lower ones first."""
    return np.array([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF, 0, 0], np.uint32).view(np.int32)


class State:
    """Calls one at a time, for each reads what the one before it wrote."""

    def __init__(self, program: LoadedProgram):
        self._lock = threading.Lock()
        self._program = program
        self._specs = {index: spec for index, spec in zip(program.positions, program.signature.inputs) if index in program.state}
        self._values: dict[str, Any] = {spec.name: initial_generator() for spec in self._specs.values() if spec.name == GENERATOR}
        self._caller_gives = [index for index in program.positions if index not in program.state]
        self._changed = [(n, index, program.updates[index]) for n, index in enumerate(self._caller_gives) if index in program.updates]
        """Of the caller's inputs, those that a call changes: numbers, arguments, results."""
        self._kind = program.kind

    # Values.

    def bind(self, arrays: Mapping[int, Any]) -> None:
        """Takes the values to begin with; memory that can be written is shared."""
        with self._lock:
            given = {index: spec for index, spec in self._specs.items() if spec.name != GENERATOR}
            self._values.update({spec.name: _writable(spec, arrays[index]) for index, spec in given.items()})

    def join(self, other: State) -> None:
        """Has one lock with `other`, and its values where it has those of a name."""
        other._values.update({name: value for name, value in self._values.items() if name not in other._values})
        self._lock, self._values = other._lock, other._values

    def read(self, saved: Mapping[str, Buffer]) -> bool:
        """Takes the values of a file; False where it has none. Raises DamagedFileError."""
        for index, spec in self._specs.items():
            blob = saved.get(f"state.{index}")
            if blob is None:
                if spec.name in self._values:
                    continue
                return False
            if len(blob) != spec.nbytes:
                raise DamagedFileError(f"state.{index} should have {spec.nbytes} bytes, has {len(blob)}")
            self._values[spec.name] = np.frombuffer(blob, spec.numpy_dtype).reshape(spec.shape).copy()
        return True

    def blobs(self) -> dict[str, Buffer]:
        """What `read` takes, for saving."""
        return {f"state.{index}": _host(self._values[spec.name]).tobytes() for index, spec in self._specs.items()}

    def copies(self) -> dict[str, np.ndarray]:
        with self._lock:
            return {spec.name: _host(self._values[spec.name]).copy() for spec in self._specs.values()}

    def write(self, values: Mapping[str, Any]) -> None:
        """Gives some of the values, by name."""
        specs = {spec.name: spec for spec in self._specs.values()}
        unknown = [name for name in values if name not in specs]
        if unknown:
            raise ArityError(f"the program has no state {unknown[0]!r}", remedy=f"it has {', '.join(specs) or 'none'}")
        with self._lock:
            for name, value in values.items():
                self._values[name] = _updated(specs[name], self._values[name], _host(value))

    @property
    def draws(self) -> bool:
        """Whether there is a generator."""
        return any(spec.name == GENERATOR for spec in self._specs.values())

    def seed(self, number: int) -> None:
        """Starts the random numbers of that seed."""
        self.write({GENERATOR: initial_generator(number)})

    # Calling.

    def call(self, device: Device, inputs: Sequence[Any], outputs: Sequence[Any] | None) -> list[Any]:
        """A call of the device with the state among its inputs; gives back what the caller wants to see."""
        program = self._program
        specs = program.signature.outputs
        old = [inputs[number] for number, _, _ in self._changed]
        self._refuse_unwritable(old)
        with self._lock:
            every = self._with_state(inputs) if self._specs else inputs
            if outputs is None and program.in_place:
                results = device.call(every, in_place=True)
            else:
                results = device.call(every, None if outputs is None else [*outputs, *self._places()])
            new = [results[result] for _, _, result in self._changed]
            _tell_torch(list(itertools.compress(old, map(operator.is_, old, new))))
            for (_, _, result), was, now in itertools.compress(zip(self._changed, old, new), map(operator.is_not, old, new)):
                _updated(specs[result], was, now)
            for index, spec in self._specs.items():
                result = program.updates[index]
                self._values[spec.name] = _updated(specs[result], self._values[spec.name], results[result])
        return results[: len(results) - len(program.updates)]

    def _refuse_unwritable(self, values: Sequence[Any]) -> None:
        """Raises InputError where one of the caller's arrays that a call changes cannot be written to."""
        torch = sys.modules.get("torch")
        if torch is not None and {torch.Tensor, torch.nn.Parameter}.issuperset(map(type, values)):
            if all(map(torch.Tensor.is_contiguous, values)):  # a thousand of them are asked in the time that 300 below take
                return
        for (_, index, _), value in zip(self._changed, values):
            if torch is not None and isinstance(value, torch.Tensor):
                if value.is_contiguous() or not any(size > 1 and stride == 0 for size, stride in zip(value.shape, value.stride())):
                    continue
                why, remedy = "whose elements share memory", "give a clone of it"
            elif isinstance(value, np.ndarray) and value.flags.writeable:
                continue
            else:
                why, remedy = f"as a {type(value).__name__} cannot be", "give a torch tensor or a NumPy array"
            name = self._program.manifest["arguments"][index]["name"]
            raise InputError(f"the program changes {name} in place, {why}", remedy=remedy)

    def _with_state(self, inputs: Sequence[Any]) -> list[Any]:
        given = dict(zip(self._caller_gives, inputs))
        kept = self._values if given else {name: self._as_own_kind(value) for name, value in self._values.items()}
        return [given[index] if index in given else kept[self._specs[index].name] for index in self._program.positions]

    def _places(self) -> list[np.ndarray]:
        specs = self._program.signature.outputs
        return [np.empty(specs[result].shape, specs[result].numpy_dtype) for result in sorted(self._program.updates.values())]

    def _as_own_kind(self, value: Any) -> Any:
        """Without inputs of the caller's the results are of the kind of the source program's arrays."""
        own = self._kind in TO_KIND and self._kind in sys.modules and isinstance(value, np.ndarray)
        return TO_KIND[self._kind](value) if own else value


def _writable(spec: Any, value: Any) -> Any:
    """The memory of a value as a NumPy array: shared if it can be written, else a copy; another device's array as it is."""
    if hasattr(value, "__cuda_array_interface__"):
        return value
    found = value if isinstance(value, np.ndarray) else _host(value)
    view(spec, found)  # of that shape and type, or an error
    return found if found.flags.writeable and found.flags.c_contiguous else found.copy()


def _tell_torch(written: Sequence[Any]) -> None:
    """Torch counts what it writes to a tensor, by which autograd knows that a value that it kept is another now. So does this; tensors of
    inference have no count, and get none."""
    torch = sys.modules.get("torch")
    if torch is not None and written:
        torch.autograd.graph.increment_version([value for value in written if isinstance(value, torch.Tensor)])


def _updated(spec: Any, old: Any, new: Any) -> Any:
    """What holds the new value: the old array where that can be written to, else the new one."""
    if isinstance(old, np.ndarray):
        if hasattr(new, "__cuda_array_interface__"):
            return new
        host = _host(new)
        if host.shape != old.shape:
            raise ShapeError(f"{spec.name} should have shape {old.shape}, got {host.shape}")
        if address_of(host) != address_of(old):
            old[...] = host
        return old
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(old, torch.Tensor):
        with torch.no_grad():
            old.copy_(new if isinstance(new, torch.Tensor) else TO_KIND["torch"](np.array(new)))
        return old
    return new


def _host(value: Any) -> np.ndarray:
    """A value as a NumPy array, without a copy where it lies on the host."""
    if isinstance(value, np.ndarray):
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach().cpu().contiguous()
        if tensor.dtype == torch.bfloat16:
            return tensor.view(torch.uint16).numpy().view("bfloat16")
        return tensor.numpy()
    if hasattr(value, "get"):  # cupy
        return value.get()
    return np.asarray(value)
