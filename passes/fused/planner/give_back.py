"""Undoes what the stage stablehlo did to convolutions for a library's sake, where the planner chose a generated kernel for them.

extract-padding left them their padding and channels-last transposed their weights; a generated kernel wants neither, unless it is that of
windows (stablehlo/support/gpu_windows.py). A gradient becomes a plain convolution: without groups of its batch, zeros between the elements
that it reads, and reversed windows. The pads that come out are ops of their own, so the program is planned again; the choice and its reason
stay with the op.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.rewriting import defining_op, replace
from ...library_calls.conv import gradient_of
from ...stablehlo.extract_padding import without_batch_groups, without_padding
from ...stablehlo.fold_transposes import into_convolution
from ...stablehlo.support import build
from ...stablehlo.support.dimensions import ConvDims
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
    steps = (without_batch_groups, without_padding, _channels_last) if gradient_of(op) is not None else (_plain,)
    weights = defining_op(op.operands[1])
    op.attributes[CHOSEN] = ir.StringAttr.get(reason)
    changed = False
    for step in steps:
        with op.location, ir.InsertionPoint(op):
            values = step(op)
        if values is not None:
            replace(op, values)
            op, changed = _convolution_before(values[0]), True
    if not changed:
        del op.attributes[CHOSEN]
    elif weights is not None and is_dead(weights):
        weights.erase()
    return changed


def _plain(op: ir.Operation) -> list[ir.Value] | None:
    return without_padding(op) or into_convolution(op, (1,))


def _channels_last(op: ir.Operation) -> list[ir.Value]:
    """With the channels last of what it convolves and of the result; the weights as they lie."""
    dims, last = ConvDims.of(op), len(build.shape_of(op.results[0])) - 1
    spatial = tuple(range(1, last))
    places = ConvDims((0, dims.first[1], 0), (last, dims.second[1], last), (spatial, dims.spatial[1], spatial))
    return [dims.laid_out(op, places)]


def _convolution_before(value: ir.Value) -> ir.Operation:
    """The convolution of which `value` is the result, or a transpose of it."""
    op = value.owner.operation
    return op if op.name == "stablehlo.convolution" else _convolution_before(op.operands[0])
