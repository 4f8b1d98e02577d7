"""MLIR text, bytecode and VHLO artifacts, from memory or from a file; modules of another context.

Bytecode with flipped bytes can make the reader segfault, abort or never end, so bytes from outside are first read in a forked child, which
costs about 10 ms: its death or silence is a ParseError. The child sees the same memory as its parent, so what it survived the parent survives.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import select
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.passes.errors import InvalidProgramError, ParseError

from ..parsing import BYTECODE_MAGIC, parse_module

SUFFIXES = (".mlir", ".mlirbc", ".vhlo")
_ARTIFACT_MAGIC = BYTECODE_MAGIC + b"\rStableHLO_v"
_MEMORY = 4 << 30
_SECONDS = 10
_SECONDS_PER_MB = 1


def import_mlir(source: str | bytes | bytearray | os.PathLike, context: ir.Context) -> ir.Module:
    """A module from text, bytes or a path. Raises ParseError, or InvalidProgramError if a path cannot be read."""
    if isinstance(source, bytearray):
        source = bytes(source)
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        source = _read(Path(source))
    if isinstance(source, str) or not source.startswith(BYTECODE_MAGIC):
        return parse_module(source, context)
    return parse_bytecode(source, context)


def parse_bytecode(data: bytes, context: ir.Context, *, trusted: bool = False) -> ir.Module:
    """A module from bytecode or a VHLO artifact. `trusted` bytes, just written by a framework in this process, are read without a trial."""
    read = _read_artifact if data.startswith(_ARTIFACT_MAGIC) else parse_module
    if not trusted:
        _try_in_child(lambda: read(data, context), len(data))
    return read(data, context)


def import_module(source: ir.Module | ir.Operation | ir.OpView, context: ir.Context) -> ir.Module:
    """The module itself where it lives in `context`, else a copy there by bytecode; it is left as it is in any case."""
    operation = source.operation
    if operation.name != "builtin.module":
        raise InvalidProgramError(f"a {operation.name} is no module", op=operation.name, remedy="give the builtin.module that holds it")
    buffer = io.BytesIO()
    operation.write_bytecode(buffer)
    return parse_bytecode(buffer.getvalue(), context, trusted=True)


def _is_path(source: str) -> bool:
    return source.endswith(SUFFIXES) and "\n" not in source


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidProgramError(
            f"cannot read {path}: {error.strerror}", remedy="give the path of a .mlir, .mlirbc or .vhlo file"
        ) from None


def _read_artifact(data: bytes, context: ir.Context) -> ir.Module:
    with diagnostics(context) as messages:
        try:
            return _stablehlo.deserialize_portable_artifact(context, data)
        except (ValueError, ir.MLIRError) as error:
            why = messages[0] if messages else str(error)
    current = _stablehlo.get_current_version()
    raise ParseError(f"no StableHLO artifact that this version ({current}) reads: {why}", remedy="export it again, or for an older version")


@contextlib.contextmanager
def diagnostics(context: ir.Context) -> Iterator[list[str]]:
    """Gathers what the context would print to stderr."""
    messages: list[str] = []

    def handle(diagnostic: ir.Diagnostic) -> bool:
        messages.append(f"{diagnostic.message} ({diagnostic.location})")
        return True

    handler = context.attach_diagnostic_handler(handle)
    try:
        yield messages
    finally:
        handler.detach()


def _try_in_child(read: Callable[[], ir.Module], size: int) -> None:
    """Raises ParseError if reading ends a process, takes too much memory or does not end; other failures are left to the real reading."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: the child runs nothing but the parser
        pid = os.fork()
    if pid == 0:
        _child(read, writer)
    os.close(writer)
    try:
        seconds = _SECONDS + _SECONDS_PER_MB * (size >> 20)
        ready, _, _ = select.select([reader], [], [], seconds)
        finished = bool(ready) and os.read(reader, 1) == b"k"
        if not ready:
            os.kill(pid, signal.SIGKILL)
    finally:
        os.close(reader)
        _, status = os.waitpid(pid, 0)
    if not finished:
        why = (
            f"does not end in {seconds} s"
            if not ready
            else f"ends with signal {os.WTERMSIG(status)}"
            if os.WIFSIGNALED(status)
            else "fails"
        )
        raise ParseError(f"malformed bytecode: reading it {why}", remedy="write the file again")


def _child(read: Callable[[], ir.Module], writer: int) -> None:
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            str(read())
        except (ParseError, ir.MLIRError, ValueError):
            pass
        os.write(writer, b"k")
    finally:
        os._exit(0)
