"""The host program of an artifact as typed data: what a runtime that walks thunks reads (the CPU compiles them instead).

The manifest holds each entry as JSON (dialects/thunk_json.py writes it, docs/dialects.md says what each op means). Here it is `Thunk`s, one
class for all kinds, since what a kind's attributes mean is the business of whoever runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .errors import DamagedFileError

_REGIONS = {"while": ("cond", "body"), "for": ("body",), "case": ("branches",), "sequence": ("body",)}


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
        """An attribute of the op. Raises DamagedFileError if it has none of that name."""
        if name not in self.attributes:
            raise DamagedFileError(f"a thunk.{self.kind} of the program has no {name!r}")
        return self.attributes[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    @property
    def source(self) -> list[str]:
        """The names of the source program's ops that it carries out."""
        return list(self.attributes.get("source", ()))


def read_program(manifest: Mapping[str, Any], entry: str) -> tuple[Thunk, ...]:
    """The thunks of the entry `main` or `init` of a manifest that was checked. Raises DamagedFileError where it has no program of it."""
    if entry not in manifest.get("programs", {}):
        raise DamagedFileError(f"the manifest has no thunk program {entry!r}", remedy="compile the program again")
    return tuple(map(_read, manifest["programs"][entry]["body"]))


def _read(op: Mapping[str, Any]) -> Thunk:
    kind = op["op"]
    reads, writes = (tuple(Slice(*at) for at in op.get(name, ())) for name in ("reads", "writes"))
    regions = {name: tuple(map(_read, op[name])) for name in _REGIONS.get(kind, ())}
    attributes = {name: value for name, value in op.items() if name not in ("op", "reads", "writes", *regions)}
    return Thunk(kind, reads, writes, regions, attributes)


def walk(thunks: Sequence[Thunk]) -> Iterator[Thunk]:
    """All thunks, those in regions included, in program order."""
    for thunk in thunks:
        yield thunk
        for region in thunk.regions.values():
            yield from walk(region)
