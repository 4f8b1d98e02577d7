"""Which ops the specification has of which element types, as its verifier says of a small program, and which of them compile."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.ops import OPS, is_accepted

from .elements import ALL, COMMON
from .programs import small_program

TABLE = Path(__file__).parents[2] / "docs" / "generate" / "op_table.json"
"""What `python -m tests.op_table` found; it is newer than what the table of ops says of narrow types."""


@cache
def admitted(name: str, element: str) -> bool:
    try:
        program = small_program(name, element)
    except (KeyError, ValueError, OverflowError):  # no such values
        return False
    if program is None:
        return False
    try:
        ir.Module.parse(program.text(), _context())
    except ir.MLIRError:
        return False
    return any(op.name.split(".")[-1] == name.split(".")[-1] for op in program.ops)


@cache
def _context() -> ir.Context:
    return make_context()


@cache
def _found() -> dict[str, dict[str, list[str]]]:
    return json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}


@cache
def compiles(target: str) -> Callable[[str, str], bool]:
    """By the table where it has the op and type, else by hloom's own table of ops."""

    def knows(name: str, element: str) -> bool:
        found = _found().get(name, {}).get(element)
        if found is not None:
            return found[not target.startswith("cpu")] == "right"
        full = name if "." in name else f"stablehlo.{name}"
        row = OPS.get(full)
        if row is not None and (element not in row.elements or (row.cpu_only and not target.startswith("cpu"))):
            return False
        return (row is not None or is_accepted(full)) and admitted(name, element)

    return knows


def all_types() -> tuple[str, ...]:
    """The common types, and those of which values can at least be reshaped."""
    reshaped = _found().get("reshape", {})
    return (*COMMON, *(element for element in ALL if element not in COMMON and reshaped.get(element) == ["right", "right"]))
