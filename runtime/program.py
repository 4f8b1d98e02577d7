"""What an artifact says of a program, read and checked: the part of loading that is the same on every device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from . import pytree
from .artifact import Artifact, Buffer
from .errors import DamagedFileError
from .signature import Signature, TensorSpec

Slot = tuple[str, Any]
"""What a buffer of an entry is: ("argument", i), ("init", k), ("result", i), ("arena", bytes) or ("constant", name)."""

_LARGEST_ARENA = 1 << 47


class Device(Protocol):
    """Where a program runs: it holds the program's memory and runs its entries. Made from the `Program`."""

    def bind(self, arrays: Mapping[int, Any]) -> None:
        """Takes the values of the bound arguments and computes from them, by `init`, what `main` needs."""

    def start(self, kept: Mapping[str, Buffer]) -> None:
        """Takes what `main` needs of bound values from a saved file: `argument.i` and `init.k`."""

    def kept(self) -> Mapping[str, Buffer]:
        """What `start` takes, for saving."""

    def call(self, inputs: Any, outputs: Any = None) -> list[Any]:
        """Runs `main`, as many inputs as the signature has; into `outputs` if given."""

    def measurements(self) -> list[tuple[int, int, int]]:
        """(id, begin, end) in nanoseconds of every measured thunk since the last time, the oldest first."""


@dataclass
class Program:
    """A program's manifest as typed data, and its blobs without the bound values."""

    name: str
    kind: str
    target: dict[str, Any]
    signature: Signature
    init_results: list[TensorSpec]
    slots: dict[str, list[Slot]]
    symbols: dict[str, str]
    in_tree: Any
    kwarg_tree: Any
    out_tree: Any
    positions: list[int]
    """Where the inputs of a call stand among the source program's arguments."""
    manifest: dict[str, Any]
    blobs: dict[str, Buffer]
    saved: dict[str, Buffer]

    @staticmethod
    def read(artifact: Artifact) -> Program:
        """Raises DamagedFileError where the manifest does not describe a program."""
        try:
            return _read(artifact)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DamagedFileError(f"the manifest does not describe a program: {type(error).__name__}: {error}") from None

    def kept_slots(self) -> list[Slot]:
        """What `main` needs of bound values: those it reads as they are, and those that `init` made."""
        bound = self.signature.bound
        return [(kind, value) for kind, value in self.slots["main"] if kind == "init" or (kind == "argument" and value in bound)]

    def kept_spec(self, slot: Slot) -> TensorSpec:
        kind, index = slot
        return self.init_results[index] if kind == "init" else self.signature.bound[index]

    def kept_blob(self, slot: Slot, kept: Mapping[str, Buffer]) -> Buffer:
        """The bytes of a kept slot in a saved file. Raises DamagedFileError."""
        name, expected = f"{slot[0]}.{slot[1]}", self.kept_spec(slot).nbytes
        if name not in kept or len(kept[name]) != expected:
            found = len(kept[name]) if name in kept else "no"
            raise DamagedFileError(f"{name} should have {expected} bytes, has {found}")
        return kept[name]

    def unbound_values(self) -> dict[int, Any]:
        """The values of a file that was saved where `init` could not run, to be bound. Raises DamagedFileError."""
        found = {}
        for index, spec in self.signature.bound.items():
            blob = self.saved.get(f"bound.{index}")
            if blob is None or len(blob) != spec.nbytes:
                raise DamagedFileError(f"the file's value of {spec.name} is damaged", remedy="save the program again")
            found[index] = np.frombuffer(blob, spec.numpy_dtype).reshape(spec.shape)
        return found

    def constants(self) -> dict[str, Buffer]:
        return {name: blob for name, blob in self.blobs.items() if name.startswith("constant")}

    def arena_bytes(self, entry: str = "main") -> int:
        return sum(value for kind, value in self.slots.get(entry, []) if kind == "arena")


def _read(artifact: Artifact) -> Program:
    manifest = artifact.manifest
    arguments = [(TensorSpec.of(data), bool(data["bound"])) for data in manifest["arguments"]]
    inputs = {index: spec for index, (spec, bound) in enumerate(arguments) if not bound}
    bound = {index: spec for index, (spec, bound) in enumerate(arguments) if bound}
    results = [TensorSpec.of(data) for data in manifest["results"]]
    saved = {name: blob for name, blob in artifact.blobs.items() if name.startswith(("argument.", "init.", "bound."))}
    program = Program(
        name=manifest.get("name", "main"),
        kind=manifest["kind"],
        target=dict(manifest["target"]),
        signature=Signature(tuple(inputs.values()), tuple(results), bound),
        init_results=[TensorSpec.of(data) for data in manifest["init_results"]],
        slots={kind: [(str(what), value) for what, value in entry["buffers"]] for kind, entry in manifest["entries"].items()},
        symbols={kind: entry["symbol"] for kind, entry in manifest["entries"].items()},
        in_tree=manifest["in_tree"],
        kwarg_tree=manifest["kwarg_tree"],
        out_tree=manifest["out_tree"],
        positions=list(inputs),
        manifest=manifest,
        blobs={name: blob for name, blob in artifact.blobs.items() if name not in saved},
        saved=saved,
    )
    if not all(isinstance(text, str) for text in (program.name, program.kind, program.target.get("kind", ""))):
        raise ValueError("a name or a kind is no text")
    _check_slots(program, len(arguments))
    taken = pytree.count(program.in_tree) + pytree.count(program.kwarg_tree)
    if taken != len(inputs) or pytree.count(program.out_tree) != len(results):
        raise ValueError("the structures do not match the signature")
    return program


def _check_slots(program: Program, arguments: int) -> None:
    """Raises ValueError where an entry's buffers are not those of the signature, DamagedFileError where a constant is missing."""
    init_results = len(program.init_results)
    results = {"main": len(program.signature.outputs), "init": init_results}
    if "main" not in program.slots or not set(program.slots) <= set(results):
        raise ValueError(f"entries {', '.join(program.slots)}")
    for entry, slots in program.slots.items():
        limits = {"argument": arguments, "init": init_results, "result": results[entry], "arena": _LARGEST_ARENA}
        for kind, value in slots:
            if kind == "constant":
                if value not in program.blobs:
                    raise DamagedFileError(f"the program has no constant {value!r}")
            elif not (type(value) is int and 0 <= value < limits[kind]):
                raise ValueError(f"a buffer {kind} {value!r} of {entry}")
        _check_sizes(program, entry)


def _check_sizes(program: Program, entry: str) -> None:
    """Raises ValueError where an entry's buffers are not of the number and sizes that its host program, where it tells, was made for."""
    made_for = program.manifest.get("programs", {}).get(entry, {})
    if "argument_bytes" not in made_for:
        return
    sizes = [*made_for["argument_bytes"], *made_for["result_bytes"], made_for["arena_bytes"]]
    found = [_slot_bytes(program, entry, kind, value) for kind, value in program.slots[entry] if kind != "constant"]
    if found != sizes or len(program.slots[entry]) != len(sizes) + len(made_for["constants"]):
        raise ValueError(f"the buffers of {entry} are not those that its code was made for")


def _slot_bytes(program: Program, entry: str, kind: str, value: int) -> int:
    if kind == "arena":
        return value
    if kind == "argument":
        return TensorSpec.of(program.manifest["arguments"][value]).nbytes
    if kind == "result" and entry == "main":
        return program.signature.outputs[value].nbytes
    return program.init_results[value].nbytes
