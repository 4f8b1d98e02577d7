"""Names for the ops of the source program, for people: they travel with the op that carries the work."""

from __future__ import annotations

import re
from collections.abc import Callable

from torch_mlir import ir

from ...common.rewriting import ops_in

_NAME = re.compile(r'^loc\("((?:[^"\\]|\\.)*)"(?![:\d])')


def source_names(function: ir.Operation, location: Callable[[ir.Operation], str]) -> list[str]:
    """The ops of a group's body: `add jit(f)/add`, or only `add` where the location, of that text, has no name; constants are left out."""
    ops = (op for op in ops_in(function.regions[0].blocks[0]) if op.name not in ("func.return", "stablehlo.constant"))
    return [_source_name(op, location(op)) for op in ops]


def _source_name(op: ir.Operation, location: str) -> str:
    short = op.name.removeprefix("stablehlo.")
    named = _NAME.match(location)
    return f"{short} {named.group(1)}" if named else short
