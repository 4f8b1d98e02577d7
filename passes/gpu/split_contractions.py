"""split-contractions: a contraction that no kernel takes together with what stands around it becomes a group of its own.

Before, where a residual is read in windows that lie in another order:
    "lhlo.fusion"(%x, %w, %r, %out) {callee = @fusion_0, …}
    func.func private @fusion_0(%x, %w, %r) -> … { %r' = windows of %r, moved;  %p = contraction of %x, %w;  return %p + %r' }
After:
    %p = memref.view %arena[…]
    "lhlo.fusion"(%x, %w, %p) {callee = @fusion_0_part_0, …}
    "lhlo.fusion"(%p, %r, %out) {callee = @fusion_0, …}
    func.func private @fusion_0_part_0(%x, %w) -> … { contraction }
    func.func private @fusion_0(%p, %r) -> … { %r' = windows of %r, moved;  return %p + %r' }

The planner takes an epilogue for what it computes; kernels of contractions evaluate it at a row and a column, where every index is linear
(contraction/contraction.py). Tiles compute everything, but multiply element by element: hundreds of times slower than tensor cores. What a
contraction reads that the group computes has a buffer too, and so have the scores of an attention that distribute-attention left. The part
keeps as much of the epilogue as its kernel takes. Such buffers live from one call to the next, behind the arena. Each cut is a record.

Must hold: stage linalg, distribute-attention has run. Declined: targets that are no GPUs, library groups, small contractions, those that
read an input once (sums of products, which tiles take at the memory's speed), those that no kernel takes alone, and groups that are one
kernel.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.attention import BEGINS, ONLINE, RECOMPUTED
from ..common.axes import TileOp, read_tile_op
from ..common.contraction import LIVE, is_contraction, reuses_all_inputs
from ..common.rewriting import defining_op, generated_groups, symbol_name, walk
from ..fused.planner.codes import Code
from ..fused.planner.decisions import append_note
from ..linalg.inlining.inlining import VIEWS
from ..registry import register_pass
from ..tiled.emission.behind_arena import Host, hosts_of
from ..tiled.split_groups import cut_out, making, rewrite_calls
from .contraction.contraction import read_contraction
from .contraction.epilogue import EpilogueEmitter

_LEAST_POINTS = 1 << 20
"""Multiplications of a contraction that is worth a launch."""


@register_pass("split-contractions", "gives contractions that no kernel takes with their neighbours groups of their own")
def split_contractions(module: ir.Operation) -> None:
    if target_of(module).kind != "cuda":
        return
    with module.context, ir.Location.unknown():
        hosts = hosts_of(module)
        for group in generated_groups(module):
            _split(module, group, hosts)
        for host in hosts:
            host.finish()


def _split(module: ir.Operation, group: ir.Operation, hosts: list[Host]) -> None:
    for host in hosts:
        host.begin_group()
    pending, parts = [group], 0
    while pending:
        function = pending.pop()
        value = _value_to_cut_out(function)
        cut = None if value is None else cut_out(function, value, f"{symbol_name(group)}_part_{parts}")
        if value is None or cut is None:
            continue
        parts += 1
        for each in (function, cut.first):
            for name in (ONLINE, RECOMPUTED, LIVE, BEGINS):
                if name in each.attributes:
                    del each.attributes[name]
        for host in hosts:
            rewrite_calls(host, function, cut)
        pending += [function, cut.first]
        names = [symbol_name(cut.first), symbol_name(function)]
        append_note(module, Code.SPLIT, names, "a contraction that no kernel takes with the rest has a buffer", str(cut.types[0]))


def _value_to_cut_out(function: ir.Operation) -> ir.Value | None:
    """What is to have a buffer, so that a contraction of the group has a kernel; None where there is no such contraction."""
    tiles = [read_tile_op(op) for op in walk(function, "linalg.generic")]
    contractions = [tile for tile in tiles if is_contraction(tile) and reuses_all_inputs(tile) and prod(tile.extents) >= _LEAST_POINTS]
    if not contractions or _has_kernel(function):
        return None
    contraction = contractions[0]
    for value in contraction.inputs[:2]:
        maker = _maker(value)
        if maker is not None:
            return maker
    if not _makes_a_kernel(function, contraction.op.results[0]):
        return None
    behind = _behind(contraction, tiles)
    return next(v for v in reversed(behind) if v == contraction.op.results[0] or _makes_a_kernel(function, v))


def _has_kernel(function: ir.Operation) -> bool:
    contraction = read_contraction(function)
    return contraction is not None and EpilogueEmitter.accepts(contraction)


def _makes_a_kernel(function: ir.Operation, value: ir.Value) -> bool:
    """Whether what leads to `value` is a kernel."""
    part = making(function, value)
    found = _has_kernel(part)
    part.erase()
    return found


def _maker(value: ir.Value) -> ir.Value | None:
    """The result of the group's op that `value` is, or a view of; None for arguments."""
    while (op := defining_op(value)) is not None and op.name in VIEWS:
        value = op.operands[0]
    return value if op is not None and op.name == "linalg.generic" else None


def _behind(contraction: TileOp, tiles: list[TileOp]) -> list[ir.Value]:
    """The contraction's result, and those of elementwise ops that read it, in order, as long as none but the next reads one."""
    found = [contraction.op.results[0]]
    for tile in tiles:
        makers = [maker for value in tile.inputs if (maker := _maker(value)) is not None]
        if found[-1] in makers and all(tile.parallel) and len(tile.op.results) == 1:
            found.append(tile.op.results[0])
    return found
