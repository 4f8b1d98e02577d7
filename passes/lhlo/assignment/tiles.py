"""How a kernel's tiles are shared among threads."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import walk

# A parallel region costs about 3 µs: below 20 µs of work it does not pay, and a thread that gets less than 10 µs of it comes too late.
_WORTH_SHARING_PS = 20_000_000
_WORTH_A_THREAD_PS = 10_000_000


def parallelism(kernel: ir.Operation, cost_ps: int) -> tuple[int, int]:
    """(tiles, grain) of a kernel: -1 tiles if the function has none yet; grain 0 if one thread should run it all."""
    if "hloom.tiles" not in kernel.attributes:
        return -1, 0
    tiles = ir.IntegerAttr(kernel.attributes["hloom.tiles"]).value
    if cost_ps <= _WORTH_SHARING_PS or tiles < 2:
        return tiles, 0
    return tiles, -(-tiles * _WORTH_A_THREAD_PS // cost_ps)


def fill_tiles(module: ir.Operation) -> None:
    """Sets `tiles` and `grain` of every thunk.kernel whose callee has its tiles by now."""
    named = {}
    for op in module.regions[0].blocks[0].operations:
        if "hloom.tiles" in op.operation.attributes:
            named[ir.StringAttr(op.operation.attributes["sym_name"]).value] = op.operation
    count = ir.IntegerType.get_signless(64, context=module.context)
    for kernel in walk(module, "thunk.kernel"):
        callee = named.get(ir.FlatSymbolRefAttr(kernel.attributes["callee"]).value)
        if callee is not None:
            tiles, grain = parallelism(callee, ir.IntegerAttr(kernel.attributes["cost_ps"]).value)
            kernel.attributes["tiles"], kernel.attributes["grain"] = ir.IntegerAttr.get(count, tiles), ir.IntegerAttr.get(count, grain)
