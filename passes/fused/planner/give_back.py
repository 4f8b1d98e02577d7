"""Undoes what the stage stablehlo did to convolutions for a library's sake, where the planner chose a generated kernel for them.

extract-padding left them their padding and channels-last transposed their weights; a generated kernel wants neither, unless it is that of
windows (stablehlo/support/gpu_windows.py). The pads that come
out are ops of their own, so the program is planned again; the choice and its reason stay with the op.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.rewriting import defining_op, replace
from ...stablehlo.extract_padding import without_padding
from ...stablehlo.fold_transposes import into_convolution
from ...stablehlo.support.driver import is_dead
from ...stablehlo.support.gpu_windows import window_convolution
from .kernels import CHOSEN, Kernel
from .reader import Handles
from .records import Program


def give_back(kernels: Iterable[Kernel], reasons: Mapping[int, str], program: Program, handles: Handles) -> bool:
    """Whether a convolution was changed; if so the program and its handles are out of date. `reasons`: of choices, by op."""
    generated = [op for kernel in kernels if kernel.kind == "conv" for op in kernel.ops if op in reasons]
    if any([_restore(handles.ops[op], reasons[op]) for op in generated]):
        return True
    for op in generated:
        if CHOSEN in handles.ops[op].attributes:
            del handles.ops[op].attributes[CHOSEN]
    return False


def _restore(op: ir.Operation, reason: str) -> bool:
    if window_convolution(op, target_of(op)) is not None:
        return False
    with op.location, ir.InsertionPoint(op):
        values = without_padding(op) or into_convolution(op, (1,))
        if values is None:
            return False
        values[0].owner.operation.attributes[CHOSEN] = ir.StringAttr.get(reason)
    weights = defining_op(op.operands[1])
    replace(op, values)
    if weights is not None and is_dead(weights):
        weights.erase()
    return True
