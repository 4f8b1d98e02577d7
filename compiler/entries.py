"""`hloom.compile` of several programs under names: an Executables (runtime/entries.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hloom.passes.errors import CompileError, InvalidProgramError
from hloom.runtime.dynamic import DynamicExecutable
from hloom.runtime.entries import Entry, Executables
from hloom.runtime.executable import Executable

from .compile import covers
from .frontend import read_program
from .open_program import OpenProgram
from .source_program import SourceProgram

Make = Callable[[SourceProgram | OpenProgram, Any, tuple[Any, ...], Mapping[int | str, Any]], Entry]
"""Compiles a program that was read from a source with example inputs, with what it binds."""


def compile_entries(sources: Mapping[str, Any], bind: Mapping[int | str, Any], make: Make) -> Executables:
    """Compiles each source: a program, a tuple of it and its example inputs, or what was compiled already. Each binds what it has of
    `bind`. Raises CompileErrors."""
    if not sources:
        raise InvalidProgramError("a program of no entries", remedy="give a dictionary from names to programs")
    if wrong := [name for name in sources if not isinstance(name, str) or not name]:
        raise InvalidProgramError(f"an entry's name is a text, not {wrong[0]!r}")
    if indices := [key for key in bind if not isinstance(key, str)]:
        raise CompileError(f"bind names argument {indices[0]}, of which entry is not said", remedy="bind by name what all entries share")
    unused = set(bind)
    entries: dict[str, Entry] = {}
    for name, source in sources.items():
        if isinstance(source, (Executable, DynamicExecutable)):
            entries[name] = source
            continue
        of, *examples = source if isinstance(source, (tuple, list)) else (source,)
        program = read_program(of, examples)
        specs = program.arguments if isinstance(program, OpenProgram) else program.inputs
        own = {key: value for key, value in bind.items() if any(covers(key, spec.name) for spec in specs)}
        unused -= own.keys()
        entries[name] = make(program, of, tuple(examples), own)
    if unused:
        raise CompileError(f"bind names {sorted(map(str, unused))[0]!r}, which no entry has as an argument")
    return Executables(entries)
