"""Registers that the compiler may not move: empty inline assembly, which LLVM takes for more than it is."""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import vector

from ...common.rewriting import value_of
from ...common.vectors import extract


def pinned(registers: list[ir.Value]) -> ir.Value:
    """The accumulators behind a fence for the compiler: nothing that defines them is moved after it, nothing that reads them before it.

    wgmma.fence and wgmma.wait_group name no registers, so LLVM would feel free to move moves and additions across them.
    """
    element = registers[0].type
    kind = ir.Type.parse(f"!llvm.struct<({', '.join([str(element)] * len(registers))})>")
    constraints = [*["=r" if isinstance(element, ir.IntegerType) else "=f"] * len(registers), *map(str, range(len(registers)))]
    text = {"asm_string": ir.StringAttr.get(""), "constraints": ir.StringAttr.get(",".join(constraints))}
    return value_of("llvm.inline_asm", kind, registers, **text, has_side_effects=ir.UnitAttr.get())


def registers_of(struct: ir.Value) -> list[ir.Value]:
    """The numbers that a struct of accumulators holds."""
    count = str(struct.type).count(",") + 1
    element = ir.Type.parse(str(struct.type).partition("<(")[2].partition(",")[0].rstrip(")>"))
    return [value_of("llvm.extractvalue", element, [struct], position=ir.DenseI64ArrayAttr.get([i])) for i in range(count)]


def held(registers: list[ir.Value]) -> list[ir.Value]:
    """Registers behind such a fence: they are not another's before it either."""
    return registers_of(pinned(registers))


def word(pair: ir.Value) -> ir.Value:
    """Two halves as 32 bits."""
    i32 = ir.IntegerType.get_signless(32)
    return extract(vector.bitcast(ir.VectorType.get([1], i32), pair), 0)
