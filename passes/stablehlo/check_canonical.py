"""check-canonical: refuses what the stages after `stablehlo` do not take. Changes nothing.

Refused:
    %0 = stablehlo.dynamic_gather %x, %i, %sizes …        // %sizes is no constant, or it would be a gather by now

Must hold: ingress canonicalisation has run. Declined: nothing; UnsupportedOpError names the op, its location and a remedy.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ops import OPS, name_in_table, remedy
from ..common.rewriting import functions, walk
from ..errors import UnsupportedOpError
from ..registry import register_pass


@register_pass("check-canonical", "refuses ops that the later stages do not take")
def check_canonical(module: ir.Operation) -> None:
    for function in functions(module):
        for op in walk(function, lambda op: name_in_table(op) not in OPS and op.name not in ("func.func", "func.return")):
            raise UnsupportedOpError(f"{op.name} is left after canonicalisation", op=op.name, loc=str(op.location), remedy=remedy(op.name))
