"""masked-bf16-as-bits: masked loads and stores of bf16 move integers of 16 bits.

Before:
    llvm.intr.masked.store %x, %p, %mask : vector<64xbf16>, vector<64xi1> into !llvm.ptr
After:
    %bits = llvm.bitcast %x : vector<64xbf16> to vector<64xi16>
    llvm.intr.masked.store %bits, %p, %mask : vector<64xi16>, vector<64xi1> into !llvm.ptr

LLVM splits a wide one into registers, and makes a scalar access of a register with one live lane; for bf16 that is a type which x86 does
not have, and code generation ends the process.

Must hold: the LLVM dialect. Declined: nothing.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import attributes_of, create, value_of, walk
from ..registry import register_pass


@register_pass(
    "masked-bf16-as-bits", "moves bf16 vectors under a mask as integers", ops=("llvm.intr.masked.load", "llvm.intr.masked.store")
)
def masked_bf16_as_bits(module: ir.Operation) -> None:
    for op in walk(module, lambda o: o.name in ("llvm.intr.masked.load", "llvm.intr.masked.store")):
        store = op.name == "llvm.intr.masked.store"
        vector = op.operands[0].type if store else op.results[0].type
        if not isinstance(vector.element_type, ir.BF16Type):
            continue
        bits = ir.VectorType.get(vector.shape, ir.IntegerType.get_signless(16))
        with ir.InsertionPoint(op), op.location:
            operands = [value_of("llvm.bitcast", bits, [v]) if v.type == vector else v for v in op.operands]
            new = create(op.name, [] if store else [bits], operands, **attributes_of(op))
            if not store:
                op.results[0].replace_all_uses_with(value_of("llvm.bitcast", vector, [new.results[0]]))
        op.erase()
