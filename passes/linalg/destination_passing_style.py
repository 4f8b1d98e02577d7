"""destination-passing-style: an elementwise generic that reads a tensor for the last time updates that tensor's buffer.

Before:
    %e = tensor.empty()
    %1 = generic ins(%acc, %bias) maps (d0, d1), (d1), (d0, d1) outs(%e) { %2 = addf %in, %in_0; yield %2 }
After:
    %1 = generic ins(%bias) maps (d1), (d0, d1) outs(%acc) { %2 = addf %out, %in; yield %2 }

A chain that starts from a contraction's fill then has one buffer from end to end, and tiling finds no tensor.empty between its ops.
Taken is the first input that is a generic's result, of the result's type, read through the result's own map, and read nowhere else.
Upstream's eliminate-empty-tensors looks for slices that are inserted, not for an input that dies.

Must hold: the linalg stage. Declined: arguments (whether they may be overwritten is the buffer assignment's matter), tensors with other
readers, generics that already read their outs, and those that read an argument that the group's result is written over (`hloom.inplace`):
the tensor would be in its place before it is read.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import defining_op, has_one_use, is_used, producer, replace, walk
from ..registry import register_pass
from .lowering.generic import Generic, new_generic, read_generic

_VIEWS = ("tensor.extract_slice", "tensor.expand_shape", "tensor.collapse_shape")


@register_pass("destination-passing-style", "lets elementwise generics update the buffer of an input that dies")
def destination_passing_style(module: ir.Operation) -> None:
    with module.context:
        for op in walk(module, "linalg.generic"):
            source = read_generic(op)
            if not source.is_parallel or any(map(_is_written_over, source.inputs)):
                continue
            chosen = _choose(source)
            if chosen:
                _rebuild(source, chosen)


def _choose(source: Generic) -> dict[int, int]:
    """Inputs to become outs, by number of the result."""
    chosen: dict[int, int] = {}
    for number, (out, indexing, argument) in enumerate(zip(source.outs, source.out_maps, source.out_arguments)):
        if producer(out, "tensor.empty") is None or is_used(argument):
            continue
        for i, (value, read) in enumerate(zip(source.inputs, source.in_maps)):
            if i not in chosen.values() and value.type == out.type and read == indexing and _dies(value):
                chosen[number] = i
                break
    return chosen


def _is_written_over(value: ir.Value) -> bool:
    """Whether the value is an argument whose buffer takes a result too, or part of one."""
    while (view := defining_op(value)) is not None and view.name in _VIEWS:
        value = view.operands[0]
    if not isinstance(value, ir.BlockArgument):
        return False
    function = value.owner.owner
    if "hloom.inplace" not in function.attributes:
        return False
    return value.arg_number in list(ir.DenseI64ArrayAttr(function.attributes["hloom.inplace"]))[::2]


def _dies(value: ir.Value) -> bool:
    return producer(value, "linalg.generic") is not None and has_one_use(value)


def _rebuild(source: Generic, chosen: dict[int, int]) -> None:
    gone = set(chosen.values())
    kept = [i for i in range(len(source.inputs)) if i not in gone]
    outs = [source.inputs[chosen[n]] if n in chosen else out for n, out in enumerate(source.outs)]
    with ir.InsertionPoint(source.op), source.op.location:
        op = new_generic(
            [source.inputs[i] for i in kept], outs, [*(source.maps[i] for i in kept), *source.out_maps], source.iterators, source.op
        )
    block, arguments = source.block, list(source.block.arguments)
    for number, i in chosen.items():
        arguments[i].replace_all_uses_with(arguments[len(source.inputs) + number])
    for i in sorted(gone, reverse=True):
        block.erase_argument(i)
    block.append_to(op.regions[0])
    replace(source.op, op.results)
