"""Several programs under names, which share weights and state, in one `.hloom` file (docs/artifact.md, "Several entries").

    exe = hloom.compile({"prefill": (prefill, tokens), "decode": (decode, cache, token)})
    exe["decode"](cache, token)

    {"name", "functions": [{"name": "prefill", "blobs": {"code": "blob.0"}, "manifest": {…}}]}

Each is an Executable or a DynamicExecutable. Blobs that several have, weights and constants above all, are there once, in memory and in
the file. A state (a module's buffer that calls change, the random numbers') is one for all entries that have one of its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .artifact import Artifact, Buffer, placed
from .copies import Copied
from .dynamic import DynamicExecutable
from .dynamic_file import is_packed
from .errors import ArityError, DamagedFileError, InputError, NotBoundError
from .executable import Executable
from .schema import Mismatch, each, record, table, text

Entry = Executable | DynamicExecutable

_FILE = record({"name": text, "functions": each(record({"name": text, "blobs": table(text), "manifest": table(lambda _: None)}))})


class Executables(Copied):
    """Programs ready to run. `exe["decode"](*inputs)` calls one."""

    def __init__(self, entries: Mapping[str, Entry], name: str = "main"):
        """Has the entries share what is equal. Raises InputError where two keep different states of one name."""
        self.entries = dict(entries)
        self.name = name
        every = [(entry, exe) for entry, found in self.entries.items() for exe in _programs(found)]
        for number, (entry, exe) in enumerate(every):
            before = every[:number]
            for other, known in before:
                _check_one_state(entry, exe, other, known)
            exe.share([known for _, known in before])
        for found in self.entries.values():
            if isinstance(found, DynamicExecutable):
                found.kin = self._compiled

    @classmethod
    def of_artifact(cls, artifact: Artifact, device: Callable[..., Any] | None = None) -> Executables:
        """What a file of several entries holds."""
        return cls({name: loaded(part, device) for name, part in unpacked_entries(artifact).items()}, artifact.manifest["name"])

    def _compiled(self) -> list[Executable]:
        return [exe for found in self.entries.values() for exe in _programs(found)]

    def __getitem__(self, name: str) -> Entry:
        if name not in self.entries:
            raise InputError(f"the program has no entry {name!r}", remedy=f"it has {', '.join(self.entries)}")
        return self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise InputError("the program has several entries", remedy=f"call one of them, as exe[{next(iter(self.entries))!r}](…)")

    # Binding, saving, telling.

    def bind(self, values: Mapping[str, Any]) -> None:
        """Binds the bound arguments of all entries, by name: each takes those that it has."""
        names = {entry: {spec.name for spec in exe.signature.bound.values()} for entry, exe in self.entries.items()}
        if unknown := sorted(values.keys() - set().union(*names.values())):
            raise ArityError(f"nothing to bind at {', '.join(unknown)}")
        bound: list[Executable] = []
        for entry, exe in self.entries.items():
            if names[entry]:
                exe.bind({name: values[name] for name in values if name in names[entry]})
            for one in _programs(exe):
                one.share(bound)
                bound.append(one)

    @property
    def state(self) -> dict[str, np.ndarray]:
        """The values, by name, that calls change and the next call sees, whichever entry is called: copies."""
        return {name: value for exe in self._compiled() for name, value in exe.state.items()}

    @state.setter
    def state(self, values: Mapping[str, Any]) -> None:
        known = self.state
        if unknown := sorted(values.keys() - known.keys()):
            raise ArityError(f"the program has no state {unknown[0]!r}", remedy=f"it has {', '.join(known) or 'none'}")
        for exe in self.entries.values():
            if mine := {name: values[name] for name in _state_of(exe) if name in values}:
                exe.state = mine  # type: ignore[assignment]

    def seed(self, number: int) -> None:
        """Starts the random numbers of all entries anew: they draw from one stream."""
        drawing = [exe for exe in self._compiled() if exe.draws]
        if not drawing:
            raise NotBoundError("no entry draws random numbers", remedy="jax.random takes its seed as an argument")
        drawing[0].seed(number)

    def save(self, path: str | os.PathLike[str], weights: bool = True) -> None:
        """Writes one `.hloom` file with all entries; `weights=False` leaves bound values out."""
        self.artifact(weights).save(path)

    def artifact(self, weights: bool = True) -> Artifact:
        """What `save` writes."""
        return packed_entries({name: exe.artifact(weights) for name, exe in self.entries.items()}, self.name)

    @property
    def arena_bytes(self) -> int:
        """Scratch memory of a call, of the entry that needs most."""
        return max(exe.arena_bytes for exe in self.entries.values())

    def __repr__(self) -> str:
        return f"<hloom.Executables {', '.join(f'{name}{exe.signature}' for name, exe in self.entries.items())}>"


def has_entries(artifact: Artifact) -> bool:
    """Whether a file is one of several entries."""
    return "functions" in artifact.manifest


def packed_entries(parts: Mapping[str, Artifact], name: str = "main") -> Artifact:
    """One artifact of all."""
    blobs: dict[str, Buffer] = {}
    made = [{"name": entry, "blobs": placed(part.blobs, blobs), "manifest": part.manifest} for entry, part in parts.items()]
    return Artifact({"name": name, "functions": made}, blobs)


def unpacked_entries(artifact: Artifact) -> dict[str, Artifact]:
    """Raises DamagedFileError that names the field where the manifest does not describe a program of several entries."""
    try:
        _FILE(artifact.manifest)
    except (Mismatch, RecursionError) as error:
        raise _damaged(str(error) if isinstance(error, Mismatch) else "it is nested too deeply") from None
    parts: dict[str, Artifact] = {}
    for part in artifact.manifest["functions"]:
        missing = [place for place in part["blobs"].values() if place not in artifact.blobs]
        if missing:
            raise _damaged(f"the entry {part['name']!r} has the blob {missing[0]!r}, which the file has not")
        if part["name"] in parts or "functions" in part["manifest"]:
            raise _damaged(f"the entry {part['name']!r} is there twice" if part["name"] in parts else "an entry has entries")
        parts[part["name"]] = Artifact(part["manifest"], {name: artifact.blobs[place] for name, place in part["blobs"].items()})
    if not parts:
        raise _damaged("it has no entries")
    return parts


def loaded(artifact: Artifact, device: Callable[..., Any] | None = None) -> Entry:
    """The program of a file without entries, or of one entry."""
    return (DynamicExecutable if is_packed(artifact) else Executable).of_artifact(artifact, device)


def entry_of(artifact: Artifact, name: str) -> Artifact:
    """One entry's artifact. Raises InputError where the file has none of that name."""
    parts = unpacked_entries(artifact)
    if name not in parts:
        raise InputError(f"the file has no entry {name!r}; it has {', '.join(parts)}", remedy=f"say which by --entry={next(iter(parts))}")
    return parts[name]


def _programs(exe: Entry) -> list[Executable]:
    return [exe] if isinstance(exe, Executable) else exe.compiled


def _state_of(exe: Entry) -> dict[str, np.ndarray]:
    return {name: value for one in _programs(exe) for name, value in one.state.items()}


def _check_one_state(entry: str, exe: Executable, other: str, known: Executable) -> None:
    mine, theirs = exe.state, known.state
    for name in mine.keys() & theirs.keys():
        if mine[name].shape != theirs[name].shape or mine[name].tobytes() != theirs[name].tobytes():
            message = f"the entries {other} and {entry} have different values of the state {name}"
            raise InputError(message, remedy="let both be made of one module, or give one of them another name")


def _damaged(why: str) -> DamagedFileError:
    return DamagedFileError(f"the manifest does not describe a program of several entries: {why}", remedy="write the file again")
