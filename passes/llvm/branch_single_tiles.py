"""branch-single-tiles: the loop over the tiles of a kernel that has one is a branch.

Before, in a kernel of `hloom.tiles = 1`:
    scf.for %tile = %lo to %hi step %c1 {
      …
    }
After:
    %some = arith.cmpi slt, %lo, %hi : index
    scf.if %some {
      …                                       // of tile %lo
    }

LLVM's loop vectoriser visits every path through the values of a loop that are the same in each iteration, time and again: a kernel of
one element, computed in place, has such values alone, and a chain of squares took minutes.

Must hold: isolate-kernels has run. Declined: kernels of several tiles; loops with results, other bounds or other steps.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from ..common.rewriting import all_functions, integer, ops_in
from ..common.scalars import constant_integer
from ..registry import register_pass


@register_pass("branch-single-tiles", "makes the loop over one tile a branch")
def branch_single_tiles(module: ir.Operation) -> bool:
    changed = False
    for kernel in all_functions(module):
        if integer(kernel, "hloom.tiles", 0) != 1:
            continue
        entry = kernel.regions[0].blocks[0]
        for loop in [op for op in ops_in(entry) if op.name == "scf.for" and _is_over_tiles(op, entry)]:
            _branch(loop)
            changed = True
    return changed


def _is_over_tiles(loop: ir.Operation, entry: ir.Block) -> bool:
    """Whether the loop is from the kernel's first argument to its second, one by one."""
    return not loop.results and list(loop.operands[:2]) == list(entry.arguments)[:2] and constant_integer(loop.operands[2]) == 1


def _branch(loop: ir.Operation) -> None:
    low, high, _ = loop.operands
    with ir.InsertionPoint(loop), loop.location:
        branch = scf.IfOp(arith.cmpi(arith.CmpIPredicate.slt, low, high))
    body = loop.regions[0].blocks[0]
    body.arguments[0].replace_all_uses_with(low)
    for op in ops_in(body):
        op.detach_from_parent()
        branch.then_block.append(op)
    loop.erase()
