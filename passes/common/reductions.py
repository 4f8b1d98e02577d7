"""The ops by which reductions combine elements: what vector.reduction calls them, and what they leave unchanged."""

from __future__ import annotations

import math

from torch_mlir import ir
from torch_mlir.dialects.vector import CombiningKind

VECTOR_KINDS = {
    "arith.addf": CombiningKind.ADD,
    "arith.addi": CombiningKind.ADD,
    "arith.mulf": CombiningKind.MUL,
    "arith.muli": CombiningKind.MUL,
    "arith.maximumf": CombiningKind.MAXIMUMF,
    "arith.minimumf": CombiningKind.MINIMUMF,
    "arith.maxnumf": CombiningKind.MAXNUMF,
    "arith.minnumf": CombiningKind.MINNUMF,
    "arith.maxsi": CombiningKind.MAXSI,
    "arith.minsi": CombiningKind.MINSI,
    "arith.maxui": CombiningKind.MAXUI,
    "arith.minui": CombiningKind.MINUI,
    "arith.andi": CombiningKind.AND,
    "arith.ori": CombiningKind.OR,
    "arith.xori": CombiningKind.XOR,
}
"""The kind of vector.reduction for each op that combines two elements."""

_FLOATS = {
    "arith.addf": -0.0, "arith.mulf": 1.0, "arith.maximumf": -math.inf, "arith.minimumf": math.inf, "arith.maxnumf": math.nan,
    "arith.minnumf": math.nan,
}  # fmt: skip


def neutral_element(name: str, element: ir.Type) -> ir.Attribute | None:
    """The value that combining with by the op `name` changes nothing; None where the op is not known to have one."""
    if isinstance(element, ir.FloatType):
        return ir.FloatAttr.get(element, _FLOATS[name]) if name in _FLOATS else None
    least = -1 << (element.width - 1)  # of i1, the signed values are 0 and -1
    integers = {
        "arith.addi": 0, "arith.ori": 0, "arith.xori": 0, "arith.maxui": 0, "arith.muli": -1 if element.width == 1 else 1, "arith.andi": -1,
        "arith.minui": -1, "arith.maxsi": least, "arith.minsi": -1 - least,
    }  # fmt: skip
    return ir.IntegerAttr.get(element, integers[name]) if name in integers else None
