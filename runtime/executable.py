"""A compiled program that can be called.

A program has an entry `main`, run at each call, and perhaps `init`, run once when values are bound. An entry is a function of one array of
pointers, its *buffers*; the manifest says what each is: an argument of the program, a result, a value that `init` made, a constant, or
scratch memory (the arena). A call takes a *frame* (such an array with its own arena) from those the executable keeps, so several threads
may call at once.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import pytree
from .artifact import Artifact, Buffer
from .errors import ArityError, DamagedFileError, InputError, NotBoundError
from .linking import LinkedCode, require_features
from .memory import Scratch, result_factory
from .report import Report
from .signature import Signature, TensorSpec
from .tensors import TO_KIND, view

Slot = tuple[str, Any]
_LARGEST_ARENA = 1 << 47


class _Frame:
    """The buffers of one running call: those that never change are set, arguments and results are not."""

    __slots__ = ("pointers", "address", "arena")

    def __init__(self, fixed: Sequence[int], arena: tuple[int, int] | None):
        self.pointers = (ctypes.c_uint64 * max(1, len(fixed)))(*fixed)
        self.address = ctypes.addressof(self.pointers)
        self.arena = None
        if arena is not None:
            index, nbytes = arena
            self.arena = Scratch(nbytes)
            self.pointers[index] = self.arena.address


class _Entry:
    """An entry of the program with all buffers that stay the same from call to call."""

    def __init__(self, function: Any, slots: Sequence[Slot], fixed: Mapping[Slot, int], owners: Any):
        self.function = function
        self.owners = owners
        self.arguments = {value: index for index, (kind, value) in enumerate(slots) if kind == "argument"}
        self.results = [index for _, index in sorted((value, index) for index, (kind, value) in enumerate(slots) if kind == "result")]
        self._fixed = [fixed.get(slot, 0) for slot in slots]
        self._arena = next(((index, value) for index, (kind, value) in enumerate(slots) if kind == "arena"), None)
        self._idle: list[_Frame] = []

    def take(self) -> _Frame:
        try:
            return self._idle.pop()
        except IndexError:
            return _Frame(self._fixed, self._arena)

    def give(self, frame: _Frame) -> None:
        self._idle.append(frame)


class Executable:
    """A program ready to run. `exe(*inputs)` gives its results as arrays of the kind that went in (numpy, torch, jax)."""

    def __init__(self, artifact: Artifact):
        manifest = artifact.manifest
        try:
            self._read_manifest(manifest)
            require_features(manifest["target"]["features"])
            code = [bytes(blob) for name, blob in artifact.blobs.items() if name.startswith("code")]
            names = {kind: entry["symbol"] for kind, entry in manifest["entries"].items()}
            saved = {name: blob for name, blob in artifact.blobs.items() if name.startswith(("argument.", "init."))}
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DamagedFileError(f"the manifest does not describe a program: {type(error).__name__}: {error}") from None
        self._artifact = Artifact(manifest, {name: blob for name, blob in artifact.blobs.items() if name not in saved})
        self._code = LinkedCode(code, names.values())
        self._functions = {kind: self._code.entries[name] for kind, name in names.items()}
        self._kept: dict[str, Buffer] = {}
        self._main: _Entry | None = None
        if not self.signature.bound:
            self.bind({})
        elif saved:
            self._start(saved)

    def _read_manifest(self, manifest: dict[str, Any]) -> None:
        arguments = [(TensorSpec.of(data), bool(data["bound"])) for data in manifest["arguments"]]
        inputs = {index: spec for index, (spec, bound) in enumerate(arguments) if not bound}
        bound = {index: spec for index, (spec, bound) in enumerate(arguments) if bound}
        results = [TensorSpec.of(data) for data in manifest["results"]]
        self.signature = Signature(tuple(inputs.values()), tuple(results), bound)
        self._init_results = [TensorSpec.of(data) for data in manifest["init_results"]]
        self._slots = {kind: [(str(what), value) for what, value in entry["buffers"]] for kind, entry in manifest["entries"].items()}
        self._check_slots(len(arguments))
        self._in_tree, self._kwarg_tree, self._out_tree = manifest["in_tree"], manifest["kwarg_tree"], manifest["out_tree"]
        taken = pytree.count(self._in_tree) + pytree.count(self._kwarg_tree)
        if taken != len(inputs) or pytree.count(self._out_tree) != len(results):
            raise ValueError("the structures do not match the signature")
        self._positions = list(inputs)
        self._flat_in = pytree.is_flat(self._in_tree) and not pytree.count(self._kwarg_tree)
        self._build = pytree.builder(self._out_tree)
        self._own_kind = manifest["kind"] if manifest["kind"] in sys.modules else "numpy"
        self._fast = [(spec.numpy_dtype, spec.shape, spec) for spec in inputs.values()]
        self._factories = [result_factory(spec) for spec in results]

    def _check_slots(self, arguments: int) -> None:
        """Raises ValueError where an entry's buffers are not those of the signature."""
        init_results = len(self._init_results)
        results = {"main": len(self.signature.outputs), "init": init_results}
        if "main" not in self._slots or not set(self._slots) <= set(results):
            raise ValueError(f"entries {', '.join(self._slots)}")
        for entry, slots in self._slots.items():
            limits = {"argument": arguments, "init": init_results, "result": results[entry], "arena": _LARGEST_ARENA}
            for kind, value in slots:
                if kind != "constant" and not (type(value) is int and 0 <= value < limits[kind]):
                    raise ValueError(f"a buffer {kind} {value!r} of {entry}")

    # Calling.

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        if self._flat_in and not keywords:
            return self._build(self.flat(inputs))
        return self._build(self.flat(self._leaves(inputs, keywords)))

    def _leaves(self, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        return pytree.flatten(self._in_tree, tuple(inputs)) + pytree.flatten(self._kwarg_tree, dict(keywords), "keywords")

    def run(self, inputs: Sequence[Any], outputs: Any, **keywords: Any) -> None:
        """Writes the results into `outputs`: arrays (numpy, torch) of the right shapes and types in the structure of the program's result.

        An output may overlap neither an input nor another output. `inputs` are the arguments of a call.
        """
        self.flat(self._leaves(inputs, keywords), pytree.flatten(self._out_tree, outputs, "outputs"))

    def flat(self, inputs: Sequence[Any], outputs: Sequence[Any] | None = None) -> list[Any]:
        """A call with inputs and results as plain sequences in the order of the signature, whatever their structure."""
        if len(inputs) != len(self._fast):
            raise ArityError(f"the program takes {len(self._fast)} inputs, got {len(inputs)}", remedy=f"its signature: {self.signature}")
        main = self._main or self._refuse()
        frame = main.take()
        pointers = frame.pointers
        try:
            owners, kind = self._set_inputs(main, pointers, inputs)
            if outputs is None:
                results = []
                for index, make in zip(main.results, self._factories):
                    result, pointers[index] = make()
                    results.append(result)
            else:
                results, kind = list(outputs), "given"
                owners += self._set_outputs(main, pointers, results)
            main.function(frame.address)
        finally:
            main.give(frame)
        del owners
        return [TO_KIND[kind](result) for result in results] if kind in TO_KIND else results

    def _set_outputs(self, main: _Entry, pointers: Any, outputs: Sequence[Any]) -> list[Any]:
        """Sets the results' pointers to given arrays; returns what must outlive the call."""
        specs = self.signature.outputs
        if len(outputs) != len(specs):
            raise ArityError(f"the program has {len(specs)} results, got {len(outputs)} outputs")
        slots = main.arguments
        taken = [(pointers[slots[i]], spec) for i, spec in zip(self._positions, self.signature.inputs) if i in slots]
        owners = []
        for index, spec, output in zip(main.results, specs, outputs):
            found = view(spec, output, writable=True)
            _refuse_overlap(found.address, spec, taken)
            taken.append((found.address, spec))
            pointers[index] = found.address
            owners.append(found.owner)
        return owners

    def _set_inputs(self, main: _Entry, pointers: Any, inputs: Sequence[Any]) -> tuple[list[Any], str]:
        """Sets the arguments' pointers; returns what must outlive the call, and the kind of the arrays."""
        owners: list[Any] = []
        kind = "numpy" if inputs else self._own_kind
        slots = main.arguments
        for position, value, (dtype, shape, spec) in zip(self._positions, inputs, self._fast):
            if type(value) is np.ndarray and value.dtype == dtype and value.shape == shape and value.flags.c_contiguous:
                address = value.ctypes.data
            else:
                found = view(spec, value)
                address = found.address
                owners.append(found.owner)
                if kind == "numpy":
                    kind = found.kind
            if position in slots:
                pointers[slots[position]] = address
        return owners, kind

    def _refuse(self) -> _Entry:
        names = ", ".join(spec.name for spec in self.signature.bound.values())
        raise NotBoundError(f"values were not bound: {names}", remedy="give them to exe.bind, or save the program with weights=True")

    # Binding.

    def bind(self, values: Mapping[Any, Any] | Sequence[Any]) -> None:
        """Binds all values that the program was compiled to be given once: by index or name, or in order.

        Arrays that `main` reads as they are stay shared with the caller; what `init` makes of them is computed here, not again when they
        change.
        """
        arrays = self._bound_values(values)
        views = {index: view(spec, arrays[index]) for index, spec in self.signature.bound.items()}
        made = [result_factory(spec)() for spec in self._init_results]
        if "init" in self._functions:
            fixed: dict[Slot, int] = {("argument", index): found.address for index, found in views.items()}
            fixed |= {("result", index): address for index, (_, address) in enumerate(made)}
            init = self._entry("init", fixed, views)
            frame = init.take()
            init.function(frame.address)
        kept: dict[str, Buffer] = {}
        for kind, index in self._kept_slots():
            if kind == "init":
                kept[f"init.{index}"] = made[index][0].reshape(-1).view(np.uint8).data
            else:
                kept[f"argument.{index}"] = _memory(views[index].address, self.signature.bound[index].nbytes, views[index].owner)
        self._start(kept)

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

    def _kept_slots(self) -> list[Slot]:
        """What `main` needs of bound values: those it reads as they are, and those that `init` made."""
        bound = self.signature.bound
        return [(kind, value) for kind, value in self._slots["main"] if kind == "init" or (kind == "argument" and value in bound)]

    def _start(self, kept: dict[str, Buffer]) -> None:
        """Makes `main` callable with these values; calls that run go on with the older ones."""
        fixed: dict[Slot, int] = {}
        arrays = []
        for kind, index in self._kept_slots():
            name = f"{kind}.{index}"
            spec = self._init_results[index] if kind == "init" else self.signature.bound[index]
            array = _array(kept[name])
            if array.nbytes != spec.nbytes:
                raise DamagedFileError(f"{name} should have {spec.nbytes} bytes, has {array.nbytes}")
            arrays.append(array)
            fixed[kind, index] = array.ctypes.data
        self._kept, self._main = kept, self._entry("main", fixed, arrays)

    def _entry(self, kind: str, fixed: dict[Slot, int], owners: Any) -> _Entry:
        constants = {name: _array(blob) for name, blob in self._artifact.blobs.items() if name.startswith("constant")}
        fixed = fixed | {("constant", name): array.ctypes.data for name, array in constants.items()}
        unknown = [slot for slot in self._slots[kind] if slot not in fixed and slot[0] not in ("argument", "result", "arena")]
        if unknown:
            raise DamagedFileError(f"the program has no {unknown[0][0]} {unknown[0][1]!r}")
        return _Entry(self._functions[kind], self._slots[kind], fixed, (owners, constants))

    # Saving and telling.

    def save(self, path: str | os.PathLike[str], weights: bool = True) -> None:
        """Writes the `.hloom` file; `weights=False` leaves bound values out, to be bound again after loading."""
        kept = self._kept if weights else {}
        Artifact(self._artifact.manifest, {**self._artifact.blobs, **kept}).save(path)

    @property
    def report(self) -> Report:
        """What became of every op, and why."""
        return Report(self._artifact.manifest.get("report", {}))

    @property
    def arena_bytes(self) -> int:
        """Scratch memory of a call."""
        return sum(value for kind, value in self._slots["main"] if kind == "arena")

    def __repr__(self) -> str:
        return f"<hloom.Executable {self._artifact.manifest.get('name', 'main')}{self.signature}>"


def load(path: str | os.PathLike[str]) -> Executable:
    """Loads a `.hloom` file; needs no compiler."""
    return Executable(Artifact.load(path))


def _refuse_overlap(address: int, spec: TensorSpec, others: Iterable[tuple[int, TensorSpec]]) -> None:
    for start, other in others:
        if address < start + other.nbytes and start < address + spec.nbytes:
            raise InputError(f"the output {spec.name} overlaps {other.name}", remedy="give each output memory of its own")


def _array(data: Buffer) -> np.ndarray:
    return np.frombuffer(data, np.uint8) if len(data) else np.empty(0, np.uint8)


def _memory(address: int, nbytes: int, owner: Any) -> memoryview:
    """The bytes there, holding `owner`."""
    raw = (ctypes.c_char * nbytes).from_address(address)
    raw._owner = owner  # type: ignore[attr-defined]
    return memoryview(raw).cast("B")

