"""Between which numbers integers lie: what ops make of all bytes is never outside, and the ranges that packed weights need are found."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.stablehlo.support.integer_ranges import element_range

_BYTES = {"i8": np.arange(-128, 128, dtype=np.int8), "ui8": np.arange(256, dtype=np.uint8)}
_FOUND = [
    ("ui8", "and %x, 15", lambda x: x & 15, (0, 15)),
    ("ui8", "shift_right_logical %x, 4", lambda x: x >> 4, (0, 15)),
    ("ui8", "and %x, 15; convert i8; subtract %0, 8", lambda x: (x & 15).astype(np.int8) - 8, (-8, 7)),
    ("ui8", "and %x, 15; subtract %0, 8", lambda x: (x & 15) - np.uint8(8), (0, 255)),
    ("i8", "shift_left %x, 4; shift_right_arithmetic %0, 4", lambda x: x << 4 >> 4, (-8, 7)),
    ("i8", "shift_right_arithmetic %x, 4", lambda x: x >> 4, (-8, 7)),
    ("i8", "shift_right_logical %x, 4", lambda x: (x.view(np.uint8) >> 4).view(np.int8), (0, 15)),
    ("i8", "and %x, 15", lambda x: x & 15, (0, 15)),
    ("i8", "and %x, 15; xor %0, 8; subtract %0, 8", lambda x: ((x & 15) ^ 8) - 8, (-8, 7)),
    ("i8", "maximum %x, -8; minimum %0, 7", lambda x: np.clip(x, -8, 7), (-8, 7)),
    ("i8", "and %x, 3; multiply %0, 5", lambda x: (x & 3) * 5, (0, 15)),
    ("i8", "and %x, 127; multiply %0, 2", lambda x: (x & 127) * np.int8(2), (-128, 127)),
    ("i8", "add %x, 1", lambda x: x + np.int8(1), (-128, 127)),
    ("i8", "and %x, -16", lambda x: x & -16, (-128, 127)),
    ("i8", "convert ui8; and %0, 7; or %0, 8", lambda x: x.view(np.uint8) & 7 | 8, (0, 15)),
    ("i8", "convert i32; subtract %0, 300", lambda x: x.astype(np.int32) - 300, (-428, -173)),
]


def _text(element: str, ops: str) -> str:
    """The function that computes those ops, each of the last value, one after the other."""
    value, lines = "%x", []
    for number, op in enumerate(ops.split("; ")):
        name, *operands = op.replace(",", "").split()
        kind = f"tensor<256x{element}>"
        if name == "convert":
            (element,) = operands
            lines.append(f"%v{number} = stablehlo.convert {value} : ({kind}) -> tensor<256x{element}>")
        else:
            lines.append(f"%c{number} = stablehlo.constant dense<{operands[1]}> : {kind}")
            lines.append(f"%v{number} = stablehlo.{name} {value}, %c{number} : {kind}")
        value = f"%v{number}"
    return "\n".join([*lines, f'"test.keep"({value}) : (tensor<256x{element}>) -> ()'])


@pytest.mark.parametrize(("element", "ops", "compute", "expected"), _FOUND, ids=[f"{element}-{ops}" for element, ops, _, _ in _FOUND])
def test_all_bytes_are_inside(element, ops, compute, expected):
    with make_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(f"func.func @f(%x: tensor<256x{element}>) {{ {_text(element, ops)}\n return }}")
        kept = list(module.body.operations[0].regions[0].blocks[0].operations)[-2]
        found = element_range(kept.operation.operands[0])
    assert found == expected
    with np.errstate(over="ignore"):
        made = compute(_BYTES[element])
    assert found[0] <= made.min() and made.max() <= found[1]
