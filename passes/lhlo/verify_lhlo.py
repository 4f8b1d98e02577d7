"""verify-lhlo: checks what the lhlo stage promises and the op definitions cannot say. Changes nothing.

Checked: every lhlo.fusion names a function of the module and passes buffers of its types (tensor → memref, i1 → i8, unsigned → signless);
`inplace` pairs are in range and one buffer; views lie in the arena, 64-byte aligned; copies are between equal types; fill patterns have
an element's width; predicates are memref<i8>; matrices of an lhlo.gemm end inside of their buffers; case ops hold branches.

Must hold: nothing. Declined: nothing; PassFailure names the first violation and the number of others.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects import lhlo

from ..registry import register_pass
from .assignment.violations import raise_first


@register_pass("verify-lhlo", "checks the lhlo stage")
def verify_lhlo(module: ir.Operation) -> None:
    raise_first(lhlo.verify(module), "lhlo")
