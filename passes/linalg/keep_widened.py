"""keep-widened: halves that are made in a group and multiplied there are rounded, but kept as the f32 that multiplying them takes.

Before (attention in bf16: weights are rounded before they are multiplied by values):
    %w = generic (d0, d1) ins(%e)        { arith.truncf %in : f32 to bf16 }                                     : tensor<32x1024xbf16>
    %o = generic (d0, d2, d1) ins(%w, %v)  { arith.addf %out, (arith.mulf (arith.extf %in), (arith.extf %in_0)) }
After:
    %w = generic (d0, d1) ins(%e)        { arith.extf (arith.truncf %in : f32 to bf16) }                        : tensor<32x1024xf32>
    %o = generic (d0, d2, d1) ins(%w, %v)  { arith.addf %out, (arith.mulf %in, (arith.extf %in_0)) }

No numbers change. The halves were packed to f32 for the product; now it reads what was stored. Must hold: widen-half-floats has run.
Declined: values that leave the group, or that others read than products which extend them; bf16 that the target multiplies as it is.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.contraction import summed_product
from ..common.rewriting import defining_op, erase_unused, producer, shape_of, value_of, walk
from ..registry import register_pass
from .lower_to_linalg import group_functions
from .lowering.generic import Generic, empty, extension_of, new_generic, read_generic, take_extended


@register_pass("keep-widened", "keeps halves between two nests of a group as f32 where they are multiplied so", ops=("arith.truncf",))
def keep_widened(module: ir.Operation) -> None:
    target = target_of(module)
    for function in group_functions(module):
        with module.context, function.location:
            for op in walk(function, "arith.truncf"):
                nest = op.parent.operation
                if nest.name == "linalg.generic" and target.widens(str(op.results[0].type)):
                    _keep(read_generic(nest), op)


def _keep(source: Generic, rounded: ir.Operation) -> None:
    """`source` computes what is `rounded`."""
    results = list(source.op.results)
    if not source.is_parallel or len(results) != 1 or producer(source.outs[0], "tensor.empty") is None:
        return
    if source.terminator.operands[0] != rounded.results[0] or not isinstance(rounded.operands[0].type, ir.F32Type):
        return
    extended = [_extended(use.owner.operation, use.operand_number) for use in results[0].uses]
    if not extended or any(op is None for op in extended) or any(list(out.uses) for out in source.out_arguments):
        return
    f32 = ir.F32Type.get()
    with ir.InsertionPoint(source.op), source.op.location:
        new = new_generic(source.inputs, [empty(shape_of(results[0]), f32)], source.maps, source.iterators, source.op)
    with ir.InsertionPoint(source.terminator), source.op.location:
        source.terminator.operands[0] = value_of("arith.extf", f32, [rounded.results[0]])
    source.out_arguments[0].set_type(f32)
    source.block.append_to(new.regions[0])
    results[0].replace_all_uses_with(new.results[0])
    start = defining_op(source.outs[0])
    source.op.erase()
    erase_unused([start] if start is not None else [])
    for op in extended:
        assert op is not None
        take_extended(op)


def _extended(op: ir.Operation, number: int) -> ir.Operation | None:
    """The one op that reads operand `number` of a contraction and extends it; None where it is not so."""
    if op.name != "linalg.generic" or number >= len(read_generic(op).inputs) or summed_product(op.regions[0].blocks[0]) is None:
        return None
    return extension_of(op.regions[0].blocks[0].arguments[number])
