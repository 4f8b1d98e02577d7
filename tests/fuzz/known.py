"""Which ops the specification has of which element types, as its verifier says of a small program, and which of them compile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.ops import OPS, is_accepted

from .programs import small_program


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
def compiles(target: str) -> Callable[[str, str], bool]:
    def knows(name: str, element: str) -> bool:
        full = name if "." in name else f"stablehlo.{name}"
        row = OPS.get(full)
        if row is not None and (element not in row.elements or (row.cpu_only and not target.startswith("cpu"))):
            return False
        return (row is not None or is_accepted(full)) and admitted(name, element)

    return knows
