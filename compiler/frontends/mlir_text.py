"""MLIR text, bytecode and VHLO artifacts, from memory or from a file; modules of another context.

What comes from outside is read in a forked child first (trial.py).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.passes.errors import InvalidProgramError, ParseError

from ..parsing import BYTECODE_MAGIC, UNNAMED, bytecode_of, decode, is_bytecode, parse_module
from ..source_program import Imported
from .shardy_text import without_shardy
from .trial import parse_tried

SUFFIXES = (".mlir", ".mlirbc", ".vhlo")
_ARTIFACT_MAGIC = BYTECODE_MAGIC + b"\rStableHLO_v"


@dataclass(frozen=True)
class FileText:
    """MLIR text or bytecode of a file that was read already; `name` is what locations call it."""

    data: bytes
    name: str


def import_mlir(source: str | bytes | bytearray | os.PathLike | FileText, context: ir.Context) -> Imported:
    """A module from text, bytes or a path. Raises ParseError, or InvalidProgramError if a path cannot be read."""
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        source = FileText(_read(Path(source)), os.fspath(source))
    if isinstance(source, str) and "\n" not in source and os.path.exists(source):
        remedy = "rename it; of what jax.export serialized, give what jax.export.deserialize makes of it"
        raise InvalidProgramError(
            f"{source} is a {'folder' if os.path.isdir(source) else 'file'}, but no {', '.join(SUFFIXES)}", remedy=remedy
        )
    name = UNNAMED
    if isinstance(source, FileText):
        name, source = source.name, source.data
    if isinstance(source, bytearray):
        source = bytes(source)
    if not is_bytecode(source):
        source = decode(source) if isinstance(source, bytes) else source
        if source.startswith("HloModule"):
            raise ParseError(
                "this is XLA's HLO, not MLIR", remedy='give StableHLO: what jax.jit(function).lower(…).as_text("stablehlo") gives'
            )
        source = without_shardy(source, name)
    elif b"sdy" in source:
        _reader_of_shardings()  # jax is imported here, not in a trial's child, whose seconds are counted
    return Imported(parse_tried(source, context, read_trusted, name))


def read_trusted(data: str | bytes, context: ir.Context) -> ir.Module:
    """A module from text, bytecode or a VHLO artifact, without a trial: a framework in this process has just written it."""
    if isinstance(data, bytes) and data.startswith(_ARTIFACT_MAGIC):
        return _read_artifact(data, context)
    return parse_module(data, context)


def import_module(source: ir.Module | ir.Operation | ir.OpView, context: ir.Context) -> Imported:
    """A copy of the module in `context`, by bytecode; it is left as it is."""
    operation = source.operation
    if operation.name != "builtin.module":
        raise InvalidProgramError(f"a {operation.name} is not a module", op=operation.name, remedy="give the builtin.module that holds it")
    return Imported(parse_module(bytecode_of(operation), context))


def _is_path(source: str) -> bool:
    return source.endswith(SUFFIXES) and "\n" not in source


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        remedy = "give the path of a .mlir, .mlirbc or .vhlo file"
        raise InvalidProgramError(f"cannot read {path}: {error.strerror}", remedy=remedy) from None


def _read_artifact(data: bytes, context: ir.Context) -> ir.Module:
    with diagnostics(context) as messages:
        try:
            return _stablehlo.deserialize_portable_artifact(context, data)
        except (ValueError, ir.MLIRError) as error:
            why = messages[0] if messages else str(error)
    current = _stablehlo.get_current_version()
    remedy = "export it again, or for an older version"
    if "'sdy'" in why:
        read = _reader_of_shardings()
        plain = read(data) if read is not None else None
        if plain is not None and plain != data:
            return _read_artifact(plain, context)
        remedy = "install jax, whose MLIR reads annotations for Shardy, or give the program's text: they are dropped"
    raise ParseError(f"no StableHLO artifact that this version ({current}) reads: {why}", remedy=remedy)


def _reader_of_shardings() -> Callable[[bytes], bytes | None] | None:
    """What reads an artifact without its annotations for Shardy, and gives None of what is none; None where jax is not installed."""
    try:
        from .jax_shardings import read_without_shardings
    except ImportError:
        return None
    return read_without_shardings


@contextlib.contextmanager
def diagnostics(context: ir.Context) -> Iterator[list[str]]:
    """Gathers what the context would print to stderr."""
    messages: list[str] = []

    def handle(diagnostic: ir.Diagnostic) -> bool:
        try:
            messages.append(f"{diagnostic.message} ({diagnostic.location})")
        except (RuntimeError, UnicodeDecodeError):
            messages.append("a name that is not UTF-8")
        return True

    handler = context.attach_diagnostic_handler(handle)
    try:
        yield messages
    finally:
        handler.detach()
