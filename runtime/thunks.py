"""The host program of an artifact as typed data: what a runtime that walks thunks reads (the CPU compiles them instead).

The manifest holds each entry as JSON (dialects/thunk_json.py writes it, docs/dialects.md says what each op means). Here it is `Thunk`s, one
class for all kinds. What a kind's attributes are, and what is done with them, is in one file of cuda/kinds, found there by its name.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from .cuda import kinds as files
from .errors import DamagedFileError
from .forking import process_lock
from .schema import Schema

Op = Mapping[str, Any]
"""A thunk as a manifest holds it."""
Launches = Mapping[str, Any] | None
"""How a GPU's kernels are launched, by their names; None for a CPU, whose kernels take their own tiles."""
_NONE: Mapping[str, Schema] = {}


class Slice(NamedTuple):
    """Bytes of one of the program's buffers."""

    buffer: int
    offset: int
    size: int


@dataclass(frozen=True)
class Thunk:
    """One step of a host program: its kind, the slices it reads and writes, its regions, and whatever else its op says."""

    kind: str
    reads: tuple[Slice, ...] = ()
    writes: tuple[Slice, ...] = ()
    regions: Mapping[str, tuple[Thunk, ...]] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """An attribute of the op."""
        return self.attributes[name]


class ThunkKind:
    """What there is to know of a kind of thunk; `class CopyStep(ThunkKind, kind="copy", fields=…)` registers one.

    `fields` holds the schema of each attribute, slices among them; `regions` the names of the regions.
    """

    fields: ClassVar[Mapping[str, Schema]]
    regions: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, kind: str | None = None, fields: Mapping[str, Schema] = _NONE, regions: tuple[str, ...] = ()) -> None:
        if kind is not None:
            _kinds[kind] = cls
            cls.fields, cls.regions = fields, regions

    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        """What does not hold of an op that has these fields."""
        yield from ()


_kinds: dict[str, type[ThunkKind]] = {}


def kinds() -> Mapping[str, type[ThunkKind]]:
    """Every kind by its name."""
    _import(_files())
    return _kinds


def kind_of(name: str) -> type[ThunkKind]:
    """The kind of that name; KeyError if there is none. Imports its file alone if it is named so: most programs have few kinds."""
    if name not in _kinds:
        _import(file for file in _files() if file.rstrip("_") == name)
    return _kinds[name] if name in _kinds else kinds()[name]


@functools.cache
def _files() -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules(files.__path__))


def _import(names: Iterable[str]) -> None:
    with process_lock:
        for name in names:
            importlib.import_module(f"{files.__name__}.{name}")


def read_program(manifest: Mapping[str, Any], entry: str) -> tuple[Thunk, ...]:
    """The thunks of the entry `main` or `init` of a manifest that was checked. Raises DamagedFileError where it has no program of it."""
    if entry not in manifest.get("programs", {}):
        raise DamagedFileError(f"the manifest has no thunk program {entry!r}", remedy="compile the program again")
    return tuple(map(_read, manifest["programs"][entry]["body"]))


def _read(op: Op) -> Thunk:
    kind = op["op"]
    reads, writes = (tuple(Slice(*at) for at in op.get(name, ())) for name in ("reads", "writes"))
    regions = {name: tuple(map(_read, op[name])) for name in kind_of(kind).regions}
    attributes = {name: value for name, value in op.items() if name not in ("op", "reads", "writes", *regions)}
    return Thunk(kind, reads, writes, regions, attributes)


def walk(thunks: Sequence[Thunk]) -> Iterator[Thunk]:
    """All thunks, those in regions included, in program order."""
    for thunk in thunks:
        yield thunk
        for region in thunk.regions.values():
            yield from walk(region)
