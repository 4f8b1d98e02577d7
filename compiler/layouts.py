"""Arguments and results that lie in memory in another order than the source's shapes have (runtime/layouts.py).

Before, where the argument and the result have the order (0, 2, 3, 1):
    func.func @main(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> { … return %y }
After:
    func.func @main(%x: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
      %0 = stablehlo.transpose %x, dims = [0, 3, 1, 2]
      …
      %1 = stablehlo.transpose %y, dims = [0, 2, 3, 1]
      return %1
    }

From there on they are transpositions like others, which a layout of the compiler's own cancels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from hloom.passes.common.init_function import LAID_OUT
from hloom.passes.stablehlo.support import build

Orders = Mapping[int, Sequence[int]]


def lay_out(main: ir.Operation, arguments: Orders, results: Orders) -> None:
    """Gives the arguments and results of those indices their order in memory."""
    if not (arguments or results):
        return
    block = main.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(block):
        for index, order in arguments.items():
            _lay_out_argument(block.arguments[index], order)
    end = block.operations[len(block.operations) - 1].operation
    with ir.InsertionPoint(end):
        for index, order in results.items():
            end.operands[index] = build.transpose(end.operands[index], order)
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], [operand.type for operand in end.operands])
    main.attributes["function_type"] = ir.TypeAttr.get(kind)
    main.attributes[LAID_OUT] = ir.UnitAttr.get()


def _lay_out_argument(argument: ir.BlockArgument, order: Sequence[int]) -> None:
    shape = build.shape_of(argument)
    seen = argument.type
    uses = [(use.owner, use.operand_number) for use in argument.uses]
    argument.set_type(ir.RankedTensorType.get([shape[d] for d in order], seen.element_type))
    transposed = build.transpose(argument, [list(order).index(d) for d in range(len(order))])
    for owner, number in uses:
        owner.operands[number] = transposed
