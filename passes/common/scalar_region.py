"""The region of an op that stays what it is up to its kernel (a sort, a scatter): scalar code, once for each set of arguments.

^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %x = tensor.extract %a[]; %y = tensor.extract %b[]
  %s = arith.addf %x, %y : f32
  %r = tensor.from_elements %s : tensor<f32>
  stablehlo.return %r
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from .rewriting import clone_with, defining_op, ops_in, walk

_AROUND = ("tensor.from_elements", "stablehlo.return")


class ScalarRegion:
    """`answers` are the scalars that the region returns; `outside` what stands in the kernel for values from outside of it."""

    def __init__(self, block: ir.Block, outside: dict[ir.Value, ir.Value]):
        self.block, self.outside = block, outside
        self.answers = [value.owner.operation.operands[0] for value in ops_in(block)[-1].operands]

    def evaluate(self, arguments: Sequence[ir.Value], wanted: Sequence[ir.Value]) -> list[ir.Value]:
        """Scalars of the region for these arguments; what they do not need becomes dead code."""
        known = dict(self.outside)
        for op in ops_in(self.block):
            if op.name == "tensor.extract":
                known[op.results[0]] = arguments[ir.BlockArgument(op.operands[0]).arg_number]
            elif op.name not in _AROUND:
                clone_with(op, known)
        return [known.get(value, value) for value in wanted]

    def argument(self, value: ir.Value) -> int | None:
        """The number of the argument that a scalar of the region is, or None."""
        op = defining_op(value)
        return ir.BlockArgument(op.operands[0]).arg_number if op is not None and op.name == "tensor.extract" else None


def constants_outside(function: ir.Operation) -> dict[ir.Value, ir.Value]:
    """The constants of a group function, emitted as scalars in its kernel; of a tensor of equal elements, the element."""
    found = {}
    for op in walk(function, "arith.constant"):
        value = op.attributes["value"]
        if isinstance(value, ir.DenseElementsAttr):
            value = value.get_splat_value()
        if op.parent.operation == function:
            found[op.results[0]] = ir.Operation.create("arith.constant", [value.type], attributes={"value": value}).results[0]
    return found
