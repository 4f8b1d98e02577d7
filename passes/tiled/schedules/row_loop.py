"""The schedule of contractions of which some keep the rows of large values and some sum over them (the gradients of attention).

    w[b, m, n] = softmax(q[b, m, d] * k[b, n, d])
    dv[b, n, e] = sum over m of w[b, m, n] * do[b, m, e];  dq[b, m, d] = ds[b, m, n] * k[b, n, d]

A tile is one batch. It goes through the rows m in blocks, in their order: what lies between the contractions is there for one block at a
time, and stays in L2; each block adds its part to what is summed over the rows. Rows of several axes (heads that share keys) are summed
over together: the tile goes through one of them in blocks, for each place along the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.axes import Axes, TileOp, even_size
from ...common.contraction import LIVE, ROW_LOOP, block_registers, block_rows, is_contraction, summed_product
from ...common.rewriting import integer
from ..emission.temporaries import temporaries
from ..emission.tile_body import Live

_MOST_ROWS = 64
"""Rows of a block: enough that what is summed over all rows is seldom loaded and stored."""


@dataclass(frozen=True)
class RowLoop:
    """The axis of the rows, how many a block has, and the axes that are summed over with it."""

    axis: int
    rows: int
    beside: tuple[int, ...] = ()

    @property
    def axes(self) -> tuple[int, ...]:
        """All that the loops go through, the outermost first."""
        return (*self.beside, self.axis)

    @property
    def block(self) -> dict[int, int]:
        """The sizes of a block."""
        return {axis: self.rows if axis == self.axis else 1 for axis in self.axes}


def row_loop(function: ir.Operation, axes: Axes, target: TargetView) -> RowLoop | None:
    """That of a group which is marked so (join-row-blocks); None of others, and where its ops do not allow it."""
    together = _row_axes(axes, integer(function, ROW_LOOP)) if ROW_LOOP in function.attributes else ()
    if not together:
        return None
    live = ir.DenseI64ArrayAttr(function.attributes[LIVE])[0] if LIVE in function.attributes else None
    axis = max(together, key=lambda axis: (axes.extent[axis] == live, axes.extent[axis], -axis))
    beside = tuple(each for each in together if each != axis)
    return RowLoop(axis, _rows(axis, beside, axes, target), beside)


def row_loop_schedule(axes: Axes) -> dict[int, int]:
    """Batches one by one."""
    order = max(axes.ops, key=lambda op: op.points).axes
    return {axis: 1 for axis in order if axis in axes.tileable}


def sums_over(op: TileOp, axis: int) -> bool:
    """Whether the op sums over an axis."""
    return any(a == axis and not parallel for a, parallel in zip(op.axes, op.parallel))


def _row_axes(axes: Axes, sums: int) -> tuple[int, ...]:
    """Axes that so many contractions sum over together, and all other ops that have them keep: those of whose blocks least is kept."""
    summed = {axis: frozenset(n for n, op in enumerate(axes.ops) if sums_over(op, axis)) for axis, n in axes.extent.items() if n > 1}
    groups = [tuple(axis for axis in summed if summed[axis] == numbers) for numbers in set(summed.values()) if len(numbers) == sums]
    able = [together for together in groups if _goes_by(together, axes)]
    return min(able, key=lambda together: (_kept(dict.fromkeys(together, 1), axes), together), default=())


def _kept(block: dict[int, int], axes: Axes) -> int:
    """The bytes of what lies between for a block of rows."""
    return sum(temporaries(axes, {**row_loop_schedule(axes), **block}).values())


def _goes_by(together: Sequence[int], axes: Axes) -> bool:
    rows = set(together)
    inside = [number for number, op in enumerate(axes.ops) if rows & set(op.axes)]
    sums = [number for number in inside if sums_over(axes.ops[number], together[0])]
    repeated = any(axes.ops[n].axes.count(axis) > 1 for n in inside for axis in rows)
    if not sums or len(sums) == len(inside) or rows & axes.whole or repeated:
        return False
    if not all(is_contraction(axes.ops[n]) and summed_product(axes.ops[n].op.regions[0].blocks[0]) for n in sums):
        return False
    starts = [axes.producer(axes.ops[n].inits[0]) for n in sums]
    behind = _depending_on(sums, axes)
    shown = all(_shows(axes, value, axis) for value in axes.results for axis in rows)
    return shown and not any(n in behind for n in inside) and all(made is not None and made[0] not in inside for made in starts)


def _depending_on(numbers: list[int], axes: Axes) -> set[int]:
    """The ops that read, directly or not, what others make."""
    found: set[int] = set()
    for number, op in enumerate(axes.ops):
        made = {maker[0] for maker in map(axes.producer, axes.reads(op)) if maker is not None}
        if made & {*numbers, *found}:
            found.add(number)
    return found


def _shows(axes: Axes, value: ir.Value, axis: int) -> bool:
    """Whether a result has the axis as a dimension of its own, or not at all."""
    made = axes.producer(value)
    if made is None:
        return False
    op = axes.ops[made[0]]
    if axis not in op.axes or sums_over(op, axis):
        return True
    return axis in [op.axes[p] for p in map(dim_position, op.output_maps[made[1]].results) if p is not None]


def _rows(axis: int, beside: Sequence[int], axes: Axes, target: TargetView) -> int:
    """As many as half of a tile's share of the cache holds of what lies between, in whole blocks of registers, and as equal as can be.
    Blocks that are not whole would cost more than one of few rows at the end."""
    one, two = (_kept({**dict.fromkeys(beside, 1), axis: rows}, axes) for rows in (1, 2))
    block, extent = block_rows(target, block_registers(target)), axes.extent[axis]
    most = min(_MOST_ROWS, target.tile_bytes // 2 // max(1, two - one))
    even = -(-even_size(extent, max(1, most)) // block) * block
    return min(extent, even if even <= most else max(block, most // block * block))


def live_columns(function: ir.Operation, axes: Axes, loop: RowLoop) -> Live | None:
    """The part of the columns that a block of rows needs, where a mask leaves out the others. Of results that have both it needs all."""
    if LIVE not in function.attributes:
        return None
    rows, columns, ahead = ir.DenseI64ArrayAttr(function.attributes[LIVE])
    beside = {a for op in axes.ops if loop.axis in op.axes and not sums_over(op, loop.axis) for a in op.axes}
    found = [a for a in beside - {*loop.axes} - axes.tileable if axes.extent[a] == columns]
    told = axes.extent[loop.axis] == rows and all(axes.extent[a] != rows for a in loop.beside)
    return Live(found[0], loop.axis, ahead) if len(found) == 1 and told and not axes.returns(found[0], loop.axis) else None
