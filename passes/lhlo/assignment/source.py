"""Names for the ops of the source program, for people: they travel with the op that carries the work."""

from __future__ import annotations

import re

from torch_mlir import ir

_NAME = re.compile(r'^loc\("((?:[^"\\]|\\.)*)"(?![:\d])')


def source_names(function: ir.Operation) -> list[str]:
    """The ops of a group's body: `add jit(f)/add`, or only `add` where the location has no name; constants are left out."""
    operations = function.regions[0].blocks[0].operations
    return [source_name(op.operation) for op in operations if op.operation.name not in ("func.return", "stablehlo.constant")]


def source_name(op: ir.Operation) -> str:
    short = op.name.removeprefix("stablehlo.")
    named = _NAME.match(str(op.location))
    return f"{short} {named.group(1)}" if named else short
