"""Kernels broken on purpose: a compiled program's kernel is edited at `vector`, and the compile goes on from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from torch_mlir import ir

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.passes.common.rewriting import defining_op, index_constant, value_of, walk
from hloom.runtime.executable import Executable

Edit = Callable[[ir.Operation], None]


def compiled(text: str, target: str, name: str, edit: Edit | None) -> Executable:
    """The program with `edit` made to every op `name` of its kernels (of which there must be one)."""
    compilation = Compilation(load_program(text), target)
    compilation.to("vector")
    ops = walk(compilation.module, name)
    assert ops, f"no kernel has a {name}"
    for op in ops:
        if edit is not None:
            with op.location, ir.InsertionPoint(op):
                edit(op)
    return compilation.executable()


def offset_one_too_large(op: ir.Operation) -> None:
    _shift(op, 1)


def offset_one_too_small(op: ir.Operation) -> None:
    _shift(op, -1)


def _shift(op: ir.Operation, by: int) -> None:
    """Moves the first index of an access, or a window's offset."""
    number = next(n for n, value in enumerate(op.operands) if isinstance(value.type, ir.IndexType))
    at = op.operands[number]
    op.operands[number] = value_of("arith.addi", at.type, [at, index_constant(by)])


def mask_one_lane_too_wide(op: ir.Operation) -> None:
    """A constant mask has one live lane more."""
    number = next(n for n, value in enumerate(op.operands) if str(value.type).endswith("xi1>"))
    mask = op.operands[number]
    made = defining_op(mask)
    assert made is not None
    live = sum(ir.DenseIntElementsAttr(made.attributes["value"]))
    i1 = ir.IntegerType.get_signless(1)
    bits = [ir.IntegerAttr.get(i1, int(lane <= live)) for lane in range(ir.VectorType(mask.type).shape[0])]
    op.operands[number] = value_of("arith.constant", mask.type, value=ir.DenseElementsAttr.get(bits, mask.type))


@dataclass(frozen=True)
class Fault:
    """A program, the access in its kernel that is broken, and how; then what a report must say of it."""

    text: str
    op: str
    edit: Edit
    inputs: list[np.ndarray]
    what: str
    memory: str
    extent: int

    def executable(self, target: str) -> Executable:
        return compiled(self.text, target, self.op, self.edit)

    def sound(self, target: str) -> Executable:
        """The program as it should be, compiled the same way."""
        return compiled(self.text, target, self.op, None)


def negated(kind: str) -> str:
    return f"""func.func @main(%x: tensor<{kind}>) -> tensor<{kind}> {{
      %0 = stablehlo.negate %x : tensor<{kind}>
      return %0 : tensor<{kind}>
    }}"""


_TABLE = """func.func @main(%x: tensor<40xf32>, %i: tensor<64x1xi32>) -> tensor<64xf32> {
  %0 = "stablehlo.gather"(%x, %i) {
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>} : (tensor<40xf32>, tensor<64x1xi32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}"""
_PRODUCT = """func.func @main(%a: tensor<32x160xbf16>, %b: tensor<160x80xbf16>) -> tensor<32x80xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<32x160xbf16>, tensor<160x80xbf16>) -> tensor<32x80xf32>
  return %0 : tensor<32x80xf32>
}"""
# No buffer is whole pages, or guards on one side would catch what leaves on the other.
_WHOLE, _REST, _BYTES = [np.ones(1088, np.float32)], [np.ones(1003, np.float32)], [np.ones(1003, np.int8)]
_LOOKED_UP = [np.arange(40, dtype=np.float32), np.arange(64, dtype=np.int32)[:, None] % 40]
FAULTS = {
    "vectors read too far": Fault(negated("1088xf32"), "vector.load", offset_one_too_large, _WHOLE, "load", "input 0", 1088),
    "vectors read too early": Fault(negated("1088xf32"), "vector.load", offset_one_too_small, _WHOLE, "load", "input 0", 1088),
    "vectors written too far": Fault(negated("1088xf32"), "vector.store", offset_one_too_large, _WHOLE, "store", "output 0", 1088),
    "masked lanes read too far": Fault(negated("1003xf32"), "vector.maskedload", offset_one_too_large, _REST, "load", "input 0", 1003),
    "a mask too wide, read": Fault(negated("1003xf32"), "vector.maskedload", mask_one_lane_too_wide, _REST, "load", "input 0", 1003),
    "a mask too wide, written": Fault(negated("1003xi8"), "vector.maskedstore", mask_one_lane_too_wide, _BYTES, "store", "output 0", 1003),
    "a gather too far": Fault(_TABLE, "vector.gather", offset_one_too_large, _LOOKED_UP, "load", "input 0", 40),
    "a scalar read too far": Fault(negated("f32"), "memref.load", offset_one_too_large, [np.float32(1)], "load", "input 0", 1),
}
TILE_FAULT = Fault(
    _PRODUCT,
    "memref.reinterpret_cast",
    offset_one_too_large,
    [np.ones((32, 160), ml_dtypes.bfloat16), np.ones((160, 80), ml_dtypes.bfloat16)],
    "load",
    "input 0",
    5120,
)
