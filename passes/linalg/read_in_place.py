"""read-in-place: what a result is written over is read at the element that is written, and nowhere else.

Before, where the result lies in the buffer of %x (`hloom.inplace`):
    %i = linalg.index 0;  %j = clamp(%i - 1, 0, 98)
    %a = tensor.extract %x[%j + 1];  %b = tensor.extract %y[%j];  %c = addf %a, %b
    select (%i < 1), %in, %c                                    // %in: %x[0]
After:
    %b = tensor.extract %y[%j];  %c = addf %in, %b              // %in: %x[%i]
    select (%i < 1), %in, %c

Buffer assignment shares the buffer only where each element is made of the one in its place. But a body chooses behind its reads: what an
element has no use for is read as well, at an index that is clamped, which another thread may write just then. That is harmless, since
nobody uses what was read, and yet a race; and it is a read more.

Must hold: inline-producers has run, on group functions that buffer assignment has seen. Declined: generics that are no results of the
group, reductions, and results that are windows of what they are written over; CPUs, whose kernels cut their loops where a piece ends, and
whose threads each have elements of their own.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.affine import maps_attr
from ..common.rewriting import erase_unused, groups_of_kind, integers, ops_in, walk
from ..registry import register_pass
from .lowering.generic import Generic, read_generic, with_input


@register_pass("read-in-place", "reads what a result is written over at the element that is written")
def read_in_place(module: ir.Operation) -> None:
    if target_of(module).kind != "cuda":
        return
    for function in groups_of_kind(module, "loop"):
        if "hloom.inplace" not in function.attributes:
            continue
        block = function.regions[0].blocks[0]
        returned = list(ops_in(block)[-1].operands)
        with module.context, function.location:
            for given in sorted(set(integers(function, "hloom.inplace")[::2])):
                for op in walk(function, "linalg.generic"):
                    if all(result in returned for result in op.results):
                        _read_there(read_generic(op), block.arguments[given])


def _read_there(source: Generic, value: ir.Value) -> None:
    """Has the generic read an argument of the group where it writes, and only there."""
    there = source.out_maps[0]
    extracts = [op for op in walk(source.op, "tensor.extract") if op.operands[0] == value]
    numbers = [n for n, given in enumerate(source.inputs) if given == value]
    elsewhere = extracts or any(source.maps[n] != there for n in numbers)
    if not elsewhere or not source.is_parallel or any(m != there for m in source.out_maps):
        return
    op = source.op
    if numbers:
        op.attributes["indexing_maps"] = maps_attr([there if n in numbers else m for n, m in enumerate(source.maps)])
    else:
        numbers, op = [len(source.inputs)], with_input(source, value, there)
    body = op.regions[0].blocks[0]
    for extract in extracts:
        extract.results[0].replace_all_uses_with(body.arguments[numbers[0]])
    erase_unused(ops_in(body)[:-1])
