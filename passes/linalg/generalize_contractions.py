"""generalize-contractions: named linalg ops become generics, contractions in one form.

Before:
    %t = linalg.transpose ins(%w) outs(%e) permutation = [1, 0]
    %0 = linalg.matmul ins(%x, %t : …) outs(%zero : tensor<256x1024xf32>)
After:
    %t = linalg.generic {maps (d1, d0), (d0, d1)} ins(%w) outs(%e) { yield %in }
    %0 = linalg.generic {maps (d0, d2), (d2, d1), (d0, d1)} ins(%x, %t) outs(%zero) {
      %1 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %2 = arith.addf %out, %1 fastmath<contract> : f32
      yield %2
    }

Upstream's linalg-generalize-named-ops does the first half. It is no step of the pipeline, for it cannot leave fills alone: it runs where
there is another named op, which lower-to-linalg never makes. Generics that only yield a scalar operand become fills. A contraction's
addition has the accumulator first, and its float multiplication and addition may contract to an FMA. Must hold: nothing. Declined: a
generic that is no contraction stays as it is.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from ..common.rewriting import defining_op, replace, walk
from ..registry import register_pass
from .lowering import generic
from .lowering.generic import Generic, is_contraction, is_tensor, read_generic

_GENERAL = {"linalg.generic", "linalg.yield", "linalg.index", "linalg.fill"}


@register_pass("generalize-contractions", "turns named linalg ops into generics, contractions into one form")
def generalize_contractions(module: ir.Operation) -> None:
    if walk(module, lambda op: op.name.startswith("linalg.") and op.name not in _GENERAL):
        PassManager.parse("builtin.module(func.func(linalg-generalize-named-ops))", module.context).run(module)
    with module.context:
        for op in walk(module, "linalg.generic"):
            source = read_generic(op)
            if is_contraction(source):
                _normalise(source)
            elif _is_fill(source):
                _to_fill(source)


def _normalise(source: Generic) -> None:
    total = source.terminator.operands[0].owner.operation
    accumulator = source.out_arguments[0]
    left, right = total.operands
    if left != accumulator:
        total.operands[0], total.operands[1] = right, left
    flags = ir.Attribute.parse("#arith.fastmath<contract>")
    for op in (total, defining_op(total.operands[1])):
        if op is not None and op.name in ("arith.addf", "arith.mulf") and str(op.attributes["fastmath"]) == "#arith.fastmath<none>":
            op.attributes["fastmath"] = flags


def _is_fill(source: Generic) -> bool:
    yielded = source.terminator.operands[0]
    return (
        source.is_parallel
        and len(source.inputs) == len(source.outs) == 1
        and not is_tensor(source.inputs[0])
        and yielded == source.block.arguments[0]
        and len(source.out_maps[0].results) == len(source.extents)
    )


def _to_fill(source: Generic) -> None:
    with ir.InsertionPoint(source.op), source.op.location:
        replace(source.op, [generic.fill(source.inputs[0], generic.shape_of(source.op.results[0]))])
