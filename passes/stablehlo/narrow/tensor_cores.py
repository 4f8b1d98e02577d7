"""Dots of floats of 8 bits that a target's tensor cores multiply: their operands stay what they are, the sum is taken in f32.

Tensor cores add products with fewer bits than f32 has (of Hopper's it is said that they keep about 14), which the default precision of
a dot allows. Declined, and done in f32: dots that ask for HIGH or HIGHEST, algorithms that forbid an imprecise accumulation.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.byte_floats import MULTIPLIED
from ...common.rewriting import attributes_of, create, element_of
from ..support import build


def multiply(op: ir.Operation) -> bool:
    """Whether tensor cores may do `op`."""
    if op.name != "stablehlo.dot_general" or not all(str(element_of(value)) in MULTIPLIED for value in op.operands):
        return False
    if not isinstance(element_of(op.results[0]), ir.FloatType) or element_of(op.results[0]).width > 32:
        return False
    algorithm = str(op.attributes["algorithm"]) if "algorithm" in op.attributes else ""
    asked = str(op.attributes["precision_config"]) if "precision_config" in op.attributes else ""
    return target_of(op).multiplies_f8 and "HIGH" not in asked and "allow_imprecise_accumulation = false" not in algorithm


def dot(op: ir.Operation, left: ir.Value, right: ir.Value) -> ir.Value:
    """The sums, in f32, of `op` of these codes."""
    seen = [
        build.elementwise("bitcast_convert", codes, result=build.tensor(build.shape_of(codes), element_of(old)))
        for codes, old in zip((left, right), op.operands)
    ]
    attributes = {name: value for name, value in attributes_of(op).items() if name != "algorithm"}
    kind = build.tensor(build.shape_of(op.results[0]), ir.F32Type.get())
    return create(op.name, [kind], seen, **attributes).results[0]
