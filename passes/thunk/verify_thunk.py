"""verify-thunk: checks what the thunk stage promises and the op definitions cannot say. Changes nothing.

Checked: constants and kernels are in the module; slices lie in their buffers, and have the sizes that the kernel takes; arguments and
constants are not written; copies are between slices of one size; fill patterns divide their slices; predicates and indices are integers;
matrices of a thunk.gemm end inside of their slices.

Must hold: nothing. Declined: nothing; PassFailure names the first violation and the number of others.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects import thunk

from ..lhlo.assignment.violations import raise_first
from ..registry import register_pass


@register_pass("verify-thunk", "checks the thunk stage")
def verify_thunk(module: ir.Operation) -> None:
    raise_first(thunk.verify(module), "thunk")
