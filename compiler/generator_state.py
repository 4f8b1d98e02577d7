"""The state of the generator that stablehlo.rng draws from: an argument and a result of @main, which the runtime keeps between calls."""

from __future__ import annotations

from torch_mlir import ir

from hloom.passes.common.init_function import mark_arguments
from hloom.passes.common.rewriting import create, ops_in, update_signature, walk
from hloom.passes.stablehlo.legalize_rng import STATE
from hloom.runtime.program import GENERATOR
from hloom.runtime.state import initial_generator

from .source_program import Imported, main_function


def add_generator(imported: Imported) -> None:
    """Gives a program with draws their state: the last argument and the last result. The pass legalize-rng has the draws change it."""
    if not walk(imported.module.operation, "stablehlo.rng"):
        return
    main = main_function(imported.module)
    block = main.regions[0].blocks[0]
    *_, returned = ops_in(block)
    state = block.add_argument(ir.RankedTensorType.get([4], ir.IntegerType.get_signless(32)), main.location)
    index, result = len(block.arguments) - 1, len(returned.operands)
    with returned.location, ir.InsertionPoint(returned):
        create("func.return", [], [*returned.operands, state])
    returned.erase()
    update_signature(main)
    if "res_attrs" in main.attributes:
        main.attributes["res_attrs"] = ir.ArrayAttr.get([*ir.ArrayAttr(main.attributes["res_attrs"]), ir.DictAttr.get({})])
    mark_arguments(main, [index], STATE)
    imported.names = [*(imported.names or [f"arg{i}" for i in range(index)]), GENERATOR]
    imported.bound[index] = initial_generator()
    imported.updates[index] = result
