"""Floats of a byte that tensor cores multiply. They are bytes everywhere; where such a dot reads them, a bitcast says what they stand for:

    %0 = stablehlo.bitcast_convert %x : (tensor<64x32xui8>) -> tensor<64x32xf8E4M3FN>
    %1 = stablehlo.dot_general %0, %2, … : (tensor<64x32xf8E4M3FN>, tensor<32x16xf8E5M2>) -> tensor<64x16xf32>

That view is free: it is cloned into the dot's group, so that no buffer holds such floats.
"""

from __future__ import annotations

from torch_mlir import ir

MULTIPLIED = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""By MLIR's name of the type, PTX's."""


def sees_floats(op: ir.Operation) -> bool:
    """Whether the op says of bytes that they are such floats."""
    return op.name == "stablehlo.bitcast_convert" and str(op.results[0].type.element_type) in MULTIPLIED


def sees_float(op: ir.Operation) -> bool:
    """Likewise of a scalar."""
    return op.name == "arith.bitcast" and str(op.results[0].type) in MULTIPLIED
