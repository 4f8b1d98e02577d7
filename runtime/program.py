"""What an artifact says of a program, read and checked: the part of loading that is the same on every device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from . import pytree
from .artifact import Artifact, Buffer
from .errors import DamagedFileError
from .manifest import LARGEST_BYTES, check_made_for, check_manifest, made_for
from .signature import Signature, TensorSpec
from .thunk_schema import check_program

GENERATOR = "hloom.generator"
"""The name of the argument that is the state of the program's random numbers: a key and a counter, which need not be bound."""

Slot = tuple[str, Any]
"""What a buffer of an entry is: ("argument", i), ("init", k), ("result", i), ("arena", bytes) or ("constant", name)."""


class Device(Protocol):
    """Where a program runs: it holds the program's memory and runs its entries. Made from the `LoadedProgram`."""

    def bind(self, arrays: Mapping[int, Any]) -> None:
        """Takes the values of the bound arguments and computes from them, by `init`, what `main` needs."""

    def start(self, kept: Mapping[str, Buffer]) -> None:
        """Takes what `main` needs of bound values from a saved file: `argument.i` and `init.k`."""

    def kept(self) -> Mapping[str, Buffer]:
        """What `start` takes, for saving."""

    def call(self, inputs: Any, outputs: Any = None, *, in_place: bool = False) -> list[Any]:
        """Runs `main`, as many inputs as the signature has; into `outputs` if given.

        `in_place`: writes over the inputs that the program's `in_place` names, which share memory with no other.
        """

    def measurements(self) -> list[tuple[int, int, int]]:
        """(id, begin, end) in nanoseconds of every measured thunk since the last time, the oldest first."""


@dataclass
class LoadedProgram:
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
    updates: dict[int, int]
    """Arguments that a call changes, by the results that are their new values."""
    in_place: dict[int, int]
    """Arguments into whose memory `main` writes those results: it finds the old values there, and reads them nowhere else."""
    state: tuple[int, ...]
    """Those of them that the program keeps from call to call (state.py). To a device they are inputs like others."""
    manifest: dict[str, Any]
    blobs: dict[str, Buffer]
    saved: dict[str, Buffer]

    @staticmethod
    def read(artifact: Artifact) -> LoadedProgram:
        """Raises DamagedFileError that names the field where the manifest does not describe a program."""
        check_manifest(artifact.manifest)
        program = _read(artifact)
        _check(program)
        check_made_for(made_for(program.manifest, program.blobs), program.manifest["made_for"], "its manifest")
        return program

    @property
    def calls(self) -> Signature:
        """What a caller gives and gets: without the state, which is bound, and without the new values of arguments."""
        arguments, results = self.signature.inputs, self.signature.outputs
        given = dict(zip(self.positions, arguments))
        inputs = tuple(spec for index, spec in given.items() if index not in self.state)
        outputs = tuple(spec for index, spec in enumerate(results) if index not in self.updates.values())
        bound = {**self.signature.bound, **{index: given[index] for index in self.state if given[index].name != GENERATOR}}
        return Signature(inputs, outputs, {index: bound[index] for index in sorted(bound)})

    @property
    def on_gpu(self) -> bool:
        return self.target.get("kind") == "cuda"

    def kept_slots(self) -> list[Slot]:
        """What `main` needs of bound values: those it reads as they are, and those that `init` made."""
        bound = self.signature.bound.keys() - set(self.manifest["entries"]["main"].get("unread", ()))
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

    def arena_bytes(self) -> int:
        """Bytes of temporaries that a call takes."""
        return sum(value for kind, value in self.slots.get("main", []) if kind == "arena")


def _read(artifact: Artifact) -> LoadedProgram:
    manifest = artifact.manifest
    signature = Signature.of(manifest)
    saved = {name: blob for name, blob in artifact.blobs.items() if name.startswith(("argument.", "init.", "bound.", "state."))}
    return LoadedProgram(
        name=manifest.get("name", "main"),
        kind=manifest["kind"],
        target=dict(manifest["target"]),
        signature=signature,
        init_results=[TensorSpec.of(data) for data in manifest["init_results"]],
        slots={kind: [(what, value) for what, value in entry["buffers"]] for kind, entry in manifest["entries"].items()},
        symbols={kind: entry["symbol"] for kind, entry in manifest["entries"].items()},
        in_tree=manifest["in_tree"],
        kwarg_tree=manifest["kwarg_tree"],
        out_tree=manifest["out_tree"],
        positions=[index for index in range(len(manifest["arguments"])) if index not in signature.bound],
        updates=dict(manifest.get("updates", ())),
        in_place=dict(manifest["entries"]["main"].get("in_place", ())),
        state=tuple(manifest.get("state", ())),
        manifest=manifest,
        blobs={name: blob for name, blob in artifact.blobs.items() if name not in saved},
        saved=saved,
    )


def _check(program: LoadedProgram) -> None:
    """Raises DamagedFileError where parts of the manifest contradict one another."""
    signature = program.signature
    for name, structure, kind in (("in_tree", program.in_tree, "tuple"), ("kwarg_tree", program.kwarg_tree, "dict")):
        _require(isinstance(structure, dict) and kind in structure, f"{name} is not a {kind}")
    _check_updates(program)
    calls = program.calls
    taken = pytree.count(program.in_tree) + pytree.count(program.kwarg_tree)
    _require(taken == len(calls.inputs), f"in_tree and kwarg_tree have {taken} leaves for {len(calls.inputs)} inputs")
    given = pytree.count(program.out_tree)
    _require(given == len(calls.outputs), f"out_tree has {given} leaves for {len(calls.outputs)} results")
    for spec in (*signature.inputs, *signature.bound.values(), *signature.outputs, *program.init_results):
        _require(spec.nbytes <= LARGEST_BYTES, f"{spec.name or 'an array'} of {spec} has more bytes than there can be")
        ordered = not spec.order or sorted(spec.order) == list(range(len(spec.shape)))
        _require(ordered, f"{spec.name} has the order {spec.order}, which is none of {len(spec.shape)} dims")
    _check_in_place(program)
    _require("init" in program.slots or not program.init_results, "there are init_results and no entry init")
    for entry in program.slots:
        _check_buffers(program, entry)


def _check_updates(program: LoadedProgram) -> None:
    """What a call changes: inputs of the device, each once, by results of the same type, which are the last ones."""
    inputs, outputs = dict(zip(program.positions, program.signature.inputs)), program.signature.outputs
    pairs = program.manifest.get("updates", [])
    made = sorted(result for _, result in pairs)
    _require(len(program.updates) == len(pairs), "updates has an argument twice")
    _require(made == list(range(len(outputs) - len(pairs), len(outputs))), "updates does not have the last results, each once")
    _require(len(set(program.state)) == len(program.state) and set(program.state) <= set(program.updates), "state is not among updates")
    for argument, result in pairs:
        old, new = inputs.get(argument), outputs[result]
        same = old is not None and (old.dtype, old.shape, old.order) == (new.dtype, new.shape, new.order)
        same = same and not (new.order and argument in program.state)
        _require(same, f"updates has argument {argument}, which result {result} is not a value of")


def _check_in_place(program: LoadedProgram) -> None:
    """What is updated in place: inputs, each once, by results of as many bytes, each once."""
    inputs, outputs = dict(zip(program.positions, program.signature.inputs)), program.signature.outputs
    pairs = [pair for entry in program.manifest["entries"].values() for pair in entry.get("in_place", ())]
    _require(len(program.in_place) == len(pairs) == len(set(program.in_place.values())), "in_place has an argument or a result twice")
    for argument, result in pairs:
        same = argument in inputs and result < len(outputs) and inputs[argument].nbytes == outputs[result].nbytes
        _require(same, f"in_place has argument {argument}, into whose memory result {result} cannot be written")


def _check_buffers(program: LoadedProgram, entry: str) -> None:
    """An entry's buffers: that they are there, each result and the arena once, and that the host program keeps to them."""
    where, slots = f"entries.{entry}.buffers", program.slots[entry]
    counts = {"argument": len(program.manifest["arguments"]), "init": len(program.init_results), "result": len(_results(program, entry))}
    for number, (kind, value) in enumerate(slots):
        if kind in counts:
            _require(value < counts[kind], f"{where}[{number}] is {kind} {value} of {counts[kind]}")
        elif kind == "constant":
            _require(value in program.blobs, f"{where}[{number}] is the constant {value!r}, which the file has not")
    readable = program.signature.bound if entry == "init" else range(counts["argument"])
    arguments = [value for kind, value in slots if kind == "argument"]
    _require(all(value in readable for value in arguments), f"{where} has an argument that is not bound")
    _require(entry == "main" or all(kind != "init" for kind, _ in slots), f"{where} has a result of init")
    made = sorted(value for kind, value in slots if kind == "result")
    _require(made == list(range(counts["result"])), f"{where} has not each result once")
    _require(sum(kind == "arena" for kind, _ in slots) <= 1, f"{where} has more than one arena")
    if entry in program.manifest.get("programs", {}):
        _check_host_program(program, entry)


def _check_host_program(program: LoadedProgram, entry: str) -> None:
    made_for, slots = program.manifest["programs"][entry], program.slots[entry]
    sizes = [_slot_bytes(program, entry, kind, value) for kind, value in slots]
    if any(name in made_for for name in ("argument_bytes", "result_bytes", "arena_bytes")):
        expected = [*made_for.get("argument_bytes", ()), *made_for.get("result_bytes", ()), made_for.get("arena_bytes")]
        found = [size for size, (kind, _) in zip(sizes, slots) if kind != "constant"]
        right = found == expected and len(slots) == len(expected) + len(made_for.get("constants", ()))
        _require(right, f"the buffers of {entry} are not those that its code was made for")
    writable = [kind in ("result", "arena") for kind, _ in slots]
    check_program(entry, made_for["body"], sizes, writable, program.manifest.get("kernels", {}) if program.on_gpu else None)


def _results(program: LoadedProgram, entry: str) -> Sequence[TensorSpec]:
    return program.signature.outputs if entry == "main" else program.init_results


def _slot_bytes(program: LoadedProgram, entry: str, kind: str, value: Any) -> int:
    if kind == "arena":
        return value
    if kind == "constant":
        return len(program.blobs[value])
    if kind == "argument":
        return TensorSpec.of(program.manifest["arguments"][value]).nbytes
    return (_results(program, entry) if kind == "result" else program.init_results)[value].nbytes


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DamagedFileError(f"the manifest does not describe a program: {otherwise}", remedy="write the file again")
