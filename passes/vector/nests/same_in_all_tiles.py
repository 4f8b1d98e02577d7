"""What all tiles of a kernel compute alike, and a call of the kernel computes once, before its tiles.

    for tile in lo..hi:                          m = sum of p
      m = sum of p                    →          for tile in lo..hi:
      r[tile] = x[tile] - m                        r[tile] = x[tile] - m

Ops qualify that read nothing but arguments, constants and each other, where one of them is a reduction: elementwise ops alone are as well
computed where they are read. What an op of a tile goes on from, and so writes over, is made in every tile.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.axes import read_tile_op
from ...common.rewriting import captured_values
from ...common.tiled_function import TiledFunction

_LINALG = ("linalg.generic", "linalg.fill")


def same_in_all_tiles(tiled: TiledFunction) -> list[ir.Operation]:
    """Those ops of a tile, in their order; none where there is one tile."""
    known = {*tiled.block.arguments, *(value for op in tiled.before for value in op.results)}
    found: list[ir.Operation] = []
    for op in tiled.ops if tiled.tiles > 1 else ():
        if op.name in ("tensor.empty", *_LINALG) and known.issuperset((*op.operands, *captured_values(op))):
            found.append(op)
            known.update(op.results)
    while overwritten := [op for op in found if op.name in _LINALG and any(_is_overwritten(value, found) for value in op.results)]:
        gone = {value for op in overwritten for value in op.results}
        for op in list(found):
            if op in overwritten or gone.intersection((*op.operands, *captured_values(op))):
                gone.update(op.results)
                found.remove(op)
    reduces = any(op.name == "linalg.generic" and not all(read_tile_op(op).parallel) for op in found)
    return found if reduces else []


def _is_overwritten(value: ir.Value, found: list[ir.Operation]) -> bool:
    """Whether an op that is not among those found goes on from the value."""
    for use in value.uses:
        user = use.owner.operation
        if user not in found and user.name in _LINALG and use.operand_number >= len(user.operands) - len(user.results):
            return True
    return False
