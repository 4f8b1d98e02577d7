"""A compiled program that can be called, whatever device it runs on.

A program has an entry `main`, run at each call, and perhaps `init`, run once when values are bound. Here are the things that do not depend
on the device: the structures of arguments and results, binding by name, saving. A `Device` (program.py) holds memory and runs the entries:
cpu.py, cuda/device.py, or one that the caller gives (the simulator).
"""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import pytree
from .absent import AbsentDevice
from .artifact import Artifact, Buffer, alike
from .copies import Copied
from .errors import ArityError, MissingDriverError, NotBoundError, VersionError
from .forking import process_lock
from .layouts import as_it_lies, layouts_of
from .program import Device, LoadedProgram
from .report import Report
from .state import State

if TYPE_CHECKING:
    from .profile import Profile

_DEVICES = {"cpu": ("cpu", "CpuDevice"), "cuda": ("cuda.device", "CudaDevice")}
"""Module and class of the device of each kind of target."""


class Executable(Copied):
    """A program ready to run. `exe(*inputs)` gives its results as arrays of the kind that went in (numpy, torch, jax, cupy)."""

    def __init__(self, artifact: Artifact, device: Callable[[LoadedProgram], Device] | None = None):
        """`device` makes the device that runs the program; the one of its target's kind if there is none."""
        program = LoadedProgram.read(artifact)
        self.program = program
        self._specs = program.calls
        self.signature = self._specs.seen()
        self._flat_in = pytree.is_flat(program.in_tree) and not pytree.count(program.kwarg_tree)
        self._build = pytree.builder(program.out_tree)
        self._taken = len(self.signature.inputs)
        self._layouts_in, self._layouts_out = layouts_of(self._specs.inputs), layouts_of(self._specs.outputs)
        self._state = State(program) if program.updates else None
        self._ready = False
        try:
            self.device: Device = (device or _device_class(program.target))(program)
        except MissingDriverError as error:  # programs are compiled and saved where they do not run
            self.device = AbsentDevice(program, error)
        kept = {name: blob for name, blob in program.saved.items() if not name.startswith("state.")}
        if self._state is not None and not self._state.read(program.saved):
            return
        if any(name.startswith("bound.") for name in kept):
            self.device.bind(program.unbound_values())
        elif kept:
            self.device.start(kept)
        elif program.signature.bound:
            return
        else:
            self.device.bind({})
        self._ready = True

    @classmethod
    def of_artifact(cls, artifact: Artifact, device: Callable[[LoadedProgram], Device] | None = None) -> Executable:
        """What a file of one program holds."""
        return cls(artifact, device)

    # Calling.

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        return self._build(self.flat(inputs if self._flat_in and not keywords else self._leaves(inputs, keywords)))

    def structured(self, leaves: Sequence[Any]) -> Any:
        """A call with inputs as a plain sequence, and the result in its structure."""
        return self._build(self.flat(leaves))

    def _leaves(self, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        return pytree.flatten_call(self.program.in_tree, self.program.kwarg_tree, inputs, keywords)

    def run(self, inputs: Sequence[Any], outputs: Any, **keywords: Any) -> None:
        """Writes the results into `outputs`: arrays (numpy, torch) of the right shapes and types in the structure of the program's result.

        An output may overlap neither an input nor another output. `inputs` are the arguments of a call.
        """
        self.flat(self._leaves(inputs, keywords), pytree.flatten(self.program.out_tree, outputs, "outputs"))

    def flat(self, inputs: Sequence[Any], outputs: Sequence[Any] | None = None) -> list[Any]:
        """A call with inputs and results as plain sequences in the order of the signature, whatever their structure."""
        if len(inputs) != self._taken:
            raise ArityError(f"the program takes {self._taken} inputs, got {len(inputs)}", remedy=f"its signature: {self.signature}")
        if not self._ready:
            names = ", ".join(spec.name for spec in self.signature.bound.values())
            raise NotBoundError(f"values were not bound: {names}", remedy="give them to exe.bind, or save the program with weights=True")
        if self._layouts_in or self._layouts_out or self._state is not None:
            return self._laid_out(list(inputs), outputs)
        return self.device.call(inputs, outputs)

    def _laid_out(self, inputs: list[Any], outputs: Sequence[Any] | None) -> list[Any]:
        """A call of a program that sees other shapes than its caller, or keeps a state."""
        for number, layout in self._layouts_in.items():
            inputs[number] = layout.as_it_lies(inputs[number])
        if outputs is not None and len(outputs) == len(self._specs.outputs):
            outputs = list(map(as_it_lies, self._specs.outputs, outputs))
        state = self._state
        results = self.device.call(inputs, outputs) if state is None else state.call(self.device, inputs, outputs)
        for number, layout in self._layouts_out.items():
            results[number] = layout.as_seen(results[number])
        return results

    # Binding.

    def bind(self, values: Mapping[Any, Any] | Sequence[Any]) -> None:
        """Binds all values that the program was compiled to be given once: by index or name, or in order.

        On the CPU, arrays that `main` reads as they are stay shared with the caller. What `init` makes of them is computed here, not again
        when they change. Calls that run go on with the older values.
        """
        arrays = self._bound_values(values)
        bound = self._specs.bound
        self.device.bind({index: as_it_lies(bound[index], array) for index, array in arrays.items() if index not in self.program.state})
        if self._state is not None:
            self._state.bind(arrays)
        self._ready = True

    def refresh(self) -> bool:
        """Computes anew what follows from the bound arrays, whose values changed in memory that the caller still has: `bind` with the same
        arrays, in less time. False where that takes a `bind`: on a GPU, of a program with a state, where arrays were copied."""
        refresh = getattr(self.device, "refresh", None)
        return self._ready and self._state is None and refresh is not None and refresh()

    def another(self) -> Executable | None:
        """The same code with nothing bound, for other values beside these. None on a GPU, whose code is loaded with its memory, and for a
        program that keeps a state."""
        device = getattr(self.device, "another", None)
        if device is None or self._state is not None:
            return None
        made = copy.copy(self)
        made.device, made._ready = device(), False
        return made

    @property
    def state(self) -> dict[str, np.ndarray]:
        """The values, by name, that calls change and the next call sees (a module's buffers): copies. Empty for most programs."""
        return self._state.copies() if self._state is not None and self._ready else {}

    @state.setter
    def state(self, values: Mapping[str, Any]) -> None:
        if self._state is None or not self._ready:
            raise NotBoundError("the program has no state", remedy="bind its values first, if it has any")
        self._state.write(values)

    @property
    def draws(self) -> bool:
        """Whether calls draw random numbers (stablehlo.rng)."""
        return self._state is not None and self._state.draws

    def seed(self, number: int) -> None:
        """Starts the program's random numbers (stablehlo.rng) anew, from a seed of 64 bits; a program begins with the seed 0.

        Calls draw one after the other from the same stream, which `save` keeps the place in.
        """
        if self._state is None or not self.draws:
            raise NotBoundError(
                "the program draws no random numbers", remedy="it has no stablehlo.rng; jax.random takes its seed as an argument"
            )
        self._state.seed(number)

    def _bound_values(self, values: Mapping[Any, Any] | Sequence[Any]) -> dict[int, Any]:
        bound = self.signature.bound
        if not isinstance(values, Mapping):
            if len(values) != len(bound):
                raise ArityError(f"the program binds {len(bound)} values, got {len(values)}")
            return dict(zip(bound, values))
        by_name = {spec.name: index for index, spec in bound.items()}
        arrays = {by_name.get(key, key) if isinstance(key, str) else key: value for key, value in values.items()}
        unknown = [str(key) for key in arrays if key not in bound]
        missing = [spec.name for index, spec in bound.items() if index not in arrays]
        if unknown or missing:
            wrong = [f"no value for {', '.join(missing)}"] * bool(missing) + [f"nothing to bind at {', '.join(unknown)}"] * bool(unknown)
            raise ArityError("; ".join(wrong), remedy=f"bind exactly these: {', '.join(by_name) or 'nothing'}")
        return arrays  # type: ignore[return-value]

    def share(self, others: Sequence[Executable]) -> None:
        """Has one state, and one copy of each weight and constant, with `others`: the same program for other shapes, or other entries."""
        state = next((other._state for other in others if other._state is not None), None)
        if self._state is not None and state is not None:
            self._state.join(state)
        constants = [blob for other in others for blob in other.program.constants().values()]
        blobs = self.program.blobs
        blobs.update({name: alike(blob, constants) for name, blob in self.program.constants().items()})
        if self._ready and not self.program.on_gpu:
            pool = [blob for other in others if other._ready for blob in other.device.kept().values()]
            own = self.device.kept().items()  # what a caller's arrays hold may change with them
            self.device.start({name: alike(blob, pool) if name.startswith("init.") else blob for name, blob in own})

    # Saving and telling.

    def save(self, path: str | os.PathLike[str], weights: bool = True) -> None:
        """Writes the `.hloom` file; `weights=False` leaves bound values out, to be bound again after loading."""
        self.artifact(weights).save(path)

    def artifact(self, weights: bool = True) -> Artifact:
        """What `save` writes."""
        kept: dict[str, Buffer] = {}
        if weights and self._ready:
            if self.program.signature.bound:  # without any, what init makes is computed again where the file is loaded
                kept.update(self.device.kept())
            if self._state is not None:
                kept.update(self._state.blobs())
        return Artifact(self.program.manifest, {**self.program.blobs, **kept})

    def profile(self, *inputs: Any, calls: int = 10, **keywords: Any) -> Profile:
        """Where the time of a call goes: `print(exe.profile(x))`. Measures so many calls of a program compiled with `profile=True`.

        Raises ExecutionError for others.
        """
        from .profile import profile  # few programs are measured

        return profile(self, self._leaves(inputs, keywords), calls)

    @property
    def report(self) -> Report:
        """What became of every op, and why."""
        return Report.of(self.program.manifest)

    @property
    def arena_bytes(self) -> int:
        """Scratch memory of a call."""
        return self.program.arena_bytes()

    def __repr__(self) -> str:
        return f"<hloom.Executable {self.program.name}{self.signature}>"


def load(path: str | os.PathLike[str], device: Callable[[LoadedProgram], Device] | None = None) -> Executable:
    """Loads a `.hloom` file of one set of shapes (loading.py loads any), for the device of its target or the one given."""
    return Executable(Artifact.load(path), device)


def _device_class(target: Mapping[str, Any]) -> Callable[[LoadedProgram], Device]:
    kind = target.get("kind", "cpu")
    if kind not in _DEVICES:
        raise VersionError(f"the program is for a target of kind {kind!r}, this hloom runs {', '.join(_DEVICES)}", remedy="update hloom")
    module, name = _DEVICES[kind]
    with process_lock:
        return getattr(importlib.import_module(f".{module}", __package__), name)
