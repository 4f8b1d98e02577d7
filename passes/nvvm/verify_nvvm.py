"""verify-nvvm: what must hold of a gpu.module before it is translated to LLVM IR. Changes nothing.

Refused:
    %1 = llvm.intr.exp(%0) : (f32) -> f32

The translation crashes on an op of another dialect, and LLVM's NVPTX back end ends the process on an intrinsic that it has no code for
(`llvm.intr.exp`): neither is let through.

Must hold: stage nvvm. Declined: nothing; PassFailure names the op.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import walk
from ..errors import PassFailure
from ..registry import register_pass

_PREFIX = "llvm.intr."
_SELECTED = frozenset(
    f"{_PREFIX}{name}"
    for name in """abs fabs sqrt floor ceil trunc rint nearbyint round roundeven copysign minnum maxnum minimum maximum fma fmuladd ldexp
    smin smax umin umax ctpop ctlz cttz bswap bitreverse fshl fshr assume expect memcpy memcpy.inline memmove memset lifetime.start
    lifetime.end sadd.sat uadd.sat ssub.sat usub.sat sadd.with.overflow uadd.with.overflow ssub.with.overflow usub.with.overflow
    smul.with.overflow umul.with.overflow is.fpclass""".split()
)
_SELECTED_FAMILIES = (f"{_PREFIX}masked.", f"{_PREFIX}vector.")


@register_pass("verify-nvvm", "checks that a gpu.module can be translated to LLVM IR and PTX")
def verify_nvvm(module: ir.Operation) -> None:
    for kernels in walk(module, "gpu.module"):
        inside = walk(kernels)[:-1]
        # a cast that is left tells little: it stands where an op beside it was not converted
        for op in sorted(inside, key=_is_cast):
            if problem := _problem(op):
                remedy = "this is a fault of a pass of stage nvvm, or of the kernel that it was given"
                raise PassFailure(problem, op=op.name, loc=str(op.location), stage="nvvm", remedy=remedy)


def _is_cast(op: ir.Operation) -> bool:
    return op.name == "builtin.unrealized_conversion_cast"


def _problem(op: ir.Operation) -> str | None:
    if op.name.startswith(_PREFIX):
        known = op.name in _SELECTED or op.name.startswith(_SELECTED_FAMILIES)
        return None if known else f"NVPTX has no code for {op.name}"
    return None if op.name.partition(".")[0] in ("llvm", "nvvm") else f"{op.name} is left, an op of neither the LLVM nor the NVVM dialect"
