"""Reading MLIR text and bytecode without letting a malformed input harm the process; writing bytecode."""

from __future__ import annotations

import io
import re

from torch_mlir import ir

from hloom.passes.common.rewriting import walk
from hloom.passes.errors import ParseError
from hloom.runtime.artifact import MAGIC

UNNAMED = "-"  # what MLIR calls text that comes from no file
BYTECODE_MAGIC = b"ML\xefR"

# The parser recurses on the C stack, which ends somewhere above 3000 levels; no program nests even a tenth as deep.
_MAX_NESTING = 1000
_STRINGS_AND_COMMENTS = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|>=|<=')
_IN_UNNAMED = re.compile(r'loc\("-":(\d+):(\d+)\)')
_NOT_BRACKETS = bytes(set(range(256)) - set(b"()[]{}<>"))


def is_bytecode(source: str | bytes) -> bool:
    return isinstance(source, bytes) and source.startswith(BYTECODE_MAGIC)


def decode(source: bytes) -> str:
    """UTF-8 text. Raises ParseError."""
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        raise _no_text(source, error.start) from None


def _no_text(source: bytes, at: int) -> ParseError:
    """The error for what is no UTF-8 from that byte on."""
    if source.startswith(MAGIC):
        return ParseError("this is a compiled program, no MLIR", remedy="give it to hloom-run or hloom-explain, or to hloom.load")
    inner = source.find(BYTECODE_MAGIC)
    if inner > 0:
        remedy = "give that program alone; of what jax.export serialized, it is the Exported's mlir_module_serialized"
        return ParseError(f"not MLIR, but something that holds a program, from byte {inner} on", remedy=remedy)
    return ParseError(f"neither MLIR bytecode nor UTF-8 text: byte {at} is {source[at]:#04x}")


def parse_module(source: str | bytes, context: ir.Context, name: str = UNNAMED) -> ir.Module:
    """Parses MLIR text or bytecode and verifies it. Raises ParseError with line and column.

    `name` is that of the text's file, in locations.
    """
    if not is_bytecode(source):
        text = decode(source) if isinstance(source, bytes) else source
        _refuse_deep_nesting(text)
        source = text
    try:
        module = ir.Module.parse(source, context=context)
    except ir.MLIRError as error:
        first = error.error_diagnostics[0] if error.error_diagnostics else None
        where = _IN_UNNAMED.sub(lambda at: f'loc("{name}":{at[1]}:{at[2]})', str(first.location)) if first else None
        failure = ParseError(first.message if first else str(error), loc=where)
        failure.diagnostics = error.error_diagnostics  # type: ignore[attr-defined]
        raise failure from None
    if name != UNNAMED and not is_bytecode(source):
        _name_file(module.operation, name)
    return module


def _name_file(module: ir.Operation, name: str) -> None:
    """The bindings parse a string, whose locations name no file. Those that the text gives itself stay."""

    def named(location: ir.Location) -> ir.Location:
        found = _IN_UNNAMED.fullmatch(str(location))
        return ir.Location.file(name, int(found[1]), int(found[2]), context=module.context) if found else location

    for op in walk(module, lambda op: True):
        op.location = named(op.location)
        for argument in (argument for region in op.regions for block in region.blocks for argument in block.arguments):
            argument.set_location(named(argument.location))


def bytecode_of(module: ir.Module | ir.Operation) -> bytes:
    """The module in MLIR's bytecode."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _refuse_deep_nesting(text: str) -> None:
    brackets = _STRINGS_AND_COMMENTS.sub(b"", text.encode(errors="replace")).translate(None, _NOT_BRACKETS)
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"([{<" else -1
        if depth > _MAX_NESTING:
            raise ParseError(f"the text nests more than {_MAX_NESTING} brackets")
