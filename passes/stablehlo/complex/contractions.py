"""Dots and convolutions of complex numbers as four of real ones."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import attributes_of, element_of, value_of
from ..support import build
from ..support.type_conversion import Parts


def contraction(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """(a + bi)·(c + di): ac - bd, ad + bc. Three would do, with a cancellation that four do not have. A real operand needs two."""
    result = op.results[0]
    kind = build.tensor(build.shape_of(result), element_of(result).element_type)

    def contract(x: ir.Value, y: ir.Value) -> ir.Value:
        return value_of(op.name, kind, [x, y, *others], **attributes_of(op))

    (a, *b), (c, *d), *rest = operands
    others = [value for (value,) in rest]  # the padding of a dynamic_conv
    if not b:
        return [[contract(a, part) for part in (c, *d)]]
    if not d:
        return [[contract(part, c) for part in (a, *b)]]
    real = build.subtract(contract(a, c), contract(b[0], d[0]))
    return [[real, build.add(contract(a, d[0]), contract(b[0], c))]]
