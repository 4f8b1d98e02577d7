"""expect-branches: tells LLVM which side of a branch hardly ever runs.

Before:
    %r = scf.if %usual -> (vector<4xf32>) { yield %quotient } else { %q = arith.divf %x, %y; yield %q } {hloom.likely}
After:
    %e = llvm.intr.expect %usual, %true : i1
    %r = scf.if %e -> (vector<4xf32>) { … } else { … }

LLVM thinks a division cheap on a GPU, computes both sides and selects. What is told to be rare stays a branch.

Must hold: branches are scf.if yet. Declined: branches without the mark.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..common.control_flow import LIKELY
from ..common.rewriting import value_of, walk
from ..registry import register_pass


@register_pass("expect-branches", "tells LLVM which side of a branch hardly ever runs", ops=("scf.if",))
def expect_branches(module: ir.Operation) -> None:
    for op in walk(module, lambda op: op.name == "scf.if" and LIKELY in op.attributes):
        with op.location, ir.InsertionPoint(op):
            flag = ir.IntegerType.get_signless(1)
            op.operands[0] = value_of("llvm.intr.expect", flag, [op.operands[0], arith.constant(flag, 1)])
        del op.attributes[LIKELY]
